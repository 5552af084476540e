"""Consensus of several judges over the scores they gave the same answers (arXiv 2506.03637).

A pair is supported when at least K judges score one answer higher, and more than score the other
higher (K over half of them says that already); equal scores support neither. The agreed order is
the longest list of answers, in which a judge's order never is reversed, with EVERY pair supported;
the longest over all judges counts. Support is not transitive, so the search is exact over sets.
Answers that a judge scores equal may stand in either order: the place of an answer never decides.
Of equally long orders the one with the most votes counts, then one is drawn; of judges whose order
it is the one with the fewest ties in it, then one is drawn. The first judge has no advantage.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations
from random import Random
from typing import Literal, NamedTuple

from openreward.errors import UserError, shorten
from openreward.judge import derive

MOST_ANSWERS = 24  # the exact search takes up to 3 ** (k / 3) lists

Scores = Sequence[Sequence[float | None]]
"""For each judge a score of each answer, None where it gave none."""

Order = tuple[int, ...]
Tail = Literal["agreed", "source"]


class PairVotes(NamedTuple):
    """What the judges say of two answers; `winner` where the pair is supported."""

    first: int
    second: int
    for_first: int
    for_second: int
    tied: int
    missing: int  # judges who did not score both
    winner: int | None

    @property
    def margin(self) -> int:
        """Votes for the answer that has more, over those for the other."""
        return abs(self.for_first - self.for_second)


class Consensus(NamedTuple):
    """The agreed order, best first; empty, and without a source, where no pair is supported.

    `ranking` holds tiers: the agreed answers one by one, with `tail="source"` followed by the
    source's other answers. `scores` are the source's, of the answers in `ranking`: the label.
    """

    order: Order
    source: int | None
    ranking: tuple[Order, ...]
    scores: dict[int, float]
    pairs: tuple[PairVotes, ...]  # all of them, supported or not

    @property
    def supported(self) -> int:
        """How many pairs are supported."""
        return sum(pair.winner is not None for pair in self.pairs)


def consensus(
    scores: Scores, support: int, *, tail: Tail = "agreed", seed: int = 0, id: str = ""
) -> Consensus:
    """The agreed order of judges; `seed` and `id` decide what is drawn.

    `tail="source"` lengthens it to a whole list, as in the paper: then come the answers that are
    not agreed on, as the source judge has them, whatever it scored them against the agreed ones.
    Raises `UserError` for scores that are no numbers.
    """
    _check(scores, support)
    pairs = tuple(votes(scores, support))
    found = _longest(scores, pairs)
    if not found:
        return Consensus((), None, (), {}, pairs)
    random = Random(derive(seed, id, "consensus"))
    order = _draw_order(found, pairs, random)
    source = _draw_source(order, found[order], scores, random)
    own = {at: score for at, score in enumerate(scores[source]) if score is not None}
    ranking: tuple[Order, ...] = tuple((answer,) for answer in order)
    if tail == "source":
        ranking += _tiers({at: score for at, score in own.items() if at not in order})
    ranked = [answer for tier in ranking for answer in tier]
    return Consensus(order, source, ranking, {at: own[at] for at in ranked}, pairs)


def votes(scores: Scores, support: int) -> Iterator[PairVotes]:
    """The votes on every two answers."""
    answers = range(len(scores[0]) if scores else 0)
    for first, second in combinations(answers, 2):
        said = [
            (one > other) - (one < other)
            for judge in scores
            if (one := judge[first]) is not None and (other := judge[second]) is not None
        ]
        up, down = said.count(1), said.count(-1)
        winner = first if up > down else second
        yield PairVotes(
            first=first,
            second=second,
            for_first=up,
            for_second=down,
            tied=said.count(0),
            missing=len(scores) - len(said),
            winner=winner if max(up, down) >= support and up != down else None,
        )


def _check(scores: Scores, support: int) -> None:
    if support < 1:
        raise UserError(f"support: expected at least one judge, got {support}")
    lengths = {len(judge) for judge in scores}
    if len(lengths) > 1:
        raise UserError(
            "scores: expected as many of each judge (None where it gave none), got "
            f"{', '.join(str(len(judge)) for judge in scores)}"
        )
    if max(lengths, default=0) > MOST_ANSWERS:
        raise UserError(
            f"scores: expected at most {MOST_ANSWERS} answers, got {max(lengths)}; the search is "
            "exact and takes too long for more: judge fewer at once"
        )
    given = [score for judge in scores for score in judge if score is not None]
    wrong = [score for score in given if not math.isfinite(score)]
    if wrong:
        raise UserError(f"scores: expected finite numbers, got {shorten(wrong[0])}")


def _longest(scores: Scores, pairs: Sequence[PairVotes]) -> dict[Order, list[int]]:
    """All longest agreed orders of two answers or more, and the judges whose order each is."""
    searches = [_Search(judge, pairs) for judge in scores]
    length = max((search.length for search in searches), default=0)
    found: dict[Order, list[int]] = {}
    for number, search in enumerate(searches):
        if length >= 2 and search.length == length:
            for order in search.orders():
                found.setdefault(order, []).append(number)
    return found


class _Search:
    """The longest lists within one judge's order, sets of answers being bits of a number.

    `below[a]` are the answers that may stand after `a`: supported so, and not scored higher. A list
    grows by one of the answers that may stand after ALL of it, hence every pair in it is supported.
    """

    def __init__(self, judge: Sequence[float | None], pairs: Sequence[PairVotes]) -> None:
        below = [0] * len(judge)
        for pair in pairs:
            if pair.winner is None:
                continue
            loser = pair.second if pair.winner == pair.first else pair.first
            one, other = judge[pair.winner], judge[loser]
            if one is not None and other is not None and one >= other:
                below[pair.winner] |= 1 << loser

        @cache
        def longest(left: int) -> int:
            return max((1 + longest(left & below[answer]) for answer in _bits(left)), default=0)

        self._below, self._length_of = below, longest
        self._all = sum(1 << at for at, score in enumerate(judge) if score is not None)
        self.length = longest(self._all)

    def orders(self) -> Iterator[Order]:
        """All lists of the greatest length."""
        return self._orders(self._all)

    def _orders(self, left: int) -> Iterator[Order]:
        if not left:
            yield ()
            return
        length = self._length_of(left)
        for answer in _bits(left):
            after = left & self._below[answer]
            if 1 + self._length_of(after) == length:
                yield from ((answer, *rest) for rest in self._orders(after))


def _bits(answers: int) -> Iterator[int]:
    while answers:
        lowest = answers & -answers
        yield lowest.bit_length() - 1
        answers ^= lowest


def _draw_order(found: dict[Order, list[int]], pairs: Sequence[PairVotes], random: Random) -> Order:
    """The order with the most votes; of several, one drawn."""
    margins = {frozenset((pair.first, pair.second)): pair.margin for pair in pairs}

    def votes_for(order: Order) -> int:
        return sum(margins[frozenset(pair)] for pair in combinations(order, 2))

    most = max(map(votes_for, found))
    return random.choice(sorted(order for order in found if votes_for(order) == most))


def _draw_source(order: Order, judges: Sequence[int], scores: Scores, random: Random) -> int:
    """The judge who ties the fewest answers of the order; of several, one drawn."""

    def different(judge: int) -> int:
        return len({scores[judge][answer] for answer in order})

    most = max(map(different, judges))
    return random.choice([judge for judge in judges if different(judge) == most])


def _tiers(scores: dict[int, float]) -> tuple[Order, ...]:
    """Answers best first, those of one score together."""
    return tuple(
        tuple(answer for answer, own in scores.items() if own == score)
        for score in sorted(set(scores.values()), reverse=True)
    )
