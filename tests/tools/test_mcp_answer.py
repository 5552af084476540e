"""Answers of MCP tools as passages, without a server."""

from __future__ import annotations

import pytest
from mcp.types import CallToolResult, ImageContent, TextContent

from openreward.errors import ToolError
from openreward.tools.mcp_answer import Origin, found
from openreward.types import Passage

ORIGIN = Origin("books", "find", 1000)
IMAGE = ImageContent(type="image", data="aGk=", mime_type="image/png")


def texts(*said: str) -> list[TextContent | ImageContent]:
    return [TextContent(type="text", text=text) for text in said]


def failure(result: CallToolResult) -> tuple[str, str]:
    with pytest.raises(ToolError) as caught:
        found(result, ORIGIN)
    return caught.value.status, str(caught.value)


def test_a_text_is_a_passage_with_its_span() -> None:
    assert found(CallToolResult(content=texts("Shelf 4.")), ORIGIN).passages == (
        Passage(
            document_id="books/find#1",
            source="mcp:books",
            title="find",
            text="Shelf 4.",
            start=0,
            end=8,
        ),
    )


def test_texts_share_the_room_and_each_cut_is_marked() -> None:
    answer = found(CallToolResult(content=texts("a" * 600, "b" * 10)), ORIGIN)
    assert [passage.text for passage in answer.passages] == [
        "a" * 500 + " [... cut: 100 characters left out]",
        "b" * 10,
    ]


def test_an_error_is_one_short_line_of_a_bad_query() -> None:
    said = texts("no such shelf:\n" + "x" * 10_000_000)
    status, message = failure(CallToolResult(content=said, is_error=True))
    assert status == "bad_query"
    assert message.startswith("'no such shelf: xxx")
    assert len(message) <= 300


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (CallToolResult(content=[]), "find answered nothing; ask for something else"),
        (CallToolResult(content=texts("", " \n")), "find answered nothing; ask for something else"),
        (
            CallToolResult(content=[IMAGE, IMAGE]),
            "find answered only 2 image, which cannot be shown; ask for something else",
        ),
    ],
)
def test_an_answer_without_text_is_no_result(result: CallToolResult, message: str) -> None:
    assert failure(result) == ("no_result", message)


def test_an_error_without_text_says_that_it_is_one() -> None:
    result = CallToolResult(content=[], is_error=True)
    assert failure(result) == ("bad_query", "'the tool reports an error'")
