from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from arxiv_runs import Answers, entry, fails, feed, find, listing, run
from service_server import Answer, Asked, arxiv_replay

from openreward.errors import UserError
from openreward.tools.base import Search
from openreward.tools.live_arxiv import LiveArxiv

# --- what is asked


def test_a_search_asks_for_no_more_than_it_needs_by_relevance() -> None:
    _, [asked] = find(listing([entry("2401.00001v1")]), "Tall poles?", 3)
    assert asked.path == "/api/query"
    assert asked.params == {
        "search_query": "all:tall AND all:poles",
        "sortBy": "relevance",
        "sortOrder": "descending",
        "start": "0",
        "max_results": "5",
    }
    assert "ada@example.org" in asked.headers["user-agent"]


def by_query(found: dict[str, list[str]]) -> Answers:
    def answer(asked: Asked) -> Answer:
        key = asked.params.get("id_list") or asked.params["search_query"]
        return feed(found.get(key, []))

    return answer


def test_any_of_the_words_is_asked_for_where_no_paper_has_all() -> None:
    papers = {"all:tall OR all:poles": [entry("2401.00001v1")]}
    found, asked = find(by_query(papers), "tall poles")
    assert [passage.document_id for passage in found] == ["arxiv:2401.00001"]
    assert [each.params["search_query"] for each in asked] == [
        "all:tall AND all:poles",
        "all:tall OR all:poles",
    ]
    assert {each.params["sortBy"] for each in asked} == {"relevance"}


def test_two_requests_are_all_that_a_search_costs() -> None:
    status, message, asked = fails(by_query({}), "tall poles 2401.00001")
    assert status == "no_result"
    assert [each.params.get("id_list") for each in asked] == ["2401.00001", None]
    assert message == (
        "nothing in arXiv matches 'tall poles 2401.00001'; use fewer and more common words, in "
        "English, or a paper's title"
    )


def test_a_paper_is_looked_up_by_its_id() -> None:
    papers = {"2401.00001v2": [entry("2401.00001v2")]}
    found, [asked] = find(by_query(papers), "https://arxiv.org/abs/2401.00001v2")
    assert found[0].document_id == "arxiv:2401.00001"
    assert "search_query" not in asked.params


def test_an_id_that_names_nothing_is_said() -> None:
    status, message, asked = fails(by_query({}), "2401.99999")
    assert (status, len(asked)) == ("no_result", 1)
    assert message.startswith("arXiv has no paper '2401.99999'; ")


def test_a_query_without_words_asks_nothing() -> None:
    status, _, asked = fails(listing([]), "?!")
    assert (status, asked) == ("bad_query", [])


def test_no_passages_is_no_search() -> None:
    with pytest.raises(UserError, match="k of at least 1, got 0"):
        find(listing([]), "pole", 0)


# --- what comes back


def test_a_paper_becomes_a_passage_of_its_document() -> None:
    text = "  We study\n  poles of $f_{ij}$.\n\n  They are &lt;b&gt; tall. "
    paper = entry("math/0309136v12", text, "On\n  poles")
    [passage], _ = find(listing([paper]), "poles")
    assert passage.document_id == "arxiv:math/0309136"
    assert passage.title == "On poles"
    assert passage.text == "We study poles of $f_{ij}$.\n\nThey are <b> tall."
    assert (passage.start, passage.end) == (0, len(passage.text))
    assert (passage.url, passage.revision) == ("https://arxiv.org/abs/math/0309136", "v12")
    assert passage.source == "arxiv"


def test_passages_keep_arxivs_order_and_every_paper_comes_before_any_comes_twice() -> None:
    long = " ".join(f"Sentence {n} of the poles is here." for n in range(60))
    papers = [entry("2401.00009v1", long), entry("2401.00001v1"), entry("2401.00005v1")]
    found, _ = find(listing(papers), "poles", 4)
    ids = [passage.document_id.removeprefix("arxiv:2401.0000") for passage in found]
    assert ids == ["9", "1", "5", "9"]
    assert len(find(listing(papers), "poles", 2)[0]) == 2


def test_a_paper_without_an_abstract_is_left_out_and_counted() -> None:
    async def use(arxiv: LiveArxiv) -> tuple[list[str], dict[str, int]]:
        found = await arxiv.search("poles", 3)
        return [passage.document_id for passage in found.passages], dict(arxiv.skipped)

    papers = [entry("2401.00001v1", " \n "), entry("2401.00002v1", "Withdrawn by the author.")]
    found, _ = run(listing(papers), use)
    assert found == (["arxiv:2401.00002"], {"no abstract": 1})


def test_papers_without_abstracts_alone_are_said_to_be_there() -> None:
    status, message, _ = fails(listing([entry("2401.00001v1", "")]), "poles")
    assert status == "no_result"
    assert message.startswith("arXiv has papers for 'poles', but without abstracts; ")


def test_a_page_that_is_shorter_than_it_should_be_is_taken_as_it_is() -> None:
    found, asked = find(lambda asked: feed([entry("2401.00001v1")], 900), "poles")
    assert (len(found), len(asked)) == (1, 1)


@pytest.mark.parametrize("missing", ["author", "category", "title"])
def test_a_paper_may_lack_what_is_not_needed(missing: str) -> None:
    paper = re.sub(rf"<{missing}>.*</{missing}>", "", entry("2401.00001v1"))
    assert len(find(listing([paper]), "poles")[0]) == 1


def test_arxivs_complaint_reaches_the_model() -> None:
    error = (
        "<entry><id>https://arxiv.org/api/errors#x</id><title>Error</title>"
        "<summary>incorrect id format for 2413.00001</summary></entry>"
    )
    status, message, asked = fails(lambda asked: feed([error]), "arXiv:2413.00001")
    assert (status, len(asked)) == ("bad_query", 1)
    assert "incorrect id format for 2413.00001" in message


def test_it_is_a_search_back_end_whose_version_is_its_address() -> None:
    async def use(arxiv: LiveArxiv) -> Search:
        return arxiv

    search, _ = run(listing([]), use)
    assert search.source == "arxiv"
    assert re.fullmatch(r"live/1 http://127\.0\.0\.1:\d+/api/query", search.version)


# --- recorded answers


def test_a_recorded_paper_is_found_by_id(test_data: Path) -> None:
    found, _ = find(arxiv_replay(test_data), "1605.08386")
    assert {passage.document_id for passage in found} == {"arxiv:1605.08386"}
    assert found[0].title == "Heat-bath random walks with Markov bases"
    assert found[0].text.startswith("Graphs on lattice points are studied")
    assert found[0].revision == "v1"


def test_recorded_ids_of_the_old_form_are_found(test_data: Path) -> None:
    for query, words in {
        "quant-ph/0201082v1": "We show a representation of Quantum Computers",
        "https://arxiv.org/abs/astro-ph/0601001": "We derive the frequencies of hot Jupiters",
    }.items():
        found, _ = find(arxiv_replay(test_data), query)
        assert found[0].text.startswith(words)


def test_of_two_recorded_ids_the_one_that_exists_is_found(test_data: Path) -> None:
    found, [asked] = find(arxiv_replay(test_data), "0808.05394 1707.08567")
    assert asked.params["id_list"] == "0808.05394,1707.08567"
    assert {passage.document_id for passage in found} == {"arxiv:1707.08567"}


def test_a_recorded_id_without_a_paper_is_no_result(test_data: Path) -> None:
    assert fails(arxiv_replay(test_data), "0808.05394")[0] == "no_result"


def test_recorded_words_find_papers_in_the_order_of_relevance(test_data: Path) -> None:
    found, _ = find(arxiv_replay(test_data), "Testing", 4)
    assert [passage.document_id for passage in found] == [
        "arxiv:2202.12139",
        "arxiv:2405.13786",
        "arxiv:2005.14124",
        "arxiv:2204.08348",
    ]
