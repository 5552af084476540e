from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from service_server import Answer, Asked, ServiceServer
from tiny_wiki import Page, Wiki, live, searched

from openreward.errors import ToolError, UserError
from openreward.types import Document

ADA = (
    "Ada Pole was a builder of poles. She was born in Poleville."
    "\n\n\n== Life ==\n\n\n=== Family ===\nHer daughter Irene measured poles in Oslo."
    "\n\n\n== Notes ==\n"
)
MEANINGS = '<ul><li><a title="Pole (rod)">Pole</a> - a rod</li><li><a title="Pole star">x</a></li>'
WIKI = Wiki(
    pages={
        "Ada Pole": Page(ADA),
        "Pole (rod)": Page("A pole is a long thin rod."),
        "Pole star": Page("The pole star is a star above a pole."),
        "Pole": Page("Pole may refer to:", html=MEANINGS),
        "PEO": Page("The PEO measures poles."),
        "Poles by height": Page(""),
        "Talk:Pole": Page("I think poles are fine.", ns=1),
        "Irene Pole": Page("Irene Pole was an astronomer."),
    },
    redirects={"A. Pole": "Ada Pole"},
    hits={
        "ada pole": ["Irene Pole", "Ada Pole", "PEO"],
        "a pole": ["Irene Pole"],
        "ada pole daughter": ["Irene Pole", "Ada Pole"],
        "pole": ["Pole (rod)", "Pole", "Pole star", "Ada Pole", "Irene Pole"],
        "meanings of pole": ["Pole"],
        "peo": ["Ada Pole", "PEO"],
        "talk pole": ["Irene Pole"],
        "height of poles": ["Poles by height"],
        "tall OR flurbs OR irene": ["Irene Pole"],
    },
)


def titles(query: str, k: int = 3) -> list[str]:
    return [passage.title for passage in searched(WIKI, query, k)]


def asked_for(query: str, answer: Callable[[Asked], Answer] = WIKI) -> list[str]:
    """What was asked: the words of searches, the titles of pages."""
    with ServiceServer(answer) as server:
        asyncio.run(live(server.url).search(query, 3))
        asked = server.requests
    return [each.params.get("srsearch") or each.params["titles"] for each in asked]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("Ada Pole", "Ada Pole"),
        ("ada pole", "Ada Pole"),
        ("ADA POLE", "Ada Pole"),  # by its hit, whatever the case
        ('  "Ada_Pole"?', "Ada Pole"),
        ("a. pole", "Ada Pole"),  # a redirect
        ("peo", "PEO"),  # an abbreviation
    ],
)
def test_the_article_with_the_very_title_comes_first(query: str, first: str) -> None:
    found = searched(WIKI, query)
    assert (found[0].title, found[0].start) == (first, 0)
    assert len({passage.title for passage in found}) > 1


FILLER = " ".join(["and"] * 150)
LONG = Wiki(
    pages={"Bea": Page(f"Bea built poles {FILLER}.\n\n\n== Family ==\nHer son was Cid {FILLER}.")},
    redirects={"Mother of Cid": "Bea", "Family of Cid": "Bea#Family"},
)


@pytest.mark.parametrize(
    ("query", "first"), [("Mother of Cid", "Bea built"), ("Family of Cid", "Family\nHer son was")]
)
def test_a_redirect_leads_to_the_opening_or_to_the_section(query: str, first: str) -> None:
    (found,) = searched(LONG, query, 1)
    assert found.text.startswith(first)


def test_a_title_that_no_search_finds_is_found() -> None:
    assert "pole star" not in WIKI.hits
    assert titles("pole star") == ["Pole star"]


def test_another_namespace_is_no_article() -> None:
    assert titles("Talk:Pole") == ["Irene Pole"]


def test_meanings_of_a_title_come_last_as_titles_to_search_for() -> None:
    found = searched(WIKI, "Pole")
    assert [passage.title for passage in found] == ["Pole (rod)", "Pole star", "Pole"]
    assert found[-1].text == (
        '"Pole" may refer to several things; search for one of these titles:\n'
        "- Pole (rod): Pole - a rod\n- Pole star: x"
    )
    assert (found[-1].start, found[-1].end) == (0, len(found[-1].text))


def test_meanings_do_not_displace_the_only_passage() -> None:
    assert titles("Pole", 1) == ["Pole (rod)"]


def test_meanings_are_shown_where_nothing_else_is_found() -> None:
    assert titles("meanings of pole") == ["Pole"]


def test_meanings_found_beside_articles_are_left_out() -> None:
    wiki = Wiki(WIKI.pages, hits={"pole words": ["Pole", "Irene Pole"]})
    assert [each.title for each in searched(wiki, "pole words")] == ["Irene Pole"]


def test_the_passage_that_holds_the_fact_is_shown_though_it_is_deep_in_its_page() -> None:
    found = searched(WIKI, "Ada Pole daughter", 1)
    assert [(each.title, "daughter Irene" in each.text) for each in found] == [("Ada Pole", True)]


@pytest.mark.parametrize(
    ("query", "requests"),
    [
        ("Ada Pole", ["ada pole", "Ada Pole|Irene Pole|PEO"]),
        (
            "Ada Pole daughter",
            ["ada pole daughter", "Ada Pole daughter|Ada Pole Daughter|Irene Pole|Ada Pole"]
            + ["Ada Pole"],
        ),
        ("Pole", ["pole", "Pole|POLE|Pole (rod)|Pole star|Ada Pole|Irene Pole", "Pole"]),
    ],
)
def test_a_search_makes_few_requests(query: str, requests: list[str]) -> None:
    assert asked_for(query) == requests


def test_a_passage_says_where_it_is_from() -> None:
    (first, *_) = searched(WIKI, "Ada Pole")
    assert first.document_id == "wikipedia:Ada Pole"
    assert (first.source, first.revision) == ("wikipedia", "7100")
    assert first.url == "https://en.wikipedia.org/wiki/Ada_Pole"


def test_pages_without_text_are_no_result() -> None:
    with pytest.raises(ToolError, match="has pages for 'height of poles', but none") as caught:
        searched(WIKI, "height of poles")
    assert caught.value.status == "no_result"


def test_where_no_page_holds_all_words_any_are_asked_for() -> None:
    assert titles("tall flurbs of Irene") == ["Irene Pole"]


def test_what_nothing_matches_is_no_result() -> None:
    with pytest.raises(ToolError, match="nothing in wikipedia matches 'flurb'") as caught:
        searched(WIKI, "flurb")
    assert caught.value.status == "no_result"


@pytest.mark.parametrize(("k", "hits", "length"), [(3, 40, 200), (30, 40, 200), (70, 90, 1)])
def test_as_many_passages_are_given_as_were_asked_for(k: int, hits: int, length: int) -> None:
    names = [f"Pole {number} {'x' * length}" for number in range(hits)]
    pages = {name: Page(f"{name} is a pole." if i % 2 else "") for i, name in enumerate(names)}
    found = searched(Wiki(pages, hits={"poles": names}), "poles", k)
    assert [each.title for each in found] == names[1::2][:k]


def test_a_k_below_one_is_the_callers_error() -> None:
    with pytest.raises(UserError, match="expected k of at least 1, got 0"):
        searched(WIKI, "pole", 0)


# ---- whole documents


def documents(
    query: str, skip: int = 0, wiki: Wiki = WIKI
) -> tuple[list[Document], dict[str, int]]:
    async def collect(url: str) -> tuple[list[Document], dict[str, int]]:
        search = live(url)
        return [each async for each in search.documents(query, skip)], dict(search.skipped)

    with ServiceServer(wiki) as server:
        return asyncio.run(collect(server.url))


def test_documents_are_whole_articles_in_the_order_of_the_wiki() -> None:
    found, skipped = documents("pole")
    assert [each.title for each in found] == ["Pole (rod)", "Pole star", "Ada Pole", "Irene Pole"]
    assert found[2].text == (
        "Ada Pole was a builder of poles. She was born in Poleville.\n\n"
        "Life\nFamily\nHer daughter Irene measured poles in Oslo."
    )
    assert found[2].id == "wikipedia:Ada Pole"
    assert skipped == {"several meanings": 1}


def test_documents_go_on_from_a_hit() -> None:
    assert [each.title for each in documents("pole", 3)[0]] == ["Ada Pole", "Irene Pole"]
    assert documents("pole", 5) == ([], {})


def test_a_document_that_two_hits_lead_to_comes_once() -> None:
    wiki = Wiki(WIKI.pages, WIKI.redirects, {"ada": ["A. Pole", "PEO", "Ada Pole"]})
    assert [each.title for each in documents("ada", 0, wiki)[0]] == ["Ada Pole", "PEO"]


def test_documents_are_read_page_by_page() -> None:
    names = [f"Pole {number}" for number in range(120)]
    wiki = Wiki({name: Page(f"{name}.") for name in names}, hits={"poles": names})
    assert [each.title for each in documents("poles", 10, wiki)[0]] == names[10:]


def test_documents_behind_the_last_hit_that_a_wiki_gives_are_the_callers_error() -> None:
    with pytest.raises(UserError, match="at most 10,000 hits of one query"):
        documents("pole", 10_000)


def test_documents_of_what_nothing_matches_are_no_result() -> None:
    with pytest.raises(ToolError, match="nothing in wikipedia matches"):
        documents("flurb")


def test_a_passage_is_a_piece_of_the_whole_document() -> None:
    whole = {each.id: each.text for each in documents("pole")[0]}
    for query in ("Ada Pole daughter", "Pole star", "a. pole"):
        for each in searched(WIKI, query):
            assert whole[each.document_id][each.start : each.end] == each.text
