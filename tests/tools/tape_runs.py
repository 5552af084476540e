"""Calls put to a tape, with results made up on the spot."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from openreward.tools.tape import Place, Tape, TapeHeader
from openreward.types import Passage, ToolCall, ToolResult, ToolSpec

SPEC = ToolSpec(name="find", description="Find passages.", parameters={"type": "object"})
HEADER = TapeHeader(tools=(SPEC,), config={"versions": {"wikipedia": "7"}, "passages": 3})
PLACE = Place("row-1/12", 1)
PASSAGE = Passage(document_id="d", source="s", title="T", text="x", start=0, end=1)


def asked(query: str = "ada", name: str = "find", id: str = "call-1-1") -> ToolCall:
    return ToolCall(id=id, name=name, arguments={"query": query})


def found(call: ToolCall, seconds: float = 1.5) -> ToolResult:
    return ToolResult(
        call_id=call.id, status="ok", passages=(PASSAGE,), seconds=seconds, cached=True
    )


def never() -> Awaitable[ToolResult]:
    raise AssertionError("a call was run that must come from the tape")


def live(result: ToolResult) -> Callable[[], Awaitable[ToolResult]]:
    async def run() -> ToolResult:
        return result

    return run


def answer(
    tape: Tape, call: ToolCall, result: ToolResult | None = None, place: Place = PLACE
) -> ToolResult:
    return asyncio.run(tape.answer(place, call, live(result) if result else never))


def recorded(path: Path, *calls: ToolCall) -> Path:
    with Tape(path, "record", HEADER) as tape:
        for number, call in enumerate(calls or (asked(),), 1):
            answer(tape, call, found(call), Place("row-1/12", number))
    return path
