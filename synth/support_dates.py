"""The days of the year and the months that a text names, and whether another one names them too.

A day is looked up with its month ("5 May", "May 5-7", "2010-05-12"), since either alone is found
nearly anywhere; the year is a number like others.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_MONTHS_LISTED = (
    "january february march april may june july august september october november december"
)
_MONTHS = _MONTHS_LISTED.split()
_NUMBER_OF = {name: number for number, name in enumerate(_MONTHS, 1)} | {
    name[:3]: number for number, name in enumerate(_MONTHS, 1)
}
_NUMBER_OF["sept"] = 9
MONTH_NAMES = frozenset(_NUMBER_OF)
_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?(?:\s?[-–/&]\s?(?P<last>\d{1,2})(?:st|nd|rd|th)?)?"
_DAY_MONTH = re.compile(rf"(?<![\d.,:/-]){_DAY}\s(?:of\s)?{_MONTH}")
_MONTH_DAY = re.compile(rf"\b{_MONTH}\s(?:the\s)?{_DAY}(?![\d:])")
_ISO = re.compile(r"\b\d{4}-(?P<number>\d{2})-(?P<day>\d{2})\b")
_ALONE = re.compile(rf"\b{_MONTH}")


class Day(NamedTuple):
    """A day or, without `day`, a month, as it stands."""

    text: str
    month: int
    day: int | None
    start: int
    end: int


def read_dates(text: str) -> Iterator[Day]:
    """The dates of a sentence; "May" and "March" alone only behind a word such as "in"."""
    taken: set[int] = set()
    for pattern in (_DAY_MONTH, _MONTH_DAY, _ISO):
        for match in pattern.finditer(text):
            if match.start() in taken or match.end() - 1 in taken:
                continue
            taken.update(range(match.start(), match.end()))
            named = match.groupdict()
            month = int(named["number"]) if "number" in named else _number(named["month"])
            for day in (named["day"], named.get("last")):
                if day is not None:
                    yield Day(match[0], month, int(day), match.start(), match.end())
    for match in _ALONE.finditer(text):
        if match.start() not in taken and _is_month(text, match):
            yield Day(match[0], _number(match["month"]), None, match.start(), match.end())


class Dates:
    """The dates that a text holds."""

    def __init__(self, found: list[Day]) -> None:
        self._days = {(day.month, day.day) for day in found}
        self._months = {day.month for day in found}

    def have(self, date: Day) -> bool:
        """Whether the day is among them, or where none is given the month."""
        return date.month in self._months and (
            date.day is None or (date.month, date.day) in self._days
        )


def _number(name: str) -> int:
    return _NUMBER_OF[name.casefold()]


def _is_month(text: str, match: re.Match[str]) -> bool:
    """Names of months that are words or names as well need a word, or a year, beside them."""
    if match["month"] not in ("May", "March", "Mar", "April", "June", "August", "Jan", "Dec"):
        return True
    before = text[max(0, match.start() - 12) : match.start()].split()
    year = re.match(r",?\s(?:of\s)?\d{4}\b", text[match.end() : match.end() + 12])
    return bool(before and before[-1] in _BEFORE_MONTH) or year is not None


_BEFORE_MONTH_LISTED = "in of since until by during from between late early mid last next"
_BEFORE_MONTH = frozenset(_BEFORE_MONTH_LISTED.split())
