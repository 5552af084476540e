"""A tool: an async function of keyword arguments that returns passages or raises `ToolError`.

Its JSON schema comes from its signature and docstring. A search back end (`Search`) is what the
three source tools share: live service, local index, cache and tape have this one shape and stack.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
import typing
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationError, create_model

from openreward.errors import ToolError, UserError, shorten
from openreward.types import Passage, ToolCall, ToolResult, ToolSpec, ToolStatus

_log = logging.getLogger(__name__)
_CANCELS = 3  # how often a call that does not end is cancelled before it is left to itself
_GRACE = 1.0  # seconds it has to end each time
_AGAIN = "try once more or go on without it"


class Found(NamedTuple):
    """Passages, best first, at least one; `cached` when no search was made for them."""

    passages: tuple[Passage, ...]
    cached: bool = False


class Search(Protocol):
    """A back end of a source; raises `ToolError`.

    `no_result` instead of an empty answer, `bad_query` for a text that cannot be searched.
    """

    @property
    def source(self) -> str:
        """What it searches: wikipedia, arxiv, pubmed, or the user's own."""
        ...

    @property
    def version(self) -> str:
        """What its answers depend on: an index's version, or the address of a live service."""
        ...

    async def search(self, query: str, k: int) -> Found:
        """At most `k` passages for a query."""
        ...


class Tool(NamedTuple):
    """A tool as the agent loop takes it: what the model is told, and the function that runs.

    `arguments` checks a call's arguments; without it they pass as they came (an MCP server checks).
    """

    spec: ToolSpec
    function: Callable[..., Awaitable[Found]]
    arguments: type[BaseModel] | None = None


def tool(function: Callable[..., Awaitable[Found]]) -> Tool:
    """Make a tool of an async function; its name, docstring and annotations become the schema."""
    hints = typing.get_type_hints(function, include_extras=True)
    fields: dict[str, typing.Any] = {}
    for name, parameter in inspect.signature(function).parameters.items():
        if name not in hints:
            raise UserError(f"tool {function.__name__}: parameter {name!r} needs a type annotation")
        default = ... if parameter.default is inspect.Parameter.empty else parameter.default
        fields[name] = (hints[name], Field(default))
    model = create_model(function.__name__, __config__=ConfigDict(extra="ignore"), **fields)
    schema: dict[str, JsonValue] = model.model_json_schema()
    for title in (
        schema,
        *typing.cast(dict[str, dict[str, JsonValue]], schema["properties"]).values(),
    ):
        title.pop("title", None)
    schema.pop("additionalProperties", None)
    doc = inspect.cleandoc(function.__doc__ or "")
    if not doc:
        raise UserError(f"tool {function.__name__}: needs a docstring; it is what the model reads")
    return Tool(
        ToolSpec(name=function.__name__, description=doc, parameters=schema), function, model
    )


async def run_call(tools: Mapping[str, Tool], call: ToolCall, seconds: float) -> ToolResult:
    """Run one call to its typed result in at most `seconds`; a tool's failure is a result too.

    A tool that goes on when cancelled is cancelled again, three times in all, a second apart; then
    it is left to itself with a warning, so that it cannot hold the loop.
    """
    started = time.monotonic()
    job = asyncio.create_task(_invoke(tools, call))
    try:
        finished, _ = await asyncio.wait([job], timeout=seconds)
    finally:
        await _end(job, call.name)
    found, message = Found(()), ""
    status: ToolStatus = "ok"
    try:
        if not finished:
            raise ToolError("timeout", f"{call.name} did not answer within {seconds:g} s; {_AGAIN}")
        found = job.result()
        if not found.passages:
            raise ToolError("no_result", f"{call.name} found nothing; search for something else")
    except ToolError as error:
        status, message = error.status, str(error)
    except TimeoutError:  # its own, not ours
        status, message = "timeout", f"{call.name} timed out; {_AGAIN}"
    except asyncio.CancelledError:  # from within: what it waited for was cancelled, not this call
        status, message = "unavailable", f"{call.name} broke off; {_AGAIN}"
    return ToolResult(
        call_id=call.id,
        status=status,
        passages=found.passages,
        message=message,
        seconds=time.monotonic() - started,
        cached=found.cached,
    )


async def _end(job: asyncio.Task[Found], name: str) -> None:
    """Cancel a call that is still under way, and wait until it is gone."""
    for _ in range(_CANCELS):
        if job.done():
            break
        job.cancel()
        await asyncio.wait([job], timeout=_GRACE)
        if job.done() and not job.cancelled() and job.exception() is not None:
            _log.warning("%s failed when it was cancelled: %r", name, job.exception())
    if not job.done():
        _log.warning("%s goes on though it was cancelled %d times", name, _CANCELS)


async def _invoke(tools: Mapping[str, Tool], call: ToolCall) -> Found:
    chosen = tools.get(call.name)
    if chosen is None:
        known = ", ".join(sorted(tools)) or "none"
        raise ToolError(
            "bad_query", f"no tool is called {shorten(call.name)}; the tools are: {known}"
        )
    if chosen.arguments is None:
        return await chosen.function(**call.arguments)
    try:
        checked = chosen.arguments.model_validate(call.arguments)
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ToolError("bad_query", f"arguments of {call.name} are wrong: {wrong}") from None
    return await chosen.function(
        **{name: getattr(checked, name) for name in type(checked).model_fields}
    )
