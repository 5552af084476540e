"""Text as a wiki gives it, made fit to read: extracts of pages, and lists of what a title may mean.

An extract has its headings as `== X ==` lines and each formula twice, symbol by symbol on lines
of their own, then as TeX. What stays: a heading where text stands under it, and the TeX in its
sentence. The text of an introduction stays the beginning of the text of its page.
"""

from __future__ import annotations

import re
import unicodedata
from html.parser import HTMLParser

_HEADING = re.compile(r"\s*(={2,6})(?!=)(.*?)(?<!=)\1\s*")
_FORMULA = "{\\displaystyle"
_NO_SPACE_BEFORE = tuple(",.;:)!?")
_MOST_OPTIONS = 40
_MOST_HTML = 500_000  # characters that are read
_DEEPEST = 100  # tags within tags that are told apart
_VOID = frozenset({"br", "img", "hr", "wbr", "input", "link", "meta"})


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
    return "".join(c if c == "\n" or unicodedata.category(c) != "Cc" else " " for c in one)


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
    reader = _Options()
    reader.feed(html[:_MOST_HTML])
    reader.close()
    options = list(dict.fromkeys(filter(None, map(_Option.line, reader.options))))
    if not options:
        return f'"{title}" may refer to several things:\n{extract}' if extract else ""
    more = len(options) - _MOST_OPTIONS
    lines = [f"- {option}" for option in options[:_MOST_OPTIONS]]
    lines += [f"and {more} more"] if more > 0 else []
    first = f'"{title}" may refer to several things; search for one of these titles:'
    return "\n".join([first, *lines])


class _Option:
    """One entry of a list: the first title that it links to, and all that it says."""

    def __init__(self) -> None:
        self.title = ""
        self.text = ""

    def line(self) -> str:
        """The title, and what is said of it; empty without a link."""
        text = " ".join(self.text.split())
        if not self.title or text.startswith(self.title):
            return text if self.title else ""
        return f"{self.title}: {text}" if text else self.title


class _Options(HTMLParser):
    """Collects entries of lists, in the order of the page, and a first meaning in bold."""

    def __init__(self) -> None:
        super().__init__()
        self.options: list[_Option] = []
        self._open: list[tuple[str, _Option | None]] = []  # tags, with the entry they begin

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attrs}
        if tag == "a":
            self._link(named)
        if tag in _VOID or len(self._open) >= _DEEPEST:
            return
        entry = None
        if tag == "li" and "tocsection" not in named.get("class", ""):
            entry = _Option()
            self.options.append(entry)
        self._open.append((tag, entry))

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self._open) - 1, -1, -1):
            if self._open[place][0] == tag:
                del self._open[place:]
                return

    def handle_data(self, data: str) -> None:
        entry = self._entry()
        if entry is not None:
            entry.text += data

    def _entry(self) -> _Option | None:
        return next((entry for _, entry in reversed(self._open) if entry is not None), None)

    def _link(self, named: dict[str, str]) -> None:
        title = named.get("title", "")
        if not title or "redlink=1" in named.get("href", ""):
            return
        entry = self._entry()
        if entry is None and any(tag == "b" for tag, _ in self._open):
            entry = _Option()
            self.options.append(entry)
        if entry is not None and not entry.title:
            entry.title = title
