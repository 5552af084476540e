"""Wrong dates: another year, month or day, decade or century, in the form that stands there.

A date stays valid and keeps its order to the years beside it in the sentence, so that ranges still
run forward; none is moved into the future. Years by themselves are in `corrupt_years`.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from random import Random

from openreward.synth.corrupt_text import MONTHS, Answer, Edit, Proposal
from openreward.synth.corrupt_years import YEAR, is_certain, other_year, propose_years

_M, _D = "|".join(MONTHS), r"[1-9]|[12]\d|3[01]"
_FULL = re.compile(
    rf"\b(?:(?P<day>{_D}) (?P<month>{_M})|(?P<month2>{_M}) (?P<day2>{_D})(?!\d))"
    rf"(?:,? (?P<year>{YEAR}))?\b"
)
_MONTH_YEAR = re.compile(rf"(?<!\d )\b(?P<month>{_M}),? (?:of )?(?P<year>{YEAR})\b")
_ISO = re.compile(
    rf"(?<![\w-])(?P<year>{YEAR})-(?P<month>0[1-9]|1[0-2])-(?P<day>0[1-9]|[12]\d|3[01])(?![\w-])"
)
_SOME_YEAR = 2001  # of dates that name none; no leap year


def propose_dates(answer: Answer, random: Random) -> Iterator[Proposal]:
    """Each date that can be changed, in random order; English only."""
    if not answer.english:
        return
    found = [*_calendar(answer, random), *propose_years(answer, random)]
    random.shuffle(found)
    yield from found


def _calendar(answer: Answer, random: Random) -> Iterator[Proposal]:
    """Full dates, months of a year, and days of a month: one part of each is changed."""
    for pattern, form in ((_FULL, "day"), (_MONTH_YEAR, "month"), (_ISO, "day")):
        for match in pattern.finditer(answer.text):
            if not is_certain(match[0], answer):
                continue
            parts = sorted(name for name, value in match.groupdict().items() if value)
            name = random.choice(parts)
            new = _other_part(answer, match, name, random)
            if new is not None:
                whole = form if "year" in parts else "day of the year"
                yield Proposal(whole, [Edit(*match.span(name), new)])


def _has_other_month(answer: Answer, match: re.Match[str]) -> bool:
    """Whether the sentence has another month of the year, with which it may make a range."""
    start, end = answer.sentence_at(match.start())
    rest = answer.text[start : match.start()] + answer.text[match.end() : end]
    year = match.groupdict().get("year")
    months = re.findall(rf"\b(?:{_M})\b(?:,? (?:\d\d?,? )?({YEAR}))?", rest)
    return any(other in ("", year) for other in months)


def _other_part(answer: Answer, match: re.Match[str], name: str, random: Random) -> str | None:
    """Another year, month or day, so that the whole is still a date."""
    found = {key.rstrip("2"): value for key, value in match.groupdict().items() if value}
    month, year = found["month"], int(found.get("year", _SOME_YEAR))
    number = int(month) if month.isdigit() else MONTHS.index(month) + 1
    day = int(found.get("day", 1))
    if name == "year":
        leap = (number, day) == (2, 29)
        return None if leap else other_year(answer, match.start("year"), year, random)
    if name.startswith("day"):
        free = [n for n in range(1, monthrange(year, number)[1] + 1) if abs(n - day) > 2]
        chosen = random.choice(free)
        return f"{chosen:02}" if month.isdigit() else str(chosen)
    if _has_other_month(answer, match):
        return None
    months = [
        n
        for n in range(1, 13)
        if n != number and monthrange(year, n)[1] >= day and MONTHS[n - 1] not in answer.others
    ]
    if not months:
        return None
    chosen = random.choice(months)
    return f"{chosen:02}" if month.isdigit() else MONTHS[chosen - 1]
