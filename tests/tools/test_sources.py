from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from openreward.errors import IndexMismatch, UserError
from openreward.tools.arxiv import arxiv_search
from openreward.tools.base import Search, Tool, run_call
from openreward.tools.index_builder import build
from openreward.tools.pubmed import pubmed_search
from openreward.tools.sources import SOURCES, local_tools
from openreward.tools.static import StaticSearch
from openreward.tools.wikipedia import wikipedia_search
from openreward.types import Document, Passage, ToolCall

PASSAGES = [
    Passage(document_id=str(n), source="static", title="t", text="x", start=0, end=1)
    for n in range(5)
]
MAKERS = [
    (wikipedia_search, "wikipedia_search"),
    (arxiv_search, "arxiv_search"),
    (pubmed_search, "pubmed_search"),
]


def make_index(folder: Path, source: str) -> Path:
    rows = [Document(id=f"{source}:1", source=source, title="Apple", text="Apples are red.")]
    build(rows, folder / source, source)
    return folder / source


@pytest.mark.parametrize(("maker", "name"), MAKERS)
def test_a_tool_takes_one_query(maker: Callable[[Search, int], Tool], name: str) -> None:
    made = maker(StaticSearch(PASSAGES), 2)
    assert made.spec.name == name
    assert made.spec.parameters == {
        "properties": {
            "query": {"type": "string", "description": "What to look for, in a few plain words."}
        },
        "required": ["query"],
        "type": "object",
    }
    assert made.spec.description.startswith("Search ")
    assert len(made.spec.description) < 250


@pytest.mark.parametrize(("maker", "name"), MAKERS)
def test_a_call_shows_as_many_passages_as_set(
    maker: Callable[[Search, int], Tool], name: str
) -> None:
    search = StaticSearch(PASSAGES)
    call = ToolCall(id="1", name=name, arguments={"query": "apples"})
    result = asyncio.run(run_call({name: maker(search, 2)}, call, 5))
    assert (result.status, len(result.passages)) == ("ok", 2)
    assert search.calls == [("apples", 2)]


def test_a_call_that_shows_nothing_is_refused_when_built() -> None:
    with pytest.raises(
        UserError, match="arxiv_search: expected at least 1 passage a search, got 0"
    ):
        arxiv_search(StaticSearch(PASSAGES), 0)


def test_local_tools_are_one_a_source(tmp_path: Path) -> None:
    indexes = {source: make_index(tmp_path, source) for source in ("pubmed", "wikipedia")}
    tools = local_tools(indexes)
    assert [tool.spec.name for tool in tools] == ["pubmed_search", "wikipedia_search"]
    found = asyncio.run(tools[0].function(query="apples"))
    assert found.passages[0].document_id == "pubmed:1"


def test_an_index_under_another_source_is_refused(tmp_path: Path) -> None:
    folder = make_index(tmp_path, "arxiv")
    with pytest.raises(
        IndexMismatch, match="expected an index of source 'pubmed', got one of 'arx"
    ):
        local_tools({"pubmed": folder})


def test_an_unknown_source_is_named() -> None:
    with pytest.raises(
        UserError, match="expected sources among wikipedia, arxiv, pubmed, got 'web"
    ):
        local_tools({"web": Path()})
    assert list(SOURCES) == ["wikipedia", "arxiv", "pubmed"]
