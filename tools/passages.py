"""Cut a document into passages at sentence borders: spans that tile the text, a paragraph each.

A judge reads few passages, so each must stand alone yet fit several to a prompt: 100 to 180 words.
Scripts written without spaces (Han, Kana, Thai, ...) count two characters as a word.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from pydantic import Field

from openreward.types import Document, Passage, Record

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Characters (as inside a regex class) of scripts whose words are not set apart by spaces."""

_UNIT = re.compile(
    rf"([{UNSPACED}])|[^\s{UNSPACED}]{{1,64}}"
)  # 64: a "word" without end is cut too
_SENTENCE_END = re.compile(
    r"[.!?…]+[\"'”’)\]]*\s+(?=[\"'“‘(\[]*[^a-zà-ÿ\s])"  # before anything but a small letter
    r"|[。！？｡]+[」』”）]*\s*"
    r"|\n\s*\n\s*"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]|Dr|Mr|Mrs|Ms|St|Prof|Jr|Sr|Mt|vs|No|Fig|cf|ca|al"
    r"|approx|lit)\.$"
)


class CutSettings(Record):
    """How long a passage is, in words; only the last may be shorter than `min_words`."""

    min_words: int = Field(default=100, ge=1)
    max_words: int = Field(default=180, ge=1)


class _Piece(NamedTuple):
    start: int
    end: int
    words: float


def count_words(text: str) -> float:
    """Words of a text as the cutter counts them."""
    return sum(0.5 if unit[1] else 1.0 for unit in _UNIT.finditer(text))


def cut(text: str, settings: CutSettings) -> list[tuple[int, int]]:
    """Spans of the passages, in order; together they hold every character that is not a space."""
    if text.isascii() and len(text.split()) + len(text) // 64 <= settings.max_words:
        pieces = [_Piece(0, len(text), 0.0)]  # one for certain, as most introductions are
    else:
        pieces = _join(list(_pieces(text, settings.max_words)), settings)
    spans = (_trim(text, piece.start, piece.end) for piece in pieces)
    return [(start, end) for start, end in spans if start < end]


def passages_of(document: Document, settings: CutSettings) -> list[Passage]:
    """A document as passages, in order."""
    return [
        Passage(
            document_id=document.id,
            source=document.source,
            title=document.title,
            text=document.text[start:end],
            start=start,
            end=end,
            url=document.url,
            revision=document.revision,
        )
        for start, end in cut(document.text, settings)
    ]


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for border in _SENTENCE_END.finditer(text):
        if _ABBREVIATION.search(text[max(start, border.start() - 12) : border.start() + 1]):
            continue
        yield start, border.end()
        start = border.end()
    yield start, len(text)


def _pieces(text: str, max_words: int) -> Iterator[_Piece]:
    """Sentences; one that is too long for a passage is cut between words."""
    for start, end in _sentences(text):
        words = 0.0
        for unit in _UNIT.finditer(text, start, end):
            weight = 0.5 if unit[1] else 1.0
            if words + weight > max_words:
                yield _Piece(start, unit.start(), words)
                start, words = unit.start(), 0.0
            words += weight
        yield _Piece(start, end, words)


def _join(pieces: list[_Piece], settings: CutSettings) -> list[_Piece]:
    total = sum(piece.words for piece in pieces)
    parts = max(1, math.ceil(total / settings.max_words))
    target = max(settings.min_words, total / parts)  # equal parts, rather than a stump at the end
    joined = [pieces[0]]
    for piece in pieces[1:]:
        words = joined[-1].words + piece.words
        if words > settings.max_words or joined[-1].words >= target:
            joined.append(piece)
        else:
            joined[-1] = _Piece(joined[-1].start, piece.end, words)
    if len(joined) > 1 and joined[-2].words + joined[-1].words <= settings.max_words:
        last = joined.pop()
        joined[-1] = _Piece(joined[-1].start, last.end, joined[-1].words + last.words)
    return joined
