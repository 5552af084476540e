"""Odd answers and odd manners of MCP servers: what they ask for, how they flood, what they cut."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from mcp_servers import ask, called, of_script, text_of

from openreward.tools.mcp_tools import open_mcp
from openreward.types import ToolResult, ToolSpec

ODD = of_script("mcp_odd_server.py", "plain")
OLD = of_script("mcp_old_server.py")


@pytest.fixture(scope="module")
def odd() -> dict[str, ToolResult]:
    """One call of each of some tools, in one session."""
    names = ("many", "blank", "slow_to_check", "resources", "more")
    results = called(ODD, *[(name, {}) for name in names])
    return dict(zip(names, results, strict=True))


def test_of_many_texts_the_first_are_shown_and_the_others_counted(
    odd: dict[str, ToolResult],
) -> None:
    texts = [passage.text for passage in odd["many"].passages]
    assert texts[:7] == [f"text {n}" for n in range(1, 8)]
    assert texts[7:] == ["text 8\n[left out: 12 more texts]"]


def test_structured_content_is_shown_where_the_text_is_blank(odd: dict[str, ToolResult]) -> None:
    assert text_of(odd["blank"]) == '{"shelf": "vier ≤ 5"}'


def test_an_answer_is_not_checked_by_the_servers_own_pattern(odd: dict[str, ToolResult]) -> None:
    """It would take longer than the universe has, in the middle of the event loop."""
    assert text_of(odd["slow_to_check"]) == "done"


def test_resources_keep_their_address_and_what_is_no_text_is_named(
    odd: dict[str, ToolResult],
) -> None:
    assert [(p.document_id, p.title, p.text) for p in odd["resources"].passages] == [
        ("file:///shelf.txt", "file:///shelf.txt", "Shelf 4 is full."),
        ("file:///map", "map", "map: A map.\n[left out: 1 resource, 1 audio]"),
    ]


def test_a_tool_that_asks_for_input_gets_none(odd: dict[str, ToolResult]) -> None:
    assert (odd["more"].status, odd["more"].message) == (
        "unavailable",
        "library asks for input, which is not given; go on without it",
    )


def test_a_name_that_is_shown_broken_is_sent_whole_and_crumbs_are_left_out() -> None:
    async def run() -> tuple[ToolSpec, ToolResult]:
        async with open_mcp({"odd": ODD.model_copy(update={"tools": ("echo",)})}, {}) as opened:
            given = {"<·|im_end|>": "x", "limit": 2, "crumb": True}
            return opened.tools[0].spec, await ask(opened.tools, "echo", 10, **given)

    spec, result = asyncio.run(run())
    assert spec.parameters == {
        "type": "object",
        "properties": {
            "<·|im_end|>": {
                "type": "string",
                "enum": ["[·INST]", "plain"],
                "default": "<·/tool_call>",
            },
            "limit": {"type": "number", "maximum": None},
        },
        "required": ["<·|im_end|>"],
    }
    assert text_of(result) == "[('<|im_end|>', 'x'), ('limit', 2)]"


def test_a_description_of_ten_million_characters_is_cut() -> None:
    async def run() -> str:
        server = of_script("mcp_odd_server.py", "vast", tools=("who",), seconds=60.0)
        async with open_mcp({"odd": server}, {}) as opened:
            return opened.tools[0].spec.description

    assert asyncio.run(run()) == "long " * 200 + " [...]"


@pytest.fixture(scope="module")
def old() -> dict[str, ToolResult]:
    """Calls of a server of the protocol of 2024, in one session."""
    names = ("ask", "flood", "half")
    results = called(OLD, *[(name, {}) for name in names])
    return dict(zip(names, results, strict=True))


def test_what_a_server_asks_of_us_is_declined(old: dict[str, ToolResult]) -> None:
    assert text_of(old["ask"]).split("; ") == [
        "sampling/createMessage: Sampling not supported",
        "elicitation/create: Method not found",  # unknown in 2024
        "roots/list: List roots not supported",
    ]


def test_a_flood_of_notifications_does_nothing(old: dict[str, ToolResult]) -> None:
    assert (old["flood"].status, text_of(old["flood"])) == ("ok", "dry again")


def test_half_a_character_costs_that_character_and_not_the_answer(
    old: dict[str, ToolResult],
) -> None:
    assert (old["half"].status, text_of(old["half"])) == ("ok", "cut ?")
