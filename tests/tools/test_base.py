"""A tool's schema, and one call run to its typed result."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Annotated

import pytest
from pydantic import Field, JsonValue

from openreward.errors import ToolError, UserError
from openreward.tools.base import Found, Tool, run_call, tool
from openreward.types import Passage, ToolCall, ToolResult, ToolSpec

ONE = Passage(document_id="1", source="s", title="One", text="one", start=0, end=3)


def result(made: Tool, seconds: float = 1.0, **arguments: JsonValue) -> ToolResult:
    asked = ToolCall(id="c1", name=made.spec.name, arguments=arguments)
    return asyncio.run(run_call({made.spec.name: made}, asked, seconds))


def test_the_schema_comes_from_signature_and_docstring() -> None:
    async def look_up(query: Annotated[str, Field(description="What.")], k: int = 3) -> Found:
        """Look something up.

        In a book.
        """
        return Found((ONE,))

    assert tool(look_up).spec == ToolSpec(
        name="look_up",
        description="Look something up.\n\nIn a book.",
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What."},
                "k": {"type": "integer", "default": 3},
            },
            "required": ["query"],
        },
    )


def test_a_parameter_without_annotation_is_refused() -> None:
    async def look_up(query) -> Found:  # type: ignore[no-untyped-def]
        """Look."""
        return Found((ONE,))

    with pytest.raises(UserError, match="parameter 'query' needs a type annotation"):
        tool(look_up)


def test_a_tool_without_docstring_is_refused() -> None:
    async def look_up(query: str) -> Found:
        return Found((ONE,))

    with pytest.raises(UserError, match="look_up: needs a docstring"):
        tool(look_up)


def test_defaults_and_checked_values_reach_the_function() -> None:
    got: list[tuple[str, int]] = []

    async def look_up(query: str, k: int = 3) -> Found:
        """Look."""
        got.append((query, k))
        return Found((ONE,), cached=True)

    found = result(tool(look_up), query="x")
    assert (found.call_id, found.status, found.passages, found.cached) == ("c1", "ok", (ONE,), True)
    result(tool(look_up), query="y", k="7")
    assert got == [("x", 3), ("y", 7)]


def test_a_tool_without_an_argument_model_gets_them_as_they_came() -> None:
    got: list[dict[str, JsonValue]] = []

    async def remote(**arguments: JsonValue) -> Found:
        got.append(arguments)
        return Found((ONE,))

    result(Tool(ToolSpec(name="remote", description="d", parameters={}), remote), a=[1], b=None)
    assert got == [{"a": [1], "b": None}]


def test_a_tool_that_finds_nothing_and_says_nothing_is_no_result() -> None:
    async def empty(query: str) -> Found:
        """Find nothing."""
        return Found(())

    found = result(tool(empty), query="x")
    assert (found.status, found.message) == (
        "no_result",
        "empty found nothing; search for something else",
    )


def test_a_time_out_of_the_tool_s_own_is_not_told_as_ours() -> None:
    async def slow(query: str) -> Found:
        """Be slow."""
        async with asyncio.timeout(0.01):
            await asyncio.sleep(10)
        return Found((ONE,))

    found = result(tool(slow), query="x")
    assert (found.status, found.message) == (
        "timeout",
        "slow timed out; try once more or go on without it",
    )


def test_an_answer_that_comes_while_it_is_cancelled_is_too_late() -> None:
    async def late(query: str) -> Found:
        """Answer only when cancelled."""
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            return Found((ONE,))
        return Found((ONE,))

    found = result(tool(late), 0.05, query="x")
    assert (found.status, found.passages) == ("timeout", ())
    assert 0.05 <= found.seconds < 0.5


@pytest.mark.parametrize("error", [ValueError("cleanup"), ToolError("unavailable", "cleanup")])
def test_a_failure_while_it_is_cancelled_is_logged(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    async def fails(query: str) -> Found:
        """Fail when cancelled."""
        try:
            await asyncio.sleep(60)
        finally:
            raise error

    with caplog.at_level(logging.WARNING, logger="openreward.tools.base"):
        assert result(tool(fails), 0.05, query="x").status == "timeout"
    assert caplog.messages == [f"fails failed when it was cancelled: {error!r}"]


def test_a_tool_that_never_ends_is_left_to_itself_with_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    stop = asyncio.Event()

    async def stubborn(query: str) -> Found:
        """Never end."""
        while not stop.is_set():
            try:
                await stop.wait()
            except asyncio.CancelledError:
                continue
        return Found((ONE,))

    async def main() -> ToolResult:
        asked = ToolCall(id="c1", name="stubborn", arguments={"query": "x"})
        found = await run_call({"stubborn": tool(stubborn)}, asked, 0.05)
        stop.set()
        return found

    started = time.monotonic()
    with caplog.at_level(logging.WARNING, logger="openreward.tools.base"):
        assert asyncio.run(main()).status == "timeout"
    assert 3.0 <= time.monotonic() - started < 4.0
    assert caplog.messages == ["stubborn goes on though it was cancelled 3 times"]
