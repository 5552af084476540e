from __future__ import annotations

import math
import time
from collections import Counter
from itertools import combinations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openreward.errors import UserError
from openreward.synth.consensus import MOST_ANSWERS, PairVotes, consensus

Judges = list[list[float | None]]


def prefers(judge: list[float | None], better: int, worse: int) -> bool:
    one, other = judge[better], judge[worse]
    return one is not None and other is not None and one > other


def is_supported(judges: Judges, support: int, better: int, worse: int) -> bool:
    for_it = sum(prefers(judge, better, worse) for judge in judges)
    return for_it >= support and for_it > sum(prefers(judge, worse, better) for judge in judges)


def all_longest(judges: Judges, support: int) -> dict[tuple[int, ...], set[int]]:
    """The oracle: every set of answers, largest first, tried in the only order it can have."""
    k = len(judges[0])
    wins = {(a, b) for a in range(k) for b in range(k) if is_supported(judges, support, a, b)}
    beaten = [{b for b in range(k) if (a, b) in wins} for a in range(k)]
    for size in range(k, 1, -1):
        found: dict[tuple[int, ...], set[int]] = {}
        for chosen in combinations(range(k), size):
            order = sorted(chosen, key=lambda a: -len(beaten[a].intersection(chosen)))
            pairs = list(combinations(order, 2))
            if not all(pair in wins for pair in pairs):
                continue
            for number, judge in enumerate(judges):
                scored = all(judge[answer] is not None for answer in chosen)
                if scored and not any(prefers(judge, worse, better) for better, worse in pairs):
                    found.setdefault(tuple(order), set()).add(number)
        if found:
            return found
    return {}


def margin(judges: Judges, order: tuple[int, ...]) -> int:
    votes = 0
    for better, worse in combinations(order, 2):
        votes += sum(prefers(judge, better, worse) for judge in judges)
        votes -= sum(prefers(judge, worse, better) for judge in judges)
    return votes


@st.composite
def judged(draw: st.DrawFn) -> tuple[Judges, int]:
    """Judges near one common order, so that they agree in part; ties and gaps included."""
    k, count = draw(st.integers(2, 9)), draw(st.integers(3, 5))
    noise, gaps = draw(st.sampled_from([0, 1, 2, 5])), draw(st.sampled_from([0.0, 0.1, 0.4]))
    random = Random(draw(st.integers(0, 2**32)))
    truth = [random.randint(0, 8) for _ in range(k)]
    judges: Judges = [
        [
            None if random.random() < gaps else (value + random.randint(-noise, noise)) / 2
            for value in truth
        ]
        for _ in range(count)
    ]
    return judges, draw(st.integers(1, count))


@settings(max_examples=2000)
@given(judged())
def test_the_agreed_order_is_one_that_an_exhaustive_search_finds(
    given_: tuple[Judges, int],
) -> None:
    judges, support = given_
    expected = all_longest(judges, support)
    found = consensus(judges, support, id="row")
    if not expected:
        assert (found.order, found.source, found.ranking, found.scores) == ((), None, (), {})
        return
    most = max(margin(judges, order) for order in expected)
    assert found.order in expected
    assert margin(judges, found.order) == most
    assert found.source in expected[found.order]
    assert found.ranking == tuple((answer,) for answer in found.order)
    source = judges[found.source or 0]
    assert found.scores == {answer: source[answer] for answer in found.order}
    assert list(found.scores) == list(found.order)
    fewest_ties = max(len({judges[j][a] for a in found.order}) for j in expected[found.order])
    assert len(set(found.scores.values())) == fewest_ties
    for pair in found.pairs:
        one, other = (pair.first, pair.second), (pair.second, pair.first)
        winners = [way[0] for way in (one, other) if is_supported(judges, support, *way)]
        assert [pair.winner] == (winners or [None])
        assert pair.for_first + pair.for_second + pair.tied + pair.missing == len(judges)


def test_support_is_not_transitive_so_a_chain_of_supported_neighbours_is_not_enough() -> None:
    """0 > 1 and 1 > 2 have three votes, 0 > 2 only two."""
    judges: Judges = [[3, 2, 1], [3, 2, 1], [2, 1, 3], [1, 3, 2]]
    found = consensus(judges, 3)
    votes = {(pair.first, pair.second): pair.winner for pair in found.pairs}
    assert votes == {(0, 1): 0, (1, 2): 1, (0, 2): None}
    assert found.order in {(0, 1), (1, 2)}
    assert found.supported == 2


def test_a_cycle_of_supported_pairs_is_never_agreed_on() -> None:
    found = consensus([[3, 2, 1], [1, 3, 2], [2, 1, 3]], 2)
    assert found.supported == 3
    assert len(found.order) == 2


def test_an_equal_score_is_support_for_neither() -> None:
    judges: Judges = [[2, 1], [2, 1], [1, 1], [1, 1]]
    assert consensus(judges, 3).order == ()
    assert consensus(judges, 3).pairs == (PairVotes(0, 1, 2, 0, 2, 0, None),)
    assert consensus(judges, 2).order == (0, 1)


def test_where_a_judge_ties_the_others_say_the_order_and_it_may_still_be_its_order() -> None:
    """The first judge alone has 3 above 0; it ties 1 and 2, which all others order."""
    judges: Judges = [[4, 2, 2, 5], [4, 3, 2, 1], [4, 3, 2, 1], [4, 3, 2, 1]]
    found = consensus(judges, 3)
    assert found.order == (0, 1, 2, 3)
    assert found.source in (1, 2, 3)
    assert consensus([judges[0][:3], *(judge[:3] for judge in judges[1:3])], 2).order == (0, 1, 2)


def test_of_judges_with_the_order_the_one_that_ties_least_gives_the_scores() -> None:
    judges: Judges = [[5, 4, 4], [5, 4, 3], [5, 5, 3], [5, 4, 4]]
    for number in range(20):
        found = consensus(judges, 2, seed=number)
        assert (found.order, found.source, found.scores) == ((0, 1, 2), 1, {0: 5, 1: 4, 2: 3})


def test_of_equally_long_orders_the_one_with_more_votes_counts() -> None:
    judges: Judges = [[2, 1, None, None]] * 3 + [[None, None, 1, 2]] * 4
    for number in range(20):
        assert consensus(judges, 3, seed=number).order == (3, 2)


def test_what_is_drawn_depends_on_seed_and_id_and_on_no_place() -> None:
    """Two orders with equal votes, by judges at either end: each is taken about half the time."""
    judges: Judges = [[2, 1, None, None]] * 3 + [[None, None, 2, 1]] * 3
    drawn = [consensus(judges, 3, seed=4, id=str(number)) for number in range(400)]
    again = [consensus(judges, 3, seed=4, id=str(number)) for number in range(400)]
    assert drawn == again
    orders = Counter(found.order for found in drawn)
    assert set(orders) == {(0, 1), (2, 3)}
    assert 160 <= orders[0, 1] <= 240
    sources = Counter(found.source for found in drawn)
    assert min(sources[judge] for judge in range(6)) >= 40


def test_the_tail_is_the_rest_as_the_source_judge_has_it() -> None:
    judges: Judges = [[5, 4, 2, 2, None], [5, 4, None, None, None], [5, 4, None, None, None]]
    short = consensus(judges, 3, seed=1)
    assert (short.order, short.ranking) == ((0, 1), ((0,), (1,)))
    whole = next(
        found
        for seed in range(50)
        if (found := consensus(judges, 3, tail="source", seed=seed)).source == 0
    )
    assert whole.order == (0, 1)
    assert whole.ranking == ((0,), (1,), (2, 3))
    assert whole.scores == {0: 5, 1: 4, 2: 2, 3: 2}


def test_scores_that_are_missing_vote_for_nothing() -> None:
    found = consensus([[2, 1, None], [2, None, 1], [2, 1, 0]], 2)
    assert found.pairs == (
        PairVotes(0, 1, 2, 0, 0, 1, 0),
        PairVotes(0, 2, 2, 0, 0, 1, 0),
        PairVotes(1, 2, 1, 0, 0, 2, None),
    )


def test_with_support_of_half_the_judges_a_pair_supported_both_ways_is_not_agreed_on() -> None:
    assert consensus([[1, 2], [2, 1]], 1).order == ()
    assert consensus([[1, 2], [1, 2], [2, 1]], 1).order == (1, 0)


@pytest.mark.parametrize(
    ("judges", "support", "message"),
    [
        ([[1.0, math.nan]], 1, "expected finite numbers, got nan"),
        ([[1.0, math.inf]], 1, "expected finite numbers, got inf"),
        ([[1.0], [1.0, 2.0]], 1, "expected as many of each judge .*, got 1, 2"),
        ([[1.0, 2.0]], 0, "expected at least one judge, got 0"),
        ([[1.0] * (MOST_ANSWERS + 1)], 1, "expected at most 24 answers, got 25"),
    ],
)
def test_what_cannot_be_counted_is_refused(judges: Judges, support: int, message: str) -> None:
    with pytest.raises(UserError, match=message):
        consensus(judges, support)


@pytest.mark.parametrize("judges", [[], [[]], [[], []], [[1.0]]])
def test_without_two_answers_or_judges_nothing_is_agreed_on(judges: Judges) -> None:
    assert consensus(judges, 1).order == ()


def test_groups_of_three_that_no_one_can_order_are_searched_in_time() -> None:
    """3 ** 8 longest lists, the most that 24 answers have."""
    start = time.monotonic()
    found = consensus([[-float(answer // 3) for answer in range(24)]] * 3, 3)
    assert [answer // 3 for answer in found.order] == list(range(8))
    assert time.monotonic() - start < 20
