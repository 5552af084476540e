"""The names of a text: spans of capitalised words and words with digits in them; how they vary.

A name is known to a text that holds each of its words in any case and ending: Germany by German,
US by United States and the other way about. A capital that grammar or layout asks for is no name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from openreward.synth.support_dates import MONTH_NAMES
from openreward.synth.support_numbers import read_roman
from openreward.synth.support_words import STOP, Sentence, Word, is_unspaced, stem

_CONNECTORS_LISTED = "of the de van von der den la le du del di da al bin and for"
_CONNECTORS = frozenset(_CONNECTORS_LISTED.split())
_TITLES_LISTED = "mr mrs ms dr prof sir lord st saint president king queen professor"
_TITLES = frozenset(_TITLES_LISTED.split())
_PEOPLES = (
    "us usa america american states|uk britain british kingdom|england english|france french|"
    "spain spanish|netherlands dutch holland|denmark danish dane|sweden swedish swede|"
    "poland polish pole|wales welsh|scotland scottish scots|ireland irish|greece greek|"
    "turkey turkish turk|switzerland swiss|finland finnish finn|norway norwegian|"
    "portugal portuguese|ussr soviet|uae emirates|europe european eu|earth global|west western|"
    "east eastern|north northern|south southern|ww1 wwi|ww2 wwii|new zealand nz|"
    "hungary hungarian|germany german|iceland icelandic|thailand thai|"
    "philippines filipino philippine|czech czechia|"
    "argentina argentine argentinian|christ christian|jew jewish judaism|islam islamic muslim"
)
_ALIASES = {
    word: frozenset(group.split()) - {"new"}
    for group in _PEOPLES.split("|")
    for word in group.split()
}
_SHORT_ENDINGS = ("n", "i", "ic", "ia", "s", "y", "a", "e", "o")
_ENDINGS = ("ians", "ian", "eans", "ean", "ans", "an", "ese", "ish", "is", "ns", *_SHORT_ENDINGS)
_LEAST_ROOT = 4


class Name(NamedTuple):
    """A name as it stands, and those of its words that are to be found."""

    text: str
    words: tuple[Word, ...]
    at: int  # of its first word in the sentence


class Names:
    """The words by which a text knows a name."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        words = [word for sentence in sentences for word in sentence.words]
        self._keys = {word.key for word in words}
        self._keys |= {a.key + b.key for a, b in pairwise(words) if b.glued or _is_numbered(a, b)}
        self._acronyms = {word.key for word in words if _is_acronym(word.text)}
        self._stems = {stem(key) for key in self._keys}
        self._roots = {root(key) for key in self._keys}
        self._initials = {
            letters for sentence in sentences for letters in _initials(sentence.words)
        }

    def have(self, name: Name) -> bool:
        """Whether all its words are known, or it is the long or short form of one that is."""
        if all(self._has(word) for word in name.words):
            return True
        if len(name.words) > 1:
            return "".join(word.key[:1] for word in name.words) in self._acronyms
        return False

    def _has(self, word: Word) -> bool:
        key = word.key
        if key in self._keys or stem(key) in self._stems or root(key) in self._roots:
            return True
        roman = read_roman(word.text)
        if _ALIASES.get(key, frozenset()) & self._keys or (roman and str(roman) in self._keys):
            return True
        short = key.removesuffix("s") if word.text[-1:] == "s" else key
        return _is_acronym(word.text) and (short in self._initials or short in self._keys)


def read_names(words: Sequence[Word]) -> Iterator[Name]:
    """The names of a sentence, without words that are soft."""
    at = 0
    while at < len(words):
        if not _is_name(words[at]):
            at += 1
            continue
        end = at + 1
        while end < len(words) and (reach := _reach(words, end)):
            end += reach
        span = words[at:end]
        told = tuple(w for w in span if _is_name(w) and not w.soft and not _is_said(w))
        if told:
            text = span[0].text + "".join(word.gap + word.text for word in span[1:])
            yield Name(text, told, at)
        at = end


def root(key: str) -> str:
    """A word without what makes a people, an adjective or a plural of a name."""
    for ending in _ENDINGS:
        if key.endswith(ending) and len(key) - len(ending) >= _LEAST_ROOT:
            return key[: -len(ending)]
    return key


def _reach(words: Sequence[Word], at: int) -> int:
    """How many words from here belong to the name that came before: 0, 1, or 2 with "of"."""
    if _joins(words, at) and _is_name(words[at]):
        return 1
    if (
        at + 1 < len(words)
        and words[at].key in _CONNECTORS - {"and"}
        and words[at].gap == " "
        and words[at + 1].gap == " "
        and _is_name(words[at + 1])
    ):
        return 2
    return 0


def _joins(words: Sequence[Word], at: int) -> bool:
    initial = words[at].gap == ". " and (
        len(words[at - 1].text) == 1 or words[at - 1].key in _TITLES
    )
    return words[at].joined or initial


def _is_name(word: Word) -> bool:
    text = word.text
    if word.key in STOP and not (len(text) > 1 and text.isupper()):
        return False
    mixed = any(map(str.isdigit, text)) and text[:1].isalpha()
    return text[:1].isupper() or mixed or any(map(str.isupper, text[1:]))


def _is_said(word: Word) -> bool:
    """Whether another rule reads the word, or none should."""
    key = word.key
    return key in MONTH_NAMES or key in _TITLES or (len(key) < 2 and not is_unspaced(key))


def _is_acronym(text: str) -> bool:
    letters = text.replace(".", "").removesuffix("s")
    return 2 <= len(letters) <= 8 and sum(map(str.isupper, letters)) >= 2


def _is_numbered(word: Word, number: Word) -> bool:
    """Whether a number is part of a name, as in CA 19."""
    return number.gap == " " and number.text.isdecimal() and _is_acronym(word.text)


def _initials(words: Sequence[Word]) -> Iterator[str]:
    """First letters of up to six neighbours, with and without small words such as "of".

    Two letters are found anywhere, so that only two neighbours of weight count.
    """
    yield from (
        a.key[:1] + b.key[:1]
        for a, b in pairwise(words)
        if a.key not in STOP and b.key not in STOP and min(len(a.key), len(b.key)) > 3
    )
    for kept in (words, [word for word in words if word.key not in _CONNECTORS]):
        letters = "".join(word.key[:1] or " " for word in kept)
        for size in range(3, 7):
            yield from (letters[at : at + size] for at in range(len(letters) - size + 1))
