"""The rules by which calls count."""

from __future__ import annotations

from typing import Any

import pytest

from openreward.counting import (
    call_key,
    counted_calls,
    failed_by_service,
    query_of,
    ran_calls,
    searched,
)
from openreward.types import (
    Passage,
    StopReason,
    ToolCall,
    ToolResult,
    ToolStatus,
    Trajectory,
    Turn,
    Verdict,
)

Row = tuple[str, dict[str, Any], ToolStatus]


def turn(*rows: Row, not_run: int = 0) -> Turn:
    """A turn that made these calls; the last `not_run` of them did not run."""
    calls = tuple(
        ToolCall(id=f"c{number}", name=name, arguments=arguments)
        for number, (name, arguments, _) in enumerate(rows)
    )
    page = Passage(document_id="d", source="s", title="T", text="x", start=0, end=1)
    results = tuple(
        ToolResult(call_id=f"c{n}", status=status, passages=(page,) if status == "ok" else ())
        for n, (_, _, status) in enumerate(rows[: len(rows) - not_run])
    )
    return Turn(text="", tool_calls=calls, results=results)


def trajectory(*turns: Turn, stop: StopReason = "verdict") -> Trajectory:
    ok = Verdict(status="ok", winner=0)
    return Trajectory(
        task="t",
        path="chat",
        model="m",
        prompt=(),
        turns=turns,
        evidence=(),
        verdict=ok if stop == "verdict" else Verdict(status="error"),
        stop_reason=stop,
    )


def counted(*turns: Turn) -> list[tuple[str, str, bool]]:
    return [tuple(call) for call in counted_calls(trajectory(*turns))]


def row(query: str, status: ToolStatus = "ok", name: str = "wiki") -> Row:
    return name, {"query": query}, status


def test_calls_count_in_the_order_written_right_or_wrong() -> None:
    first = turn(row("a"), row("b", "no_result"))
    second = turn(row("c", "bad_query", "arxiv"))
    expected = [("wiki", "a", True), ("wiki", "b", False), ("arxiv", "c", False)]
    assert counted(first, second) == expected


@pytest.mark.parametrize("query", ["Ada  Lovelace", "ADA LOVELACE", " ada\nlovelace "])
def test_a_repeated_query_counts_once_case_and_space_folded(query: str) -> None:
    assert counted(turn(row("Ada Lovelace")), turn(row(query))) == [("wiki", "Ada Lovelace", True)]


def test_the_same_query_to_another_tool_counts() -> None:
    assert len(counted(turn(row("a"), row("a", name="arxiv")))) == 2


@pytest.mark.parametrize("query", ["", "  ", "\n"])
def test_an_empty_query_does_not_count(query: str) -> None:
    assert counted(turn(row(query, "bad_query"))) == []


@pytest.mark.parametrize("status", ["rate_limited", "unavailable", "timeout"])
def test_what_the_service_failed_counts_neither_way(status: ToolStatus) -> None:
    assert counted(turn(row("a", status))) == []
    assert counted(turn(row("a", status)), turn(row("A"))) == [("wiki", "A", True)]


def test_a_call_that_did_not_run_does_not_count() -> None:
    made = turn(row("a"), row("b"), not_run=1)
    assert counted(made) == [("wiki", "a", True)]
    assert [(c.name, r.status) for c, r in ran_calls(trajectory(made))] == [("wiki", "ok")]
    assert counted() == counted(turn()) == []


def test_a_repetition_of_a_call_without_passages_stays_the_first_one() -> None:
    assert counted(turn(row("a", "no_result")), turn(row("a"))) == [("wiki", "a", False)]


def test_searched_asks_for_a_passage() -> None:
    assert searched(trajectory(turn(row("a", "no_result"), row("b"))))
    assert not searched(trajectory(turn(row("a", "no_result")), turn()))
    assert not searched(trajectory())


@pytest.mark.parametrize(
    ("turns", "stop", "expected"),
    [
        ([], "verdict", False),
        ([], "policy_error", True),
        ([turn(row("a"))], "policy_error", True),
        ([turn(row("a", "timeout"))], "verdict", True),
        ([turn(row("a", "timeout")), turn(row("b", "unavailable"))], "time_limit", True),
        ([turn(row("a", "timeout"), row("b", "no_result"))], "verdict", False),
        ([turn(row("a", "rate_limited")), turn(row("a"))], "verdict", False),
        ([turn()], "context_limit", False),
        ([turn()], "no_verdict", False),
    ],
)
def test_a_trajectory_fails_by_service_if_nothing_of_it_worked(
    turns: list[Turn], stop: StopReason, expected: bool
) -> None:
    assert failed_by_service(trajectory(*turns, stop=stop)) is expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"query": "Ada", "k": 3}, "Ada"),
        ({"title": "Ada", "section": "Life", "k": 3}, "Ada Life"),
        ({"query": 5, "title": "Ada"}, "Ada"),
        ({}, ""),
        ({"k": 3}, ""),
    ],
)
def test_the_query_of_a_call(arguments: dict[str, Any], expected: str) -> None:
    assert query_of(ToolCall(id="c", name="wiki", arguments=arguments)) == expected


def test_equal_calls_have_one_key() -> None:
    def key(name: str = "wiki", **arguments: Any) -> tuple[str, str]:
        return call_key(ToolCall(id="c", name=name, arguments=arguments))

    assert key(query="ÉTÉ  1", k=2) == key(k=2, query=" été\n1")
    assert key(query="a") != key(query="b")
    assert key(query="a") != key("arxiv", query="a")
    assert key(query="a", k=2) != key(query="a", k=3)
    assert key(query="a") != key(title="a")
