"""One connection to an MCP server, held by a task of its own from its opening to its end.

The official client's scopes must be entered and left by one task; calls may come from any.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from openreward.errors import UserError, shorten
from openreward.tools.mcp_lines import Lines
from openreward.tools.mcp_settings import McpServer

if TYPE_CHECKING:
    from mcp.client import Client
    from mcp.types import Tool

MOST_LISTED = 10_000  # tools; a list without end is refused
MOST_OF_AN_EVENT = 64_000_000  # bytes of one answer over HTTP
_LONGEST_READ = 300.0  # seconds without a byte from an HTTP server; calls end before
_TO_PROBE = 2.0  # seconds a server has to say that it is there
_TO_LEAVE = 8.0  # seconds; the client gives a child 2 to end, 2 after SIGTERM, then kills it


class Secrets(NamedTuple):
    """What a server is given: variables by stdio, headers by HTTP."""

    variables: Mapping[str, str]
    headers: Mapping[str, str]


class Link:
    """An open connection. `doubtful` after a call without an answer; `busy` counts calls."""

    def __init__(self, client: Client, tools: list[Tool], owner: _Owner) -> None:
        self.client = client
        self.tools = tools
        self.doubtful = False
        self.busy = 0
        self._owner = owner

    @property
    def version(self) -> str:
        """What its answers depend on, as it says of itself."""
        info = self.client.server_info
        return f"{info.name} {info.version}" if info else "unknown"

    @property
    def ended(self) -> bool:
        """Whether it is known that the connection is no more."""
        return self._owner.task.done() or self._owner.lines.ended

    async def is_there(self) -> bool:
        """Whether the server answers a ping; one that answers with an error is there too."""
        from mcp.shared.exceptions import MCPError

        try:
            async with asyncio.timeout(_TO_PROBE):
                await self.client.session.send_ping()
        except MCPError as error:
            return error.code not in _lost()
        except failures():
            return False
        return True

    def close(self) -> None:
        """Let the connection end, and the child process with it; `end` waits for that."""
        self._owner.closing.set()


async def open_link(
    name: str, server: McpServer, secrets: Secrets, owners: set[asyncio.Task[None]]
) -> Link:
    """Connect and list the tools. Raises `UserError` for a server that cannot be used.

    The task that holds the connection is in `owners` as long as it runs, also after a failure.
    """
    owner = _Owner(server, secrets)
    owners.add(owner.task)
    owner.task.add_done_callback(owners.discard)
    try:
        async with asyncio.timeout(server.seconds):
            client = await asyncio.shield(owner.ready)
            return Link(client, await _list_tools(client), owner)
    except TimeoutError:
        reason = f"no answer within {server.seconds:g} s"
    except failures() as error:
        reason = told(owner.failure() or error)
    except asyncio.CancelledError:
        owner.task.cancel()
        await end({owner.task})
        raise
    owner.task.cancel()
    await end({owner.task})
    raise UserError(
        f"mcp.{name}: expected an MCP server at {_where(server)}, got: {reason}"
        f"{owner.last_words()}; start it by hand to see, or take it out of the settings"
    )


async def end(owners: set[asyncio.Task[None]]) -> None:
    """Wait until connections that were closed or cancelled are gone; cancel those that stay."""
    for _ in range(2):
        if not owners:
            return
        _, owners = await asyncio.wait(owners, timeout=_TO_LEAVE)
        for task in owners:
            task.cancel()


class _Owner:
    """The task that enters and leaves the client's scopes."""

    def __init__(self, server: McpServer, secrets: Secrets) -> None:
        self.ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self.closing = asyncio.Event()
        self.lines = Lines()
        self.task = asyncio.create_task(self._own(server, secrets))
        self.task.add_done_callback(self._done)
        self._heard = ""

    def failure(self) -> BaseException | None:
        """What ended the task, if it failed."""
        gone = self.task.done() and not self.task.cancelled()
        return self.task.exception() if gone else None

    def last_words(self) -> str:
        """The end of what the server wrote to its standard error, for a message."""
        return f" (it wrote: {shorten(self._heard, 300)})" if self._heard else ""

    async def _own(self, server: McpServer, secrets: Secrets) -> None:
        from mcp.client import Client

        with tempfile.TemporaryFile() as log:
            try:
                streams = _streams(server, secrets, log, self.lines)
                async with Client(streams) as client:
                    self.ready.set_result(client)
                    await self.closing.wait()
            finally:
                log.seek(max(0, log.seek(0, 2) - 4000))
                self._heard = " ".join(log.read().decode("utf-8", "replace").split())[-300:]

    def _done(self, task: asyncio.Task[None]) -> None:
        """Sees how the task ended, so that asyncio does not report it unseen."""
        failure = self.failure()
        if not self.ready.done():
            self.ready.set_exception(ConnectionError(told(failure) if failure else "it ended"))
            self.ready.exception()


@contextlib.asynccontextmanager
async def _streams(
    server: McpServer, secrets: Secrets, log: Any, lines: Lines
) -> AsyncIterator[Any]:
    if server.command is not None:
        from mcp.client.stdio import StdioServerParameters, stdio_client

        started = StdioServerParameters(
            command=server.command,
            args=list(server.args),
            env=dict(secrets.variables),
            encoding_error_handler="replace",
        )
        async with stdio_client(started, log) as (reading, writing):
            yield lines.of(reading), writing
        return
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    limits = httpx2.Timeout(server.seconds, read=_LONGEST_READ)
    headers = dict(secrets.headers)
    async with httpx2.AsyncClient(headers=headers, timeout=limits, trust_env=False) as http:
        url = server.url or ""
        way = streamable_http_client(url, http_client=http, max_sse_event_size=MOST_OF_AN_EVENT)
        async with way as streams:
            yield streams


async def _list_tools(client: Client) -> list[Tool]:
    found: list[Tool] = []
    cursor = None
    while len(found) < MOST_LISTED:
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor:
            return found
    raise ValueError(f"more than {MOST_LISTED} tools")


def failures() -> tuple[type[Exception], ...]:
    """What the official client raises when a server or the way to it fails."""
    import anyio
    import httpx2
    from mcp.shared.exceptions import MCPError

    return (
        MCPError,
        anyio.ClosedResourceError,
        anyio.BrokenResourceError,
        anyio.EndOfStream,
        httpx2.HTTPError,
        OSError,  # a timeout too
        RuntimeError,
        ValueError,  # an answer that is not of the protocol
    )


def _lost() -> tuple[int, ...]:
    """Codes of a connection or session that is no more; servers do not agree on one."""
    from mcp.types import CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT

    return CONNECTION_CLOSED, INVALID_REQUEST, REQUEST_TIMEOUT


def told(error: BaseException) -> str:
    """An error in one line; of a group its first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    said = " ".join(str(error).split())
    return shorten(said, 200) if said else type(error).__name__


def _where(server: McpServer) -> str:
    """The server's place; of an address no user name and no query, which may be secrets."""
    if server.url is None:
        return shorten(" ".join([server.command or "", *server.args]))
    parts = urlsplit(server.url)
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="")
    return shorten(bare.geturl())
