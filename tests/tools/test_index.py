from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openreward.errors import IndexMismatch, ToolError, UserError
from openreward.tools.index import LocalIndex
from openreward.tools.index_builder import build
from openreward.tools.index_meta import IndexSettings
from openreward.types import Document

LONG = " ".join(f"Whale number {n} sings in the northern sea with the others." for n in range(60))
ROWS = {
    "Telephone": "A telephone lets two people talk. Alexander Graham Bell patented it in 1876.",
    "Alexander Graham Bell": "Bell was an inventor. He worked on the telephone and on hydrofoils.",
    "Whale": LONG,
    "C++": "A programming language by Bjarne Stroustrup, an extension of C.",
    "C": "A programming language by Dennis Ritchie.",
    "The Who": "An English rock band formed in London in 1964.",
    "Beyoncé": "An American singer.",
    "東京": "東京は日本の首都である。江戸と呼ばれた。",
    "Mercury (planet)": "The smallest planet.",
    "!!!": "A dance band from Sacramento.",
}


def documents() -> Iterator[Document]:
    for title, text in ROWS.items():
        yield Document(
            id=f"wikipedia:{title}",
            source="wikipedia",
            title=title,
            text=text,
            url="https://example.org/",
            revision="7",
        )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("index")
    build(documents(), path, "wikipedia")
    return path


@pytest.fixture(scope="module")
def index(folder: Path) -> LocalIndex:
    return LocalIndex(folder, "wikipedia")


def titles(index: LocalIndex, query: str, k: int = 3) -> list[str]:
    return [passage.title for passage in index.lookup(query, k).passages]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("who invented the telephone?", "Telephone"),
        ("telephone", "Telephone"),
        ("ALEXANDER graham bell", "Alexander Graham Bell"),
        ("c++", "C++"),
        ("C", "C"),
        ("the who", "The Who"),
        ("Beyonce", "Beyoncé"),
        ("BEYONCE\u0301", "Beyoncé"),
        ("mercury planet", "Mercury (planet)"),
        ("!!!", "!!!"),
        ("東京", "東京"),
        ("日本の首都はどこですか", "東京"),
        ('"hydrofoils" AND (NOT title:x^2 OR [a TO b]', "Alexander Graham Bell"),
        ("singers from America", "Beyoncé"),
        ("hydrofoil \ud800", "Alexander Graham Bell"),
    ],
)
def test_the_right_article_comes_first(index: LocalIndex, query: str, first: str) -> None:
    assert titles(index, query)[0] == first


@pytest.mark.parametrize("query", ["", " ", "?!…", "((((", "😀", "\ud800", "::\\//"])
def test_a_query_without_a_word_is_a_bad_query(index: LocalIndex, query: str) -> None:
    with pytest.raises(ToolError, match="write the name of the subject") as raised:
        index.lookup(query, 3)
    assert raised.value.status == "bad_query"


def test_finding_nothing_is_no_result_with_advice(index: LocalIndex) -> None:
    with pytest.raises(
        ToolError, match="nothing in wikipedia matches 'xyzzy'; use fewer"
    ) as raised:
        index.lookup("xyzzy", 3)
    assert raised.value.status == "no_result"


@settings(deadline=None)
@given(st.text() | st.text(alphabet="ab\"'()[]{}:^~*?\\/+-!&|<>東京 ANDORT", max_size=60))
def test_any_text_gives_passages_or_a_tool_error(folder: Path, query: str) -> None:
    opened = LocalIndex(folder)
    try:
        found = opened.lookup(query, 4).passages
    except ToolError:
        return
    assert 1 <= len(found) <= 4
    for passage in found:
        assert ROWS[passage.title][passage.start : passage.end] == passage.text


def test_a_passage_carries_where_it_came_from(index: LocalIndex) -> None:
    passage = index.lookup("Stroustrup", 1).passages[0]
    assert passage.model_dump(exclude={"score"}) == {
        "document_id": "wikipedia:C++",
        "source": "wikipedia",
        "title": "C++",
        "text": ROWS["C++"],
        "start": 0,
        "end": 63,
        "url": "https://example.org/",
        "revision": "7",
    }
    assert passage.score is not None
    assert passage.score > 0


def test_a_long_page_cannot_fill_the_answer(folder: Path) -> None:
    found = [LocalIndex(folder, per_document=n).lookup("whale sings", 6) for n in (2, 1, 9)]
    assert [len(f.passages) for f in found] == [2, 1, 4]
    assert {p.title for f in found for p in f.passages} == {"Whale"}


def test_a_title_match_counts_among_the_passages_of_its_page(index: LocalIndex) -> None:
    found = index.lookup("whale", 6).passages
    assert [passage.title for passage in found] == ["Whale", "Whale"]
    assert found[0].start == 0
    assert len({passage.start for passage in found}) == 2


def test_a_larger_k_extends_the_list(index: LocalIndex) -> None:
    few = index.lookup("programming language telephone band", 2).passages
    many = index.lookup("programming language telephone band", 6).passages
    assert many[:2] == few
    assert len(many) == 6
    with pytest.raises(UserError, match="expected k of at least 1, got 0"):
        index.lookup("band", 0)


def test_a_long_query_is_asked_by_its_rarest_terms(folder: Path) -> None:
    query = " ".join([*("sea north sing number whale other " * 300).split(), "Sacramento"])
    assert titles(LocalIndex(folder, max_terms=1), query[-2000:]) == ["!!!"]


def test_searching_is_async_too(index: LocalIndex) -> None:
    found = asyncio.run(index.search("hydrofoils", 3))
    assert [passage.title for passage in found.passages] == ["Alexander Graham Bell"]
    assert found.cached is False


def test_equal_input_gives_an_equal_version(folder: Path, tmp_path: Path) -> None:
    again = build(documents(), tmp_path / "a", "wikipedia")
    other = build(documents(), tmp_path / "b", "wikipedia", IndexSettings(title_weight=1))
    fewer = build(list(documents())[1:], tmp_path / "c", "wikipedia")
    first = LocalIndex(folder).version
    assert again.version == first
    assert len({first, other.version, fewer.version}) == 3


def test_an_index_of_another_source_is_refused(folder: Path) -> None:
    with pytest.raises(
        IndexMismatch, match="expected an index of source 'arxiv', got one of 'wiki"
    ):
        LocalIndex(folder, "arxiv")


def test_the_introductions_are_found_by_their_titles(test_data: Path, tmp_path: Path) -> None:
    from openreward.synth.documents import read_documents

    rows = list(read_documents(test_data / "wikipedia" / "summaries_en.json"))
    meta = build(rows, tmp_path, "wikipedia")
    assert (meta.documents, meta.duplicates, meta.blank) == (10_033, 0, 0)
    opened = LocalIndex(tmp_path)
    texts = {row.id: row.text for row in rows}
    missed = []
    for row in rows[::5]:
        found = opened.lookup(row.title, 3).passages
        if found[0].document_id != row.id:
            missed.append(row.title)
        for passage in found:
            assert texts[passage.document_id][passage.start : passage.end] == passage.text
    assert missed == []
