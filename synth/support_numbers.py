"""The numbers and dates of a text, and whether those of another text bear them out.

Numbers are compared by value: 1,500,000 is 1.5 million, twelve is 12, 1914-18 ends in 1918. A
decade or a century is borne out by a year in it, a rounded number by the one it was rounded from,
a hedged one ("about 300") by one near it. Counts of what the text itself lists ("three main
reasons"), one and two, and the numbers of steps and list items claim nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from openreward.synth.support_words import Word

_NUMERAL = re.compile(r"(\d+(?:[.,:]\d+)*)(st|nd|rd|th|s)?")
_YEAR = re.compile(r"1\d{3}|20\d{2}")  # six in a hundred of one would be a century
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,3}(?:\.\d{3}){2,}")
_SMALL_LISTED = (
    "zero|one first|two second|three third|four fourth|five fifth|six sixth|seven seventh|"
    "eight eighth|nine ninth|ten tenth|eleven eleventh|twelve twelfth dozen|"
    "thirteen thirteenth|fourteen fourteenth|fifteen fifteenth|sixteen sixteenth|"
    "seventeen seventeenth|eighteen eighteenth|nineteen nineteenth|twenty twentieth"
)
_SMALL = {
    word: value for value, words in enumerate(_SMALL_LISTED.split("|")) for word in words.split()
}
_TENS = {
    word: 10 * value
    for value, words in enumerate(
        [
            "twenty",
            "thirty thirtieth",
            "forty fortieth",
            "fifty fiftieth",
            "sixty sixtieth",
            "seventy",
            "eighty",
            "ninety",
        ],
        2,
    )
    for word in words.split()
}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9} | {
    "trillion": 10**12,
    "bn": 10**9,
}
_ROMAN = dict(zip("IVXLC", (1, 5, 10, 50, 100), strict=True))
_ROMAN_FORM = re.compile(r"(?=[IVXLC]{2})(?:X[LC]|L?X{0,3})(?:I[XV]|V?I{0,3})")
_HEDGES_LISTED = (
    "about approximately around roughly nearly almost over some estimated circa ca c "
    "exceeding beyond least most than up under below above close"
)
_HEDGES = frozenset(_HEDGES_LISTED.split())
_LABELS_LISTED = (
    "step phase stage part section day week month point option tip chapter question figure "
    "fig table level section no number paragraph"
)
_LABELS = frozenset(_LABELS_LISTED.split())
_COUNTED_LISTED = (
    "way factor reason step type aspect point category phase stage part area theme section "
    "component element feature principle benefit key main major distinct different primary "
    "important essential thing kind group example approach method characteristic question "
    "paragraph sentence of"
)
_COUNTED = frozenset(_COUNTED_LISTED.split())
_LEAST = 3  # one and two are said of anything
_NEAR = 0.06  # how far a hedged number may be from the one in the document


class Number(NamedTuple):
    """A number as it stands; `kind` tells how exactly it must be found."""

    text: str
    value: float
    at: int  # of its last word in the sentence
    kind: str = "plain"  # plain | decade | century | word | idle
    hedged: bool = False


class Numbers:
    """The numbers that a text holds."""

    def __init__(self, found: Iterable[Number]) -> None:
        self._values: set[float] = set()
        self._centuries: set[float] = set()
        self._decades: set[float] = set()
        for number in found:
            self._values.add(number.value)
            if number.kind == "century":
                self._centuries.add(number.value)
            elif number.kind == "decade":
                self._decades.add(number.value)
        self._ordered = sorted(self._values)

    def have(self, number: Number) -> bool:
        """Whether a number is among them, in the way that its kind asks for."""
        value = number.value
        if value in self._values:
            return True
        if number.kind == "decade":
            return self._any(value, value + 9)
        if number.kind == "century":
            return self._any(100 * value - 99, 100 * value)
        if number.hedged:
            return self._any(value * (1 - _NEAR), value * (1 + _NEAR))
        return value >= 10 and any(self._rounds(each, number) for each in self._ordered)

    def _any(self, low: float, high: float) -> bool:
        return any(low <= each <= high for each in self._ordered)

    def _rounds(self, exact: float, number: Number) -> bool:
        """Whether the exact number has more places than the number that it gives when rounded."""
        places = len(number.text.partition(".")[2])
        return exact != round(exact, places) and round(exact, places) == number.value


def read_numbers(words: Sequence[Word]) -> Iterator[Number]:
    """The numbers of a sentence."""
    at = 0
    while at < len(words):
        end, value, kind = _read(words, at)
        if end == at:
            at += 1
            continue
        text = "".join(
            (word.gap if number else "") + word.text for number, word in enumerate(words[at:end])
        )
        following = [word.key for word in words[end : end + 2]]
        if following[:1] and following[0].startswith("centur"):
            kind = "century"
        elif kind != "decade" and _is_idle(words, at, following, kind, value):
            kind = "idle"
        before = {word.key for word in words[max(0, at - 3) : at]}
        hedged = bool(before & _HEDGES) and not _YEAR.fullmatch(text)
        last = _range_end(words, at) if at and kind == "plain" else None
        yield Number(text, value if last is None else last, end - 1, kind, hedged)
        if last is not None:
            yield Number(text, value, end - 1, "idle")
        at = end


def _read(words: Sequence[Word], at: int) -> tuple[int, float, str]:
    """Where the number that begins here ends, its value and kind; the end is `at` without one."""
    word = words[at]
    numeral = _NUMERAL.fullmatch(word.text)
    if numeral:
        value, kind = _value(numeral[1]), "plain"
        if numeral[2] == "s":
            return at + 1, value, "decade"
        end = at + 1
    elif at and (roman := read_roman(word.text)):
        return at + 1, roman, "idle"
    else:
        end, value = _spelled(words, at)
        kind = "word"
    while end > at and end < len(words) and words[end].key in _SCALES and words[end].joined:
        value *= _SCALES[words[end].key]
        end, kind = end + 1, "plain"
    return end, round(value, 9), kind


def _spelled(words: Sequence[Word], at: int) -> tuple[int, float]:
    """A number below a hundred in words, or a scale by itself behind "a"."""
    key = words[at].key
    if key in _TENS:
        after = words[at + 1] if at + 1 < len(words) else None
        if after and after.glued and _SMALL.get(after.key, 99) < 10:
            return at + 2, float(_TENS[key] + _SMALL[after.key])
        return at + 1, float(_TENS[key])
    if key in _SMALL:
        return at + 1, float(_SMALL[key])
    if key in ("a", "an") and at + 1 < len(words) and words[at + 1].key in (*_SCALES, "dozen"):
        return at + 1, 12.0 if words[at + 1].key == "dozen" else 1.0
    return at, 0


def _is_idle(words: Sequence[Word], at: int, following: list[str], kind: str, value: float) -> bool:
    """Whether a number claims nothing."""
    if at and words[at - 1].key in _LABELS:
        return words[at - 1].soft or words[at].label or words[at - 1].text[:1].isupper()
    if kind != "word":
        return False
    counted = {key.removesuffix("s") for key in following} & _COUNTED
    return value < _LEAST or (value <= 10 and bool(counted))


def _value(numeral: str) -> float:
    """12 | 1,234.5 | 1.234.567 | 3,5; of 10:30 the hour."""
    if _THOUSANDS.fullmatch(numeral):
        dots = numeral.count(".") > 1
        return float(numeral.replace("." if dots else ",", ""))
    whole = numeral.partition(":")[0].replace(",", ".")
    head, _, tail = whole.partition(".")
    return float(f"{head[:300]}.{tail.replace('.', '')[:30] or 0}")


def _range_end(words: Sequence[Word], at: int) -> float | None:
    """1918 of 1914-18, of which the second number is here; a date as 2010-05-12 is no range."""
    first, last = words[at - 1].text, words[at].text
    if words[at].gap not in ("-", "–", "\u2010", "/") or not (first + last).isdecimal():
        return None
    if at + 1 < len(words) and words[at + 1].gap == "-" and words[at + 1].text.isdecimal():
        return None
    is_range = len(first) == 4 and len(last) == 2 and first[2:] < last
    return float(first[:2] + last) if is_range else None


def read_roman(text: str) -> int:
    """The value of a Roman numeral of two letters or more, 0 for other words."""
    if not _ROMAN_FORM.fullmatch(text):
        return 0
    digits = [_ROMAN[char] for char in text]
    return sum(
        -digit if digit < max(digits[place + 1 :], default=0) else digit
        for place, digit in enumerate(digits)
    )
