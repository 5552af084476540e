"""Wall time of scoring answers to a 43 kB document, beside a serial run of the same requests.

    python bench/bench_scoring_calls.py [--in-flight 8] [--delay 0.2]

Every request takes `--delay` seconds at a scripted judge that lists 12 statements an answer. The
serial run is the same scorer with one request at a time; both must make the same requests and give
the same rewards. `--least` fails the run when the gain is below it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from openreward.policy.base import Conversation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.scoring.records import Score, ScoreSettings
from openreward.scoring.scorer import Scorer
from openreward.scoring.wording_en import ENGLISH

RESULT = Path(__file__).parent / "results" / "scoring_calls.json"
STATEMENTS = 12
LINE = "Item {} of the inventory, found in room {}, weighs {} grams and is kept dry. "
CONTEXT = "".join(LINE.format(n, n % 17, n * 31 % 977) for n in range(600))


@dataclass(frozen=True)
class Result:
    """One number of answers; `calls` are requests, the same in both runs."""

    answers: int
    calls: int
    seconds_serial: float
    seconds: float
    gain: float


def judge(delay: float) -> ScriptedPolicy:
    facts = "\n".join(f"{n}. Item {n * 7} weighs a lot." for n in range(1, STATEMENTS + 1))
    said = {
        ENGLISH.statements: facts,
        ENGLISH.extraction: "- item 7 is kept dry",
        ENGLISH.support: "It says so. [[Fully supported]]",
    }

    def say(talk: Conversation, sampling: Sampling) -> str:
        return said.get(talk.messages[0].content, "Fine. [[7]]")

    return ScriptedPolicy(say, delay=delay)


def timed(answers: int, in_flight: int, delay: float) -> tuple[float, tuple[Score, ...]]:
    scorer = Scorer(judge(delay), settings=ScoreSettings(in_flight=in_flight))
    texts = [f"Answer {n}: the items are heavy." for n in range(answers)]
    started = time.perf_counter()
    scores = asyncio.run(scorer.score_all("How heavy are the items?", texts, CONTEXT))
    return time.perf_counter() - started, scores


def measure(answers: int, in_flight: int, delay: float) -> Result:
    serial, one = timed(answers, 1, delay)
    ours, other = timed(answers, in_flight, delay)
    calls = sum(score.calls for score in one)
    if calls != sum(score.calls for score in other):
        raise SystemExit("the two runs made different requests")
    if [score.reward for score in one] != [score.reward for score in other]:
        raise SystemExit("the two runs gave different rewards")
    return Result(answers, calls, round(serial, 3), round(ours, 3), round(serial / ours, 2))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--in-flight", type=int, default=8)
    parser.add_argument("--delay", type=float, default=0.2)
    parser.add_argument("--least", type=float, default=4.0, help="times faster than serial")
    parser.add_argument("-o", "--output", type=Path, default=RESULT)
    chosen = parser.parse_args()
    timed(1, 8, 0.0)  # warms imports and validators
    results = [measure(answers, chosen.in_flight, chosen.delay) for answers in (1, 10)]
    print(f"{'answers':>8}{'calls':>7}{'serial s':>10}{'ours s':>9}{'gain':>7}")
    for each in results:
        print(
            f"{each.answers:8}{each.calls:7}{each.seconds_serial:10.2f}{each.seconds:9.2f}"
            f"{each.gain:7.1f}"
        )
    config = {
        "in_flight": chosen.in_flight,
        "delay_s": chosen.delay,
        "statements": STATEMENTS,
        "context_characters": len(CONTEXT),
        "cpus": os.cpu_count(),
    }
    shown = {"config": config, "results": [asdict(each) for each in results]}
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(json.dumps(shown, indent=1) + "\n")
    slow = [each for each in results if each.gain < chosen.least]
    if slow:
        raise SystemExit(f"{slow[0].gain} times faster, at least {chosen.least} wanted")


if __name__ == "__main__":
    main()
