"""Wrong numbers: another plausible value of the same form in the place of one that stands there.

Unit, sign and form stay: digits after the point, thousands' commas, round numbers round. The order
to the numbers beside it in the sentence is kept, so that ranges and comparisons still read right.
Numbers that only name something (type 2, World War 2, [12], GPT-4) are left alone, and so are
years and intervals of confidence. Written-out numbers and ranks are in `corrupt_counts`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from random import Random
from typing import NamedTuple

from openreward.synth.corrupt_counts import COUNTS, WRITTEN, propose_counts
from openreward.synth.corrupt_text import (
    MONTHS,
    Answer,
    Edit,
    Proposal,
    article_fits,
    word_after,
    word_before,
)
from openreward.synth.corrupt_words import word_set

_TRIES = 24
_AHEAD = 80  # characters before a number that are looked at
_MOST_READ = 200_000  # characters in which values are looked up
_N = r"(?:[1-9]\d{0,2}(?:,\d{3})+|0|[1-9]\d*)(?:\.\d+)?"
_UNIT = r"(?:\\?%|x|×|k?m²?|k?Hz|[MG]Hz|[cm]m|[kmµ]?g|m[lL]|ms|min|h|s|fps|[KMGT]B|K|M|bn|m|°C?|°F)"
_TOKEN = re.compile(rf"(?:[A-Za-z]{{1,3}}=)?({_N})(?:[-–—]({_N}))?(?:({_UNIT})|-[a-z][a-z-]*)?")
_ANY = re.compile(r"\d[\d,]*(?:\.\d+)?")
_PLAIN = re.compile(r"(?<![\dA-Za-z.,:/_=&%#-])[1-9]\d{1,8}(?![\dA-Za-z.,:/_=&%-])")
_YEAR = re.compile(r"1\d{3}|20\d\d|2100")
_P_VALUE = re.compile(r"\b[pP](?:[- ]values?)?(?: of)?\s*=?\s*$")
_MONTH_BEFORE = re.compile(r"\b(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.? $")
_CONVERTED = re.compile(r" [a-z][a-z .]{0,20} \(\d")  # 300 miles (500 km)
_CONVERSION = re.compile(r"\d [a-z][a-z .]{0,20} \($")
_TO = ("", "to", "and", "until")
_OLD_YEAR = re.compile(r"[1-9]\d\d")
_NAMERS = word_set(
    "type types figure fig figs table tables section sections chapter version equation eq ref refs "
    "no number line lines factor phase step steps grade class part volume vol highway route "
    "channel model +/- < > ≤ ≥ ± <= >= ^"
)
_YEAR_WORDS = word_set(
    "in since by until from before after during the of to and around circa year early late"
)
_OPENERS = word_set("about over of in some only nearly almost at more less around these up a an we")
_EDGE = "()[]{}\"'“”‘’.,;:!?$€£~≈<>≤≥±=+−*"


class _Number(NamedTuple):
    start: int
    end: int
    value: Decimal
    percent: bool
    usable: bool


def propose_numbers(answer: Answer, random: Random) -> Iterator[Proposal]:
    """Each number that can be changed, in random order, with its new value."""
    taken = values_in(answer.others)
    if answer.english:
        found = [*_figures(answer, random, taken), *propose_counts(answer, random, taken)]
    else:
        found = [*_plain(answer, random, taken)]
    random.shuffle(found)
    yield from found


@lru_cache(maxsize=16)
def values_in(text: str) -> frozenset[Decimal]:
    """The values of all numbers in a text, written-out small ones too."""
    text = text[:_MOST_READ]
    digits = {_value(each[0]) for each in _ANY.finditer(text)}
    return frozenset(digits | {Decimal(COUNTS[m[1].lower()]) for m in WRITTEN.finditer(text)})


def other_number(old: str, random: Random) -> str | None:
    """A draw of another number of the form of `old`, a tenth away or more; None for 0 and 1."""
    whole, _, decimals = old.replace(",", "").partition(".")
    units, step = int(whole + decimals), 1
    while not decimals and units >= 100 and units % (step * 10) == 0:
        step *= 10
    lead = units // step
    if not lead or (not decimals and units < 2):
        return None
    if lead < 10:
        least = 2 if step == 1 and not decimals else 1
        choices = [n for n in range(least, 13) if n not in (lead, 10) and n <= 2.5 * lead + 1]
        lead = random.choice(choices)
    else:
        low, high = random.choice([(0.55, 0.87), (1.15, 1.75)])
        lead = round(lead * random.uniform(low, high))
        lead += lead % 10 == 0 and step > 1
    value = Decimal(lead * step).scaleb(-len(decimals))
    commas = "," in old or (value >= 10_000 and len(whole) < 4)
    return f"{value:,.{len(decimals)}f}" if commas else f"{value:.{len(decimals)}f}"


def _value(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def _figures(answer: Answer, random: Random, taken: frozenset[Decimal]) -> Iterator[Proposal]:
    for span in answer.sentences:
        numbers = list(_numbers(answer.text, *span))
        for place, number in enumerate(numbers):
            old = answer.text[number.start : number.end]
            if not number.usable or not _is_certain(old, answer):
                continue
            new = _other(answer.text, numbers, place, random, taken)
            if new is not None:
                form = "percent" if number.percent else "decimal" if "." in old else "integer"
                yield Proposal(form, [Edit(number.start, number.end, new)])


def _is_certain(old: str, answer: Answer) -> bool:
    """It stands once in the answer; a document, if there is one, has it; the query has not."""
    here, held, asked = map(_figures_of, (answer.text, answer.document, answer.query))
    return here[old] == 1 and (not answer.document or old in held) and old not in asked


@lru_cache(maxsize=16)
def _figures_of(text: str) -> Counter[str]:
    return Counter(match[0].strip(",") for match in _ANY.finditer(text[:_MOST_READ]))


def _numbers(text: str, start: int, end: int) -> Iterator[_Number]:
    for match in re.finditer(r"\S+", text[start:end]):
        token = match[0].strip(_EDGE)
        found = _TOKEN.fullmatch(token)
        if found is None:
            continue
        at = start + match.start() + match[0].find(token)
        span = (at, at + len(token))
        after = word_after(text, span[1])
        percent = "%" in (found[3] or "") or after == "percent" or after == "per"
        usable = _usable(text, span, (start, end), bool(found[3]), found[1])
        for group in (1, 2):
            if found[group] is not None:
                place = (at + found.start(group), at + found.end(group))
                yield _Number(*place, _value(found[group]), percent, usable)


def _usable(
    text: str, span: tuple[int, int], sentence: tuple[int, int], unit: bool, digits: str
) -> bool:
    """Whether a number counts or measures something, and its change would be noticed by nobody."""
    start, end = span
    before, after = word_before(text, start), word_after(text, end)
    ahead = text[max(sentence[0], start - _AHEAD) : start]
    around = text[max(0, start - 1) : end + 1]
    if re.search(r"\bC\.?Is?\b|onfidence|range|IQR", text[max(0, start - 30) : end + 30]):
        return False  # the interval would give it away
    if _CONVERTED.match(text[end : end + 40]) or _CONVERSION.search(ahead[-40:]):
        return False
    if _MONTH_BEFORE.search(ahead[-6:]):
        return False
    if re.search(r"[\\^_{}<>≤≥±]\s?$", ahead[-2:]) or around[-1:] in "^_{}/":
        return False
    if around[:1] in "([" and around[-1:] in ")]" and not unit:
        return False  # a mark or the number of an item
    if not ahead.strip() and around[-1:] in ".):":
        return False
    if before.lower().rstrip(".") in _NAMERS or before in MONTHS or after in MONTHS:
        return False
    if re.fullmatch(r"BCE?|AD|CE|century|centuries", after):
        return False
    if re.match(r" ?\(\d+(?:\.\d+)?%", text[end : end + 12]) or re.search(r"\d \($", ahead[-3:]):
        return False  # a count and its share: the one would give the other away
    opens = ahead.strip(_EDGE + " ").count(" ") == 0 and before.lower() in _OPENERS
    if before[:1].isupper() and not opens and "=" not in before:
        return False
    if after[:1].isupper() and not after.endswith("s") and not after.isupper():
        return False
    counts = re.fullmatch(r"[a-z-]+s", after) and before.lower() not in _YEAR_WORDS
    year = _YEAR.fullmatch(digits) or (
        _OLD_YEAR.fullmatch(digits) and before.lower() in _YEAR_WORDS and after in _TO
    )
    return bool(counts or unit or not year) and text[start:end] != f"{digits}s"


def _other(
    text: str, numbers: list[_Number], place: int, random: Random, taken: frozenset[Decimal]
) -> str | None:
    """A new value that fits, where one is found in some tries."""
    number = numbers[place]
    beside = [
        other.value
        for other in (*numbers[max(0, place - 1) : place], *numbers[place + 1 : place + 2])
        if other.percent == number.percent
    ]
    if _P_VALUE.search(text[max(0, number.start - 14) : number.start]):
        beside.append(Decimal("0.0499"))  # significance stays as it is said
    most = 100 if number.percent and number.value <= 100 else 1 if number.value < 1 else None
    for _ in range(_TRIES):
        new = other_number(text[number.start : number.end], random)
        if new is None:
            return None
        value = _value(new)
        if (
            value not in taken
            and value != 1
            and (most is None or value < most)
            and all((value > each) == (number.value > each) for each in beside)
            and article_fits(text, number.start, new)
        ):
            return new
    return None


def _plain(answer: Answer, random: Random, taken: frozenset[Decimal]) -> Iterator[Proposal]:
    """In other languages: whole numbers that are no years, and nothing is known of their words."""
    for match in _PLAIN.finditer(answer.text):
        if _YEAR.fullmatch(match[0]) or not _is_certain(match[0], answer):
            continue
        new = other_number(match[0], random)
        if new is not None and "," not in new and _value(new) not in taken:
            yield Proposal("integer", [Edit(*match.span(), new)])
