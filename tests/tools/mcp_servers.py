"""Real MCP servers for tests: a child process by stdio, another by HTTP on loopback."""

from __future__ import annotations

import asyncio
import contextlib
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

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


def of_script(name: str, *args: str, **changed: object) -> McpServer:
    """Another server of this folder, as a child process."""
    script = str(Path(__file__).with_name(name))
    given = {"command": sys.executable, "args": (script, *args)}
    return McpServer.model_validate({**given, **changed})


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


@contextlib.contextmanager
def http_library(port: int | None = None, mode: str = "http") -> Iterator[str]:
    """The library as an HTTP server; gives its address."""
    port = port or free_port()
    command = [sys.executable, SCRIPT, mode, str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
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


def text_of(result: ToolResult) -> str:
    return "\n".join(passage.text for passage in result.passages)


def process_of(result: ToolResult) -> int:
    """The process that answered; servers of the tests say it in their text."""
    found = re.search(r"process (\d+)", text_of(result))
    assert found is not None, text_of(result)
    return int(found[1])


def children() -> set[int]:
    """The child processes that this one has now."""
    return {child.pid for child in psutil.Process().children(recursive=True)}
