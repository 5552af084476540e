from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from openreward.tools.pubmed_records import ARTICLES, Article, iso_date, make_document, read_article
from openreward.tools.xml_reader import read_xml

HEAD = '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD//EN" "https://nowhere.invalid/p.dtd">'


def articles(*elements: str) -> list[Article]:
    content = f"{HEAD}<PubmedArticleSet>{''.join(elements)}</PubmedArticleSet>".encode()
    return [read_article(element) for element in read_xml(content, ARTICLES)[1]]


def article(body: str, more: str = "", pmid: str = "7") -> Article:
    [found] = articles(
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article>{body}</Article>{more}"
        "</MedlineCitation></PubmedArticle>"
    )
    return found


def text_of(inside: str) -> str:
    return article(f"<Abstract><AbstractText>{inside}</AbstractText></Abstract>").text


def math(inside: str) -> str:
    return f'<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML">{inside}</mml:math>'


HALF = "<mml:mfrac>\n <mml:mn>1</mml:mn>\n <mml:mn>2</mml:mn>\n</mml:mfrac>"


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        (f"a {math(HALF)} b", "a 1/2 b"),
        (
            math("<mml:mfrac><mml:mrow><mml:mi>a</mml:mi><mml:mo>+</mml:mo><mml:mn>1</mml:mn>"
                 "</mml:mrow><mml:mi>b</mml:mi></mml:mfrac>"),
            "(a+1)/b",
        ),
        (math("<mml:msup><mml:mn>10</mml:mn><mml:mn>5</mml:mn></mml:msup>"), "10^5"),
        (math("<mml:msup><mml:mn>10</mml:mn><mml:mrow><mml:mo>-</mml:mo><mml:mn>5</mml:mn>"
              "</mml:mrow></mml:msup>"), "10^(-5)"),
        (math("<mml:msubsup><mml:mi>x</mml:mi><mml:mn>1</mml:mn><mml:mn>2</mml:mn></mml:msubsup>"),
         "x1^2"),
        (math("<mml:msqrt><mml:mn>2</mml:mn><mml:mi>x</mml:mi></mml:msqrt>"), "√2x"),
        (math("<mml:new>y<mml:mi>z</mml:mi>w</mml:new>"), "yzw"),
        ("10<sup>5</sup> and x<sup>2</sup>, H<sub>2</sub>O", "10^5 and x2, H2O"),
        ("<new>a<newer at='1'>b</newer></new>c", "abc"),
        ("&lt;5 &beta;-blockers &nosuch;", "<5 β-blockers &nosuch;"),
        ("<DispFormula>E = mc<sup>2</sup></DispFormula> holds", "E = mc2 holds"),
    ],
)  # fmt: skip
def test_no_text_is_lost_and_powers_and_fractions_keep_their_meaning(
    inside: str, text: str
) -> None:
    assert text_of(inside) == text


ABSTRACT = "<Abstract><AbstractText>Own.</AbstractText></Abstract>"
PLAIN = (
    '<OtherAbstract Type="plain-language-summary"><AbstractText>In short.</AbstractText>'
    "</OtherAbstract>"
)
NASA = (
    '<OtherAbstract Type="NASA" Language="eng"><AbstractText>More.</AbstractText></OtherAbstract>'
)
SPANISH = (
    '<OtherAbstract Type="Publisher" Language="spa"><AbstractText Label="FIN">Propio.'
    "</AbstractText></OtherAbstract>"
)


@pytest.mark.parametrize(
    ("own", "others", "text"),
    [
        (ABSTRACT, PLAIN + NASA, "Own.\nPLAIN LANGUAGE SUMMARY: In short.\nMore."),
        (ABSTRACT, SPANISH, "Own."),
        ("", SPANISH, "FIN: Propio."),
        ("", NASA + SPANISH, "More."),
        ("", "", ""),
        ("<Abstract><AbstractText/></Abstract>", "", ""),
    ],
)
def test_other_abstracts_follow_or_stand_in(own: str, others: str, text: str) -> None:
    assert article(own, others).text == text


def test_labels_stand_before_their_parts_on_one_line() -> None:
    parts = (
        '<AbstractText Label="AIM\n OF IT" NlmCategory="OBJECTIVE">To see.</AbstractText>'
        '<AbstractText Label="UNLABELLED">Then.</AbstractText><AbstractText Label="EMPTY"/>'
        "<CopyrightInformation>(c)</CopyrightInformation>"
    )
    assert article(f"<Abstract>{parts}</Abstract>").text == "AIM OF IT: To see.\nThen."


@pytest.mark.parametrize(
    ("titles", "title"),
    [
        (
            "<ArticleTitle>[On it].</ArticleTitle><VernacularTitle>Dazu.</VernacularTitle>",
            "[On it].",
        ),
        (
            "<ArticleTitle>[Not Available].</ArticleTitle><VernacularTitle>Dazu.</VernacularTitle>",
            "Dazu.",
        ),
        ("<ArticleTitle/><VernacularTitle>Dazu.</VernacularTitle>", "Dazu."),
        ("<ArticleTitle>[Not Available].</ArticleTitle>", ""),
        ("", ""),
    ],
)
def test_a_title_in_another_language_is_used_where_there_is_no_other(
    titles: str, title: str
) -> None:
    assert article(titles).title == title


def test_a_chapter_of_a_book_is_a_record() -> None:
    [chapter] = articles(
        "<PubmedBookArticle><BookDocument><PMID>20301295</PMID><Book><BookTitle>Genes</BookTitle>"
        "<PubDate><Year>1993</Year></PubDate></Book><Abstract><AbstractText>It is rare."
        "</AbstractText></Abstract><ReferenceList><Reference><ArticleIdList><ArticleId "
        'IdType="doi">10.1/other</ArticleId></ArticleIdList></Reference></ReferenceList>'
        "</BookDocument><PubmedBookData><ArticleIdList><ArticleId IdType='pmc'>PMC1</ArticleId>"
        "</ArticleIdList></PubmedBookData></PubmedBookArticle>"
    )
    assert chapter == Article("20301295", "Genes", "It is rare.", "1993", frozenset({"pmc1"}))


def test_names_are_the_records_own_and_not_of_what_it_cites() -> None:
    [found] = articles(
        "<PubmedArticle><MedlineCitation><PMID>7</PMID><Article><ELocationID EIdType='doi'>10.1/A"
        "</ELocationID><ELocationID EIdType='pii'>S1</ELocationID></Article></MedlineCitation>"
        "<PubmedData><ArticleIdList><ArticleId "
        "IdType='pubmed'>7</ArticleId><ArticleId IdType='pmc'>PMC9</ArticleId></ArticleIdList>"
        "<ReferenceList><Reference><ArticleIdList><ArticleId IdType='doi'>10.1/b</ArticleId>"
        "</ArticleIdList></Reference></ReferenceList></PubmedData></PubmedArticle>"
    )
    assert found.names == {"10.1/a", "pmc9"}


@pytest.mark.parametrize("pmid", ["", "x7", "7/../8", "7 8", "１２", "1" * 11])
def test_an_id_that_is_no_number_is_none(pmid: str) -> None:
    assert article(ABSTRACT, pmid=pmid).pmid == ""


def test_the_id_of_a_record_that_has_none_is_not_that_of_a_citation() -> None:
    [found] = articles(
        "<PubmedArticle><MedlineCitation><CommentsCorrectionsList><CommentsCorrections>"
        "<PMID>8</PMID></CommentsCorrections></CommentsCorrectionsList></MedlineCitation>"
        "</PubmedArticle>"
    )
    assert found == Article("", "", "", None, frozenset())


def test_deleted_citations_and_an_empty_set_hold_no_records() -> None:
    assert articles("<DeleteCitation><PMID>1</PMID><PMID>2</PMID></DeleteCitation>") == []
    assert articles() == []


@pytest.mark.parametrize(
    ("parts", "date"),
    [
        (["2020", "Oct", "5"], "2020-10-05"),
        (["2020", "10"], "2020-10"),
        (["2020", "Spring", "5"], "2020"),
        (["2020", "13", "5"], "2020"),
        (["2020", "²", "5"], "2020"),
        (["2020", "1", "²"], "2020-01"),
        (["20", "1"], None),
        ([], None),
    ],
)
def test_dates_are_as_exact_as_they_are_known(parts: list[str], date: str | None) -> None:
    assert iso_date(parts) == date


def test_a_document_names_its_record() -> None:
    assert make_document("7", "T", "Text.", "2020").model_dump() == {
        "id": "pubmed:7",
        "source": "pubmed",
        "title": "T",
        "text": "Text.",
        "url": "https://pubmed.ncbi.nlm.nih.gov/7/",
        "revision": "2020",
    }


@pytest.mark.parametrize("number", [1, 2, 4, 5, 6, 7])
def test_recorded_records_lose_no_text(test_data: Path, number: int) -> None:
    """Against another reading: all text within each abstract's parts, spaces and marks aside."""
    content = (test_data / "service-bodies" / "pubmed" / f"pubmed{number}.xml").read_bytes()
    read = [read_article(element) for element in read_xml(content, ARTICLES)[1]]
    others = ElementTree.fromstring(content).findall("PubmedArticle")
    assert len(read) == len(others) > 0
    for mine, other in zip(read, others, strict=True):
        parts = other.findall("MedlineCitation/Article/Abstract/AbstractText")
        expected = "".join(part.get("Label", "") + "".join(part.itertext()) for part in parts)
        assert bare(mine.text) == bare(expected)
        assert bare(mine.title) == bare("".join(other.find(".//ArticleTitle").itertext()))  # type: ignore[union-attr]
        assert mine.pmid == other.findtext("MedlineCitation/PMID")


def bare(text: str) -> str:
    return re.sub(r"[\s^():]|\[Not Available\]\.", "", text)
