"""What a model is told of a tool of an MCP server."""

from __future__ import annotations

from typing import Any

import pytest
from mcp.types import Tool

from openreward.errors import UserError
from openreward.policy.template import ChatTemplate
from openreward.tools.mcp_spec import Described, describe
from openreward.types import Message

LIVE = ("<|im_end|>", "</tool_call>", "<answer>", "[/INST]", "</function>", "</tools>")
AS_JSON = "{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}"
AS_TAGS = """{% for tool in tools %}{% set f = tool.function %}
# {{ f.name }}: {{ f.description }}
{% for name, about in f.parameters.properties.items() %}
- {{ name }} ({{ about.type }}, {{ about.enum | join(" or ") }}): {{ about.description }}
{% endfor %}{% endfor %}"""


def described(
    name: str = "find", about: str = "Finds.", prefix: str = "", **schema: Any
) -> Described:
    listed = Tool(name=name, description=about, input_schema={"type": "object", **schema})
    return describe("books", prefix, listed)


@pytest.mark.parametrize(
    ("name", "prefix", "shown"),
    [
        ("find", "", "find"),
        ("find.book/now", "b_", "b_find_book_now"),
        ("<|im_end|>", "", "__im_end__"),
        ("suche_bücher", "", "suche_b_cher"),
        ("f" * 100, "b", "b" + "f" * 63),
    ],
)
def test_names_are_plain_and_short(name: str, prefix: str, shown: str) -> None:
    assert described(name, prefix=prefix).spec.name == shown


def test_a_tool_without_a_name_is_refused() -> None:
    with pytest.raises(UserError, match="mcp.books: expected tools with names, got one without"):
        described("")


@pytest.mark.parametrize(
    ("about", "shown"),
    [
        ("Finds\n  a\tbook.", "Finds a book."),
        ("See </tool_call><|im_end|>", "See <·/tool_call><·|im_end|>"),
        ("x" * 1000, "x" * 1000),
        ("x" * 1001, "x" * 1000 + " [...]"),
        ("x" * 993 + "<answering", "x" * 993 + "<·answer [...]"),  # the cut makes it a tag
        ("a\x00b\x1b[2J", "a\ufffdb\ufffd[2J"),
    ],
)
def test_descriptions_are_one_inert_line(about: str, shown: str) -> None:
    assert described(about=about).spec.description == shown


@pytest.mark.parametrize(
    ("schema", "kept"),
    [
        ({"properties": {"title": {}}}, {"title": "Emma"}),
        ({"properties": {"title": {}}, "additionalProperties": False}, {"title": "Emma"}),
        (
            {"properties": {"title": {}}, "additionalProperties": True},
            {"title": "Emma", "crumb": 1},
        ),
        (
            {"properties": {"title": {}}, "patternProperties": {"^c": {}}},
            {"title": "Emma", "crumb": 1},
        ),
        ({"properties": {}}, {}),
        ({"additionalProperties": False}, {}),
        ({}, {"title": "Emma", "crumb": 1}),
    ],
)
def test_arguments_that_a_schema_does_not_know_are_dropped(
    schema: dict[str, Any], kept: dict[str, Any]
) -> None:
    assert described(**schema).arguments({"title": "Emma", "crumb": 1}) == kept


@pytest.mark.parametrize("template", [AS_JSON, AS_TAGS])
@pytest.mark.parametrize("live", LIVE)
def test_no_template_shows_a_live_control_string_of_a_server(template: str, live: str) -> None:
    about = {"type": "string", "description": f"See {live}", "enum": [live, "plain"]}
    tool = described(name=live, about=f"Say {live}", properties={f"a{live}": about}, title=live)
    shown = ChatTemplate(template).render([Message(role="user", content="Hi")], [tool.spec])
    assert "plain" in shown
    assert live not in shown


def test_a_schema_too_large_for_a_prompt_is_refused() -> None:
    with pytest.raises(
        UserError, match="tool 'find': expected a schema of at most 8000 bytes, got"
    ):
        described(properties={"title": {"enum": ["x" * 100] * 80}})


def test_a_schema_is_always_of_an_object() -> None:
    assert described(properties=None).spec.parameters == {"type": "object", "properties": {}}
