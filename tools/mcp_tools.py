"""Tools of MCP servers as tools of ours: same limits, same inert text, the cache where it is safe.

A server is a stranger. What it says of its tools is shown inert and bounded (`mcp_spec`), what they
answer is evidence like any page (`mcp_answer`). What a server asks of us (sampling, elicitation,
roots) is declined by the client, which is given no way to serve it; its notifications do nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from openreward.errors import ToolError, UserError, shorten
from openreward.loose_json import clean_text
from openreward.tools.base import Found, Search, Tool
from openreward.tools.cache import CachedSearch, DiskStore
from openreward.tools.mcp_answer import MOST_PASSAGES, Origin, found
from openreward.tools.mcp_settings import McpServer, secrets_of
from openreward.tools.mcp_spec import Arguments, Described, describe

if TYPE_CHECKING:
    from mcp.types import Tool as ListedTool

    from openreward.tools.mcp_session import McpSession

MOST_TOOLS = 32  # of a server; a model that is shown more of them reads nothing else


class OpenedMcp(NamedTuple):
    """The tools of all servers, and the version that each server states of itself."""

    tools: list[Tool]
    versions: dict[str, str]


@asynccontextmanager
async def open_mcp(
    servers: Mapping[str, McpServer],
    environment: Mapping[str, str],
    store: DiskStore | None = None,
) -> AsyncIterator[OpenedMcp]:
    """Connect to the servers and list their tools; all is ended with the block.

    Raises `UserError` for a server that cannot be used, or two tools of one name.
    """
    from openreward.tools.mcp_link import Secrets
    from openreward.tools.mcp_session import McpSession

    sessions = [
        McpSession(name, server, Secrets(*secrets_of(name, server, environment)))
        for name, server in servers.items()
    ]
    try:
        await _open_all(sessions)
        tools = [tool for session in sessions for tool in _tools(session, store)]
        refuse_clashes(tools)
        versions = {session.name: clean_text(session.version)[:200] for session in sessions}
        yield OpenedMcp(tools, versions)
    finally:
        await asyncio.gather(*(session.close() for session in sessions))


async def _open_all(sessions: Sequence[McpSession]) -> None:
    """Open all at once; the first that fails ends the others, and is told as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            for session in sessions:
                group.create_task(session.open())
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None


def refuse_clashes(tools: Sequence[Tool]) -> None:
    """Raise `UserError` where two tools have one name: the model could not tell them apart."""
    names = [tool.spec.name for tool in tools]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(
            f"two tools are called {twice}; give an MCP server a `prefix`, or list in its `tools` "
            "those to be used"
        )


def _tools(session: McpSession, store: DiskStore | None) -> list[Tool]:
    listed = {tool.name: tool for tool in session.tools}
    wanted = session.server.tools
    lacking = [name for name in wanted or () if name not in listed]
    if lacking:
        raise UserError(
            f"mcp.{session.name}.tools: expected tools of that server, got {shorten(lacking[0])}; "
            f"it has: {shorten(', '.join(listed), 300)}"
        )
    chosen = list(listed.values()) if wanted is None else [listed[name] for name in wanted]
    if len(chosen) > MOST_TOOLS:
        raise UserError(
            f"mcp.{session.name}: expected at most {MOST_TOOLS} tools, got {len(chosen)}; name "
            f"those to be used in `tools`, such as {shorten(chosen[0].name)}"
        )
    return [_tool(session, tool, store) for tool in chosen]


def _tool(session: McpSession, listed: ListedTool, store: DiskStore | None) -> Tool:
    described = describe(session.name, session.server.prefix, listed)
    search: Search = McpSearch(session, listed.name)
    readonly = listed.annotations is not None and bool(listed.annotations.read_only_hint)
    cached = readonly if session.server.cache is None else session.server.cache
    if cached and store is not None:
        search = CachedSearch(search, store)
    return _called(described, search)


def _called(described: Described, search: Search) -> Tool:
    async def function(**given: JsonValue) -> Found:
        return await search.search(pack(described.arguments(given)), MOST_PASSAGES)

    return Tool(described.spec, function)


class McpSearch:
    """A tool as a back end: its arguments, packed into the query, so that the cache fits."""

    def __init__(self, session: McpSession, tool: str) -> None:
        self._session = session
        self._tool = tool
        self.source = f"mcp:{session.name}/{tool}"
        self.version = f"{session.version} {_place(session.server)}"

    async def search(self, query: str, k: int) -> Found:
        """The passages of one call, all of them. Raises `ToolError`."""
        result = await self._session.call(self._tool, unpack(query))
        most = self._session.server.max_characters
        return found(result, Origin(self._session.name, self._tool, most))


def pack(arguments: Arguments) -> str:
    """Arguments as a query that no folding of case or width changes.

    Raises `ToolError` for a number that JSON does not have.
    """
    try:
        text = json.dumps(arguments, sort_keys=True, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):
        raise ToolError(
            "bad_query", "the arguments hold a number without a value, or a nest without end"
        ) from None
    return clean_text(text).encode().hex()


def unpack(query: str) -> Arguments:
    """The arguments of a packed query."""
    arguments: Arguments = json.loads(bytes.fromhex(query))
    return arguments


def _place(server: McpServer) -> str:
    """Tells servers of one name and version apart in the cache; a digest, for it may be secret."""
    start = [server.command, *server.args, server.url]
    return hashlib.sha256(json.dumps(start).encode()).hexdigest()[:12]
