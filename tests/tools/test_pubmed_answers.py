from __future__ import annotations

import json
from pathlib import Path

import pytest

from openreward.errors import ToolError
from openreward.tools.fetch import Reply, Unusable
from openreward.tools.pubmed_answers import Matches, read_articles, read_matches

ERROR = "PubMed answered with an error of its own"
NO_ITEMS = "<WarningList><OutputMessage>No items found.</OutputMessage></WarningList>"


def reply(content: str | bytes, status: int = 200, kind: str = "text/xml") -> Reply:
    body = content.encode() if isinstance(content, str) else content
    return Reply(status, body, kind, "http://127.0.0.1/x")


def search(inside: str) -> Reply:
    return reply(f"<eSearchResult>{inside}</eSearchResult>")


def listing(total: object, *ids: object) -> str:
    listed = "".join(f"<Id>{each}</Id>" for each in ids)
    return f"<Count>{total}</Count><IdList>{listed}</IdList>"


@pytest.mark.parametrize(
    ("inside", "start", "matches"),
    [
        (listing(2, 5, 3), 0, Matches(2, ("5", "3"))),
        (listing(9, " 5\n", 3, 5), 4, Matches(9, ("5", "3"))),
        (listing(0) + NO_ITEMS, 0, Matches(0, ())),
        (listing(0), 0, Matches(0, ())),
        (listing(5), 5, Matches(5, ())),  # behind the last
        (
            listing(0)
            + "<ErrorList><PhraseNotFound>x</PhraseNotFound><FieldNotFound>y</FieldNotFound>"
            "</ErrorList><WarningList><PhraseIgnored>of</PhraseIgnored><QuotedPhraseNotFound>"
            "x</QuotedPhraseNotFound><OutputMessage>No items found.</OutputMessage></WarningList>",
            0,
            Matches(0, ()),
        ),
        (
            listing(1, 5) + "<ErrorList><PhraseNotFound>backend failed</PhraseNotFound></ErrorList>"
            "<WarningList><OutputMessage>Restrictions achieved.</OutputMessage></WarningList>",
            0,
            Matches(1, ("5",)),
        ),
    ],
)
def test_matches_are_what_was_counted(inside: str, start: int, matches: Matches) -> None:
    assert read_matches(search(inside), start) == matches


@pytest.mark.parametrize(
    ("name", "total", "ids"),
    [
        ("esearch1", 63, ["41282813", "41148224", "37810457"]),
        ("esearch2", 42249, ["41297076", "41297074", "41296368"]),
        ("esearch5", 5, ["6540636", "5830998", "3443459"]),
        ("esearch6", 1018, ["3069587804", "3069587774", "2274792553"]),
        ("esearch7", 330, ["3108048616", "3076096315", "2174081062"]),
    ],
)
def test_recorded_searches_are_read(test_data: Path, name: str, total: int, ids: list[str]) -> None:
    content = (test_data / "service-bodies" / "pubmed" / f"{name}.xml").read_bytes()
    matches = read_matches(reply(content))
    assert (matches.total, [matches.ids[n] for n in (0, 1, -1)]) == (total, ids)


def test_a_recorded_page_and_a_recorded_miss_are_read(test_data: Path) -> None:
    folder = test_data / "service-bodies" / "pubmed"
    page = read_matches(reply((folder / "esearch3.xml").read_bytes()), 6)
    assert (page.total, len(page.ids)) == (2651, 6)
    assert read_matches(reply((folder / "esearch8.xml").read_bytes())) == Matches(0, ())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (search(listing(3)), "PubMed counted 3 results and listed 0 from 0 on"),
        (search(listing(0, 5)), "PubMed counted 0 results and listed 1 from 0 on"),
        (search(listing("many", 5)), "expected PubMed to count its results, got 'many'"),
        (search(""), "expected PubMed to count its results, got ''"),
        (search(listing("9" * 13, 5)), "expected PubMed to count its results, got "),
        (search(listing(1, "5]")), "expected numbers of records from PubMed, got"),
        (
            search(
                listing(0)
                + "<WarningList><OutputMessage>Search Backend failed</OutputMessage></WarningList>"
            ),
            "PubMed counted 0 results",
        ),
        (search("<ERROR>Search Backend failed: api_key=SECRET</ERROR>"), ERROR),
        (search("<ERROR>Search Backend failed: x</ERROR>" + listing(0)), ERROR),
        (reply("<eSearchResult><Count>1"), "PubMed's answer is broken: expected well-formed XML"),
        (reply("<!DOCTYPE x [<!ENTITY a 'b'>]><x/>"), "broken: expected XML without entity"),
        (reply("<html><body>Down</body></html>"), "expected PubMed's eSearchResult, got 'html'"),
        (reply("<PubmedArticleSet/>"), "expected PubMed's eSearchResult, got 'PubmedArticleSet'"),
        (reply("<eSearchResult/>", kind="text/html"), "expected XML from PubMed, got 'text/html'"),
        (reply("", kind=""), "expected XML from PubMed, got ''"),
        (reply(""), "broken: expected well-formed XML: no element found"),
        (reply(search(listing(0)).content, status=400), r"got 'eSearchResult' \(status 400\)"),
        (reply('{"error": "API rate limit exceeded", "api-key": "SECRET"}'), "asked too often"),
        (reply('{"error": "boom, SECRET"}', kind="application/json"), ERROR),
        (reply('{"esearchresult": {}}', kind="application/json"), ERROR),
        (reply("{not json SECRET", kind="application/json"), "neither XML nor JSON"),
        (reply('{"a":' * 100_000), "neither XML nor JSON"),
        (reply("<eFetchResult><ERROR>Error occurred</ERROR></eFetchResult>"), ERROR),
    ],
)
def test_what_is_no_answer_to_a_search_is_asked_again(given: Reply, message: str) -> None:
    with pytest.raises(Unusable, match=message) as raised:
        read_matches(given)
    assert "SECRET" not in str(raised.value)


@pytest.mark.parametrize("status", [200, 400])
def test_a_key_that_is_refused_is_said_without_the_key(status: int) -> None:
    body = {"error": "API key invalid", "api-key": "SECRET", "type": "api-key"}
    for read in (read_matches, read_articles):
        with pytest.raises(ToolError, match="does not accept the API key") as raised:
            read(reply(json.dumps(body), status, "application/json"))
        assert raised.value.status == "unavailable"
        assert "SECRET" not in str(raised.value)


NO_IDS = (
    "<eFetchResult><ERROR>ID list is empty! Possibly it has no correct IDs.</ERROR></eFetchResult>"
)


@pytest.mark.parametrize(
    "given",
    [
        reply("<PubmedArticleSet></PubmedArticleSet>"),
        reply(NO_IDS, 400, "text/plain"),
        reply(NO_IDS),
        reply(
            "<PubmedArticleSet><DeleteCitation><PMID>1</PMID></DeleteCitation></PubmedArticleSet>"
        ),
    ],
)
def test_ids_without_records_give_none(given: Reply) -> None:
    assert read_articles(given) == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            reply(
                "<eFetchResult><ERROR>Error occurred: cannot get document summary</ERROR>"
                "</eFetchResult>",
                400,
            ),
            ERROR,
        ),
        (reply("<eFetchResult/>"), ERROR),
        (reply("<PubmedArticleSet><PubmedArticle>"), "broken: expected well-formed XML"),
        (reply("<PubmedArticleSet>" + "<i>" * 100_000), "broken: expected at most 100 levels"),
        (reply("<html/>", 400, "text/html"), r"got 'html' \(status 400\)"),
        (reply("1: Some citation.", kind="text/plain"), "expected XML from PubMed"),
    ],
)
def test_what_is_no_set_of_records_is_asked_again(given: Reply, message: str) -> None:
    with pytest.raises(Unusable, match=message):
        read_articles(given)


@pytest.mark.parametrize("number", [1, 2, 4, 5, 6, 7])
def test_a_recorded_set_of_records_is_read(test_data: Path, number: int) -> None:
    path = test_data / "service-bodies" / "pubmed" / f"pubmed{number}.xml"
    assert all(
        article.pmid and article.title for article in read_articles(reply(path.read_bytes()))
    )
    with pytest.raises(Unusable, match="broken"):
        read_articles(reply(path.read_bytes()[:-30]))


def test_the_recorded_page_of_an_old_program_is_no_set_of_records(test_data: Path) -> None:
    content = (test_data / "service-bodies" / "pubmed" / "pubmed3.html").read_bytes()
    with pytest.raises(Unusable, match="expected PubMed's PubmedArticleSet, got 'html'"):
        read_articles(reply(content))
