from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from openreward.errors import RecordError
from openreward.synth.documents import guess_format, read_documents
from openreward.synth.reading import Skipped
from openreward.synth.wikipedia_dump import read_wikipedia_dump
from openreward.types import Document

SITE = """<siteinfo><sitename>Wikipedia</sitename><base>{base}</base><namespaces>
<namespace key="-2">Medium</namespace><namespace key="0" /><namespace key="6">Datei</namespace>
<namespace key="14">Kategorie</namespace></namespaces></siteinfo>"""
ENGLISH = "https://en.wikipedia.org/wiki/Main_Page"


def revision(text: str, id: int = 70, model: str = "wikitext") -> str:
    return (
        f"<revision><id>{id}</id><contributor><id>5</id></contributor><comment>c</comment>"
        f'<model>{model}</model><text xml:space="preserve">{escape(text)}</text></revision>'
    )


def page(title: str, *revisions: str, ns: int = 0, more: str = "") -> str:
    return (
        f"<page><title>{escape(title)}</title><ns>{ns}</ns><id>9</id>{more}"
        f"{''.join(revisions)}</page>"
    )


def dump(*pages: str, base: str = ENGLISH) -> bytes:
    head = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="en">\n'
    return f"{head}{SITE.format(base=base)}\n{''.join(pages)}</mediawiki>\n".encode()


def read(path: Path, content: bytes) -> tuple[list[Document], dict[str, int]]:
    path.write_bytes(content)
    skipped = Skipped()
    return list(read_documents(path, None, skipped)), skipped.counts


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("d.xml", bytes),
        ("d.xml.bz2", bz2.compress),
        ("d.xml.gz", gzip.compress),
        ("d.xml.bz2", lambda content: bz2.compress(content[:300]) + bz2.compress(content[300:])),
    ],
    ids=["plain", "bzip2", "gzip", "streams"],
)
def test_an_article_becomes_a_document(tmp_path: Path, name: str, pack: type[bytes]) -> None:
    content = dump(page("Ada & Co", revision("'''Ada''' wrote to [[Bo|him]].")))
    [document], counts = read(tmp_path / name, pack(content))
    assert document.model_dump() == {
        "id": "wikipedia:Ada & Co",
        "source": "wikipedia",
        "title": "Ada & Co",
        "text": "Ada wrote to him.",
        "url": "https://en.wikipedia.org/wiki/Ada_%26_Co",
        "revision": "70",
    }
    assert counts == {}
    assert guess_format(tmp_path / name) == "wikipedia-dump"


def test_pages_that_are_no_articles_are_left_out_and_counted(tmp_path: Path) -> None:
    content = dump(
        page("A", revision("One.")),
        page("B", revision("x"), more='<redirect title="A" />'),
        page("C", revision("#REDIRECT [[A]]")),
        page("Talk:A", revision("x"), ns=1),
        page("D", revision("D is: {{disambiguation|geo}}")),
        page("E", revision("{{Place name disambiguation}}")),
        page("F (disambiguation)", revision("x")),
        page("G", revision("G.{{disambiguation needed|date=May}} {{Use dab dates}}")),
        page("H", revision("{{Infobox}}")),
        page("I", revision("local p = {}", model="Scribunto")),
        page("J", '<revision><id>1</id><text deleted="deleted" /></revision>'),
        page("K"),
    )
    documents, counts = read(tmp_path / "d.xml", content)
    assert [document.id for document in documents] == ["wikipedia:A", "wikipedia:G"]
    assert counts == {
        "redirect": 2,
        "no article (another namespace)": 1,
        "disambiguation page": 3,
        "no text": 4,
    }


def test_of_several_revisions_the_last_is_taken(tmp_path: Path) -> None:
    content = dump(page("A", revision("Old.", 1), revision("New.", 2)))
    [document], _ = read(tmp_path / "d.xml", content)
    assert (document.text, document.revision) == ("New.", "2")


@pytest.mark.parametrize(
    ("base", "id", "url"),
    [
        ("https://de.wikipedia.org/wiki/Start", "wikipedia:de:Ä b", "https://de.wikipedia.org/wiki/"),
        ("https://simple.wikipedia.org/wiki/M", "wikipedia:simple:Ä b", "https://simple.wikipedia.org/wiki/"),
        ("http://wiki.example/w/M", "wikipedia:wiki.example:Ä b", "http://wiki.example/w/"),
        ("javascript:alert(1)", "wikipedia:Ä b", "https://en.wikipedia.org/wiki/"),
        ("https://[", "wikipedia:Ä b", "https://en.wikipedia.org/wiki/"),
        ("", "wikipedia:Ä b", "https://en.wikipedia.org/wiki/"),
    ],
)  # fmt: skip
def test_ids_and_addresses_are_those_of_the_wiki(
    tmp_path: Path, base: str, id: str, url: str
) -> None:
    content = dump(page("Ä b", revision("x [[Datei:y|z]] [[Kategorie:k]]")), base=base)
    [document], _ = read(tmp_path / "d.xml", content)
    assert (document.id, document.url, document.text) == (id, f"{url}%C3%84_b", "x")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (dump(page("A", revision("x")))[:-40], "expected well-formed XML"),
        (b"<!DOCTYPE m [<!ENTITY a 'b'>]>" + dump(), "without entity declarations"),
        (b"<mediawikis/>", "expected a MediaWiki export, got 'mediawikis'"),
        (b"<mediawiki>" + b"<a>" * 200, "at most 100 levels"),
    ],
)
def test_a_dump_that_is_broken_is_told(tmp_path: Path, content: bytes, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        read(tmp_path / "d.xml", content)


def test_packing_that_is_cut_is_told_after_what_could_be_read(tmp_path: Path) -> None:
    path = tmp_path / "d.xml.bz2"
    whole = dump(*(page(f"P{n}", revision(f"Text {n}.")) for n in range(3000)))
    path.write_bytes(bz2.compress(whole[:300_000]) + bz2.compress(whole[300_000:])[:-20])
    with pytest.raises(RecordError, match="d.xml.bz2: cannot be read"):
        list(read_wikipedia_dump(path, Skipped()))
    documents = read_wikipedia_dump(path, Skipped())
    assert [next(documents).title for _ in range(1000)][-1] == "P999"


def test_a_page_without_an_end_does_not_fill_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openreward.synth.wikipedia_dump._MOST", 1 << 20)
    with pytest.raises(RecordError, match="expected pages of at most 1 MB, got a longer one"):
        read(tmp_path / "d.xml", dump(page("A", revision("x" * 3_000_000))))
