from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pubmed_runs import library, programs, record, run
from service_server import Answer, Asked, pubmed_listing

from openreward.errors import ToolError, UserError
from openreward.tools import live_pubmed
from openreward.tools.live_pubmed import LivePubmed


class Everything(dict[str, str]):
    """A record for every number; each tenth has no abstract."""

    def __contains__(self, pmid: object) -> bool:
        return True

    def __missing__(self, pmid: str) -> str:
        return record(pmid, text="" if pmid.endswith("0") else "It works.")


def ids(first: int, last: int) -> list[str]:
    return [str(number) for number in range(last, first - 1, -1)]


async def numbers(pubmed: LivePubmed, query: str = "pain", skip: int = 0) -> list[int]:
    found = [document.id async for document in pubmed.documents(query, skip)]
    return [int(id.removeprefix("pubmed:")) for id in found]


def test_documents_come_page_by_page_in_the_services_order() -> None:
    found, asked = run(library({"pain": ids(1, 1250)}, Everything()), numbers)
    assert found == [number for number in range(1250, 0, -1) if number % 10]
    assert programs(asked) == ["esearch", *["efetch"] * 10, "esearch", *["efetch"] * 3]
    assert [each.params["retstart"] for each in asked if "term" in each.params] == ["0", "1000"]
    assert {each.params["id"].count(",") for each in asked if "id" in each.params} == {99, 49}


def test_nothing_more_is_asked_than_is_taken() -> None:
    async def use(pubmed: LivePubmed) -> str:
        stream = pubmed.documents("pain")
        first = await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        return first.id

    first, asked = run(library({"pain": ids(1, 1249)}, Everything()), use)
    assert (first, programs(asked)) == ("pubmed:1249", ["esearch", "efetch"])


@pytest.mark.parametrize(("skip", "found"), [(0, [5, 4, 3, 2, 1]), (3, [2, 1]), (5, []), (900, [])])
def test_results_may_be_skipped(skip: int, found: list[int]) -> None:
    answer = library({"pain": ids(1, 5)}, Everything())
    assert run(answer, lambda pubmed: numbers(pubmed, skip=skip))[0] == found


def test_a_record_on_two_pages_comes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_pubmed, "_PAGE", 2)
    answer = library({"pain": ["5", "4", "4", "3", "5", "2"]}, Everything())
    assert run(answer, numbers)[0] == [5, 4, 3, 2]


def test_any_of_the_words_is_asked_for_on_every_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_pubmed, "_PAGE", 2)
    answer = library({"hip OR pain": ids(1, 3)}, Everything())
    found, asked = run(answer, lambda pubmed: numbers(pubmed, "hip pain"))
    assert found == [3, 2, 1]
    terms = [each.params["term"] for each in asked if "term" in each.params]
    assert terms == ["hip pain", "hip OR pain", "hip OR pain"]


def test_a_number_finds_its_one_document() -> None:
    answer = library({}, Everything())
    assert run(answer, lambda pubmed: numbers(pubmed, "PMID 7"))[0] == [7]
    assert run(answer, lambda pubmed: numbers(pubmed, "PMID 7", 1)) == ([], [])


def test_nothing_found_is_said() -> None:
    async def use(pubmed: LivePubmed) -> str:
        with pytest.raises(ToolError) as raised:
            await numbers(pubmed)
        return raised.value.status

    assert run(library({}, {}), use)[0] == "no_result"


def test_behind_the_last_result_that_can_be_reached_there_is_an_error_that_says_what_to_do() -> (
    None
):
    wanted: list[tuple[int, int]] = []

    def answer(asked: Asked) -> Answer:
        if "term" not in asked.params:
            return library({}, Everything())(asked)
        start, most = int(asked.params["retstart"]), int(asked.params["retmax"])
        wanted.append((start, most))
        return pubmed_listing([str(2 * n + 1) for n in range(start, start + most)], 42_249, start)

    async def use(pubmed: LivePubmed) -> tuple[int, str]:
        found = 0
        try:
            async for _ in pubmed.documents("pain", 8_950):
                found += 1
        except UserError as error:
            return found, str(error)
        return found, "no error"

    (found, message), _ = run(answer, use)
    assert (found, wanted) == (1_049, [(8_950, 1_000), (9_950, 49)])
    assert message == (
        "expected at most 9,999 results of one query, got a request for more (from 9,999 on): "
        "PubMed gives no others by position; split the query 'pain' into narrower ones, such as "
        "one a year"
    )


def test_a_start_out_of_reach_asks_nothing() -> None:
    async def use(pubmed: LivePubmed) -> str:
        with pytest.raises(UserError) as raised:
            await numbers(pubmed, skip=9_999)
        return str(raised.value)

    message, asked = run(library({}, {}), use)
    assert asked == []
    assert message.startswith("expected at most 9,999 results of one query")
