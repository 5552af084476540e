from __future__ import annotations

import pytest

from openreward.tools.live_wikipedia_rank import choose, holds_all, subject
from openreward.types import Document


def page(title: str, *paragraphs: str) -> Document:
    """Each paragraph is a passage of its own."""
    filler = " ".join(["filler"] * 145)
    text = "\n\n".join(f"{each} {filler}." for each in paragraphs)
    return Document(id=title, source="wikipedia", title=title, text=text)


CURIE = page("Marie Curie", "A physicist", "She won prizes", "Her daughter was Irene", "A house")
PRIZE = page("Nobel Prize", "A prize, won by Marie Curie", "Money for a prize", "It is old")
PAGES = [CURIE, PRIZE]


@pytest.mark.parametrize(
    ("query", "k", "pinned", "begin"),
    [
        ("marie curie", 2, False, ["A physicist", "She won"]),  # equal ones in the wiki's order
        ("marie curie daughter", 1, False, ["Her daughter"]),
        ("marie curie daughter", 2, True, ["A physicist", "Her daughter"]),
        ("curie prize", 2, False, ["She won", "A prize, won"]),
        ("curie prize", 9, False, ["She won", "A prize, won", "Money for", "A physicist"]),
        ("prize money", 1, False, ["Money for"]),
        ("nothing of it", 1, False, ["A physicist"]),
    ],
)
def test_passages_with_more_of_the_query_come_first(
    query: str, k: int, pinned: bool, begin: list[str]
) -> None:
    found = choose(PAGES, query, k, pinned=pinned)
    assert [each.text[: len(start)] for each, start in zip(found, begin, strict=True)] == begin
    texts = {each.id: each.text for each in PAGES}
    assert all(texts[each.document_id][each.start : each.end] == each.text for each in found)


def test_no_pages_give_no_passages() -> None:
    assert choose([], "pole", 3, pinned=False) == ()


@pytest.mark.parametrize(
    ("query", "held"),
    [
        ("daughters of Marie Curie", True),  # the title counts
        ("irene prizes", False),  # not in one passage
        ("marie curie horse", False),
        ("the", False),
    ],
)
def test_all_terms_are_held_by_one_passage_or_not(query: str, held: bool) -> None:
    assert holds_all(PAGES, query) is held


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("marie curie house", 1),
        ("nobel prize of marie curie", 0),  # equally long
        ("house", 0),
        ("rings lord house", 0),
        ("lord of the rings house", 2),
    ],
)
def test_the_subject_is_the_page_whose_title_the_query_names(query: str, place: int) -> None:
    pages = [PRIZE, CURIE, page("The Lord of the Rings (novel)", "A novel.")]
    if query == "rings lord house":
        pages = pages[2:]
    assert subject(pages, query) == place
