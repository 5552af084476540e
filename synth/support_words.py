"""A text as words: what its support is read from. Markdown is no word, list numbers are no number.

A word is `soft` where its capital says nothing: at the start of a sentence, in a heading, in the
label in front of a colon. Scripts without spaces give a word a character, and their words of weight
are pairs of neighbours, so that no dictionary is needed.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import tantivy

from openreward.tools.analysis import fold
from openreward.tools.passages import UNSPACED

_WORD = re.compile(
    rf"[{UNSPACED}]"
    r"|\d+(?:[.,:]\d+)*(?:(?:st|nd|rd|th|s)\b)?"
    rf"|(?:[^\W\d_{UNSPACED}]\.){{2,}}"  # U.S.
    rf"|[^\W\d_{UNSPACED}][^\W_{UNSPACED}]*(?:['’][^\W_{UNSPACED}]+)*"
)
_LINK = re.compile(r"\[([^\]\[]{1,300})\]\([^()\s]{1,500}\)|https?://\S+|\[\d{1,3}\]")
_MARKER = re.compile(r"\s*(#{1,6}\s|[-*•–+>|]\s|\(?\d{1,3}[.)](?!\d)\s*|\(?[a-zA-Z]\)\s)", re.ASCII)
_BOLD_LINE = re.compile(r"\s*(?:\*\*|__)[^*_]{1,100}(?:\*\*|__):?\s*")
_LABEL = re.compile(r"[^.:!?\n]{1,70}:(?=\s|$)")
_SENTENCE = re.compile(r"(?<![.!?…])[.!?…]++[\"'”’)\]]*\s+|[。！？｡]")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[^\W\d_]|(?:[^\W\d_]\.)+[^\W\d_]|Dr|Mr|Mrs|Ms|St|Prof|Jr|Sr|Mt|vs|No|Fig|cf|ca|al"
    r"|e\.g|i\.e|etc|approx)\.$"
)
_FIRST_WORD = re.compile(r"\w{1,40}")
_SOFT_AFTER = re.compile(r"[:;•]\s*$")
_SPACE = re.compile(r"\s")
_EMPHASIS = re.compile(r"[*`]+|__+")
_LINE_ENDS = tuple(".!?:;。！？")
_HYPHENS = ("", "-", "\u2010", "\u2011")
_JOINTS = (*_HYPHENS, " ", "\u2013", "&", " & ")
_STOP_LISTED = (
    "a about above across after against all along also although am among an and another any "
    "are around as at be because been before being below beside besides between both but by "
    "can cannot could did do does doing done down due during each either else etc even ever "
    "every for from further furthermore had has have having he hence her here hers herself "
    "him himself his how however i if in indeed instead into is it its itself just let may "
    "me might mine more moreover most much must my myself near nevertheless nor not now of "
    "off often on once one only onto or other others otherwise our ours out over own per "
    "rather same she should since so some something such than that the their theirs them "
    "themselves then there therefore these they this those though through throughout thus to "
    "together too toward towards under until up upon us very via was we well were what when "
    "where whether which while who whom whose why will with within without would yet you "
    "your yours no never none neither don't isn't wasn't doesn't didn't it's additionally "
    "overall finally importantly notably specifically generally typically especially "
    "particularly example include includes included including various several many like make "
    "makes made making become becomes became use uses used using"
)
STOP = frozenset(_STOP_LISTED.split())
"""Words that bear out nothing: of grammar, and those that writers put around what they say."""


class Word(NamedTuple):
    """One word of a text. `key` is folded, without a possessive's ending."""

    text: str
    key: str
    gap: str  # what stands between it and the word before, cut to three characters
    soft: bool
    label: bool  # in a heading, or in front of a colon at the start of a line

    @property
    def glued(self) -> bool:
        """Whether it is one word with the one before, but for a hyphen."""
        return self.gap in _HYPHENS

    @property
    def joined(self) -> bool:
        """Whether it may be part of one name with the word before."""
        return self.gap in _JOINTS


class Sentence(NamedTuple):
    """A sentence as it stands, and its words."""

    text: str
    words: tuple[Word, ...]


@functools.lru_cache(maxsize=64)  # a document, its query and answers are each read several times
def read_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text; a heading and a list item are sentences of their own."""
    return tuple(
        sentence
        for block, heading in _blocks(unicodedata.normalize("NFC", text))
        for sentence in _sentences(block, heading)
        if sentence.words
    )


def weights(words: Sequence[Word]) -> list[str]:
    """The words of weight, stemmed, in their order; pairs of characters where no spaces are."""
    found: list[str] = []
    for number, word in enumerate(words):
        if is_unspaced(word.key):
            if number and not word.gap and is_unspaced(words[number - 1].key):
                found.append(words[number - 1].key + word.key)
        elif word.key not in STOP and (len(word.key) > 1 or word.key.isdigit()):
            found.append(stem(word.key))
    return found


def is_unspaced(key: str) -> bool:
    """Whether a word is one character of a script without spaces."""
    return len(key) == 1 and key >= "\u0e00"


@functools.lru_cache(maxsize=1 << 15)
def stem(key: str) -> str:
    """A folded word without its English ending."""
    return _stemmer().analyze(key)[0]


@functools.cache
def _stemmer() -> tantivy.TextAnalyzer:
    whole = tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw())
    return whole.filter(tantivy.Filter.stemmer("English")).build()


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs, list items and headings, without their marks; whether it is a heading."""
    kept: list[str] = []
    for line in text.splitlines():
        marker = _MARKER.match(line)
        heading = bool(marker and "#" in marker[0]) or _BOLD_LINE.fullmatch(line) is not None
        if kept and (marker or heading or not line.strip() or kept[-1].rstrip()[-1:] in _LINE_ENDS):
            yield " ".join(kept), False
            kept = []
        bare = _EMPHASIS.sub("", _LINK.sub(_link_text, line[marker.end() :] if marker else line))
        if heading:
            yield bare, True
        elif bare.strip():
            kept.append(bare)
    if kept:
        yield " ".join(kept), False


def _link_text(link: re.Match[str]) -> str:
    return link[1] or " "


def _sentences(block: str, heading: bool) -> Iterator[Sentence]:
    label = _LABEL.match(block)
    label_end = len(block) if heading else label.end() if label else 0
    start = 0
    for border in _SENTENCE.finditer(block):
        before = block[max(start, border.start() - 12) : border.start() + 1]
        is_end = border.end() == len(block)
        if not is_end and (_goes_on(block, border.end()) or _ABBREVIATION.search(before)):
            continue
        yield _sentence(block[start : border.end()], label_end - start)
        start = border.end()
    yield _sentence(block[start:], label_end - start)


def _goes_on(block: str, at: int) -> bool:
    """Whether a word without a capital follows; p53 and mRNA may begin a sentence."""
    word = _FIRST_WORD.match(block, at)
    return word is not None and word[0].isalpha() and word[0].islower()


def _sentence(text: str, label_end: int) -> Sentence:
    words: list[Word] = []
    end = 0
    for match in _WORD.finditer(text):
        gap = _SPACE.sub(" ", text[end : match.start()])  # one that does not break is one too
        label = match.start() < label_end
        soft = not words or label or _SOFT_AFTER.search(gap) is not None
        words.append(Word(match[0], _key(match[0]), gap[:3], soft, label))
        end = match.end()
    return Sentence(text.strip(), tuple(words))


def _key(text: str) -> str:
    key = fold(text).replace("\u2019", "'").removesuffix("'").removesuffix("'s")
    return key.replace(".", "") if key[:1].isalpha() else key.replace(",", "")
