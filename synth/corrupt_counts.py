"""Wrong numbers that are written out, and wrong ranks: "three islands", "the second largest"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from random import Random

from openreward.synth.corrupt_text import (
    Answer,
    Edit,
    Proposal,
    article_fits,
    like_case,
    word_after,
    word_before,
)
from openreward.synth.corrupt_words import word_list, word_set
from openreward.synth.corrupt_years import ordinal

_SMALL = word_list("two three four five six seven eight nine ten eleven twelve")
_TEENS = word_list("thirteen fourteen fifteen sixteen seventeen eighteen nineteen")
_TENS = word_list("twenty thirty forty fifty sixty seventy eighty ninety")
_RANKS = word_list("second third fourth fifth sixth seventh eighth ninth tenth")
COUNTS = {word: n for n, word in enumerate(_SMALL + _TEENS, 2)}
COUNTS |= {word: n * 10 for n, word in enumerate(_TENS, 2)}
WRITTEN = re.compile(rf"(?<![\w-])({'|'.join(COUNTS)})(?!\w)", re.IGNORECASE)
_RANK = re.compile(
    rf"\b({'|'.join(_RANKS)})(?=[- ](?:most|least|largest|biggest|highest|longest|tallest|oldest"
    r"|busiest|deepest|smallest|fastest|wealthiest|richest)\b)",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    r"(?<![\w.,-])([1-9]\d?)(st|nd|rd|th)(?=[ -][a-z])(?![ -](?:centur|to|and|or|of)\b)(?! centur)"
)
_POINTING = word_set("the these those both other of or and all last first to")
_LISTED = re.compile(
    r":|\bnamely\b|\bi\.e\.|\brespectively\b|\bboth\b|\bformer\b|\([^()]*,|\(1\)|\bfirst\b|–|—"
)


def propose_counts(answer: Answer, random: Random, taken: frozenset[Decimal]) -> Iterator[Proposal]:
    """Each written-out count and each rank that can be changed, with another in its place."""
    for match in WRITTEN.finditer(answer.text):
        if _usable(answer, match.start(), match.end()):
            series = next(s for s in (_SMALL, _TEENS, _TENS) if match[1].lower() in s)
            free = [word for word in series if Decimal(COUNTS[word]) not in taken]
            yield from _exchanged(answer, match, free, "word", random)
    for match in _RANK.finditer(answer.text):
        yield from _exchanged(answer, match, _RANKS, "rank", random)
    for match in _ORDINAL.finditer(answer.text):
        old = int(match[1])
        free = [ordinal(n) for n in range(max(2, old - 8), old + 9)]
        yield from _exchanged(answer, match, free, "rank", random)


def _exchanged(
    answer: Answer, match: re.Match[str], free: list[str], form: str, random: Random
) -> Iterator[Proposal]:
    old = match[0]
    near = sorted(free, key=lambda word: abs(_order(word) - _order(old)))[:4]
    chosen = [
        word
        for word in near
        if word != old.lower()
        and article_fits(answer.text, match.start(), word)
        and not re.search(rf"\b{word}\b", answer.others, re.IGNORECASE)
    ]
    single = len(re.findall(rf"\b{old}\b", answer.text, re.IGNORECASE)) == 1
    if chosen and single and answer.borne_out(old) and not answer.asked(old):
        yield Proposal(form, [Edit(*match.span(), like_case(random.choice(chosen), old))])


def _order(word: str) -> int:
    word = word.lower()
    if word[0].isdigit():
        return int(re.split(r"\D", word)[0])
    return COUNTS[word] if word in COUNTS else _RANKS.index(word) + 2


def _usable(answer: Answer, start: int, end: int) -> bool:
    """Whether it counts things that are not listed there, and belongs to no name or idiom."""
    first, last = answer.sentence_at(start)
    before, after = word_before(answer.text, start), word_after(answer.text, end)
    if answer.text[start].isupper() and start != first:
        return False
    if before.lower() in _POINTING or before[:1].isupper() or after[:1].isupper():
        return False
    if after in ("of", "or", "to", "and", "main", "way", "") or answer.text[end : end + 1] == "-":
        return False
    return not _LISTED.search(answer.text[end:last])
