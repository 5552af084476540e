"""Seconds a turn costs when 64 trajectories call a tool: this loop, and TRL's own beside it.

    python bench/bench_tool_phase.py [--trl-python PATH]

Each trajectory makes one call of 0.2 s in each turn; generation is scripted on both sides. Ours is
`agent.run` from the opening to the verdict, so its figure holds prompts and parsing too; the median
and the worst of several rounds. TRL's half is trl_tool_phase.py, in an interpreter that has TRL:
PATH, or this one, else it is skipped. `--most` fails the run when our median is above it.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path

from openreward.agent import Limits, run
from openreward.policy.base import Conversation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.tools.search_tool import search_tool
from openreward.tools.static import StaticSearch
from openreward.types import Passage, Task

HERE = Path(__file__).parent
RESULT = HERE / "results" / "tool_phase.json"
FACT = "It is ten metres tall."
PASSAGE = Passage(document_id="1", source="static", title="It", text=FACT, start=0, end=len(FACT))


@dataclass(frozen=True)
class Result:
    """One contender; `ratio` over ours."""

    name: str
    seconds_a_turn: float
    worst: float
    calls: int
    ratio: float = 1.0
    patched: str = "nothing; the policy is ScriptedPolicy, the tool StaticSearch"
    versions: dict[str, str] = field(default_factory=dict)


class Skipped(Exception):
    """A half that cannot run here, and why."""


def script(turns: int) -> ScriptedPolicy:
    def say(conversation: Conversation, sampling: Sampling) -> str:
        turn = sum(message.role == "assistant" for message in conversation.messages)
        if turn == turns:
            return "It is ten metres [1]. <answer>A</answer>"
        call = {"name": "search", "arguments": {"query": f"height {turn}"}}
        return f"<tool_call>{json.dumps(call)}</tool_call>"

    return ScriptedPolicy(say)


async def one_round(rollouts: int, delay: float, turns: int) -> tuple[float, int]:
    """Seconds a turn, and the calls made."""
    search = StaticSearch([PASSAGE], delay=delay)
    tool = search_tool("search", "Search for a text.", search, 1)
    policy = script(turns)
    limits = Limits(calls=turns + 1, turns=turns + 2, total_tokens=100_000)
    tasks = [Task(id=str(n), query="How tall?", responses=("10", "12")) for n in range(rollouts)]
    started = time.perf_counter()
    found = await asyncio.gather(*(run(task, policy, [tool], limits) for task in tasks))
    seconds = time.perf_counter() - started
    wrong = [each.stop_reason for each in found if each.verdict.winner != 0]
    if wrong or len(search.calls) != rollouts * turns:
        raise SystemExit(f"{len(search.calls)} calls, ends: {wrong}")
    return seconds / turns, len(search.calls)


def measure_ours(rollouts: int, delay: float, turns: int, rounds: int) -> Result:
    asyncio.run(one_round(rollouts, 0.0, turns))  # warms imports and validators
    taken = [asyncio.run(one_round(rollouts, delay, turns)) for _ in range(rounds)]
    seconds = sorted(each for each, _ in taken)
    return Result(
        "openreward",
        round(statistics.median(seconds), 4),
        round(seconds[-1], 4),
        taken[0][1],
        versions={"pydantic": version("pydantic")},
    )


def measure_trl(
    python: str | None, rollouts: int, delay: float, turns: int, kind: str, ours: Result
) -> Result:
    if python is None:
        raise Skipped("TRL is not installed here; --trl-python names an interpreter that has it")
    program = [python, str(HERE / "trl_tool_phase.py"), "--kind", kind]
    values = {"--rollouts": rollouts, "--delay": delay, "--turns": turns}
    program += [str(part) for pair in values.items() for part in pair]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"TRL's half failed in {python}:\n{done.stderr[-2000:]}")
    told = json.loads(done.stdout.splitlines()[-1])
    seconds = told["seconds_a_turn"]
    ratio = round(seconds / ours.seconds_a_turn, 1)
    name = f"trl {told['versions']['trl']}, {kind} tool"
    rounded = round(seconds, 4)
    return Result(name, rounded, rounded, told["calls"], ratio, told["patched"], told["versions"])


def table(results: list[Result]) -> str:
    lines = [f"{'':24}{'s a turn':>10}{'worst':>9}{'calls':>7}{'ratio':>8}"]
    for each in results:
        figures = f"{each.seconds_a_turn:10.3f}{each.worst:9.3f}{each.calls:7}{each.ratio:8.1f}"
        lines.append(f"{each.name:24}{figures}")
    lines += [f"patched in {each.name}: {each.patched}" for each in results]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    here = sys.executable if importlib.util.find_spec("trl") else None
    parser.add_argument("--trl-python", default=here, metavar="PATH")
    parser.add_argument("--rollouts", type=int, default=64)
    parser.add_argument("--delay", type=float, default=0.2)
    parser.add_argument("--turns", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--most", type=float, default=0.3, help="seconds a turn of ours")
    parser.add_argument("-o", "--output", type=Path, default=RESULT)
    chosen = parser.parse_args()
    work = (chosen.rollouts, chosen.delay, chosen.turns)
    ours = measure_ours(*work, chosen.rounds)
    results, skipped = [ours], {}
    for kind in ("async", "sync"):
        try:
            results.append(measure_trl(chosen.trl_python, *work, kind, ours))
        except Skipped as reason:
            skipped[f"trl, {kind} tool"] = str(reason)
    print(table(results))
    for name, why in skipped.items():
        print(f"skipped: {name}: {why}")
    config = {
        "rollouts": chosen.rollouts,
        "delay_s": chosen.delay,
        "turns": chosen.turns,
        "rounds": chosen.rounds,
        "cpus": os.cpu_count(),
    }
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    shown = {"config": config, "results": [asdict(each) for each in results], "skipped": skipped}
    if not skipped or chosen.output != RESULT:  # what was measured whole is not overwritten in part
        chosen.output.write_text(json.dumps(shown, indent=1) + "\n")
    if ours.seconds_a_turn > chosen.most:
        raise SystemExit(f"{ours.seconds_a_turn} s a turn, at most {chosen.most} wanted")


if __name__ == "__main__":
    main()
