from __future__ import annotations

from collections import Counter
from typing import get_args

import pytest

from openreward.cli.measure import CALL_STATUSES, measure, search_lines, searches
from openreward.types import (
    Judgment,
    Passage,
    ToolCall,
    ToolResult,
    ToolStatus,
    Trajectory,
    Turn,
    Verdict,
    Vote,
)

PASSAGE = Passage(document_id="d", source="s", title="T", text="x", start=0, end=1)


def result(status: ToolStatus, cached: bool = False) -> ToolResult:
    found = (PASSAGE,) if status == "ok" else ()
    return ToolResult(call_id="c", status=status, passages=found, cached=cached)


def judgment(*votes: list[ToolResult]) -> Judgment:
    """One vote each, with a turn that made these calls."""
    made = []
    for results in votes:
        calls = tuple(ToolCall(id="c", name="find", arguments={}) for _ in results)
        turn = Turn(text="", tool_calls=calls, results=tuple(results))
        trajectory = Trajectory(
            task="t",
            path="chat",
            model="m",
            prompt=(),
            turns=(turn,),
            evidence=(),
            verdict=Verdict(status="ok", winner=0),
            stop_reason="verdict",
        )
        made.append(Vote(order=(0, 1), vote=0, status="ok", winner=0, trajectory=trajectory))
    return Judgment(id="j", status="ok", winner=0, votes=tuple(made))


def marks(*judgments: Judgment) -> Counter[str]:
    return Counter(mark for each in judgments for mark in measure(each).marks)


def test_every_status_of_a_call_is_counted() -> None:
    assert get_args(ToolStatus) == CALL_STATUSES
    one = judgment([result(status) for status in CALL_STATUSES], [result("ok", cached=True)])
    assert searches(marks(one)) == {
        "ok": 2,
        "no_result": 1,
        "bad_query": 1,
        "rate_limited": 1,
        "unavailable": 1,
        "timeout": 1,
        "cached": 1,
    }


def test_searches_are_said_by_status() -> None:
    one = judgment([result("ok"), result("ok", cached=True), result("rate_limited")])
    assert search_lines(marks(one), 1) == ["searches: 2 ok (1 from the cache), 1 rate limited"]
    assert search_lines(marks(judgment([])), 1) == []


DOWN, FOUND, NONE = [result("unavailable")], [result("ok")], [result("no_result")]
ROWS = "in {} rows every search failed by its service: those verdicts were made without evidence"
TRAJECTORIES = "trajectories in which every search failed by its service: {}"


@pytest.mark.parametrize(
    ("votes", "rows", "trajectories"),
    [
        ([DOWN, DOWN], 1, 2),
        ([DOWN, FOUND], 0, 1),
        ([DOWN, []], 1, 1),  # the other never asked
        ([[*DOWN, *FOUND], DOWN], 0, 1),
        ([NONE, NONE], 0, 0),  # it answered
        ([[*DOWN, *NONE]], 0, 0),
        ([[], []], 0, 0),
        ([], 0, 0),
    ],
)
def test_rows_without_any_service_are_told_from_rows_without_results(
    votes: list[list[ToolResult]], rows: int, trajectories: int
) -> None:
    counted = marks(judgment(*votes), judgment(FOUND))
    expected = [ROWS.format(f"{rows} of 2")] if rows else []
    expected += [TRAJECTORIES.format(trajectories)] if trajectories else []
    assert search_lines(counted, 2)[1:] == expected
