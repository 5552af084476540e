"""Live PubMed against answers of PubMed that were recorded."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pubmed_runs import Answers, fails, find, programs, record, record_set, run
from service_server import Answer, Asked, pubmed_listing, pubmed_replay

from openreward.tools.live_pubmed import LivePubmed

RECORDED = ["27797938", "11748933", "28775130"]


def listed_then_recorded(test_data: Path, pmids: list[str]) -> Answers:
    replay = pubmed_replay(test_data)

    def answer(asked: Asked) -> Answer:
        return pubmed_listing(pmids) if "term" in asked.params else replay(asked)

    return answer


def test_recorded_articles_come_in_the_order_of_the_search(test_data: Path) -> None:
    found, asked = find(listed_then_recorded(test_data, RECORDED), "telomere pancreatic cancer")
    assert [passage.document_id for passage in found.passages] == [
        "pubmed:27797938",
        "pubmed:11748933",
        "pubmed:28775130",
    ]
    first = found.passages[0]
    assert first.title.startswith("Leucocyte telomere length, genetic variants at the TERT gene")
    assert (first.url, first.revision) == (
        "https://pubmed.ncbi.nlm.nih.gov/27797938/",
        "2018-04-17",
    )
    assert programs(asked) == ["esearch", "efetch"]
    assert asked[1].params["id"] == "27797938,11748933,28775130"


def test_passages_are_spans_of_the_documents(test_data: Path) -> None:
    answer = listed_then_recorded(test_data, RECORDED)

    async def use(pubmed: LivePubmed) -> bool:
        texts = {document.id: document.text async for document in pubmed.documents("telomere")}
        found = await pubmed.search("telomere", 9)
        assert len(found.passages) == 6
        return all(p.text == texts[p.document_id][p.start : p.end] for p in found.passages)

    assert run(answer, use)[0]


def test_a_recorded_search_names_the_records_that_are_fetched(test_data: Path) -> None:
    replay = pubmed_replay(test_data)

    def answer(asked: Asked) -> Answer:
        if "term" in asked.params:
            return replay(asked)
        return record_set(*(record(pmid) for pmid in asked.params["id"].split(",")))

    found, asked = find(answer, "BioPython", 2)
    assert [p.document_id for p in found.passages] == ["pubmed:41282813", "pubmed:41148224"]
    assert asked[1].params["id"] == "41282813,41148224,41011574,40959146,40937394,40657423"


def test_a_recorded_search_that_finds_nothing_says_so(test_data: Path) -> None:
    status, message, asked = fails(pubmed_replay(test_data), "abcXYZ")
    assert status == "no_result"
    assert "nothing in PubMed matches 'abcXYZ'; use fewer and more common words" in message
    assert programs(asked) == ["esearch"]


def test_a_recorded_article_is_looked_up_by_its_number(test_data: Path) -> None:
    found, asked = find(pubmed_replay(test_data), "PMID: 11748933")
    assert {passage.document_id for passage in found.passages} == {"pubmed:11748933"}
    assert programs(asked) == ["efetch"]


def test_a_recorded_article_without_an_abstract_is_no_evidence(test_data: Path) -> None:
    status, message, _ = fails(pubmed_replay(test_data), "12091962")
    assert status == "no_result"
    assert "PubMed has the record '12091962' by its title alone, without an abstract" in message
