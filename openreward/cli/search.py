"""`openreward search SOURCE QUERY`: try a tool by hand, through the stack that the model's goes.

    openreward search wikipedia "Ada Lovelace"
    openreward search arxiv "tool use" --live --contact ada@example.org -k 5
    openreward search files/read_note name=todo --tools tools.toml

The last is a tool of an MCP server of the settings file, as SERVER/TOOL, with its arguments.
Exit codes: 0 also when nothing was found, which is said; 2 a query that cannot be searched; 3 the
service failed.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from openreward.cli import options as o
from openreward.cli.home import home, index_folders
from openreward.cli.live import LiveChoice
from openreward.cli.tools import OpenedTools, ToolFlags, open_store
from openreward.counting import SERVICE_FAULTS
from openreward.errors import ToolError, UserError, shorten
from openreward.loose_json import clean, loads
from openreward.printable import one_line, visible
from openreward.tools.base import Tool, run_call
from openreward.tools.sources import SOURCES
from openreward.types import Passage, ToolCall, ToolResult


def command(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="wikipedia, arxiv, pubmed; or SERVER/TOOL.")
    ],
    query: Annotated[
        list[str], typer.Argument(metavar="QUERY", help="Plain words; or NAME=VALUE of a TOOL.")
    ],
    k: Annotated[int, typer.Option("-k", min=1, help="Passages at most.")] = 3,
    live: Annotated[bool, typer.Option("--live", help="Ask the live service.")] = False,
    index: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Search this local index.")
    ] = None,
    contact: o.Contact = None,
    tools: o.ToolsFile = None,
    seconds: Annotated[float, typer.Option(min=0.1, help="Seconds it may take.")] = 60.0,
    as_json: o.AsJson = False,
) -> None:
    """Search a source once, as the model would. Default: its local index where there is one."""
    if "/" in source:
        if live or index is not None:
            raise UserError("--live and --index are for a source; leave them out for SERVER/TOOL")
        opening = _open_server(source, tools)
    else:
        opening = _flags(source, live, index, contact, tools, k).open(servers=False)
    opened, call, result = asyncio.run(_search(opening, source, query, seconds))
    _show(opened, call, result, as_json)
    if result.status in SERVICE_FAULTS:
        raise ToolError(result.status, f"{source}: {result.status}: {result.message}")
    if result.status == "bad_query":
        raise UserError(f"{source}: {result.message}")


def _flags(
    source: str, live: bool, index: Path | None, contact: str | None, tools: Path | None, k: int
) -> ToolFlags:
    """The source's live service or index, and no other tool."""
    if source not in SOURCES:
        raise UserError(
            f"expected SOURCE among {', '.join(SOURCES)}, or SERVER/TOOL; got {shorten(source)}"
        )
    if live and index is not None:
        raise UserError("expected --live or --index, got both; drop one")
    if live:
        return ToolFlags(live=[source], contact=contact, tools=tools, passages=k)
    folder = index or index_folders().get(source)
    if folder is None:
        raise UserError(
            f"no index of {shorten(source)} in {home() / 'indexes'}; ask the live service with "
            "--live, build an index with `openreward index build`, or name one with --index DIR"
        )
    return ToolFlags(index=[f"{source}={folder}"], passages=k)


@asynccontextmanager
async def _open_server(named: str, file: Path | None) -> AsyncIterator[OpenedTools]:
    """One tool of one server of the settings file, named as SERVER/TOOL."""
    from openreward.tools.mcp_tools import open_mcp

    settings = LiveChoice(file=file).settings()
    server, _, tool = named.partition("/")
    if server not in settings.mcp:
        known = ", ".join(settings.mcp) or "none"
        raise UserError(
            f"expected an MCP server of the settings file (--tools FILE; there: {known}), got "
            f"{shorten(server)}"
        )
    only = settings.mcp[server].model_copy(update={"tools": (tool,)})
    async with open_mcp({server: only}, os.environ, open_store(settings)) as mcp:
        yield OpenedTools(mcp.tools, {"mcp": dict(mcp.versions)})


async def _search(
    opening: AbstractAsyncContextManager[OpenedTools], source: str, query: list[str], seconds: float
) -> tuple[OpenedTools, ToolCall, ToolResult]:
    async with opening as opened:
        [tool] = opened.tools
        arguments = _arguments(tool, source, query)
        call = ToolCall(id="call-1", name=tool.spec.name, arguments=arguments)
        return opened, call, await run_call({tool.spec.name: tool}, call, seconds)


def _arguments(tool: Tool, source: str, query: list[str]) -> dict[str, JsonValue]:
    """Words as one query; of a server's tool NAME=VALUE, values as JSON where they are no text."""
    if "/" not in source:
        return {"query": " ".join(query)}
    properties = tool.spec.parameters.get("properties")
    known = properties if isinstance(properties, dict) else {}
    found: dict[str, JsonValue] = {}
    for part in query:
        name, sign, value = part.partition("=")
        if not sign:
            raise UserError(
                f"{source}: expected NAME=VALUE, got {shorten(part)}; names: "
                f"{', '.join(known) or 'none'}"
            )
        kind = known.get(name)
        text = isinstance(kind, dict) and kind.get("type") == "string"
        read = None if text else loads(value)
        found[name] = value if read is None and value != "null" else clean(read)
    return found


def _show(opened: OpenedTools, call: ToolCall, result: ToolResult, as_json: bool) -> None:
    if as_json:
        shown: dict[str, JsonValue] = {
            "tool": call.name,
            "arguments": call.arguments,
            **result.model_dump(mode="json", exclude={"call_id"}),
            "depends": opened.depends,
        }
        typer.echo(json.dumps(shown))  # ASCII: nothing in it can act
        return
    for number, passage in enumerate(result.passages, 1):
        typer.echo(_passage(number, passage))
    if result.status == "no_result":
        typer.echo(one_line(result.message))
    if result.status not in ("ok", "no_result"):
        return  # said as an error
    cached = ", from the cache" if result.cached else ""
    count = f", {len(result.passages)} passages" if result.passages else ""
    typer.echo(f"{call.name}: {result.status}{count}, {result.seconds:.2f} s{cached}", err=True)


def _passage(number: int, passage: Passage) -> str:
    revision = f", {passage.revision}" if passage.revision else ""
    url = f"\n    {passage.url}" if passage.url else ""
    head = f"[{number}] {passage.title} ({passage.document_id}{revision})"
    return f"{one_line(head)}{visible(url)}\n{visible(passage.text)}\n"
