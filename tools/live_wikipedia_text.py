"""Text as a wiki gives it, made fit to read: extracts of pages, and lists of what a title may mean.

An extract has its headings as `== X ==` lines and each formula twice, symbol by symbol on lines
of their own, then as TeX. What stays: a heading where text stands under it, and the TeX in its
sentence. The text of an introduction stays the beginning of the text of its page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

_HEADING = re.compile(r"\s*(={2,6})(?!=)(.*?)(?<!=)\1\s*")
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")  # category Cc, line ends apart
_FORMULA = "{\\displaystyle"
_NO_SPACE_BEFORE = tuple(",.;:)!?")
_MOST_OPTIONS = 40
_MOST_HTML = 200_000  # characters that are read
_DEEPEST = 100  # tags within tags that are told apart
_VOID = frozenset({"br", "img", "hr", "wbr", "input", "link", "meta"})
_HIDDEN = frozenset({"style", "script", "sup"})  # sup: marks of notes
_TAG = re.compile(r"<!--|<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*>")
_TITLE = re.compile(r'\stitle="([^"]*)"')  # as MediaWiki writes it


def clean_extract(raw: str) -> str:
    """The text of a plain-text extract; sections without text are left out."""
    done: list[str] = []
    above: list[tuple[int, str]] = []  # headings of the next text, by level
    for line in _with_formulas(_printable(raw).split("\n")):
        heading = _HEADING.fullmatch(line)
        text = " ".join(line.split())
        if heading:
            level = len(heading[1])
            above = [each for each in above if each[0] < level]
            above.append((level, " ".join(heading[2].split())))
        elif text and above:
            done += ["", *(title for _, title in above if title), text]
            above = []
        elif not above:
            done.append(text)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(done)).strip()


def _printable(raw: str) -> str:
    one = raw.replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub(" ", one)


def _with_formulas(lines: list[str]) -> list[str]:
    """The lines, with each formula as TeX in the line of the text around it."""
    done: list[str] = []
    place = 0
    while place < len(lines):
        end = place
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith("  ")):
            end += 1
        spread = lines[place:end]
        tex = [_tex(line) for line in spread if line.strip().startswith(_FORMULA)]
        if tex:
            before = [done.pop()] if done and not _HEADING.fullmatch(done[-1]) else []
            behind = [] if end == len(lines) or _HEADING.fullmatch(lines[end]) else [lines[end]]
            done.append(_joined([*before, *tex, *behind]))
            end += len(behind)
        elif spread:
            done += spread
        else:
            done.append(lines[end])
            end += 1
        place = end
    return done


def _tex(line: str) -> str:
    return line.strip().removeprefix(_FORMULA).removesuffix("}").strip()


def _joined(parts: list[str]) -> str:
    joined = ""
    for part in filter(None, map(str.strip, parts)):
        joined += part if not joined or part.startswith(_NO_SPACE_BEFORE) else f" {part}"
    return joined


def list_options(title: str, html: str, extract: str) -> str:
    """What a disambiguation page says that its title may mean: a title a line, and what it is.

    `extract` stands in where the page lists nothing that can be read.
    """
    found = (_line(option) for option in _options(html[:_MOST_HTML]))
    options = list(dict.fromkeys(line for line in found if line))
    if not options:
        return f'"{title}" may refer to several things:\n{extract}' if extract else ""
    more = len(options) - _MOST_OPTIONS
    lines = [f"- {option}" for option in options[:_MOST_OPTIONS]]
    lines += [f"and {more} more"] if more > 0 else []
    first = f'"{title}" may refer to several things; search for one of these titles:'
    return "\n".join([first, *lines])


@dataclass
class _Option:
    """One entry of a list: the first title that it links to, and the pieces of what it says."""

    title: str = ""
    said: list[str] = field(default_factory=list)


def _line(option: _Option) -> str:
    """The title, and what is said of it; empty without a title."""
    said = " ".join(_printable(unescape("".join(option.said))).split())
    if not option.title or said.startswith(option.title):
        return said if option.title else ""
    return f"{option.title}: {said}" if said else option.title


def _options(html: str) -> list[_Option]:
    """The entries of lists, in the order of the page, and a first meaning in bold."""
    options: list[_Option] = []
    tags: list[tuple[str, _Option | None]] = []  # open ones, with the entry that each begins
    for piece, name, closes in _pieces(html):
        entry = next((each for _, each in reversed(tags) if each is not None), None)
        hidden = any(tag in _HIDDEN for tag, _ in tags)
        if not name:
            if entry is not None and not hidden:
                entry.said.append(piece)
        elif closes:
            places = [place for place, (tag, _) in enumerate(tags) if tag == name]
            del tags[places[-1] if places else len(tags) :]
        elif name == "a":
            if entry is None and any(tag == "b" for tag, _ in tags):
                entry = _Option()
                options.append(entry)
            if entry is not None and not entry.title:
                entry.title = _linked_title(piece)
        elif name not in _VOID and len(tags) < _DEEPEST:
            begun = _Option() if name == "li" and "tocsection" not in piece else None
            options += [begun] if begun is not None else []
            tags.append((name, begun))
    return options


def _pieces(html: str) -> Iterator[tuple[str, str, bool]]:
    """Text, and tags with their names and whether they close; comments are left out.

    The parser of the standard library takes quadratic time over what is never closed.
    """
    place = 0
    while found := _TAG.search(html, place):
        yield html[place : found.start()], "", False
        place = found.end()
        if found[0] == "<!--":
            end = html.find("-->", place)
            place = len(html) if end < 0 else end + 3
        else:
            yield found[0], found[2].lower(), bool(found[1])
    yield html[place:], "", False


def _linked_title(tag: str) -> str:
    title = _TITLE.search(tag)
    if title is None or "redlink=1" in tag:
        return ""
    return " ".join(_printable(unescape(title[1])).split())
