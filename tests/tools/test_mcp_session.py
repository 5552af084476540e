"""Sessions with MCP servers: opened and ended together, opened anew when a server is lost."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from mcp_servers import (
    SCRIPT,
    ask,
    by_stdio,
    called,
    children,
    free_port,
    http_library,
    of_script,
    process_of,
)

from openreward.errors import UserError
from openreward.judge import Judge
from openreward.policy.scripted import ScriptedPolicy
from openreward.tools.mcp_settings import McpServer
from openreward.tools.mcp_tools import open_mcp
from openreward.types import ToolResult

NEVER_READY = by_stdio(args=("-c", "import time; time.sleep(60)"))
EMMA = {"title": "Emma"}
HANG = '<tool_call>{"name": "hang", "arguments": {"text": "x"}}</tool_call>'


async def gone(processes: set[int]) -> None:
    """Wait until none of them is a child any more; a test's time limit ends the wait."""
    while children() & processes:
        await asyncio.sleep(0.05)


async def a_new_child(before: set[int]) -> set[int]:
    while not (new := children() - before):
        await asyncio.sleep(0.05)
    return new


def test_servers_are_opened_at_once(tmp_path: Path) -> None:
    """Each of the two waits for the other before it speaks."""

    def waiting(own: str, other: str) -> McpServer:
        code = (
            f"import pathlib, runpy, sys, time; pathlib.Path({own!r}).touch()\n"
            f"while not pathlib.Path({other!r}).exists(): time.sleep(0.02)\n"
            f"sys.argv = ['x', 'stdio']; runpy.run_path({SCRIPT!r}, run_name='__main__')"
        )
        return by_stdio(args=("-c", code), prefix=Path(own).name)

    one, two = str(tmp_path / "one_"), str(tmp_path / "two_")

    async def run() -> list[str]:
        servers = {"one": waiting(one, two), "two": waiting(two, one)}
        async with open_mcp(servers, {}) as opened:
            return [tool.spec.name for tool in opened.tools]

    assert asyncio.run(run()) == ["one_find_book", "two_find_book"]


def test_a_server_that_cannot_start_ends_the_others_and_is_the_one_named() -> None:
    async def run() -> None:
        servers = {"good": by_stdio(), "slow": NEVER_READY, "bad": McpServer(command="/no/such")}
        async with open_mcp(servers, {}):
            pass

    before = children()
    with pytest.raises(UserError, match=r"^mcp\.bad: "):
        asyncio.run(run())
    assert children() - before == set()


def test_a_start_that_is_cancelled_leaves_no_process() -> None:
    async def run() -> None:
        before = children()

        async def use() -> None:
            async with open_mcp({"slow": NEVER_READY}, {}):
                pass

        task = asyncio.create_task(use())
        new = await a_new_child(before)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert children() & new == set()

    asyncio.run(run())


def test_a_judgement_that_is_cancelled_in_a_call_leaves_no_process() -> None:
    async def run() -> None:
        before = children()

        async def use() -> None:
            async with open_mcp({"library": by_stdio(tools=("hang",))}, {}) as opened:
                judge = Judge(ScriptedPolicy([HANG]), opened.tools)
                calling.set()
                await judge.compare("Where is 'Emma'?", "On shelf 4.", "On shelf 5.")

        calling = asyncio.Event()
        task = asyncio.create_task(use())
        await calling.wait()
        await asyncio.sleep(0.2)
        assert len(children() - before) == 1
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert children() - before == set()

    asyncio.run(run())


def test_a_tool_does_nothing_after_its_session_has_ended() -> None:
    async def run() -> ToolResult:
        async with open_mcp({"library": by_stdio()}, {}) as opened:
            pass
        return await ask(opened.tools, "find_book", 10, **EMMA)

    before = children()
    result = asyncio.run(run())
    assert (result.status, result.message) == (
        "unavailable",
        "library is closed; go on without it",
    )
    assert children() - before == set()


def test_a_server_that_ended_between_two_calls_is_opened_anew_for_the_second() -> None:
    async def run() -> list[ToolResult]:
        server = of_script("mcp_odd_server.py", "plain", tools=("vanish", "who"))
        async with open_mcp({"odd": server}, {}) as opened:
            first = await ask(opened.tools, "vanish", 10)
            await gone({process_of(first)})
            return [first, await ask(opened.tools, "who", 30)]

    first, second = asyncio.run(run())
    assert (first.status, second.status) == ("ok", "ok")
    assert process_of(first) != process_of(second)


def test_a_server_that_is_frozen_costs_one_call_and_is_opened_anew() -> None:
    async def run() -> list[ToolResult]:
        server = of_script("mcp_odd_server.py", "plain", tools=("freeze", "who"))
        async with open_mcp({"odd": server}, {}) as opened:
            first = await ask(opened.tools, "who", 30)
            frozen = await ask(opened.tools, "freeze", 1)
            return [first, frozen, await ask(opened.tools, "who", 30)]

    before = children()
    first, frozen, second = asyncio.run(run())
    assert [first.status, frozen.status, second.status] == ["ok", "timeout", "ok"]
    assert process_of(first) != process_of(second)
    assert children() - before == set()


def test_an_answer_between_two_deaths_makes_the_second_the_first() -> None:
    """A long run with a server that dies now and then goes on."""
    calls = [("die", {"text": ""}), ("find_book", EMMA)] * 4
    results = called(by_stdio(tools=("find_book", "die")), *calls)
    assert [result.status for result in results] == ["unavailable", "ok"] * 4


@pytest.mark.parametrize("mode", ["http", "http-2025"])
def test_an_http_server_that_went_and_came_back_is_used_again(mode: str) -> None:
    """The older protocol has sessions, and a server that came back knows none of before."""
    port = free_port()

    async def run() -> list[str]:
        with http_library(port, mode) as url:
            server = McpServer(url=url, tools=("find_book",))
            mcp = open_mcp({"library": server}, {})
            opened = await mcp.__aenter__()
            results = [await ask(opened.tools, "find_book", 10, **EMMA)]
        try:
            results.append(await ask(opened.tools, "find_book", 10, **EMMA))
            with http_library(port, mode):
                results.append(await ask(opened.tools, "find_book", 10, **EMMA))
            with http_library(port, mode):
                results += [await ask(opened.tools, "find_book", 10, **EMMA) for _ in range(2)]
        finally:
            await mcp.__aexit__(None, None, None)
        return [result.status for result in results]

    first, down, up, *restarted = asyncio.run(run())
    assert (first, down, up, restarted[-1]) == ("ok", "unavailable", "ok", "ok")
