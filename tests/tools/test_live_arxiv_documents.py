from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from arxiv_runs import entry, feed, listing, run
from service_server import Answer, Asked, arxiv_replay

from openreward.errors import ToolError, UserError
from openreward.tools import live_arxiv
from openreward.tools.live_arxiv import LiveArxiv


def papers(count: int) -> list[str]:
    """Papers 0, 1, 2, ...; each tenth has no abstract."""
    return [entry(f"2401.{n:05}v1", "It works." if n % 10 else "") for n in range(count)]


async def numbers(arxiv: LiveArxiv, query: str = "poles", skip: int = 0) -> list[int]:
    found = [document.id async for document in arxiv.documents(query, skip)]
    return [int(id.removeprefix("arxiv:2401.")) for id in found]


def test_documents_come_page_by_page_newest_first() -> None:
    found, asked = run(listing(papers(250)), numbers)
    assert found == [n for n in range(250) if n % 10]
    assert [each.params["start"] for each in asked] == ["0", "100", "200"]
    assert {each.params["max_results"] for each in asked} == {"100"}
    assert {(each.params["sortBy"], each.params["sortOrder"]) for each in asked} == {
        ("submittedDate", "descending")
    }


def test_a_document_is_what_the_passages_of_a_search_are_cut_from() -> None:
    text = " ".join(f"Sentence {n} of the poles is here." for n in range(60))

    async def use(arxiv: LiveArxiv) -> None:
        found = (await arxiv.search("poles", 3)).passages
        [document] = [document async for document in arxiv.documents("poles", 0)]
        assert len(found) == 2
        for passage in found:
            assert document.text[passage.start : passage.end] == passage.text
            assert (document.id, document.title) == (passage.document_id, passage.title)
            assert (document.url, document.revision) == (passage.url, passage.revision)

    run(listing([entry("2401.00001v1", text)]), use)


def test_nothing_more_is_asked_than_is_taken() -> None:
    async def use(arxiv: LiveArxiv) -> str:
        stream = arxiv.documents("poles")
        first = await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]
        return first.id

    first, asked = run(listing(papers(900)), use)
    assert (first, len(asked)) == ("arxiv:2401.00001", 1)


@pytest.mark.parametrize(("skip", "found"), [(0, [1, 2, 3, 4]), (3, [3, 4]), (5, []), (900, [])])
def test_papers_may_be_skipped(skip: int, found: list[int]) -> None:
    async def use(arxiv: LiveArxiv) -> list[int]:
        return await numbers(arxiv, skip=skip)

    assert run(listing(papers(5)), use)[0] == found


def test_a_paper_on_two_pages_comes_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live_arxiv, "_PAGE", 2)
    listed = [entry(f"2401.0000{n}v1") for n in (5, 4, 4, 3, 5, 2)]
    assert run(listing(listed), numbers)[0] == [5, 4, 3, 2]


def test_a_short_page_is_followed_from_where_it_ended() -> None:
    def answer(asked: Asked) -> Answer:
        start = int(asked.params["start"])
        return feed(papers(9)[start : start + 4], 9, start)

    found, asked = run(answer, numbers)
    assert found == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [each.params["start"] for each in asked] == ["0", "4", "8"]


def test_any_of_the_words_is_asked_for_on_every_page_by_relevance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live_arxiv, "_PAGE", 2)

    def answer(asked: Asked) -> Answer:
        found = " OR " in asked.params["search_query"]
        return listing(papers(5) if found else [])(asked)

    async def use(arxiv: LiveArxiv) -> list[int]:
        return await numbers(arxiv, "tall poles")

    found, asked = run(answer, use)
    assert found == [1, 2, 3, 4]
    assert [(each.params["search_query"][9:11], each.params["sortBy"]) for each in asked] == [
        ("AN", "submittedDate"),
        ("OR", "relevance"),
        ("OR", "relevance"),
        ("OR", "relevance"),
    ]


def test_an_id_finds_its_one_document(test_data: Path) -> None:
    async def use(arxiv: LiveArxiv) -> list[str]:
        return [document.id async for document in arxiv.documents("1605.08386", 0)]

    found, asked = run(arxiv_replay(test_data), use)
    assert (found, len(asked)) == (["arxiv:1605.08386"], 1)


def test_recorded_papers_are_documents_in_their_order(test_data: Path) -> None:
    async def use(arxiv: LiveArxiv) -> list[str]:
        found = []
        async for document in arxiv.documents("testing", 5):
            found.append(document.id)
            assert document.text == document.text.strip()
            if len(found) == 90:
                break
        return found

    found, asked = run(arxiv_replay(test_data), use)
    assert len(set(found)) == 90
    assert [each.params["start"] for each in asked] == ["5"]


def test_nothing_found_is_said() -> None:
    async def use(arxiv: LiveArxiv) -> str:
        with pytest.raises(ToolError) as raised:
            await numbers(arxiv)
        return raised.value.status

    assert run(listing([]), use)[0] == "no_result"


def test_behind_the_last_paper_that_arxiv_gives_there_is_an_error_that_says_what_to_do() -> None:
    def answer(asked: Asked) -> Answer:
        start, most = int(asked.params["start"]), int(asked.params["max_results"])
        entries = [entry(f"2401.{n:05}v1") for n in range(start, start + most)]
        return feed(entries, 42_249, start)

    async def use(arxiv: LiveArxiv) -> tuple[int, str]:
        found = 0
        try:
            async for _ in arxiv.documents("poles", 29_850):
                found += 1
        except UserError as error:
            return found, str(error)
        return found, "no error"

    (found, message), asked = run(answer, use)
    assert found == 150
    assert [each.params["max_results"] for each in asked] == ["100", "50"]
    assert message == (
        "expected at most 30,000 papers of one query, got a request for more (from 30,000 on): "
        "arXiv gives no others; split the query 'poles' into narrower ones"
    )


def test_a_start_out_of_reach_asks_nothing() -> None:
    async def use(arxiv: LiveArxiv) -> None:
        with pytest.raises(UserError):
            await numbers(arxiv, skip=30_000)

    assert run(listing([]), use)[1] == []
