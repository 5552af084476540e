"""A connection to one MCP server, kept by a task of its own, opened again when the server dies.

The official client's scopes must be entered and left by one task; calls may come from any. A call
that is under way when the server dies fails and is not repeated: it may have had an effect.
"""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from openreward.errors import ToolError, UserError, shorten
from openreward.tools.mcp_settings import McpServer

if TYPE_CHECKING:
    from mcp.client import Client
    from mcp.types import CallToolResult, Tool

RESTARTS = 3  # over the life of a session
_MOST_LISTED = 10_000  # tools; a list without end is refused


class _Link(NamedTuple):
    client: Client
    closing: asyncio.Event
    owner: asyncio.Task[None]


class McpSession:
    """One server. Close it by `async with`; a child process ends with it."""

    def __init__(
        self,
        name: str,
        server: McpServer,
        variables: Mapping[str, str],
        headers: Mapping[str, str],
    ) -> None:
        self.name = name
        self.server = server
        self.restarts = 0
        self._variables, self._headers = dict(variables), dict(headers)
        self._link: _Link | None = None
        self._opening = asyncio.Lock()

    async def __aenter__(self) -> McpSession:
        await self._connected()
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self._close()

    @property
    def version(self) -> str:
        """What its answers depend on, as it says of itself."""
        info = self._link.client.server_info if self._link else None
        return f"{info.name} {info.version}" if info else "unknown"

    async def tools(self) -> list[Tool]:
        """All its tools. Raises `UserError` when it does not tell."""
        link, found, cursor = await self._connected(), list[Any](), None
        try:
            async with asyncio.timeout(self.server.seconds):
                while len(found) < _MOST_LISTED:
                    page = await link.client.list_tools(cursor=cursor)
                    found += page.tools
                    cursor = page.next_cursor
                    if not cursor:
                        return found
        except _failures() as error:
            raise UserError(f"mcp.{self.name}: cannot list its tools: {_told(error)}") from None
        raise UserError(f"mcp.{self.name}: expected at most {_MOST_LISTED} tools, got more")

    async def call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        """What a tool answers. Raises `ToolError`: `unavailable` where server or protocol fail."""
        from mcp.shared.exceptions import MCPError

        link = await self._connected_for_call()
        try:
            return await link.client.call_tool(tool, arguments)
        except MCPError as error:
            if not link.owner.done() and error.code == _invalid_params():
                said = shorten(" ".join(error.message.split()), 300)
                raise ToolError("bad_query", f"{self.name} refuses the call: {said}") from None
            failed: Exception = error
        except _failures() as error:
            failed = error
        if link.owner.done() or _is_closed(failed):
            await self._drop(link)
        raise ToolError(
            "unavailable", f"{self.name} failed: {_told(failed)}; go on without it"
        ) from None

    async def _connected_for_call(self) -> _Link:
        try:
            return await self._connected()
        except UserError as error:
            raise ToolError("unavailable", f"{error}; go on without it") from None

    async def _connected(self) -> _Link:
        async with self._opening:
            if self._link is not None and self._link.owner.done():
                self._link = None
            if self._link is None:
                if self.restarts > RESTARTS:
                    raise UserError(f"mcp.{self.name}: the server died {self.restarts} times")
                self._link = await self._open()
                self.restarts += 1
            return self._link

    async def _drop(self, link: _Link) -> None:
        async with self._opening:
            if self._link is link:
                self._link = None
        await _end(link.owner, link.closing)

    async def _close(self) -> None:
        if self._link is not None:
            link, self._link = self._link, None
            await _end(link.owner, link.closing)

    async def _open(self) -> _Link:
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        closing = asyncio.Event()
        with tempfile.TemporaryFile("w+", errors="replace") as log:
            owner = asyncio.create_task(self._own(ready, closing, log))
            try:
                async with asyncio.timeout(self.server.seconds):
                    either: list[asyncio.Future[Any]] = [ready, owner]
                    await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if ready.done():
                    return _Link(ready.result(), closing, owner)
                reason = _told(owner.exception())
            except TimeoutError:
                reason = f"no answer within {self.server.seconds:g} s"
            finally:
                if not ready.done():
                    await _end(owner, closing)
                    ready.cancel()
            raise UserError(
                f"mcp.{self.name}: expected an MCP server at {self._where()}, got: {reason}"
                f"{_last_words(log)}; start it by hand to see, or take it out of the settings"
            )

    async def _own(self, ready: asyncio.Future[Client], closing: asyncio.Event, log: Any) -> None:
        """Holds the connection until it is to close; whoever opens waits for `ready`."""
        from mcp.client import Client

        async with self._transport(log) as transport, Client(transport) as client:
            if not ready.done():
                ready.set_result(client)
            await closing.wait()

    @contextlib.asynccontextmanager
    async def _transport(self, log: Any) -> AsyncIterator[Any]:
        if self.server.command is not None:
            from mcp.client.stdio import StdioServerParameters, stdio_client

            started = StdioServerParameters(
                command=self.server.command,
                args=list(self.server.args),
                env=self._variables,
                encoding_error_handler="replace",
            )
            yield stdio_client(started, log)
            return
        import httpx2
        from mcp.client.streamable_http import streamable_http_client

        limits = httpx2.Timeout(self.server.seconds, read=300.0)
        async with httpx2.AsyncClient(headers=self._headers, timeout=limits) as http:
            yield streamable_http_client(self.server.url or "", http_client=http)

    def _where(self) -> str:
        if self.server.command is not None:
            return shorten(" ".join([self.server.command, *self.server.args]))
        return shorten(self.server.url)


async def _end(owner: asyncio.Task[None], closing: asyncio.Event) -> None:
    """Let the owner leave its scopes; one that does not is cancelled."""
    closing.set()
    done, _ = await asyncio.wait([owner], timeout=5.0)
    if not done:
        owner.cancel()
        await asyncio.wait([owner], timeout=5.0)
    if owner.done() and not owner.cancelled():
        owner.exception()  # seen: a dead server leaves one


def _failures() -> tuple[type[Exception], ...]:
    """What the official client raises when a server or the way to it fails."""
    import anyio
    import httpx2
    from mcp.client import InputRequiredRoundsExceededError
    from mcp.shared.exceptions import MCPError

    return (
        MCPError,
        InputRequiredRoundsExceededError,
        anyio.ClosedResourceError,
        anyio.BrokenResourceError,
        anyio.EndOfStream,
        httpx2.HTTPError,
        OSError,  # a timeout too
        RuntimeError,
        ValueError,
    )


def _is_closed(error: Exception) -> bool:
    from mcp.shared.exceptions import MCPError
    from mcp.types import CONNECTION_CLOSED

    return not isinstance(error, MCPError) or error.code == CONNECTION_CLOSED


def _invalid_params() -> int:
    from mcp.types import INVALID_PARAMS

    return INVALID_PARAMS


def _told(error: BaseException | None) -> str:
    """An error in one line; of a group its first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    said = " ".join(str(error).split()) if error is not None else ""
    return shorten(said, 200) if said else type(error).__name__


def _last_words(log: Any) -> str:
    """The end of what a server wrote to its standard error."""
    log.seek(0)
    said = " ".join(log.read()[-4000:].split())
    return f" (it wrote: {shorten(said[-300:], 300)})" if said else ""
