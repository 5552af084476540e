"""PubMed's records: from an element of its XML to a `Document`, without loss of text.

Marks are dropped and what they mark is kept; powers, fractions and roots keep a sign of their own,
for 10^5 is not 105. The text is the abstract and, behind it, other abstracts in English; one in
another language is taken only where there is nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element

from openreward.types import Document

ARTICLES = ("PubmedArticle", "PubmedBookArticle")
"""The elements that `read_article` takes."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DATES = (
    ".//DateRevised",
    ".//ContributionDate",
    ".//Article//PubDate",
    ".//ArticleDate",
    ".//Book/PubDate",
)
_OTHER_NAMES = ("PubmedData/ArticleIdList/ArticleId", "PubmedBookData/ArticleIdList/ArticleId")


class Article(NamedTuple):
    """A record as read; what it lacks is empty."""

    pmid: str
    title: str
    text: str
    date: str | None  # of the last revision, else of publication
    names: frozenset[str]  # its DOI and PMC id, in small letters


def read_article(element: Element) -> Article:
    """What a PubmedArticle or PubmedBookArticle holds."""
    pmid = _text(element.find("./*/PMID"))  # not one of those it cites
    return Article(
        pmid=pmid if re.fullmatch(r"[0-9]{1,10}", pmid) else "",
        title=_title(element),
        text="\n".join(_paragraphs(element)),
        date=_date(element),
        names=frozenset(_names(element)),
    )


def make_document(pmid: str, title: str, text: str, date: str | None) -> Document:
    """The document of a record."""
    return Document(
        id=f"pubmed:{pmid}",
        source="pubmed",
        title=title,
        text=text,
        url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
        revision=date,
    )


def iso_date(parts: Sequence[str]) -> str | None:
    """Year, month, day, as many as are known; a month may be a word."""
    year, month, day = [*parts, "", "", ""][:3]
    if not re.fullmatch(r"[0-9]{4}", year):
        return None
    named = month[:3].lower()
    number = _MONTHS.index(named) + 1 if named in _MONTHS else _number(month)
    if not 1 <= number <= 12:
        return year
    return f"{year}-{number:02}-{_number(day):02}" if _number(day) else f"{year}-{number:02}"


def _number(text: str) -> int:
    return int(text) if re.fullmatch(r"[0-9]{1,2}", text) else 0


def _paragraphs(article: Element) -> list[str]:
    own = list(_parts(article.findall(".//Abstract/AbstractText")))
    foreign: list[str] = []
    for other in article.findall(".//OtherAbstract"):
        summary = other.get("Type") == "plain-language-summary"
        parts = list(_parts(other.findall("AbstractText")))
        if summary and parts:
            parts[0] = f"PLAIN LANGUAGE SUMMARY: {parts[0]}"
        (own if other.get("Language", "eng") == "eng" else foreign).extend(parts)
    return own or foreign


def _parts(elements: Sequence[Element]) -> Iterator[str]:
    """Parts of an abstract, each behind its label."""
    for part in elements:
        text, label = _text(part), " ".join(part.get("Label", "").split())
        if text:
            yield f"{label}: {text}" if label and label != "UNLABELLED" else text


def _title(article: Element) -> str:
    for name in ("ArticleTitle", "VernacularTitle", "BookTitle"):
        title = _text(article.find(f".//{name}"))
        if title.strip("[].").lower() not in ("", "not available"):
            return title
    return ""


def _names(article: Element) -> Iterator[str]:
    for path in _OTHER_NAMES:
        for found in article.findall(path):
            if found.get("IdType") in ("doi", "pmc"):
                yield _text(found).lower()
    for found in article.findall("./*/Article/ELocationID"):
        if found.get("EIdType") == "doi":
            yield _text(found).lower()


def _date(article: Element) -> str | None:
    for path in _DATES:
        found = article.find(path)
        if found is None:
            continue
        if date := iso_date([_text(found.find(name)) for name in ("Year", "Month", "Day")]):
            return date
    return None


# --- text


def _text(element: Element | None) -> str:
    """All text of an element and of what is in it, on one line."""
    return "" if element is None else " ".join(_flat(element, formula=False).split())


def _flat(element: Element, formula: bool) -> str:
    name = element.tag.rpartition(":")[2]
    formula = formula or name == "math"
    if formula and len(element):
        parts = [_flat(child, formula) + _kept(child.tail, formula) for child in element]
        return _kept(element.text, formula) + _formula(name, parts)
    pieces = [_kept(element.text, formula)]
    for child in element:
        inside = _flat(child, formula)
        if child.tag == "sup" and pieces[-1][-1:].isdigit() and inside.strip():
            inside = f"^{inside.strip()}"
        pieces.append(inside + _kept(child.tail, formula))
    return "".join(pieces)


def _kept(text: str | None, formula: bool) -> str:
    return "" if text is None or (formula and not text.strip()) else text  # laid out with spaces


def _formula(name: str, parts: list[str]) -> str:
    """MathML's signs that are in no text: without them 1/2 would read 12."""
    if name == "mfrac" and len(parts) == 2:
        return "/".join(map(_one, parts))
    if name == "msup" and len(parts) == 2:
        return f"{_one(parts[0])}^{_one(parts[1])}"
    if name == "msubsup" and len(parts) == 3:
        return f"{parts[0]}{parts[1]}^{_one(parts[2])}"
    if name == "msqrt":
        return f"√{_one(''.join(parts))}"
    return "".join(parts)


def _one(part: str) -> str:
    stripped = part.strip()
    return stripped if re.fullmatch(r"[\w.]*", stripped) else f"({stripped})"
