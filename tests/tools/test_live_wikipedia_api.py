"""How the package `wikipedia` is used, and that it still is what is leaned on."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import wikipedia
import wikipedia.wikipedia as real
from service_server import Asked, ServiceServer, of_html, of_json
from tiny_wiki import Page, Wiki, live, searched

from openreward.errors import ToolError
from openreward.tools.live_wikipedia_api import _private_copy

EN = Wiki({"Pole": Page("An English pole.")}, hits={"pole": ["Pole"]})
FR = Wiki({"Pole": Page("Une perche.")}, hits={"pole": ["Pole"]})


class Recorder:
    """Stands where the package has `requests`."""

    def __init__(self, body: dict[str, Any]) -> None:
        self.body = body
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def get(self, url: str, params: dict[str, Any], headers: dict[str, str]) -> Recorder:
        self.asked.append((url, dict(params)))
        return self

    def json(self) -> dict[str, Any]:
        return self.body


# ---- contract: what an upgrade of the package must not change


def test_the_package_reads_its_transport_and_address_when_it_is_called() -> None:
    module = _private_copy()
    transport = Recorder({"query": {"search": [{"title": "B"}, {"title": "A"}]}})
    vars(module).update(requests=transport, API_URL="http://wiki.example/api")
    assert module.search.fn("some words", 7) == ["B", "A"]
    ((url, params),) = transport.asked
    assert url == "http://wiki.example/api"
    assert params == {
        "action": "query",
        "format": "json",
        "list": "search",
        "srprop": "",
        "srlimit": 7,
        "limit": 7,
        "srsearch": "some words",
    }


def test_the_package_sends_a_request_as_it_is_given() -> None:
    module = _private_copy()
    transport = Recorder({"query": {"pages": {}}})
    vars(module).update(requests=transport)
    assert module._wiki_request({"titles": "A|B"}) == {"query": {"pages": {}}}
    assert transport.asked[0][1] == {"action": "query", "format": "json", "titles": "A|B"}


def test_the_private_copy_is_nobody_elses() -> None:
    one, other = _private_copy(), _private_copy()
    assert len({id(one), id(other), id(real)}) == 3
    assert len({id(each.search) for each in (one, other, real)}) == 3
    assert sys.modules["wikipedia.wikipedia"] is real


def test_the_real_package_is_untouched_after_use() -> None:
    before = dict(vars(real))
    caches = [real.search._cache, real.summary._cache]
    assert searched(EN, "Pole")[0].text == "An English pole."
    assert dict(vars(real)) == before
    assert [real.search._cache, real.summary._cache] == caches == [{}, {}]
    assert wikipedia.wikipedia.API_URL == "http://en.wikipedia.org/w/api.php"


# ---- use


def test_two_languages_are_asked_at_once() -> None:
    async def both(english: str, french: str) -> list[tuple[str, str]]:
        searches = [live(english), live(french, "fr")] * 5
        found = await asyncio.gather(*(search.search("Pole", 1) for search in searches))
        return [(each.passages[0].document_id, each.passages[0].text) for each in found]

    with ServiceServer(EN) as english, ServiceServer(FR) as french:
        found = asyncio.run(both(english.url, french.url))
    assert (
        found
        == [
            ("wikipedia:Pole", "An English pole."),
            ("wikipedia:fr:Pole", "Une perche."),
        ]
        * 5
    )


def test_one_back_end_serves_several_threads() -> None:
    found: list[str] = []

    def ask(number: int) -> None:
        result = asyncio.run(search.search(f"Pole {number}", 1))
        found.append(result.passages[0].title)

    names = [f"Pole {number}" for number in range(6)]
    wiki = Wiki({name: Page(f"{name}.") for name in names}, hits={n.lower(): [n] for n in names})
    with ServiceServer(wiki) as server:
        search = live(server.url)
        threads = [threading.Thread(target=ask, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(found) == names


def test_the_version_names_address_and_language() -> None:
    assert live("http://wiki.example", "fr").version == "live/1 http://wiki.example/w/api.php fr"


def test_a_request_says_what_the_api_needs() -> None:
    with ServiceServer(EN) as server:
        asyncio.run(live(server.url).search("Pole", 3))
        hits, pages = server.requests
    assert hits.path == pages.path == "/w/api.php"
    assert hits.params == {
        "action": "query",
        "format": "json",
        "list": "search",
        "srlimit": "6",
        "srprop": "",
        "srsearch": "pole",
    }
    assert pages.params == {
        "action": "query",
        "exintro": "",
        "exlimit": "max",
        "explaintext": "",
        "format": "json",
        "inprop": "url",
        "ppprop": "disambiguation",
        "prop": "info|pageprops|extracts",
        "redirects": "",
        "titles": "Pole|POLE",
    }


@pytest.mark.parametrize(
    ("tries", "outcome"), [(1, "unavailable"), (2, "An English pole.")], ids=["once", "twice"]
)
@pytest.mark.parametrize("broken", ["search", "pages"])
def test_a_broken_answer_is_asked_again(broken: str, tries: int, outcome: str) -> None:
    seen: list[str] = []

    def answer(asked: Asked) -> Any:
        kind = "search" if "srsearch" in asked.params else "pages"
        seen.append(kind)
        if kind == broken and seen.count(kind) == 1:
            return of_html("busy") if tries == 1 else of_json({"query": {}})
        return EN(asked)

    try:
        result = searched(answer, "Pole", tries=tries)[0].text
    except ToolError as error:
        result = error.status
    assert result == outcome
    assert seen.count(broken) == tries


def test_a_limit_under_status_200_is_asked_again_and_then_named() -> None:
    limit = {"error": {"code": "ratelimited", "info": "Slow down."}}
    with (
        ServiceServer(lambda asked: of_json(limit)) as server,
        pytest.raises(ToolError, match="wikipedia limits how often it may be asked") as caught,
    ):
        asyncio.run(live(server.url, tries=3).search("Pole", 3))
    assert caught.value.status == "rate_limited"
    assert len(server.requests) == 3
