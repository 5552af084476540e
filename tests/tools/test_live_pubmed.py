from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pubmed_runs import fails, find, library, programs, record, run
from service_server import Answer, Asked, of_json, of_xml

from openreward.errors import UserError
from openreward.tools.base import Search
from openreward.tools.live_pubmed import LivePubmed

# --- what is asked


def test_requests_say_who_asks_and_for_what() -> None:
    answer = library({"hip pain": ["7"]}, {"7": record("7")})
    _, [search, fetch] = run(answer, lambda p: p.search("hip pain?", 3), key="k1")
    who = {"tool": "openreward", "email": "ada@example.org", "api_key": "k1"}
    assert (search.path, fetch.path) == ("/eutils/esearch.fcgi", "/eutils/efetch.fcgi")
    assert search.params == who | {
        "db": "pubmed",
        "term": "hip pain",
        "retstart": "0",
        "retmax": "8",
        "sort": "relevance",
        "retmode": "xml",
    }
    assert fetch.params == who | {
        "db": "pubmed",
        "id": "7",
        "rettype": "abstract",
        "retmode": "xml",
    }


@pytest.mark.parametrize(
    ("contact", "email"),
    [
        ("https://example.org/us", None),
        ("mailto:ada.l+x@lab.example.org", "ada.l+x@lab.example.org"),
    ],
)
def test_only_a_mail_address_is_sent_as_one(contact: str, email: str | None) -> None:
    answer = library({"pain": ["7"]}, {"7": record("7")})
    _, asked = run(answer, lambda p: p.search("pain", 3), contact=contact)
    assert [each.params.get("email") for each in asked] == [email, email]
    assert not any("api_key" in each.params for each in asked)


@pytest.mark.parametrize("tail", ["", "/", "/a/b", "/a/b/"])
def test_an_address_may_end_with_a_slash(tail: str) -> None:
    answer = library({"pain": ["7"]}, {"7": record("7")})
    _, [search, _] = run(answer, lambda p: p.search("pain", 3), tail=tail)
    assert search.path == f"{tail.rstrip('/')}/esearch.fcgi"


def test_a_query_that_no_record_holds_whole_is_asked_by_any_of_its_words() -> None:
    answer = library({"hip OR pain OR zebra": ["7"]}, {"7": record("7")})
    found, asked = find(answer, "Is there hip pain in a zebra?")
    assert [passage.document_id for passage in found.passages] == ["pubmed:7"]
    assert programs(asked) == ["esearch", "esearch", "efetch"]


def test_nothing_is_fetched_when_nothing_matches() -> None:
    status, _, asked = fails(library({}, {}), "hip pain")
    assert (status, programs(asked)) == ("no_result", ["esearch", "esearch"])


@pytest.mark.parametrize("query", ["", "?!", "AND"])
def test_a_query_without_words_asks_nothing(query: str) -> None:
    status, _, asked = fails(library({}, {}), query)
    assert (status, asked) == ("bad_query", [])


def test_at_least_one_passage_must_be_wanted() -> None:
    async def use(pubmed: LivePubmed) -> str:
        with pytest.raises(UserError) as raised:
            await pubmed.search("pain", 0)
        return str(raised.value)

    assert run(library({}, {}), use) == ("expected k of at least 1, got 0", [])


def test_it_is_a_search_with_its_address_as_version() -> None:
    async def use(pubmed: LivePubmed) -> tuple[str, str]:
        search: Search = pubmed
        return search.source, search.version

    (source, version), _ = run(library({}, {}), use)
    assert source == "pubmed"
    assert version.startswith("live/1 http://127.0.0.1:")
    assert version.endswith("/eutils")


# --- records that are not as asked


def test_articles_without_an_abstract_give_way_to_the_next_and_are_counted() -> None:
    records = {"9": record("9", text=""), "8": record("8"), "7": record("7")}

    async def use(pubmed: LivePubmed) -> tuple[list[str], dict[str, int]]:
        found = await pubmed.search("pain", 3)
        return [p.document_id for p in found.passages], dict(pubmed.skipped)

    result, _ = run(library({"pain": ["9", "8", "5", "7"]}, records), use)
    assert result == (["pubmed:8", "pubmed:7"], {"no abstract": 1, "not given by PubMed": 1})


def test_titles_alone_are_no_result_that_says_why() -> None:
    answer = library({"pain": ["9", "8"]}, {n: record(n, text="") for n in ("8", "9")})
    status, message, _ = fails(answer)
    assert status == "no_result"
    assert "PubMed found 2 records for 'pain', and the first 2 have no abstract" in message


def test_records_that_all_lack_are_an_outage() -> None:
    status, message, _ = fails(library({"pain": ["9", "8"]}, {"1": record("1")}))
    assert status == "unavailable"
    assert "PubMed gave none of 2 records that it had found" in message


def test_a_number_of_no_record_is_no_outage() -> None:
    status, message, _ = fails(library({}, {}), "99999999")
    assert status == "no_result"
    assert "PubMed has no record of 'PMID 99999999'" in message


def test_a_number_that_is_none_is_no_outage() -> None:
    said = "ID list is empty! Possibly it has no correct IDs."
    body = f"<eFetchResult><ERROR>{said}</ERROR></eFetchResult>"
    status, _, _ = fails(lambda asked: of_xml(body, 400), "pmid 0")
    assert status == "no_result"


DOI = '<ArticleId IdType="doi">10.1000/Right</ArticleId>'
PMC = '<ArticleId IdType="pmc">PMC55</ArticleId>'


@pytest.mark.parametrize(
    ("query", "term"),
    [("doi:10.1000/right", '"10.1000/right"[doi]'), ("PMC55", "PMC55")],
)
def test_a_doi_finds_the_record_that_carries_it_and_no_other(query: str, term: str) -> None:
    records = {"8": record("8"), "9": record("9", ids=DOI + PMC)}
    found, _ = find(library({term: ["8", "9"]}, records), query)
    assert [passage.document_id for passage in found.passages] == ["pubmed:9"]
    for wrong in (["8"], []):
        status, message, _ = fails(library({term: wrong}, records), query)
        assert status == "no_result"
        assert "PubMed has no record of" in message


def test_a_record_that_was_named_is_shown_whole() -> None:
    text = " ".join(f"Sentence {number} has some eight words in it." for number in range(90))
    answer = library({"eight words": ["9"]}, {"9": record("9", text=text)})
    found, _ = find(answer, "PMID 9", 9)
    assert " ".join(passage.text for passage in found.passages) == text
    assert len(found.passages) == 5
    assert len(find(answer, "eight words", 9)[0].passages) == 2


# --- failures


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        (of_xml("<eSearchResult><ERROR>Backend failed</ERROR></eSearchResult>"), "unavailable"),
        (of_xml("<eSearchResult><Count>5</Count><IdList/></eSearchResult>"), "unavailable"),
        (of_xml("<eSearchResult><Count>5</Count>"), "unavailable"),
        (of_xml("<a>" * 100_000), "unavailable"),
        (of_json({"error": "API rate limit exceeded", "api-key": "k"}), "rate_limited"),
        (of_json({"error": "API rate limit exceeded", "api-key": "k"}, 429), "rate_limited"),
        (of_json({"error": "API key invalid", "api-key": "k"}, 400), "unavailable"),
    ],
)  # fmt: skip
def test_a_failure_is_never_a_search_without_results(answer: Answer, status: str) -> None:
    assert fails(lambda asked: answer)[0] == status


def test_a_search_can_be_cancelled() -> None:
    def answer(asked: Asked) -> Answer:
        return Answer(b"", delay=30)

    async def use(pubmed: LivePubmed) -> bool:
        job = asyncio.create_task(pubmed.search("pain", 3))
        await asyncio.sleep(0.1)
        job.cancel()
        await asyncio.wait([job], timeout=2)
        return job.cancelled()

    assert run(answer, use)[0]


def test_searches_at_once_do_not_mix() -> None:
    words = [f"w{number}" for number in range(1, 13)]
    found = {word: [word[1:]] for word in words}
    answer = library(found, {word[1:]: record(word[1:]) for word in words})

    async def use(pubmed: LivePubmed) -> list[str]:
        results = await asyncio.gather(*(pubmed.search(word, 1) for word in words))
        return [result.passages[0].document_id for result in results]

    assert run(answer, use)[0] == [f"pubmed:{word[1:]}" for word in words]
