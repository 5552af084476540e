"""The test server itself: what it replays is what was recorded, and it closes at once."""

from __future__ import annotations

import re
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from service_server import (
    Answer,
    Asked,
    ServiceServer,
    arxiv_replay,
    of_json,
    pubmed_listing,
    pubmed_replay,
    wikipedia_replay,
)


def get(server: ServiceServer, path: str = "/", **params: str) -> httpx.Response:
    return httpx.get(server.url + path, params=params, timeout=5)


def test_a_request_is_written_down_decoded() -> None:
    with ServiceServer(lambda asked: of_json(asked.params)) as server:
        reply = get(server, "/w/api.php", q="a&b#c ü", empty="")
    (asked,) = server.requests
    assert (asked.path, asked.params) == ("/w/api.php", {"q": "a&b#c ü", "empty": ""})
    assert asked.headers["user-agent"] == asked.headers["User-Agent"]
    assert reply.json() == asked.params


def test_a_cut_body_breaks_off() -> None:
    with (
        ServiceServer(lambda _: Answer(b"0123456789", cut=4)) as server,
        pytest.raises(httpx.RemoteProtocolError),
    ):
        get(server)


def test_closing_does_not_wait_for_an_answer_under_way() -> None:
    failed = threading.Event()

    def ask(server: ServiceServer) -> None:
        try:
            get(server)
        except httpx.HTTPError:
            failed.set()

    begun = time.monotonic()
    with ServiceServer(lambda _: Answer(b"x" * 100, drip=0.5)) as server:
        thread = threading.Thread(target=ask, args=(server,))
        thread.start()
        while not server.requests:
            time.sleep(0.005)
    thread.join(5)
    assert time.monotonic() - begun < 2
    assert failed.is_set()


def ids(feed: str) -> list[str]:
    return re.findall(r"<id>http://arxiv.org/abs/([^<]+)</id>", feed)


def test_arxiv_pages_are_cut_from_the_recorded_list(test_data: Path) -> None:
    with ServiceServer(arxiv_replay(test_data)) as server:
        page = get(server, search_query='all:"testing"', start="1", max_results="2").text
        several = get(server, id_list="1605.08386,0808.05394,1707.08567").text
        error = get(server, id_list="abc")
        unknown = get(server, search_query="cats")
    assert ids(page) == ["2405.13786v1", "2005.14124v2"]
    assert "<opensearch:startIndex>1<" in page
    assert ids(several) == ["1605.08386v1", "1707.08567v1"]
    assert "<opensearch:totalResults>2<" in several
    assert (error.status_code, "incorrect id format for abc" in error.text) == (400, True)
    assert (unknown.status_code, unknown.text) == (500, "not recorded: arXiv search 'cats'")


def test_pubmed_records_are_found_by_their_ids(test_data: Path) -> None:
    with ServiceServer(pubmed_replay(test_data)) as server:
        listed = get(server, "/esearch.fcgi", term="biopython[All Fields]", retmax="2").text
        nothing = get(server, "/esearch.fcgi", term="abcXYZ").text
        records = get(server, "/efetch.fcgi", id="9997,27797938").text
        medline = get(server, "/efetch.fcgi", id="12230038", rettype="medline").text
        unknown = get(server, "/efetch.fcgi", id="9997,1")
    assert re.findall(r"<Id>(\d+)", listed) == ["41282813", "41148224"]
    assert "<Count>63</Count><RetMax>2<" in listed
    assert "<PhraseNotFound>abcXYZ<" in nothing
    assert re.findall(r"<MedlineCitation[^>]*>\s*<PMID[^>]*>(\d+)", records) == ["9997", "27797938"]
    assert records.endswith("</PubmedArticleSet>")
    assert medline.startswith("\nPMID- 12230038\n")
    assert (unknown.status_code, unknown.text) == (500, "not recorded: PubMed records ['1']")
    assert b"<Count>5</Count><RetMax>1<" in pubmed_listing(["9997"], count=5).body


def test_wikipedia_pages_have_what_was_asked(test_data: Path) -> None:
    asked = {
        "prop": "info|extracts",
        "exintro": "",
        "titles": "celtuce|Tropical Depression Ten (2005)",
    }
    with ServiceServer(wikipedia_replay(test_data)) as server:
        found = get(server, list="search", srsearch="porsche", srlimit="2").json()
        query = get(server, **asked).json()["query"]
        pages, renamed = query["pages"], query["normalized"]
        redirect = get(server, prop="info", titles="Communist Party").json()["query"]
        unknown = get(server, prop="info", titles="Nobody")
    assert [hit["title"] for hit in found["query"]["search"]] == [
        "Porsche",
        "Porsche in motorsport",
    ]
    assert {page["title"]: len(page["extract"]) for page in pages.values()} == {
        "Celtuce": 677,
        "Tropical Depression Ten (2005)": 607,
    }
    assert renamed == [{"from": "celtuce", "to": "Celtuce"}]
    assert {page["lastrevid"] for page in pages.values()} == {562756085, 572715399}
    assert redirect["redirects"] == [{"from": "Communist Party", "to": "Communist party"}]
    assert unknown.text == "not recorded: Wikipedia 'info' of 'Nobody'"


def test_what_was_asked_is_kept_in_order() -> None:
    def answer(asked: Asked) -> Answer:
        return Answer(asked.params["n"].encode())

    with ServiceServer(answer) as server:
        got = [get(server, n=str(n)).text for n in range(5)]
    assert got == ["0", "1", "2", "3", "4"]
    assert [asked.params["n"] for asked in server.requests] == got
