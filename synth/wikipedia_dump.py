"""Articles of a dump of Wikipedia, `pages-articles.xml`, plain or packed with bzip2 or gzip.

Namespace 0 only; redirects and disambiguation pages are counted and left out. A page is held in
memory, never the file; of a page with several revisions the last in the file is taken. The ids are
those of the live service.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit
from xml.etree.ElementTree import Element

from openreward.errors import RecordError, shorten
from openreward.records import open_bytes
from openreward.synth.reading import Skipped, unreadable
from openreward.synth.wikitext import plain_text
from openreward.tools.xml_reader import BrokenXml, XmlReader
from openreward.types import Document

_BLOCK = 1 << 16
_MOST = 1 << 26  # bytes without the end of an element; articles have at most 2 MB
_ELEMENTS = ("siteinfo", "title", "ns", "redirect", "revision")
_REDIRECT = re.compile(r"\s*#redirect\b", re.IGNORECASE)
_DISAMBIGUATION = re.compile(
    r"\{\{\s*(?:(?:[\w-]+[ _]){0,3}disambig(?:uation)?(?:[ _](?:page|cleanup))?|dis|dab|hndis|"
    r"hn[ _]dis|geodis|numberdis|mathdab|schooldis|hospitaldis|roaddis|surname|given[ _]name)"
    r"\s*(?:\||\}\})|__DISAMBIG__",
    re.IGNORECASE,
)


@dataclass
class _Site:
    """What the head of a dump says of its wiki."""

    address: str = "https://en.wikipedia.org/wiki/"
    ids: str = "wikipedia"
    hidden: tuple[str, ...] = ()


@dataclass
class _Page:
    title: str
    namespace: str = "0"
    redirect: bool = False
    revision: Element | None = None


def read_wikipedia_dump(path: Path, skipped: Skipped) -> Iterator[Document]:
    """The articles of a dump, their wikitext turned into prose."""
    site, page = _Site(), None
    for element in _elements(path):
        if element.tag == "siteinfo":
            site = _read_site(element)
        elif element.tag == "title":
            if page is not None:
                yield from _documents(page, site, path, skipped)
            page = _Page(_text(element))
        elif page is not None:
            if element.tag == "ns":
                page.namespace = _text(element)
            elif element.tag == "redirect":
                page.redirect = True
            else:
                page.revision = element
    if page is not None:
        yield from _documents(page, site, path, skipped)


def _documents(page: _Page, site: _Site, path: Path, skipped: Skipped) -> Iterator[Document]:
    """The page as a document, if it is one."""
    wikitext = _wikitext(page.revision)
    reason = _why_not(page, wikitext)
    text = "" if reason else plain_text(wikitext, site.hidden)
    if reason or not text or not page.title:
        skipped.add(reason or "no text", f"{path.name}, {shorten(page.title)}")
        return
    yield Document(
        id=f"{site.ids}:{page.title}",
        source="wikipedia",
        title=page.title,
        text=text,
        url=site.address + quote(page.title.replace(" ", "_")),
        revision=_text(page.revision.find("id")) or None if page.revision is not None else None,
    )


def _why_not(page: _Page, wikitext: str) -> str:
    if page.namespace != "0":
        return "no article (another namespace)"
    if page.redirect or _REDIRECT.match(wikitext):
        return "redirect"
    if page.title.endswith("(disambiguation)") or _DISAMBIGUATION.search(wikitext):
        return "disambiguation page"
    return ""


def _wikitext(revision: Element | None) -> str:
    """The text of a revision; empty where it is deleted, or is none (a module, a style sheet)."""
    if revision is None or _text(revision.find("model")) not in ("", "wikitext"):
        return ""
    return _text(revision.find("text"))


def _read_site(element: Element) -> _Site:
    """Address, prefix of ids, and the wiki's own names of files and categories."""
    names = [
        _text(each) for each in element.iter("namespace") if each.get("key") in ("-2", "6", "14")
    ]
    base = _text(element.find("base"))
    try:
        host = urlsplit(base).hostname or ""
    except ValueError:
        host = ""
    if not base.startswith(("https://", "http://")) or not host or "/" not in base[8:]:
        return _Site(hidden=tuple(names))
    language = host.removesuffix(".wikipedia.org")
    return _Site(
        address=f"{base.rpartition('/')[0]}/",
        ids="wikipedia" if language == "en" else f"wikipedia:{language}",
        hidden=tuple(names),
    )


def _elements(path: Path) -> Iterator[Element]:
    reader, waiting = XmlReader(_ELEMENTS), 0
    try:
        with open_bytes(path) as file:
            block = b"\n"
            while block:
                block = file.read(_BLOCK)
                found = reader.feed(block)
                waiting = 0 if found else waiting + len(block)
                if waiting > _MOST:
                    raise BrokenXml(f"expected pages of at most {_MOST >> 20} MB, got a longer one")
                if reader.root not in ("", "mediawiki"):
                    raise BrokenXml(f"expected a MediaWiki export, got {shorten(reader.root)}")
                yield from found
    except BrokenXml as error:
        raise RecordError(f"{path}: {error}; fetch the dump again") from None
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None


def _text(element: Element | None) -> str:
    return "" if element is None else "".join(element.itertext()).strip()
