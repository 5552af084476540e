"""Wikitext as prose: what a reader of the page sees of its sentences, and nothing else.

Tables, files, references, categories, comments and most templates go; links and marks give way to
their text. One pass over the marks with a stack, so that time grows with the length alone: parsers
that try again where a mark is never closed take minutes over a broken page. Such a mark is dropped,
what it would hold stays.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field

from openreward.synth.wikitext_prose import make_prose, protect, without_kept
from openreward.synth.wikitext_templates import expand_template

_DEEPEST = 60  # open marks; further ones are no marks
_MARK = re.compile(
    r"(?P<comment><!--)"
    r"|(?P<open>\{\{|\[\[|^[ \t:]*\{\|)"
    r"|(?P<close>\}\}|\]\]|^[ \t]*\|\}(?!\}(?!\})))"  # |}} ends a template, |} and |}}} a table
    r"|(?P<bar>\|)"
    r"|<(?P<slash>/?)(?P<tag>[a-zA-Z][a-zA-Z0-9]*)(?P<more>[^<>]*)>",
    re.MULTILINE,
)
_OPENING = {"}}": "{{", "]]": "[[", "|}": "{|"}
_SHOWN = {"nowiki", "math", "chem", "ce", "pre"}  # what they hold is text, not marks
_HIDDEN = {
    "gallery", "timeline", "score", "syntaxhighlight", "source", "graph", "imagemap", "inputbox",
    "templatedata", "hiero", "categorytree", "section", "mapframe", "maplink", "indicator", "style",
    "script",
}  # what they hold is neither # fmt: skip
_DROPPED = {"ref", "references", "table", "includeonly"}
_BLOCKS = {
    "p", "div", "blockquote", "ul", "ol", "dl", "dd", "dt", "poem", "center", "hr", "h1", "h2",
    "h3", "h4", "h5", "h6",
}  # fmt: skip
_NAMESPACES = frozenset({"file", "image", "media", "category"})
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]+)*")
_POWER = re.compile(r"[-−+]?[0-9]+")


def plain_text(wikitext: str, hidden: Collection[str] = ()) -> str:
    """The prose of a page; `hidden` are the wiki's own names for files and categories."""
    reader = _Reader(_NAMESPACES | {name.casefold() for name in hidden})
    return make_prose(reader.read(without_kept(wikitext)))


@dataclass
class _Frame:
    """An open mark: its kind, and what came since, in pieces that bars divide."""

    kind: str
    pieces: list[list[str]] = field(default_factory=lambda: [[]])

    def parts(self) -> list[str]:
        return ["".join(piece) for piece in self.pieces]


class _Reader:
    def __init__(self, hidden: Collection[str]) -> None:
        self._hidden = hidden
        self._stack = [_Frame("")]
        self._open = Counter[str]()
        self._unclosed = set[str]()  # tags whose end was looked for in vain

    def read(self, text: str) -> str:
        """The text without its marks; headings and lists keep theirs."""
        place = 0
        while mark := _MARK.search(text, place):
            self._add(text[place : mark.start()])
            place = mark.end()
            if mark["comment"]:
                end = text.find("-->", place)
                place = len(text) if end < 0 else end + 3
            elif mark["open"]:
                self._push(mark["open"].lstrip(" \t:"))
            elif mark["close"]:
                self._close(mark["close"].strip())
            elif mark["bar"]:
                self._divide()
            else:
                place = self._tag(mark, text)
        self._add(text[place:])
        while len(self._stack) > 1:
            self._give_up()
        return self._stack[0].parts()[0]

    def _add(self, text: str) -> None:
        if text:
            self._stack[-1].pieces[-1].append(text)

    def _push(self, kind: str) -> None:
        if len(self._stack) < _DEEPEST:
            self._stack.append(_Frame(kind))
            self._open[kind] += 1

    def _divide(self) -> None:
        if self._stack[-1].kind in ("{{", "[["):
            self._stack[-1].pieces.append([])
        else:
            self._add("|")

    def _close(self, mark: str) -> None:
        kind = _OPENING[mark]
        if mark == "|}" and not self._open[kind]:
            self._divide()  # an empty argument at the beginning of a line
            self._add("}")
            return
        parts = self._pop(kind)
        if parts is not None and kind == "{{":
            self._add_template(expand_template(parts))
        elif parts is not None and kind == "[[":
            self._add(self._link(parts))

    def _add_template(self, text: str) -> None:
        """Add what a template stands for: 1{{frac|1|2}} is 1 1/2, not 11/2."""
        before = self._stack[-1].pieces[-1]
        if before and before[-1][-1].isdigit() and text[:1].isdigit():
            self._add(" ")
        self._add(text)

    def _pop(self, kind: str) -> list[str] | None:
        """What the innermost open mark of a kind holds; None if none is open."""
        if not self._open[kind]:
            return None
        while self._stack[-1].kind != kind:
            self._give_up()
        self._open[kind] -= 1
        return self._stack.pop().parts()

    def _give_up(self) -> None:
        """The innermost mark is never closed: it was none, and what came since is text."""
        frame = self._stack.pop()
        self._open[frame.kind] -= 1
        self._add("|".join(frame.parts()))

    def _tag(self, mark: re.Match[str], text: str) -> int:
        """Do what a tag asks for; the place behind it, or behind what is not to be read."""
        name, closes = mark["tag"].lower(), bool(mark["slash"])
        empty = mark["more"].rstrip().endswith("/")
        if name in _SHOWN or name in _HIDDEN:
            if closes or empty:
                return mark.end()
            return self._unread(name, text, mark.end())
        if name in _DROPPED or name == "sup":
            self._framed(name, closes, empty)
        elif name == "br":
            self._add(" ")
        elif name == "li":
            self._add("\n" if closes else "\n* ")
        elif name in _BLOCKS:
            self._add("\n\n")
        return mark.end()

    def _framed(self, name: str, closes: bool, empty: bool) -> None:
        if empty:
            return
        if not closes:
            if self._stack[-1].kind == name == "ref":  # they do not nest: its end was forgotten
                self._give_up()
            self._push(name)
            return
        parts = self._pop(name)
        if parts is not None and name == "sup":
            text = "".join(parts).strip()
            self._add(f"^{text}" if _POWER.fullmatch(text) else text)

    def _unread(self, name: str, text: str, start: int) -> int:
        end = None
        if name not in self._unclosed:
            end = re.compile(rf"</{name}\s*>", re.IGNORECASE).search(text, start)
        if end is None:
            self._unclosed.add(name)
            return start
        if name in _SHOWN:
            inside = text[start : end.start()]
            self._add(protect(" ".join(inside.split()) if inside.strip() else ""))
        return end.end()

    def _link(self, parts: list[str]) -> str:
        target, shown = parts[0].strip(), "|".join(parts[1:]).strip()
        space, colon, _ = target.partition(":")
        if colon and space.strip().casefold() in self._hidden:
            return ""
        if colon and not shown and _LANGUAGE.fullmatch(space):
            return ""  # the same page of another language
        return shown or target.removeprefix(":").replace("_", " ")
