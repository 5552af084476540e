"""Tables of words, written as one text each."""

from __future__ import annotations


def word_list(text: str, between: str | None = None) -> list[str]:
    """The words in their order; `between` is what parts them, if not space."""
    return text.split(between)


def word_set(text: str, between: str | None = None) -> frozenset[str]:
    """The words, to ask whether one is among them."""
    return frozenset(text.split(between))
