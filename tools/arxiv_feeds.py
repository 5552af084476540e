"""What arXiv's answers say: a page of papers, or in one of several ways that it failed.

arXiv answers a request that it does not take with a feed of one entry, under status 400 or 200; an
entry without `published` is such a one, and the package `arxiv` would pass over it in silence. Nor
does that package tell a feed that was cut from a short one, or no count from a count of none. So an
answer is checked here before the package reads it; entities and deep nesting are refused.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from openreward.errors import ToolError, shorten
from openreward.tools.fetch import Reply, Unusable
from openreward.tools.xml_reader import BrokenXml, read_xml

STATUSES = frozenset({200, 400})
_ATOM = "{http://www.w3.org/2005/Atom}"
_SEARCH = "{http://a9.com/-/spec/opensearch/1.1/}"
_ERROR = "/api/errors"
_OURS = re.compile(r"\b(start|max_?results|sort_?by|sort_?order)\b", re.IGNORECASE)
_THE_QUERYS = re.compile(r"\bid\b|\bids\b|\bid_list\b|\bquery\b|search_query|syntax", re.IGNORECASE)


class Feed(NamedTuple):
    """One page, checked, in the form in which the package takes a response."""

    content: bytes
    total: int  # papers that match, on all pages
    entries: int  # on this page
    status_code: int = 200


def read_feed(reply: Reply, start: int = 0) -> Feed:
    """An answer to a page that begins at `start`; raises `Unusable` or `ToolError`."""
    root = _parse(reply)
    entries = root.findall(f"{_ATOM}entry")
    for entry in entries:
        if reply.status != 200 or entry.find(f"{_ATOM}published") is None:
            raise _refused(entry, reply.status)
    if reply.status != 200:
        raise Unusable(f"arXiv answered {reply.status} without saying why")
    total = _count(root, "totalResults")
    if _count(root, "startIndex") != start:
        raise Unusable(f"expected arXiv's page from {start} on, got another")
    if not entries and total > start:
        raise Unusable(f"arXiv counted {total} papers and listed none from {start} on")
    for entry in entries:
        _check(entry)
    return Feed(reply.content, total, len(entries))


def _parse(reply: Reply) -> Element:
    if "xml" not in reply.content_type:
        raise Unusable(f"expected an Atom feed from arXiv, got {shorten(reply.content_type)}")
    try:
        read_xml(reply.content, ())
        root = ElementTree.fromstring(reply.content)
    except (BrokenXml, ElementTree.ParseError, LookupError, ValueError) as error:
        raise Unusable(f"arXiv's answer is broken: {error}") from None
    if root.tag != f"{_ATOM}feed":
        raise Unusable(f"expected an Atom feed from arXiv, got {shorten(root.tag)}")
    return root


def _count(root: Element, name: str) -> int:
    said = (root.findtext(f"{_SEARCH}{name}") or "").strip()
    if not re.fullmatch(r"[0-9]{1,12}", said):
        raise Unusable(f"expected arXiv to state {name}, got {shorten(said)}")
    return int(said)


def _check(entry: Element) -> None:
    """What the package needs of an entry, lest it skip it or fail."""
    if not (entry.findtext(f"{_ATOM}id") or "").strip():
        raise Unusable("arXiv listed a paper without an id")
    for name in ("published", "updated"):
        said = (entry.findtext(f"{_ATOM}{name}") or "").strip()
        try:
            datetime.fromisoformat(said.replace("Z", "+00:00"))
        except ValueError:
            raise Unusable(f"expected a date of arXiv's, got {shorten(said)}") from None


def _refused(entry: Element, status: int) -> Exception:
    """What an entry means that is an error and no paper."""
    said = " ".join((entry.findtext(f"{_ATOM}summary") or "no reason").split())
    named = _ERROR in (entry.findtext(f"{_ATOM}id") or "")
    if not named or _OURS.search(said):
        return Unusable(f"arXiv answered with an error: {shorten(said)}")
    if status == 400 or _THE_QUERYS.search(said):
        return ToolError(
            "bad_query",
            f"arXiv does not take this query: {shorten(said, 120)}; write a paper's title or a few "
            "plain words, or an id such as 2401.00001",
        )
    return Unusable(f"arXiv answered with an error: {shorten(said)}")
