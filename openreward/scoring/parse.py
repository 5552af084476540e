"""Read what the model wrote: a score, a support, a list of statements, points. Total, no guesses.

Scores and supports stand in double square brackets, the last of which counts; quoted material
cannot hold such brackets (`openreward.scoring.prompts` breaks them). A number off the scale, or a
label that is none of the three ("Not fully supported"), is a `Misread`, never rounded to what is
nearest.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import NamedTuple

from openreward.errors import shorten
from openreward.loose_json import clean_text
from openreward.parse import visible
from openreward.scoring.records import Support

_BRACKETED = re.compile(r"\[\[([^\[\]]{0,80})\]\]")
_NUMBER = re.compile(r"([+-]?[0-9]{1,6}(?:\.[0-9]{1,4})?)\s?(?:/\s?10)?", re.ASCII)
_HAS_DIGIT = re.compile(r"[0-9]", re.ASCII)
_LINE = re.compile(r"\s{0,8}(?:\(?[0-9]{1,3}\s?[.)、:：)．]|[-*•·])\s{0,4}(\S.*)", re.ASCII)
_ARROW = re.compile(r"\s*=>\s*")
_EDGES = " \t\r\n\"'`*_.。:：!！"

_SUPPORTS: dict[str, Support] = {
    **dict.fromkeys(("fully supported", "full support", "fully support", "full"), "full"),
    **dict.fromkeys(("完全支持", "完全支撑", "全部支持"), "full"),
    **dict.fromkeys(("partially supported", "partial support", "partly supported"), "partial"),
    **dict.fromkeys(("partially support", "partial", "部分支持", "部分支撑"), "partial"),
    **dict.fromkeys(("no support", "not supported", "unsupported", "none"), "none"),
    **dict.fromkeys(("not supported at all", "不支持", "无支持", "没有支持", "完全不支持"), "none"),
}
NO_STATEMENTS = ("no statements", "没有陈述")  # as the prompts ask for it, in double brackets
NOTHING = ("nothing relevant", "没有相关内容")
_NO_STATEMENTS = {*NO_STATEMENTS, "no statement", "no facts", "no factual statements", "无陈述"}
_NOTHING = {*NOTHING, "nothing", "no relevant information", "无相关内容"}


@dataclass(frozen=True)
class Misread:
    """A reply that is none of what was asked for, and why."""

    reason: str


class Stated(NamedTuple):
    """A statement, and the words to search for it where they were asked for."""

    text: str
    search: str


def read_score(text: str) -> float | Misread:
    """The number from 0 to 10 in the last brackets that hold a number."""
    said = [_folded(each) for each in _BRACKETED.findall(visible(text))]
    numbers = [each for each in said if _HAS_DIGIT.search(each)]
    if not numbers:
        return Misread("no score in double square brackets")
    match = _NUMBER.fullmatch(numbers[-1].strip(_EDGES))
    if match is None:
        return Misread(f"expected one number from 0 to 10, got {shorten(numbers[-1])}")
    score = float(match.group(1))
    if not 0 <= score <= 10:
        return Misread(f"expected a score from 0 to 10, got {score:g}")
    return score + 0.0  # -0 is 0


def read_support(text: str) -> Support | Misread:
    """The support that the last brackets name, word for word."""
    said = _BRACKETED.findall(visible(text))
    if not said:
        return Misread("no verdict in double square brackets")
    word = " ".join(_folded(said[-1]).strip(_EDGES).split())
    found = _SUPPORTS.get(word)
    if found is None:
        return Misread(f"expected one of the three verdicts, got {shorten(said[-1])}")
    return found


def read_statements(text: str) -> tuple[Stated, ...] | Misread:
    """The statements of a list, in its order; empty only where the model says that there are none.

    Lines that are no items of a list (a heading, a closing remark) are passed over.
    """
    shown = visible(text)
    lines = [match.group(1) for line in shown.splitlines() if (match := _LINE.match(line))]
    found = [stated for line in lines if (stated := _stated(line)).text]
    if _says(shown, _NO_STATEMENTS):
        return () if not found else Misread("a list, and the words that there is none")
    return tuple(found) or Misread("expected a list of statements, one a line, got none")


def read_points(text: str) -> str | Misread:
    """What was extracted; empty where the model says that nothing bears on the question."""
    shown = visible(text).strip()
    if not shown:
        return Misread("expected what bears on the question, got nothing")
    return "" if _says(shown, _NOTHING) else clean_text(shown)


def _stated(line: str) -> Stated:
    said, _, search = _ARROW.sub("\0", clean_text(line.strip()), count=1).partition("\0")
    said = said.strip()
    if _folded(said).strip(_EDGES + "[]") in _NO_STATEMENTS:
        said = ""
    return Stated(said, search.strip() or said)


def _says(text: str, words: set[str]) -> bool:
    """Whether a reply's last brackets, or all of it, are one of these phrases."""
    brackets = _BRACKETED.findall(text)
    said = brackets[-1] if brackets else text if len(text) < 80 else ""
    return _folded(said).strip(_EDGES) in words


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
