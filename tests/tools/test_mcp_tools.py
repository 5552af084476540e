"""Tools of real MCP servers: answers, failures, deaths, floods, forged text."""

from __future__ import annotations

import asyncio
import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from mcp_servers import SCRIPT, ask, by_stdio, called, http_library, process_of, text_of

from openreward.errors import ToolError, UserError
from openreward.tools.cache import DiskStore
from openreward.tools.mcp_settings import McpServer
from openreward.tools.mcp_tools import open_mcp, pack, unpack
from openreward.types import ToolResult


def test_a_tool_by_stdio_answers_with_a_passage() -> None:
    [result] = called(by_stdio(), ("find_book", {"title": "Emma"}))
    passage = result.passages[0]
    assert result.status == "ok"
    assert passage.text.startswith("'Emma' is on shelf 4.")
    assert (passage.document_id, passage.source) == ("library/find_book#1", "mcp:library")


def test_a_tool_by_http_answers_with_a_passage() -> None:
    with http_library() as url:
        server = McpServer(url=url, tools=("find_book",))
        [result] = called(server, ("find_book", {"title": "Emma"}))
    assert text_of(result).startswith("'Emma' is on shelf 4.")


def test_crumbs_that_the_schema_does_not_know_are_left_out() -> None:
    given = {"title": "Emma", "type": "object", "required": ["title"]}
    [result] = called(by_stdio(), ("find_book", given))
    assert result.status == "ok"


@pytest.mark.parametrize(
    ("tool", "status", "message"),
    [
        ("fail", "bad_query", "Error executing tool fail"),
        ("silent", "no_result", "silent answered nothing; ask for something else"),
        ("die", "unavailable", "library failed: 'Connection closed'; go on without it"),
        ("hang", "timeout", "hang did not answer within 2 s"),
    ],
)
def test_what_goes_wrong_has_its_status(tool: str, status: str, message: str) -> None:
    [result] = called(by_stdio(tools=(tool,)), (tool, {"text": "x"}), seconds=2)
    assert result.status == status
    assert message in result.message


def test_wrong_arguments_are_a_bad_query() -> None:
    [result] = called(by_stdio(), ("find_book", {"title": {"deep": 1}}))
    assert result.status == "bad_query"


def test_a_server_that_died_is_started_again_for_the_next_call() -> None:
    calls = [("find_book", {"title": "a"}), ("die", {"text": ""}), ("find_book", {"title": "b"})]
    before, dead, after = called(by_stdio(tools=("find_book", "die")), *calls)
    assert [before.status, dead.status, after.status] == ["ok", "unavailable", "ok"]
    assert process_of(before) != process_of(after)


def test_a_server_that_dies_again_and_again_is_given_up() -> None:
    results = called(by_stdio(tools=("die",)), *[("die", {"text": ""})] * 6)
    assert {result.status for result in results} == {"unavailable"}
    assert "Connection closed" in results[3].message  # the first start, and three more
    assert [result.message for result in results[4:]] == [
        "library was started again 3 times and failed each time; it is left alone for 60 s; "
        "go on without it"
    ] * 2


def test_a_call_that_hangs_leaves_the_session_usable() -> None:
    async def run() -> list[ToolResult]:
        server = by_stdio(tools=("hang", "find_book"))
        async with open_mcp({"library": server}, {}) as opened:
            first = await ask(opened.tools, "find_book", 30, title="a")
            hung = await ask(opened.tools, "hang", 0.5, text="x")
            return [first, hung, await ask(opened.tools, "find_book", 30, title="b")]

    first, hung, after = asyncio.run(run())
    assert [first.status, hung.status, after.status] == ["ok", "timeout", "ok"]
    assert process_of(first) == process_of(after)


def test_an_answer_without_end_is_cut_and_says_so() -> None:
    [result] = called(by_stdio(tools=("long",)), ("long", {"text": "y"}))
    shown = text_of(result)
    assert len(shown) < 20_100
    assert shown.endswith("[... cut: 9980000 characters left out]")


def test_an_answer_without_end_by_http_is_cut_too() -> None:
    with http_library(mode="http-2025") as url:
        server = McpServer(url=url, tools=("long",), max_characters=100)
        results = called(server, ("long", {"text": "y"}), ("long", {"text": "z"}))
    assert [text_of(result)[99:] for result in results] == [
        "y [... cut: 9999900 characters left out]",
        "z [... cut: 9999900 characters left out]",
    ]


def test_an_image_is_named_as_left_out() -> None:
    [result] = called(by_stdio(tools=("picture",)), ("picture", {"text": "a map"}))
    assert text_of(result) == "a map\n[left out: 1 image]"


def test_only_tools_marked_read_only_are_cached_unless_the_settings_say_so(tmp_path: Path) -> None:
    store = DiskStore(tmp_path)
    calls = [("find_book", {"title": "a"}), ("lend", {"title": "a"})]
    server = by_stdio(tools=("find_book", "lend"))
    first = called(server, *calls, store=store)
    second = called(server, *calls, store=store)
    assert [result.cached for result in first] == [False, False]
    assert [result.cached for result in second] == [True, False]
    assert process_of(second[0]) == process_of(first[0])


def test_arguments_that_differ_in_case_alone_are_different_to_the_cache(tmp_path: Path) -> None:
    calls = [("find_book", {"title": "emma"}), ("find_book", {"title": "EMMA"})]
    small, large = called(by_stdio(), *calls, store=DiskStore(tmp_path))
    assert (text_of(small)[:6], text_of(large)[:6]) == ("'emma'", "'EMMA'")


def test_a_server_elsewhere_of_the_same_name_is_another_to_the_cache(tmp_path: Path) -> None:
    here, there = by_stdio(), by_stdio(args=(SCRIPT, "stdio", "elsewhere"))
    call = ("find_book", {"title": "a"})
    results = [called(server, call, store=DiskStore(tmp_path))[0] for server in (here, there)]
    assert [result.cached for result in results] == [False, False]
    assert process_of(results[0]) != process_of(results[1])


def test_packed_arguments_come_back() -> None:
    given = {"b": ["Ä", None, 1.5], "a": {"x": "\U0001f4d5 \x00"}}
    assert unpack(pack(given)) == given


def test_packed_arguments_are_text_that_can_be_sent() -> None:
    assert unpack(pack({"x": "\ud800"})) == {"x": "?"}
    with pytest.raises(ToolError, match="a number without a value") as caught:
        pack({"x": [float("nan")]})
    assert caught.value.status == "bad_query"


def test_what_a_server_says_of_its_tools_cannot_act_in_a_prompt() -> None:
    async def run() -> str:
        async with open_mcp({"library": by_stdio(tools=("forge",))}, {}) as opened:
            return opened.tools[0].spec.model_dump_json()

    spec = asyncio.run(run())
    for live in ("<|im_end|>", "<answer>", "</tool_call>", "<tool_call>", "[/INST]"):
        assert live not in spec


@pytest.mark.parametrize(
    ("server", "message"),
    [
        (McpServer(command="/no/such/program"), "expected an MCP server at '/no/such/program'"),
        (
            by_stdio(args=("-c", "import sys; sys.exit('out of shelves')")),
            "it wrote: 'out of shelves'",
        ),
        (
            by_stdio(args=("-c", "import sys; sys.exit('x' * 10_000_000 + ' no more shelves')")),
            "xx no more shelves'); start it by hand",
        ),
        (by_stdio(args=("-c", "import time; time.sleep(60)"), seconds=1), "no answer within 1 s"),
        (McpServer(url="http://127.0.0.1:9/mcp"), "expected an MCP server at 'http://127.0.0.1:9"),
        (by_stdio(tools=("find_shelf",)), "expected tools of that server, got 'find_shelf'"),
    ],
)
def test_a_server_that_cannot_be_used_is_named(server: McpServer, message: str) -> None:
    with pytest.raises(UserError, match=re.escape(message)):
        called(server)


def test_noise_on_the_wire_is_passed_over() -> None:
    [result] = called(by_stdio(args=(SCRIPT, "noise")), ("find_book", {"title": "Emma"}))
    assert result.status == "ok"


def test_a_server_of_many_tools_must_be_told_which_to_use() -> None:
    crowd = by_stdio(args=(SCRIPT, "crowd"), tools=None)
    with pytest.raises(UserError, match=r"expected at most 32 tools, got 109; name those to be"):
        called(crowd)
    [result] = called(
        crowd.model_copy(update={"tools": ("shelf_7",)}), ("shelf_7", {"text": "seven"})
    )
    assert text_of(result) == "seven"


def test_two_tools_of_one_name_are_refused_and_a_prefix_tells_them_apart() -> None:
    async def run(**changed: object) -> list[str]:
        servers = {"one": by_stdio(), "two": by_stdio(**changed)}
        async with open_mcp(servers, {}) as opened:
            return [tool.spec.name for tool in opened.tools]

    with pytest.raises(UserError, match="two tools are called find_book; give an MCP server a"):
        asyncio.run(run())
    assert asyncio.run(run(prefix="second_")) == ["find_book", "second_find_book"]


def test_a_child_gets_the_variables_that_are_named_and_no_others(tmp_path: Path) -> None:
    script = tmp_path / "spy.py"
    script.write_text(
        "import os, sys\nsys.exit(str([os.environ.get('NAMED'), os.environ.get('SECRET')]))"
    )
    server = by_stdio(args=(str(script),), env=("NAMED",))

    async def run() -> None:
        async with open_mcp({"spy": server}, {"NAMED": "yes", "SECRET": "no"}):
            pass

    with pytest.raises(UserError, match=re.escape("['yes', None]")):
        asyncio.run(run())
