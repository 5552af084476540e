"""Wrong years, decades and centuries, in the order that they stand in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from random import Random

from openreward.synth.corrupt_text import (
    MONTHS,
    Answer,
    Edit,
    Proposal,
    article_fits,
    like_case,
    word_after,
    word_before,
)
from openreward.synth.corrupt_words import word_list, word_set

YEAR = r"(?:1\d{3}|20\d\d)"
_LATEST = 2024  # years after it are only lowered
_DASH = "[–—-]"
_ALONE = re.compile(
    rf"(?<![\w.,/:#$€£-])(?<!\d[–—]){YEAR}(?![\w/%:]|[.,]\d|{_DASH}\d\d?\b|-[a-z])"
    rf"|(?<=\d{{4}}{_DASH}){YEAR}\b"
)
_ERA = re.compile(r"(?<![\w.,–—-])([1-9]\d{1,3})(?= BCE?\b)")
_DECADE = re.compile(r"(?<!\w)((?:1[5-9]|20)\d0)s\b")
_ORDINALS = word_list(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_CENTURY = re.compile(
    rf"\b(?:(?P<number>\d{{1,2}})(?:st|nd|rd|th)|(?P<word>{'|'.join(_ORDINALS)}))(?=[- ]century\b)",
    re.IGNORECASE,
)
_SPANS_BESIDE = re.compile(r"\b\d{2}(?:st|nd|rd|th)\b|\d0s\b|\bcenturies\b")
_BEFORE_YEAR = word_set(
    "in since by until till from to of during before after around circa c ca about between and "
    "early late mid year a an the born died summer winter spring autumn fall released published "
    "established founded through or"
)
_COUNTED = word_set("per of or times ml mg kg km cm mm men women people children")
_NO_PLURALS = word_set("was is as its his has does this")


def propose_years(answer: Answer, random: Random) -> Iterator[Proposal]:
    """Each year, decade and century that can be changed."""
    for match in _ALONE.finditer(answer.text):
        if is_certain(match[0], answer) and _is_year(answer.text, match):
            new = other_year(answer, match.start(), int(match[0]), random)
            if new is not None:
                yield Proposal(_form(answer.text, match), [Edit(*match.span(), new)])
    yield from _before_christ(answer, random)
    yield from _decades(answer, random)
    yield from _centuries(answer, random)


@lru_cache(maxsize=16)
def years_in(text: str) -> tuple[tuple[int, int], ...]:
    """Place and value of what can be a year in a text."""
    return tuple((m.start(), int(m[0])) for m in re.finditer(rf"(?<!\d){YEAR}(?!\d)", text))


def is_certain(fact: str, answer: Answer) -> bool:
    """It stands once in the answer; a document, if there is one, has it; the query has not."""
    return answer.text.count(fact) == 1 and answer.borne_out(fact) and not answer.asked(fact)


def other_year(answer: Answer, place: int, old: int, random: Random) -> str | None:
    """A year some way off, between the years that stand beside it in the sentence."""
    start, end = answer.sentence_at(place)
    years = [(at + start, year) for at, year in years_in(answer.text[start:end])]
    where = next((n for n, (at, _) in enumerate(years) if at == place), None)
    if where is None:
        return None
    former = [year for _, year in years[max(0, where - 1) : where]]
    later = [year for _, year in years[where + 1 : where + 2]]
    wide = 12 if old >= 1700 else 40
    taken = {year for _, year in years_in(answer.others)}
    free = [
        str(year)
        for year in range(max(1000, old - wide), min(old + wide, max(_LATEST, old)) + 1)
        if abs(year - old) > 1
        and year not in taken
        and all((year > other) == (old >= other) for other in former)
        and all((year < other) == (old <= other) for other in later)
        and article_fits(answer.text, place, str(year))
    ]
    return random.choice(free) if free else None


def _is_year(text: str, match: re.Match[str]) -> bool:
    """Whether the words around it are those around a year that is no part of a name or date."""
    before, after = word_before(text, match.start()), word_after(text, match.end())
    ahead = text[max(0, match.start() - 1) : match.start()]
    behind = text[match.end() : match.end() + 1]
    if before in MONTHS or before.isdigit():
        return False
    if ahead == "[":
        return False
    if ahead == "(" and behind not in (")", ",", ";", "–", "—", "-"):
        return False
    if before and ahead != "(" and before.lower().rstrip(".") not in _BEFORE_YEAR:
        return False
    if not before and ahead == " " and behind not in (".", ",", ";", ")"):
        return False  # "pT1a, 1453 (27 %)"
    if behind != " ":
        return True
    if re.match(r" by \d", text[match.end() : match.end() + 5]):
        return False
    if after[:1].isupper() and before.lower() not in ("a", "an"):
        return False  # the name of an event
    if after[:1].isdigit():
        return False
    return after not in _COUNTED and (not re.fullmatch(r"[a-z-]+s", after) or after in _NO_PLURALS)


def _form(text: str, match: re.Match[str]) -> str:
    ahead, behind = text[: match.start()][-5:], text[match.end() : match.end() + 5]
    linked = re.search(rf"\d{{4}}{_DASH}$", ahead) or re.match(rf"{_DASH}\d{{4}}", behind)
    return "range" if linked else "year"


def _before_christ(answer: Answer, random: Random) -> Iterator[Proposal]:
    for match in _ERA.finditer(answer.text):
        old = int(match[1])
        step = max(4, old // 5)
        step -= step % 5 if old % 5 == 0 and step > 5 else 0
        free = [str(n) for n in (old - step, old + step) if n > 1]
        yield from _exchanged(answer, match, match.span(1), free, "year", random)


def _decades(answer: Answer, random: Random) -> Iterator[Proposal]:
    for match in _DECADE.finditer(answer.text):
        old = int(match[1])
        free = [str(old + step) for step in (-30, -20, -10, 10, 20) if old + step <= 2010]
        yield from _exchanged(answer, match, match.span(1), free, "decade", random)


def _centuries(answer: Answer, random: Random) -> Iterator[Proposal]:
    for match in _CENTURY.finditer(answer.text):
        word = match["word"]
        old = _ORDINALS.index(word.lower()) + 1 if word else int(match["number"])
        if any((year - 1) // 100 + 1 == old for _, year in years_in(answer.text)):
            continue  # the year would tell
        near = [n for n in (old - 1, old + 1) if 1 <= n <= 20]
        free = [like_case(_ORDINALS[n - 1], word) if word else ordinal(n) for n in near]
        yield from _exchanged(answer, match, match.span(), free, "century", random)


def ordinal(number: int) -> str:
    """1st, 2nd, 11th, 22nd."""
    ends = {1: "st", 2: "nd", 3: "rd"}
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ends.get(number % 10, 'th')}"


def _exchanged(
    answer: Answer,
    match: re.Match[str],
    span: tuple[int, int],
    free: list[str],
    form: str,
    random: Random,
) -> Iterator[Proposal]:
    start, end = answer.sentence_at(match.start())
    rest = answer.text[start : match.start()] + answer.text[match.end() : end]
    fit = [
        new
        for new in free
        if new.casefold() not in answer.others.casefold()
        and article_fits(answer.text, span[0], new)
    ]
    if fit and is_certain(match[0], answer) and not _SPANS_BESIDE.search(rest):
        yield Proposal(form, [Edit(*span, random.choice(fit))])
