"""PubMed's two file forms as documents: XML (articles and book chapters) and MEDLINE text.

The XML is read with expat itself, an article at a time: Biopython's parser wants each file's DTD,
and would fetch it. Nothing is fetched here (expat follows no reference), and a file that declares
entities is refused, so none can expand; PubMed's files declare none of their own.
"""

from __future__ import annotations

import html
import io
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO, cast
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from openreward.errors import RecordError, shorten
from openreward.records import open_bytes
from openreward.synth.reading import Skipped, unreadable
from openreward.types import Document

_ARTICLES = ("PubmedArticle", "PubmedBookArticle")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_BLOCK = 1 << 16

_Fields = dict[str, str | list[str]]


def read_pubmed_xml(path: Path, skipped: Skipped) -> Iterator[Document]:
    """Articles and book chapters that have an abstract."""
    for number, article in enumerate(_articles(path), start=1):
        where = f"{path.name}, article {number}"
        pmid = _text(article.find(".//PMID"))
        text = "\n".join(_sections(article))
        if not pmid:
            skipped.add("no PMID", where)
        elif not text:
            skipped.add("no abstract", f"{where} (PMID {pmid})")
        else:
            yield _document(pmid, _title(article), text, _date(article))


def read_medline(path: Path, skipped: Skipped) -> Iterator[Document]:
    """Records of MEDLINE text, as PubMed saves it, that have an abstract."""
    from Bio import Medline

    try:
        with open_bytes(path) as file, io.TextIOWrapper(file, encoding="utf-8-sig") as lines:
            parse = cast(Callable[[TextIO], Iterator[_Fields]], Medline.parse)
            for number, fields in enumerate(parse(lines), start=1):
                where = f"{path.name}, record {number}"
                pmid, text = _field(fields, "PMID"), _field(fields, "AB")
                if not pmid:
                    skipped.add("no PMID", where)
                elif not text:
                    skipped.add("no abstract", f"{where} (PMID {pmid})")
                else:
                    title = _field(fields, "TI") or _field(fields, "BTI") or _field(fields, "TT")
                    revised = re.fullmatch(r"(\d{4})(\d\d)(\d\d)", _field(fields, "LR"))
                    date = "-".join(revised.groups()) if revised else _published(fields)
                    yield _document(pmid, title, text, date)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise unreadable(path, error) from None


def _document(pmid: str, title: str, text: str, date: str | None) -> Document:
    return Document(
        id=f"pubmed:{pmid}",
        source="pubmed",
        title=title,
        text=text,
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
        revision=date,
    )


# --- XML


class _ArticleParser:
    """Feeds expat and hands out each article when its end is met; keeps nothing of the others."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.done: deque[Element] = deque()
        self._builder: TreeBuilder | None = None
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._data
        self._expat.DefaultHandler = self._default
        self._expat.EntityDeclHandler = self._refuse_entity

    def feed(self, block: bytes) -> None:
        """Parse a block; an empty one is the end."""
        try:
            self._expat.Parse(block, not block)
        except expat.ExpatError as error:
            raise RecordError(
                f"{self.path}: expected well-formed XML: {error}; fetch the file again"
            ) from None

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        if self._builder is None and tag in _ARTICLES:
            self._builder = TreeBuilder()
        if self._builder is not None:
            self._builder.start(tag, attributes)

    def _end(self, tag: str) -> None:
        if self._builder is not None:
            self._builder.end(tag)
            if tag in _ARTICLES:
                self.done.append(self._builder.close())
                self._builder = None

    def _data(self, text: str) -> None:
        if self._builder is not None:
            self._builder.data(text)

    def _default(self, text: str) -> None:
        if text.startswith("&"):  # an entity that only the DTD, which is not read, would name
            self._data(html.unescape(text))

    def _refuse_entity(self, name: str, *rest: object) -> None:
        raise RecordError(
            f"{self.path}: expected XML without entity declarations, got one of {shorten(name)}; "
            "use the file as PubMed serves it"
        )


def _articles(path: Path) -> Iterator[Element]:
    parser = _ArticleParser(path)
    try:
        with open_bytes(path) as file:
            block = b"\n"
            while block:
                block = file.read(_BLOCK)
                parser.feed(block)
                while parser.done:
                    yield parser.done.popleft()
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None


def _sections(article: Element) -> Iterator[str]:
    """The parts of the abstract, each behind its label."""
    for part in article.findall(".//Abstract/AbstractText"):
        text, label = _text(part), part.get("Label", "")
        if text:
            yield f"{label}: {text}" if label and label != "UNLABELLED" else text


def _title(article: Element) -> str:
    for name in ("ArticleTitle", "VernacularTitle", "BookTitle"):
        if title := _text(article.find(f".//{name}")):
            return title
    return ""


def _text(element: Element | None) -> str:
    """All text of an element and of what is in it, on one line; a power keeps its mark: 10^5."""
    return "" if element is None else " ".join("".join(_pieces(element)).split())


def _pieces(element: Element) -> Iterator[str]:
    formula = element.tag.startswith("mml:")  # laid out with spaces that mean nothing
    before = _kept(element.text, formula)
    yield before
    for child in element:
        inside = "".join(_pieces(child))
        if child.tag == "sup" and before[-1:].isdigit() and inside.strip():
            inside = f"^{inside.strip()}"
        before = inside + _kept(child.tail, formula)
        yield before


def _kept(text: str | None, formula: bool) -> str:
    return "" if text is None or (formula and not text.strip()) else text


def _date(article: Element) -> str | None:
    """The day of the last revision, else of publication, as far as it is known."""
    for path in (
        ".//DateRevised",
        ".//ContributionDate",
        ".//Article//PubDate",
        ".//ArticleDate",
        ".//Book/PubDate",
    ):
        found = article.find(path)
        parts = (
            [_text(found.find(name)) for name in ("Year", "Month", "Day")]
            if found is not None
            else []
        )
        if date := _iso(parts):
            return date
    return None


# --- both


def _field(record: _Fields, name: str) -> str:
    value = record.get(name, "")
    return " ".join((value if isinstance(value, str) else " ".join(value)).split())


def _published(record: _Fields) -> str | None:
    return _iso(_field(record, "DP").split())


def _iso(parts: Sequence[str]) -> str | None:
    """Year, month, day, as many as are known; a month may be a word."""
    year, month, day = [*parts, "", "", ""][:3]
    if not re.fullmatch(r"\d{4}", year):
        return None
    named = month[:3].lower()
    number = _MONTHS.index(named) + 1 if named in _MONTHS else int(month) if month.isdigit() else 0
    if not 1 <= number <= 12:
        return year
    return f"{year}-{number:02}-{int(day):02}" if day.isdigit() else f"{year}-{number:02}"
