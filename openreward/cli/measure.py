"""What a judgment adds to the totals of a run, and how its searches went, in words."""

from __future__ import annotations

from collections.abc import Mapping

from openreward.batch import Measure
from openreward.counting import ran_calls, searched, unserved
from openreward.types import Judgment, ToolStatus

CALL = "call:"  # begins a mark of one call, and ends with its status
CACHED = "call:cached"
UNSERVED = "unserved"  # a row: its trajectories made calls, and services failed every one of them
UNSERVED_TRAJECTORY = "unserved_trajectory"
CALL_STATUSES: tuple[ToolStatus, ...] = (
    "ok",
    "no_result",
    "bad_query",
    "rate_limited",
    "unavailable",
    "timeout",
)


def measure(judgment: Judgment) -> Measure:
    """What a judgment adds to the totals; `searched` when a search of it brought passages."""
    found = {
        "searched": any(searched(vote.trajectory) for vote in judgment.votes),
        "labelled": judgment.label is not None,
        "right": judgment.label is not None and judgment.label == _said(judgment),
    }
    marks = [name for name, is_so in found.items() if is_so]
    marks += _call_marks(judgment)
    seconds = judgment.times.total
    return Measure(judgment.id, judgment.status, judgment.usage, seconds, tuple(marks))


def searches(marks: Mapping[str, int]) -> dict[str, int]:
    """Calls by status, and under `cached` those of them that no search was made for."""
    return {name: marks.get(CALL + name, 0) for name in (*CALL_STATUSES, "cached")}


def search_lines(marks: Mapping[str, int], rows: int) -> list[str]:
    """How the searches of so many rows went, in words; nothing where there was none."""
    lines = [line for line in (searches_line(marks),) if line]
    if marks.get(UNSERVED):
        lines.append(
            f"in {marks[UNSERVED]} of {rows} rows every search failed by its service: those "
            "verdicts were made without evidence"
        )
    if marks.get(UNSERVED_TRAJECTORY):
        count = marks[UNSERVED_TRAJECTORY]
        lines.append(f"trajectories in which every search failed by its service: {count}")
    return lines


def searches_line(marks: Mapping[str, int]) -> str | None:
    """Calls by status, in words; None where there was no call."""
    counts = searches(marks)
    said = {name: f"{counts[name]} {name.replace('_', ' ')}" for name in CALL_STATUSES}
    if counts["cached"]:
        said["ok"] += f" ({counts['cached']} from the cache)"
    parts = [text for name, text in said.items() if counts[name]]
    return f"searches: {', '.join(parts)}" if parts else None


def _call_marks(judgment: Judgment) -> list[str]:
    trajectories = [vote.trajectory for vote in judgment.votes]
    marks = []
    for _, result in (pair for each in trajectories for pair in ran_calls(each)):
        marks.append(CALL + result.status)
        if result.cached:
            marks.append(CACHED)
    called = [each for each in trajectories if ran_calls(each)]
    without = sum(unserved(each) for each in called)
    marks += [UNSERVED_TRAJECTORY] * without
    if called and without == len(called):
        marks.append(UNSERVED)
    return marks


def _said(judgment: Judgment) -> int | str | None:
    return "tie" if judgment.status == "tie" else judgment.winner
