"""Reads XML of strangers: elements of the kept names as trees, one by one, and nothing else.

Nothing is fetched (expat follows no reference), nothing expands (declarations of entities are
refused), and nothing is nested deeper than a program can walk. Names that only an unread DTD would
declare are taken for HTML's.
"""

from __future__ import annotations

import html
from collections.abc import Collection
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from openreward.errors import shorten

_DEPTH = 100  # levels; MathML, the deepest of what is met, has some 20


class BrokenXml(Exception):
    """What was fed is no XML that can be read; the message lacks only where it came from."""


class XmlReader:
    """Feed it blocks; `root` is the name of the outermost element once that is met."""

    def __init__(self, kept: Collection[str]) -> None:
        self.root = ""
        self._kept = frozenset(kept)
        self._depth = 0
        self._done: list[Element] = []
        self._builder: TreeBuilder | None = None
        self._outermost = 0  # the depth at which the element being built began
        self._expat = expat.ParserCreate()
        self._expat.buffer_text = True
        self._expat.StartElementHandler = self._start
        self._expat.EndElementHandler = self._end
        self._expat.CharacterDataHandler = self._data
        self._expat.DefaultHandler = self._default
        self._expat.EntityDeclHandler = self._refuse_entity

    def feed(self, block: bytes) -> list[Element]:
        """Parse a block and give the kept elements that ended in it; an empty one is the end."""
        try:
            self._expat.Parse(block, not block)
        except (expat.ExpatError, LookupError, ValueError) as error:  # the last two: an encoding
            raise BrokenXml(f"expected well-formed XML: {error}") from None
        done, self._done = self._done, []
        return done

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self.root = self.root or tag
        if self._depth > _DEPTH:
            raise BrokenXml(f"expected at most {_DEPTH} levels of elements, got more")
        if self._builder is None and tag in self._kept:
            self._builder = TreeBuilder()
            self._outermost = self._depth
        if self._builder is not None:
            self._builder.start(tag, attributes)

    def _end(self, tag: str) -> None:
        if self._builder is not None:
            self._builder.end(tag)
            if self._depth == self._outermost:
                self._done.append(self._builder.close())
                self._builder = None
        self._depth -= 1

    def _data(self, text: str) -> None:
        if self._builder is not None:
            self._builder.data(text)

    def _default(self, text: str) -> None:
        if text.startswith("&"):
            self._data(html.unescape(text))

    def _refuse_entity(self, name: str, *rest: object) -> None:
        raise BrokenXml(f"expected XML without entity declarations, got one of {shorten(name)}")


def read_xml(content: bytes, kept: Collection[str]) -> tuple[str, list[Element]]:
    """The name of the root, and the kept elements, of a whole text; raises `BrokenXml`."""
    reader = XmlReader(kept)
    found = reader.feed(content) if content else []
    return reader.root, found + reader.feed(b"")
