"""A session with one MCP server: calls, and what is done when the server dies or falls silent.

A call that is under way when the server dies fails and is not repeated: it may have had an effect.
After a call without an answer, or a long pause, the server is asked whether it is there; one that
is not is opened anew, up to `RESTARTS` times in a row with growing pauses, then once a minute.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from openreward.errors import ToolError, UserError, shorten
from openreward.tools.mcp_link import Link, Secrets, end, failures, open_link, told
from openreward.tools.mcp_settings import McpServer

if TYPE_CHECKING:
    from mcp.types import CallToolResult, Tool

_log = logging.getLogger(__name__)
RESTARTS = 3  # without an answered call between them
_FIRST_PAUSE = 0.25  # seconds before a restart, doubled each time
_REST = 60.0  # seconds that a server is left alone when it was restarted so often
_LONG_AGO = 30.0  # seconds after which a server may have gone unseen


class McpSession:
    """One server, from `open` to `close`; a child process ends with it."""

    def __init__(self, name: str, server: McpServer, secrets: Secrets) -> None:
        self.name = name
        self.server = server
        self.version = "unknown"
        self.tools: list[Tool] = []
        self._secrets = secrets
        self._link: Link | None = None
        self._opening = asyncio.Lock()
        self._restarts = 0
        self._opened = self._answered = 0.0
        self._owners: set[asyncio.Task[None]] = set()
        self._closed = False

    async def open(self) -> None:
        """Connect. Raises `UserError` for a server that cannot be used."""
        self._link = await open_link(self.name, self.server, self._secrets, self._owners)
        self.version, self.tools = self._link.version, self._link.tools
        self._opened = self._answered = time.monotonic()

    async def close(self) -> None:
        """End the connection, and wait until it is gone."""
        self._closed = True
        self._drop()
        await end(set(self._owners))

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """What a tool answers. Raises `ToolError`: `unavailable` where server or protocol fail."""
        from mcp.shared.exceptions import MCPError
        from mcp.types import INVALID_PARAMS

        link = await self._connected()
        link.busy += 1
        try:
            result = await _ask(link, tool, arguments)
        except MCPError as error:
            if error.code == INVALID_PARAMS:
                self._was_answered(link)
                said = shorten(" ".join(error.message.split()), 300)
                raise ToolError("bad_query", f"{self.name} refuses the call: {said}") from None
            raise self._failed(link, told(error)) from None
        except failures() as error:
            raise self._failed(link, told(error)) from None
        except asyncio.CancelledError:
            link.doubtful = True
            raise
        finally:
            link.busy -= 1
        self._was_answered(link)
        if result is None:
            raise ToolError(
                "unavailable",
                f"{self.name} asks for input, which is not given; go on without it",
            )
        return result

    def _was_answered(self, link: Link) -> None:
        link.doubtful, self._restarts, self._answered = False, 0, time.monotonic()

    def _failed(self, link: Link, why: str) -> ToolError:
        link.doubtful = True
        return ToolError("unavailable", f"{self.name} failed: {why}; go on without it")

    async def _connected(self) -> Link:
        async with self._opening:
            if self._closed:
                raise ToolError("unavailable", f"{self.name} is closed; go on without it")
            if self._link is not None and not await self._is_usable(self._link):
                self._drop()
            if self._link is None:
                self._link = await self._reopened()
            return self._link

    async def _is_usable(self, link: Link) -> bool:
        if link.ended:
            return False
        if link.busy:  # it may be slow for those; when they end without an answer it is asked
            return True
        long_ago = time.monotonic() - self._answered > _LONG_AGO
        if not (link.doubtful or long_ago):
            return True
        usable = await link.is_there()
        if usable:
            link.doubtful, self._answered = False, time.monotonic()
        return usable

    async def _reopened(self) -> Link:
        if self._restarts >= RESTARTS and time.monotonic() - self._opened < _REST:
            raise ToolError(
                "unavailable",
                f"{self.name} was started again {RESTARTS} times and failed each time; it is left "
                f"alone for {_REST:g} s; go on without it",
            )
        await asyncio.sleep(_FIRST_PAUSE * 2 ** min(self._restarts, RESTARTS))
        self._restarts += 1
        self._opened = time.monotonic()
        try:
            link = await open_link(self.name, self.server, self._secrets, self._owners)
        except UserError as error:
            _log.warning("%s", error)  # for the operator; the model is not told of our machine
            raise ToolError(
                "unavailable", f"{self.name} cannot be reached; go on without it"
            ) from None
        self._answered = time.monotonic()
        return link

    def _drop(self) -> None:
        """Let go of the connection; it ends beside what comes next."""
        if self._link is not None:
            self._link.close()
            self._link = None


async def _ask(link: Link, tool: str, arguments: Mapping[str, Any]) -> CallToolResult | None:
    """One request; None where the server asks for input first.

    Past the client's `call_tool`: it validates answers by the server's own schema, whose patterns
    could hold the event loop for as long as the server likes, and serves what the server asks.
    """
    from mcp.types import (
        CallToolRequest,
        CallToolRequestParams,
        CallToolResult,
        InputRequiredResult,
    )
    from pydantic import TypeAdapter

    request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments)))
    answer: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(
        CallToolResult | InputRequiredResult
    )
    result = await link.client.session.send_request(request, answer)
    return None if isinstance(result, InputRequiredResult) else result
