"""Tools of MCP servers as tools of ours: same limits, same inert text, the cache where it is safe.

A server is a stranger. What it says of its tools goes into the prompt, so names are reduced to
plain letters, texts are made inert and cut, and a schema that is too large is refused. What its
tools answer is evidence like any page. Requests that a server makes of us (sampling, elicitation,
roots) are declined by the client, which is given no way to serve them.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from openreward.errors import ToolError, UserError, shorten
from openreward.inert import inert
from openreward.loose_json import clean_text
from openreward.tools.base import Found, Tool
from openreward.tools.cache import CachedSearch, DiskStore
from openreward.tools.mcp_settings import McpServer, secrets_of
from openreward.types import Passage, ToolSpec

if TYPE_CHECKING:
    from mcp.types import CallToolResult
    from mcp.types import Tool as ListedTool

    from openreward.tools.mcp_session import McpSession

MOST_OF_A_DESCRIPTION = 1_000  # characters
MOST_OF_A_SCHEMA = 8_000  # bytes as JSON
MOST_PASSAGES = 8
MOST_TOOLS = 32  # of a server; a model that is shown more of them reads nothing else
Arguments = dict[str, JsonValue]


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
    from openreward.tools.mcp_session import McpSession

    opened = OpenedMcp([], {})
    async with AsyncExitStack() as stack:
        for name, server in servers.items():
            variables, headers = secrets_of(name, server, environment)
            session = await stack.enter_async_context(McpSession(name, server, variables, headers))
            opened.versions[name] = clean_text(session.version)[:200]
            opened.tools.extend(await _tools(session, store))
        refuse_clashes(opened.tools)
        yield opened


def refuse_clashes(tools: Sequence[Tool]) -> None:
    """Raise `UserError` where two tools have one name: the model could not tell them apart."""
    names = [tool.spec.name for tool in tools]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UserError(
            f"two tools are called {twice}; give an MCP server a `prefix`, or list in its `tools` "
            "those to be used"
        )


async def _tools(session: McpSession, store: DiskStore | None) -> list[Tool]:
    listed = {tool.name: tool for tool in await session.tools()}
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
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", f"{session.server.prefix}{listed.name}")[:64]
    about = inert(" ".join((listed.description or listed.title or plain).split()))
    schema = _schema(session.name, listed)
    known = _known(schema)
    search = McpSearch(session, listed.name)
    readonly = listed.annotations is not None and bool(listed.annotations.read_only_hint)
    cached = readonly if session.server.cache is None else session.server.cache
    behind = CachedSearch(search, store) if cached and store is not None else search

    async def function(**arguments: JsonValue) -> Found:
        kept = {key: value for key, value in arguments.items() if known is None or key in known}
        return await behind.search(pack(kept), MOST_PASSAGES)

    spec = ToolSpec(name=plain, description=about[:MOST_OF_A_DESCRIPTION], parameters=schema)
    return Tool(spec, function)


class McpSearch:
    """A tool as a back end: its arguments, packed into the query, so that the cache fits."""

    def __init__(self, session: McpSession, tool: str) -> None:
        self._call: Callable[[str, Arguments], Awaitable[CallToolResult]] = session.call
        self._tool = tool
        self._server = session.name
        self._most = session.server.max_characters
        self.source = f"mcp:{session.name}/{tool}"
        self.version = session.version

    async def search(self, query: str, k: int) -> Found:
        """The passages of one call. Raises `ToolError`: what the tool says went wrong, too."""
        result = await self._call(self._tool, unpack(query))
        passages, left_out = self._passages(result)
        if result.is_error:
            said = " ".join(" ".join(passage.text for passage in passages).split())
            raise ToolError("bad_query", shorten(said or "the tool reports an error", 300))
        if not passages:
            why = f"only {left_out}, which cannot be shown" if left_out else "nothing"
            raise ToolError("no_result", f"{self._tool} answered {why}; ask for something else")
        return Found(tuple(passages[:k]))

    def _passages(self, result: CallToolResult) -> tuple[list[Passage], str]:
        texts, left_out = list[tuple[str, str]](), list[str]()
        for block in result.content:
            match block.type:
                case "text":
                    texts.append((self._tool, block.text))
                case "resource" if (text := getattr(block.resource, "text", None)) is not None:
                    texts.append((str(block.resource.uri), text))
                case "resource_link":
                    texts.append((str(block.uri), f"{block.name}: {block.description or ''}"))
                case kind:
                    left_out.append(kind)
        if not texts and result.structured_content is not None:
            texts.append((self._tool, json.dumps(result.structured_content, ensure_ascii=False)))
        said = ", ".join(f"{left_out.count(kind)} {kind}" for kind in dict.fromkeys(left_out))
        if texts and said:
            texts[-1] = (texts[-1][0], f"{texts[-1][1]}\n[left out: {said}]")
        room = self._most // max(1, min(len(texts), MOST_PASSAGES))
        made = [self._passage(n, title, text, room) for n, (title, text) in enumerate(texts, 1)]
        return [passage for passage in made if passage.text.strip()], said

    def _passage(self, number: int, title: str, text: str, room: int) -> Passage:
        shown = clean_text(text)
        if len(shown) > room:
            shown = f"{shown[:room]} [... cut: {len(shown) - room} characters left out]"
        return Passage(
            document_id=f"{self._server}/{self._tool}#{number}"
            if title == self._tool
            else clean_text(title)[:500],
            source=f"mcp:{self._server}",
            title=clean_text(title)[:500],
            text=shown,
            start=0,
            end=len(shown),
        )


def pack(arguments: Arguments) -> str:
    """Arguments as a query that no folding of case or width changes."""
    return json.dumps(arguments, sort_keys=True).encode("ascii").hex()


def unpack(query: str) -> Arguments:
    """The arguments of a packed query."""
    arguments: Arguments = json.loads(bytes.fromhex(query))
    return arguments


def _schema(server: str, listed: ListedTool) -> Arguments:
    """The schema as the model may see it: every text in it inert."""
    schema = _inert(listed.input_schema)
    size = len(json.dumps(schema))
    if size > MOST_OF_A_SCHEMA or not isinstance(schema, dict):
        raise UserError(
            f"mcp.{server}: tool {shorten(listed.name)}: expected a schema of at most "
            f"{MOST_OF_A_SCHEMA} bytes, got {size}; leave it out by naming others in `tools`"
        )
    return {"type": "object", "properties": {}, **schema}


def _inert(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return inert(clean_text(value))
    if isinstance(value, list):
        return [_inert(item) for item in value]
    if isinstance(value, dict):
        return {inert(clean_text(key)): _inert(item) for key, item in value.items()}
    return value


def _known(schema: Arguments) -> frozenset[str] | None:
    """The arguments a tool takes; None where it takes any. Small models add crumbs."""
    properties = schema.get("properties")
    if not isinstance(properties, dict) or not properties or schema.get("additionalProperties"):
        return None
    return frozenset(properties)
