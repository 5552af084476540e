"""The second half of reading wikitext: lines without templates, links and tags become paragraphs.

Headings are left out with all that stands under them where they head lists of sources and links,
and alone where no text stands under them. A formula stays as its TeX.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from openreward.tools.live_wikipedia_text import clean_extract

_TAILS = frozenset(
    {
        "references",
        "references and notes",
        "notes and references",
        "notes",
        "footnotes",
        "citations",
        "sources",
        "works cited",
        "bibliography",
        "further reading",
        "external links",
        "see also",
        "gallery",
    }
)
_HEADING = re.compile(r"(={1,6})(?!=)\s*(.*?\S)\s*\1")
_LIST = re.compile(r"[*#:;]+")
_NO_TEXT = re.compile(
    r"\||\{\||!.*(?:!!|\|)|-{4,}$"
)  # rows of a table that is never closed; rulers
_QUOTES = re.compile(r"'{2,}")
_ELISION = re.compile(r"(?<![\w'])(\w{1,2})'''(?!')")
_SWITCH = re.compile(r"__[A-Z]{3,30}__")
_WEB_LINK = re.compile(r"\[(?:(?:https?:|ftp:)?//|mailto:)[^\s\[\]]*+[ \t]?([^\[\]\n]*+)\]")
_TIDY = (
    (re.compile(r"\s+"), " "),
    (re.compile(r"\( ?(?:[;,:] ?){0,5}\)"), ""),  # what was in these brackets is gone
    (re.compile(r"\( ?(?:[;,:] ?){1,5}|\( "), "("),
    (re.compile(r"(?: ?[;,:]){1,5} ?\)"), ")"),
    (re.compile(r",(?: ?,)+"), ","),
    (re.compile(r" +(?=[,;)]|\.(?: |$))"), ""),
    (re.compile(r" +"), " "),
)
_MARKED = "[]{}|'<>=*#:;!_"
_KEPT = "".join(chr(0xFDD0 + place) for place in range(len(_MARKED)))  # in no text: noncharacters
_TO_KEPT, _FROM_KEPT = str.maketrans(_MARKED, _KEPT), str.maketrans(_KEPT, _MARKED)
_NONE = str.maketrans("", "", _KEPT)


def protect(text: str) -> str:
    """Text whose signs are no marks; `make_prose` brings them back."""
    return text.translate(_TO_KEPT)


def without_kept(text: str) -> str:
    """Text without the signs that `protect` writes."""
    return text.translate(_NONE)


def make_prose(text: str) -> str:
    """Paragraphs, lists and headings of what is left of a page."""
    lines = _lines(_WEB_LINK.sub(r"\1", _SWITCH.sub("", text)))
    return clean_extract("\n".join(lines)).translate(_FROM_KEPT)


def _lines(text: str) -> Iterator[str]:
    """A line for each paragraph and item, an empty one between paragraphs; no tails."""
    paragraph: list[str] = []
    tail = 0  # level of the heading whose section is left out
    for raw in [*text.split("\n"), ""]:
        line = " ".join(raw.split())
        heading = _HEADING.fullmatch(line)
        item = _LIST.match(line)
        if not tail and not heading and not item and line and not _NO_TEXT.match(line):
            paragraph.append(_unquoted(line))
            continue
        if paragraph:
            yield from ("", _inline(" ".join(paragraph)), "")
            paragraph = []
        if heading:
            level, title = max(2, len(heading[1])), _inline(_unquoted(heading[2]))
            if not tail or level <= tail:
                tail = level if title.casefold() in _TAILS else 0
            if not tail:
                yield from ("", f"{'=' * level} {title} {'=' * level}")
        elif item and not tail:
            text = _inline(_unquoted(line[item.end() :]))
            yield f"- {text}" if text and item[0][-1] in "*#" else text


def _inline(text: str) -> str:
    text = html.unescape(text)
    for pattern, instead in _TIDY:
        text = pattern.sub(instead, text)
    return text.strip()


def _unquoted(line: str) -> str:
    """A line without its marks of bold and italics, two, three or five apostrophes.

    Where both are odd in number, one of three is an apostrophe and italics: l'''amour''.
    """
    runs = [len(run) for run in _QUOTES.findall(line)]
    bold = sum(1 for run in runs if run in (3, 4) or run >= 5)
    italics = sum(1 for run in runs if run == 2 or run >= 5)
    if bold % 2 and italics % 2:
        line = _ELISION.sub(r"\1'", line, count=1)
    return _QUOTES.sub(_apostrophes, line)


def _apostrophes(quotes: re.Match[str]) -> str:
    many = len(quotes[0])
    return "'" * (max(0, many - 5) + (many == 4))
