from __future__ import annotations

from pathlib import Path

import pytest

from openreward.errors import RecordError
from openreward.synth.documents import read_documents
from openreward.synth.reading import Skipped
from openreward.types import Document

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "https://x/y.dtd">\n'
ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID>
<DateRevised><Year>2019</Year><Month>06</Month><Day>09</Day></DateRevised>
<Article><ArticleTitle>{title}</ArticleTitle>{abstract}</Article></MedlineCitation>
<PubmedData><ReferenceList><Reference><ArticleIdList><ArticleId>1</ArticleId></ArticleIdList>
</Reference></ReferenceList></PubmedData></PubmedArticle>"""
BOOK = """<PubmedBookArticle><BookDocument><PMID Version="1">20301295</PMID>
<Book><BookTitle>GeneReviews</BookTitle><PubDate><Year>1993</Year></PubDate></Book>
<ArticleTitle>Huntington Disease</ArticleTitle>
<Abstract><AbstractText Label="MANAGEMENT">Care is <b>supportive</b>.</AbstractText></Abstract>
</BookDocument></PubmedBookArticle>"""


def article(abstract: str, pmid: str = "7", title: str = "A title.") -> str:
    return ARTICLE.format(pmid=pmid, title=title, abstract=abstract)


def read(folder: Path, *articles: str, head: str = HEAD) -> tuple[list[Document], dict[str, int]]:
    path = folder / "p.xml"
    path.write_text(f"{head}<PubmedArticleSet>{''.join(articles)}</PubmedArticleSet>")
    skipped = Skipped()
    return list(read_documents(path, "pubmed-xml", skipped)), skipped.counts


def abstract(text: str) -> str:
    return f"<Abstract><AbstractText>{text}</AbstractText></Abstract>"


def test_an_article_becomes_a_document(tmp_path: Path) -> None:
    [document], counts = read(tmp_path, article(abstract("We found it.")))
    assert document.model_dump() == {
        "id": "pubmed:7",
        "source": "pubmed",
        "title": "A title.",
        "text": "We found it.",
        "url": "https://pubmed.ncbi.nlm.nih.gov/7/",
        "revision": "2019-06-09",
    }
    assert counts == {}


def test_a_chapter_of_a_book_is_one_too(tmp_path: Path) -> None:
    [document], _ = read(tmp_path, BOOK)
    assert (document.id, document.title) == ("pubmed:20301295", "Huntington Disease")
    assert document.text == "MANAGEMENT: Care is supportive."
    assert document.revision == "1993"


def test_a_structured_abstract_keeps_its_labels(tmp_path: Path) -> None:
    parts = (
        '<Abstract><AbstractText Label="AIM">To see.</AbstractText><AbstractText Label='
        '"UNLABELLED">'
        'Plain.</AbstractText><AbstractText Label="EMPTY"/><CopyrightInformation>(c)'
        "</CopyrightInformation></Abstract>"
    )
    [document], _ = read(tmp_path, article(parts))
    assert document.text == "AIM: To see.\nPlain."


@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("The <i>TERT</i> gene, H<sub>2</sub>O", "The TERT gene, H2O"),
        ("10<sup>5</sup> cells, Ca<sup>2+</sup>, 2<sup> </sup>", "10^5 cells, Ca2+, 2"),
        ("<b>a<i>b<sup>c</sup></i></b>d", "abcd"),
        ("p &lt; 0.01 &#946; \n  next", "p < 0.01 β next"),
        ("&alpha;-helix", "α-helix"),  # a name that only the DTD, which is not read, declares
        (
            'x <mml:math xmlns:mml="http://m">\n <mml:mi>V</mml:mi>\n <mml:mn>2</mml:mn>\n'
            "</mml:math> y",
            "x V2 y",
        ),
    ],
)
def test_marks_lose_no_text(tmp_path: Path, inside: str, text: str) -> None:
    [document], _ = read(tmp_path, article(abstract(inside), title=f"On {inside}"))
    assert (document.text, document.title) == (text, f"On {text}")


@pytest.mark.parametrize(
    ("bare", "reason"),
    [
        (article(""), "no abstract"),
        (article(abstract(" ")), "no abstract"),
        (article(abstract("x"), pmid=""), "no PMID"),
        ("<PubmedArticle/>", "no PMID"),
    ],
)
def test_an_article_that_lacks_something_is_counted(tmp_path: Path, bare: str, reason: str) -> None:
    documents, counts = read(tmp_path, bare, article(abstract("x")))
    assert [document.id for document in documents] == ["pubmed:7"]
    assert counts == {reason: 1}


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 9))


@pytest.mark.parametrize(
    "declared",
    [
        f'<!ENTITY l0 "ha">{LAUGHS}',
        '<!ENTITY l8 SYSTEM "file:///etc/passwd">',
        "<!ENTITY % l8 'x'>",
    ],
    ids=["billion laughs", "external", "parameter"],
)
def test_entities_are_refused(tmp_path: Path, declared: str) -> None:
    head = f"<!DOCTYPE PubmedArticleSet [{declared}]>"
    with pytest.raises(
        RecordError, match="expected XML without entity declarations, got one of 'l"
    ):
        read(tmp_path, article(abstract("&l8;")), head=head)


def test_broken_xml_is_named_after_what_was_whole(tmp_path: Path) -> None:
    path = tmp_path / "p.xml"
    path.write_text(f"{HEAD}<PubmedArticleSet>{article(abstract('x'))}<PubmedArticle>")
    documents = read_documents(path)
    assert next(documents).id == "pubmed:7"
    with pytest.raises(
        RecordError, match=r"p\.xml: expected well-formed XML: no element found: line"
    ):
        next(documents)


def test_medline_text_is_read(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text(
        "\nPMID- 1\nLR  - 20041117\nTI  - A long\n      title.\nAB  - First line\n      second.\n"
        "\nPMID- 2\nTI  - No abstract.\n"
        "\nPMID- 3\nDP  - 2012 Oct 5\nTT  - Un titre.\nAB  - BACKGROUND: Yes.\n"
    )
    skipped = Skipped()
    documents = list(read_documents(path, None, skipped))
    assert [(d.id, d.title, d.text, d.revision) for d in documents] == [
        ("pubmed:1", "A long title.", "First line second.", "2004-11-17"),
        ("pubmed:3", "Un titre.", "BACKGROUND: Yes.", "2012-10-05"),
    ]
    assert skipped.counts == {"no abstract": 1}


def test_medline_text_that_begins_within_a_field_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.txt"
    path.write_text("      a line that continues\nPMID- 1\nAB  - x\n")
    with pytest.raises(RecordError, match="expected MEDLINE text that begins with a field"):
        list(read_documents(path, "medline"))


@pytest.mark.parametrize(
    ("name", "ids", "skipped"),
    [
        ("pubmed1.xml", ["9997"], {"no abstract": 1}),
        ("pubmed2.xml", ["11748933", "11700088"], {}),
        ("pubmed4.xml", ["27797938"], {}),
        ("pubmed5.xml", ["28775130"], {}),
        ("pubmed6.xml", ["30108519"], {}),
        ("pubmed7.xml", ["29963580"], {}),
        ("pubmed_result1.txt", ["12230038"], {}),
        ("pubmed_result2.txt", ["16403221", "16377612", "14871861", "14630660"], {}),
        ("pubmed_result3.txt", ["23039619"], {}),
    ],
)
def test_real_answers_of_the_service_are_read(
    test_data: Path, name: str, ids: list[str], skipped: dict[str, int]
) -> None:
    counts = Skipped()
    documents = list(read_documents(test_data / "service-bodies" / "pubmed" / name, None, counts))
    assert [document.id.removeprefix("pubmed:") for document in documents] == ids
    assert counts.counts == skipped
    assert all(document.revision for document in documents)
    if name == "pubmed4.xml":
        text = documents[0].text
        assert [line.partition(":")[0] for line in text.splitlines()] == [
            "OBJECTIVE",
            "DESIGN",
            "RESULTS",
            "CONCLUSIONS",
        ]
        assert "genetic variants at the TERT gene region were" in text
    if name == "pubmed6.xml":
        assert "O2max (r = 0.72-0.79; P < 0.001). These results support LEmin" in documents[0].text
