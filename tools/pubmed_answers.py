"""What PubMed's answers say: ids that match, records, or in one of many ways that it failed.

A failure may come as a 200, as XML with an ERROR, or as JSON. Its text is repeated nowhere: it may
hold the key. `Count` alone says that nothing matches; a list of phrases not found comes with
matches too.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple
from xml.etree.ElementTree import Element

from openreward.errors import ToolError, shorten
from openreward.tools.fetch import AskedTooOften, Reply, Unusable
from openreward.tools.pubmed_records import ARTICLES, Article, read_article
from openreward.tools.xml_reader import BrokenXml, read_xml

STATUSES = frozenset({200, 400})  # a wrong key, or ids that are none, come as 400
_XML = ("text/xml", "application/xml")
_BAD_KEY = re.compile(r"api[ _-]?key", re.IGNORECASE)
_LIMIT = re.compile(r"rate limit|too many requests", re.IGNORECASE)
_NO_IDS = re.compile(r"id list is empty|no correct ids", re.IGNORECASE)
_BROKEN = re.compile(r"backend|fail|exception|timed? ?out|unable|unavailable", re.IGNORECASE)


class Matches(NamedTuple):
    """One page of the ids that a term finds, and how many there are in all."""

    total: int
    ids: tuple[str, ...]


def read_matches(reply: Reply, start: int = 0) -> Matches:
    """An answer of esearch to a page that begins at `start`; raises `Unusable` or `ToolError`."""
    found = _elements(reply, "eSearchResult", ("eSearchResult",))
    if not found:
        raise _failed()
    result = found[0]
    if any(element.tag.upper() == "ERROR" for element in result.iter()):
        raise _failed()
    counted = (result.findtext("Count") or "").strip()
    ids = tuple(dict.fromkeys((each.text or "").strip() for each in result.findall("IdList/Id")))
    if not re.fullmatch(r"[0-9]{1,12}", counted):
        raise Unusable(f"expected PubMed to count its results, got {shorten(counted)}")
    if not all(re.fullmatch(r"[0-9]{1,10}", each) for each in ids):
        raise Unusable(f"expected numbers of records from PubMed, got {shorten(ids)}")
    total = int(counted)
    said = " ".join(element.text or "" for element in result.iter("OutputMessage"))
    if bool(ids) != (total > start) or (not ids and _BROKEN.search(said)):
        raise Unusable(f"PubMed counted {total} results and listed {len(ids)} from {start} on")
    return Matches(total, ids)


def read_articles(reply: Reply) -> list[Article]:
    """An answer of efetch; an empty list where PubMed knows none of the ids."""
    found = _elements(reply, "PubmedArticleSet", (*ARTICLES, "ERROR"))
    return [read_article(element) for element in found if element.tag in ARTICLES]


def _elements(reply: Reply, root: str, kept: tuple[str, ...]) -> list[Element]:
    if reply.content.lstrip()[:1] == b"{":
        raise _refused(reply)
    if reply.status == 200 and reply.content_type not in _XML:
        raise Unusable(f"expected XML from PubMed, got {shorten(reply.content_type)}")
    try:
        name, found = read_xml(reply.content, kept)
    except BrokenXml as error:
        raise Unusable(f"PubMed's answer is broken: {error}") from None
    if name == "eFetchResult":
        errors = " ".join(element.text or "" for element in found if element.tag == "ERROR")
        if _NO_IDS.search(errors):
            return []
        raise _failed()
    if name != root or reply.status != 200:
        raise Unusable(f"expected PubMed's {root}, got {shorten(name)} (status {reply.status})")
    return found


def _refused(reply: Reply) -> Exception:
    """The error that a JSON answer is: PubMed gives none that is a result."""
    try:
        answer = json.loads(reply.content)
        error = str(answer.get("error", "")) if isinstance(answer, dict) else ""
    except (ValueError, RecursionError):
        return Unusable("PubMed's answer is neither XML nor JSON")
    if _LIMIT.search(error):
        return AskedTooOften("PubMed says that it is asked too often")
    if _BAD_KEY.search(error):
        return ToolError(
            "unavailable",
            "PubMed does not accept the API key of this program; its operator must correct or "
            "remove it; go on without this tool",
        )
    return _failed()


def _failed() -> Unusable:
    return Unusable("PubMed answered with an error of its own")
