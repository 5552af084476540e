"""What runs at once, what is shared, and long contexts."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scripted import CONTEXT, ScriptedJudge, score

from openreward.scoring.pieces import large_pieces, small_pieces
from openreward.scoring.records import ScoreSettings
from openreward.scoring.scorer import Scorer

DELAY = 0.1


def test_two_requests_are_the_longest_chain() -> None:
    judge = ScriptedJudge(delay=DELAY)
    started = time.monotonic()
    found = score(judge)
    assert found.calls == 7
    assert 2 * DELAY <= time.monotonic() - started < 3.5 * DELAY
    first = [step for step, _ in judge.asked[:4]]
    assert sorted(first) == ["extraction", "helpfulness", "logicality", "statements"]


def test_answers_of_one_context_share_its_extraction() -> None:
    judge = ScriptedJudge()

    async def run() -> list[bool]:
        scorer = Scorer(judge.policy)
        some = await scorer.score_all("q", ["one", "two", "three"], CONTEXT)
        more = await scorer.score("q", "four", CONTEXT)
        other = await scorer.score("another question", "four", CONTEXT)
        return [each.shared for each in (*some, more, other)]

    assert asyncio.run(run()) == [False, True, True, True, False]
    assert judge.counts["extraction"] == 2


def test_no_more_requests_are_under_way_than_are_allowed() -> None:
    judge = ScriptedJudge(delay=0.01)
    scorer = Scorer(judge.policy, settings=ScoreSettings(in_flight=3))
    asyncio.run(scorer.score_all("q", ["one", "two", "three"], CONTEXT))
    assert judge.most == 3


def test_cancelling_ends_what_was_started() -> None:
    judge = ScriptedJudge(delay=5)

    async def run() -> int:
        task = asyncio.create_task(Scorer(judge.policy).score("q", "a", CONTEXT))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task])
        return judge.now

    assert asyncio.run(run()) == 0


def test_one_that_is_cancelled_takes_nothing_from_the_others() -> None:
    judge = ScriptedJudge(delay=0.05)

    async def run() -> float | None:
        scorer = Scorer(judge.policy)
        first = asyncio.create_task(scorer.score("q", "one", CONTEXT))
        second = asyncio.create_task(scorer.score("q", "two", CONTEXT))
        await asyncio.sleep(0.01)
        first.cancel()
        return (await second).reward

    assert asyncio.run(run()) == 8.5
    assert judge.counts["extraction"] == 1


def test_a_scorer_serves_one_event_loop_after_another() -> None:
    judge = ScriptedJudge(delay=0.01)
    scorer = Scorer(judge.policy, settings=ScoreSettings(in_flight=1))
    rewards = [asyncio.run(scorer.score("q", "a", CONTEXT)).reward for _ in range(2)]
    assert rewards == [8.5, 8.5]


def test_a_context_of_200_kilobytes() -> None:
    line = "Ship number {} left harbour {} with {} barrels of herring. "
    context = "".join(line.format(n, n % 91, n * 7 % 997) for n in range(3300))
    context += "The keeper of the lighthouse was called Ottilie Brandt."
    assert len(context) > 190_000
    judge = ScriptedJudge(statements="1. The lighthouse keeper was called Ottilie Brandt.")
    started = time.monotonic()
    found = score(judge, context, settings=ScoreSettings(extract_tokens=4096))
    assert time.monotonic() - started < 20
    assert (found.status, len(found.statements[0].evidence)) == ("ok", 5)
    last = found.statements[0].evidence[-1].passage
    assert "Ottilie Brandt" in last.text
    assert context[last.start : last.end] == last.text
    pieces = found.extracted
    assert len(pieces) == judge.counts["extraction"] >= 8
    assert pieces[0].start == 0
    assert pieces[-1].end == len(context)
    assert all(one.end <= two.start for one, two in zip(pieces, pieces[1:], strict=False))


@pytest.mark.parametrize("tokens", [16, 50, 4096])
def test_pieces_are_spans_that_leave_out_nothing_but_space(tokens: int) -> None:
    context = f"{CONTEXT}\n\n{'a1b2' * 900} tail 塔在山上。高四十米。" * 3
    small = small_pieces(context, tokens)
    large = asyncio.run(large_pieces(context, tokens, ScriptedJudge().policy))
    for pieces in (small, large):
        assert all(context[piece.start : piece.end] == piece.text for piece in pieces)
        assert "".join("".join(piece.text.split()) for piece in pieces) == "".join(context.split())
    assert max(len(piece.text) for piece in small) <= 8 * tokens


def test_points_that_do_not_fit_are_cut_and_that_is_noted() -> None:
    judge = ScriptedJudge(extraction="word " * 100)
    found = score(judge, settings=ScoreSettings(points_tokens=64))
    assert found.notes == ("the points of 1 pieces were cut to 64 tokens in all",)
    assert "[... cut here]" in judge.materials("completeness")[0]


def test_everything_fits_an_engine_with_a_small_context() -> None:
    judge = ScriptedJudge()
    judge.policy.context = 2600
    settings = ScoreSettings(turn_tokens=256, statement_tokens=256)
    found = score(
        judge, "A sentence of six words here. " * 2000, answer="A fact. " * 3000, settings=settings
    )
    assert found.notes[0].startswith("the answer was cut to ")
    longest = max(len(material.split()) for _, material in judge.asked)
    assert longest < 2600 - 256
    assert found.status == "ok"


def test_the_released_question_with_its_ten_answers(test_data: Path) -> None:
    folder = test_data / "longreward"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")
    row = json.loads((folder / "sft.jsonl").read_text(encoding="utf-8"))
    sampled = (folder / "sampled_responses.jsonl").read_text(encoding="utf-8").splitlines()
    answers = [json.loads(line)["answer"] for line in sampled]
    facts = (
        "1. One way to keep from committing cultural suicide is to build prior alliances.\n"
        "2. The author tells teachers to leave the profession in 1987.\n"
    )

    def support(material: str) -> str:
        statement = material[material.index("### statement") :]
        if "1987" in statement:
            return "Nothing of it. [[No support]]"
        found = "build prior alliances" in material[: material.index("### statement")]
        return "[[Fully supported]]" if found else "[[No support]]"

    judge = ScriptedJudge(statements=facts, support=support)
    scorer = Scorer(judge.policy)
    scores = asyncio.run(scorer.score_all(row["query"], answers, row["context"], id="11"))
    assert [each.reward for each in scores] == [(8 + 10 + 5 + 6) / 4] * 10
    assert judge.counts == {
        "helpfulness": 10,
        "logicality": 10,
        "statements": 10,
        "extraction": 2,  # of 40,889 characters: pieces of at most 4,096 words
        "support": 20,
        "completeness": 10,
    }
    assert sum(each.calls for each in scores) == 62
    assert [each.shared for each in scores].count(False) == 1
    for each in scores:
        bearing = [item.passage for item in each.statements[0].evidence]
        assert any("build prior alliances" in passage.text for passage in bearing)
        assert all(row["context"][p.start : p.end] == p.text for p in bearing)
