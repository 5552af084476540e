"""Trajectories made by hand, and the pair they judge: answer 1 is the better one, of pubmed."""

from __future__ import annotations

from openreward.train.rewards import RewardSettings, Target, target_of
from openreward.types import (
    Pair,
    Passage,
    StopReason,
    ToolCall,
    ToolResult,
    ToolStatus,
    Trajectory,
    Turn,
    Verdict,
)

TOOLS = ("wikipedia_search", "arxiv_search", "pubmed_search")
PAIR = Pair(
    id="p1",
    query="Does zinc shorten a cold?",
    responses=("It never does.", "Somewhat, if it is taken early."),
    label=1,
    source="pubmed",
)
TARGET = target_of(PAIR, (0, 1), TOOLS, RewardSettings())

RIGHT = Verdict(status="ok", winner=1)
WRONG = Verdict(status="ok", winner=0)
TIE = Verdict(status="tie")
UNREAD = Verdict(status="unparsed")

Row = tuple[str, str, ToolStatus]
"""A call: tool, query, how it ended."""


def pubmed(query: str, status: ToolStatus = "ok") -> Row:
    return "pubmed_search", query, status


def wiki(query: str, status: ToolStatus = "ok") -> Row:
    return "wikipedia_search", query, status


def turn_of(*rows: Row, number: int = 1, text: str = "") -> Turn:
    page = Passage(document_id="d", source="s", title="T", text="x", start=0, end=1)
    calls = tuple(
        ToolCall(id=f"call-{number}-{n}", name=name, arguments={"query": query})
        for n, (name, query, _) in enumerate(rows)
    )
    results = tuple(
        ToolResult(
            call_id=call.id, status=status, passages=(page,) if status == "ok" else (), message=""
        )
        for call, (_, _, status) in zip(calls, rows, strict=True)
    )
    return Turn(text=text, tool_calls=calls, results=results)


def judged(
    *turns: tuple[Row, ...],
    verdict: Verdict = RIGHT,
    stop: StopReason | None = None,
    task: str = PAIR.id,
) -> Trajectory:
    """One turn of the model for each group of calls, then one with the verdict."""
    searches = [turn_of(*rows, number=n) for n, rows in enumerate(turns, start=1)]
    said = stop or ("verdict" if verdict.status in ("ok", "tie") else "no_verdict")
    return Trajectory(
        task=task,
        path="token",
        model="m",
        prompt=(),
        turns=(*searches, Turn(text="<answer>B</answer>")),
        evidence=(),
        verdict=verdict,
        stop_reason=said,
    )


def target(tool: str | None = "pubmed_search") -> Target:
    return Target(pair=PAIR.id, winner=1, tool=tool)
