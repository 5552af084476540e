"""Real MCP servers for tests: a child process by stdio, another by HTTP on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from openreward.tools.base import Tool, run_call
from openreward.tools.cache import DiskStore
from openreward.tools.mcp_settings import McpServer
from openreward.tools.mcp_tools import open_mcp
from openreward.types import ToolCall, ToolResult

SCRIPT = str(Path(__file__).with_name("mcp_library_server.py"))


def by_stdio(**changed: object) -> McpServer:
    """The library as a child process."""
    given = {"command": sys.executable, "args": (SCRIPT, "stdio"), "tools": ("find_book",)}
    return McpServer.model_validate({**given, **changed})


@contextlib.contextmanager
def http_library() -> Iterator[str]:
    """The library as an HTTP server; gives its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, SCRIPT, "http", str(port)]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        try:
            _wait_for(port, process)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, "the server ended before it listened"
        time.sleep(0.1)
    raise AssertionError("the server does not listen")


def called(
    server: McpServer,
    *calls: tuple[str, dict[str, object]],
    store: DiskStore | None = None,
    seconds: float = 30.0,
) -> list[ToolResult]:
    """The results of calls, one after the other, in one session."""

    async def run() -> list[ToolResult]:
        async with open_mcp({"library": server}, {}, store) as opened:
            return [await ask(opened.tools, name, seconds, **given) for name, given in calls]

    return asyncio.run(run())


async def ask(tools: list[Tool], name: str, seconds: float, **arguments: object) -> ToolResult:
    """One call as the agent loop makes it."""
    by_name = {tool.spec.name: tool for tool in tools}
    call = ToolCall.model_validate({"id": "c1", "name": name, "arguments": arguments})
    return await run_call(by_name, call, seconds)
