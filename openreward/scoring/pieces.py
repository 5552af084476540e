"""Cut a context into pieces that do not overlap, at sentence borders; spans of the context.

Small pieces are retrieved, large ones extracted from. Tokens of small pieces are estimated from
words, so that a piece is the same whatever the engine; large ones are measured, for they must fit.
"""

from __future__ import annotations

from typing import NamedTuple

from openreward.agent import together
from openreward.inert import inert
from openreward.policy.base import Policy
from openreward.tools.passages import CutSettings, count_words, cut

_WORDS_A_TOKEN = 0.75
_LETTERS_A_TOKEN = 8  # of a small piece, at most: tables and code hold few words
_ROOM = 0.9  # of what the mean length of a token allows: dense stretches have shorter ones


class Piece(NamedTuple):
    """`text` is `context[start:end]`."""

    start: int
    end: int
    text: str


def small_pieces(context: str, tokens: int) -> list[Piece]:
    """Pieces of about so many tokens, at most."""
    most = tokens * _LETTERS_A_TOKEN
    return [
        part
        for piece in _cut(context, max(8, int(tokens * _WORDS_A_TOKEN)))
        for part in _shortened(piece, most)
    ]


async def large_pieces(context: str, tokens: int, policy: Policy) -> list[Piece]:
    """Pieces of at most so many tokens as the engine counts them, in the form they are shown."""
    if not context.strip():
        return []
    whole = await policy.count_tokens(inert(context))
    if whole <= tokens:
        return _cut(context, None)
    ratio = count_words(context) / whole
    pieces = _cut(context, max(8, int(tokens * ratio * _ROOM)))
    fitting = await together([_fitting(context, piece, tokens, policy) for piece in pieces])
    return [piece for parts in fitting for piece in parts]


async def _fitting(context: str, piece: Piece, tokens: int, policy: Policy) -> list[Piece]:
    """The piece, or its parts where it does not fit."""
    counted = await policy.count_tokens(inert(piece.text))
    words = count_words(piece.text)
    if counted <= tokens or words <= 8:
        return [piece]
    parts = _cut(piece.text, max(8, int(words * min(0.5, tokens / counted * _ROOM))))
    moved = [Piece(piece.start + part.start, piece.start + part.end, part.text) for part in parts]
    if len(moved) == 1:
        return moved
    fitting = await together([_fitting(context, part, tokens, policy) for part in moved])
    return [part for several in fitting for part in several]


def _shortened(piece: Piece, most: int) -> list[Piece]:
    """The piece in parts of at most so many characters, wherever they end."""
    starts = range(0, len(piece.text), most)
    parts = [(piece.start + at, piece.text[at : at + most]) for at in starts]
    return [Piece(start, start + len(text), text) for start, text in parts if text.strip()]


def _cut(context: str, words: int | None) -> list[Piece]:
    if words is None:
        text = context.strip()
        start = context.index(text) if text else 0
        return [Piece(start, start + len(text), text)] if text else []
    settings = CutSettings(min_words=max(1, words // 2), max_words=words)
    return [Piece(start, end, context[start:end]) for start, end in cut(context, settings)]
