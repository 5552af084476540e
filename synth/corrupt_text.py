"""What the kinds of corruption share: the text with its sentences, what is taken, edits, articles.

A kind proposes edits in an order drawn at random; the first that holds is made. Sentences are
spans of the text, cut by simple rules of English with its usual abbreviations.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from openreward.synth.corrupt_words import word_list
from openreward.synth.scenario_language import read_language

_END = re.compile(r"[.!?]+[\"'”’)\]]*(?=\s+[\"'“‘(\[]*[^a-zà-ÿ\s])|\n\s*\n")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"“'])(?:[A-ZÀ-ÖØ-Þbcdpv]|(?:[^\W\d_]\.)+[^\W\d_]|Dr|Mr|Mrs|Ms|St|Prof|Jr|Sr|Mt|Gen"
    r"|Gov|Sen|Rev|Capt|Lt|Col|vs|No|Fig|Figs|Eq|Sec|cf|ca|al|approx|etc|Inc|Ltd|Co|Corp|Ph\.D"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.$"
)
_ARTICLE = re.compile(r"(?:^|[\s(\"“])(an?)[ \n]+$", re.IGNORECASE)
_LIKE_CONSONANT = re.compile(
    r"(?:one|once|uni(?!n|m)|us[aeiu]|eu|ubi|util|ur[aeio])", re.IGNORECASE
)
_LIKE_VOWEL = re.compile(r"(?:hour|hono|heir|honest)", re.IGNORECASE)
MONTHS = word_list(
    "January February March April May June July August September October November December"
)


class Edit(NamedTuple):
    """`text[start:end]` gives way to `new`; offsets are those of the text before any edit."""

    start: int
    end: int
    new: str


class Proposal(NamedTuple):
    """Edits that together make one fact wrong, and the form within its kind."""

    form: str
    edits: Sequence[Edit]


@dataclass(frozen=True)
class Answer:
    """A text to corrupt, and what it must be held against."""

    text: str
    document: str = ""
    query: str = ""

    @cached_property
    def others(self) -> str:
        """All the text in which a wrong value must not stand."""
        return f"{self.text}\n{self.document}\n{self.query}"

    @cached_property
    def english(self) -> bool:
        """Whether the rules for English may be used."""
        return read_language(self.text, small_words=0.05).english

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Spans from the first character that is no space to behind the last."""
        return sentences(self.text)

    def sentence_at(self, place: int) -> tuple[int, int]:
        """The sentence that holds a character."""
        found = [span for span in self.sentences if span[0] <= place < span[1]]
        return found[0] if found else (place, place)

    def borne_out(self, fact: str) -> bool:
        """Whether the document, if there is one, holds the fact in these words."""
        return not self.document or fact.casefold() in self.document.casefold()

    def asked(self, fact: str) -> bool:
        """Whether the query names it, so that its change would be seen without a source."""
        return bool(self.query) and fact.casefold() in self.query.casefold()


def sentences(text: str) -> list[tuple[int, int]]:
    """The spans of a text's sentences."""
    spans, start = list[tuple[int, int]](), 0
    for match in _END.finditer(text):
        if _ABBREVIATION.search(text[max(start, match.end() - 12) : match.end()]):
            continue
        spans.append((start, match.end()))
        start = match.end()
    spans.append((start, len(text)))
    return [_trimmed(text, *span) for span in spans if text[span[0] : span[1]].strip()]


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    piece = text[start:end]
    return start + len(piece) - len(piece.lstrip()), end - len(piece) + len(piece.rstrip())


def article_fits(text: str, place: int, new: str) -> bool:
    """Whether a word can follow the article that stands before a place, if one does."""
    match = _ARTICLE.search(text[max(0, place - 12) : place])
    return match is None or takes_an(new) == (match[1].lower() == "an")


def takes_an(word: str) -> bool:
    """Whether a word, or a number as it is read out, takes `an`."""
    if word[:1].isdigit():
        lead = re.split(r"\D", word)[0]
        return lead.startswith("8") or (lead[:2] in ("11", "18") and len(lead) in (2, 4))
    if re.match(r"[A-Z]{2,}", word):
        return word[0] in "AEFHILMNORSX"
    if _LIKE_CONSONANT.match(word):
        return False
    return word[:1].lower() in "aeiou" or bool(_LIKE_VOWEL.match(word))


def like_case(new: str, old: str) -> str:
    """A word with a capital where the old one has it."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def word_before(text: str, place: int) -> str:
    """The word that ends before a place, its punctuation apart; empty over a sentence's end."""
    match = re.search(r"([^\s.;:!?,]+)[ \n]+$", text[max(0, place - 40) : place])
    return match[1].strip("()[]\"'“”‘’") if match else ""


def word_after(text: str, place: int) -> str:
    """The word that begins behind a place."""
    match = re.match(r"[ \n]+[\"'“‘(]?([^\s.;:!?,()]+)", text[place : place + 40])
    return match[1].strip("\"'“”‘’") if match else ""
