"""Statistics against values worked by hand, or by another way to the same number."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.eval import stats
from openreward.eval.stats import ClassScores, Stratum

values = st.lists(st.integers(0, 5).map(float), min_size=2, max_size=7)
pairs = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=7)


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (5, 10, 0.236593, 0.763407),
        (0, 10, 0.0, 0.277533),
        (10, 10, 0.722467, 1.0),
        (81, 263, 0.255289, 0.36621),  # 0.2553 to 0.3662 in Newcombe (1998)
        (0.5, 1, 0.054621, 0.945379),
    ],
)
def test_wilsons_interval(successes: float, n: int, low: float, high: float) -> None:
    interval = stats.wilson(successes, n)
    assert interval is not None
    assert (round(interval.low, 6), round(interval.high, 6)) == (low, high)


def test_what_cannot_be_computed_is_none() -> None:
    assert stats.mean([]) is None
    assert stats.wilson(0, 0) is None
    assert stats.bootstrap([], 0) is None
    assert stats.stratified([Stratum([])], 0) is None
    assert stats.spearman([1, 2], [3, 3]) is None
    assert stats.kendall_tau_b([1, 1], [1, 2]) is None
    assert stats.ndcg([0, 0], [1, 2]) is None
    assert stats.averaged([], []) is None


def test_the_bootstrap_is_the_same_for_a_seed_and_leaves_global_state_alone() -> None:
    flips = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]
    random.seed(1)
    before = random.getstate()
    assert stats.bootstrap(flips, 3) == stats.bootstrap(flips, 3)
    assert stats.stratified([Stratum(flips)], 3) == stats.stratified([Stratum(flips)], 3)
    assert random.getstate() == before
    drawn = {stats.stratified([Stratum([1.0, 0.0, 0.7, 0.31])], seed) for seed in range(5)}
    assert len(drawn) > 1


def test_the_bootstrap_comes_near_the_normal_interval() -> None:
    flips = [1.0] * 300 + [0.0] * 700
    error = 1.96 * math.sqrt(0.3 * 0.7 / 1000)
    for interval in (stats.bootstrap(flips, 0), stats.stratified([Stratum(flips * 3)], 0)):
        assert interval is not None
        assert interval.low < 0.3 < interval.high
    interval = stats.bootstrap(flips, 0)
    assert interval is not None
    assert interval.low == pytest.approx(0.3 - error, abs=0.006)
    assert interval.high == pytest.approx(0.3 + error, abs=0.006)


@pytest.mark.parametrize(
    "drawn",
    [
        [1.0] * 120 + [0.0] * 80,  # two values: by their binomial
        [1.0] * 120 + [0.0] * 79 + [0.5],  # one by one
        [1.0] * 1500 + [0.0] * 1000,  # the normal limit
        [2.0] * 180 + [1.0] * 120 + [1.5],
    ],
    ids=["two values", "one by one", "normal limit", "other values"],
)
def test_every_way_of_drawing_has_the_same_spread(drawn: list[float]) -> None:
    interval = stats.stratified([Stratum(drawn)], 5)
    assert interval is not None
    middle = sum(drawn) / len(drawn)
    error = math.sqrt(sum((value - middle) ** 2 for value in drawn)) / len(drawn)
    assert interval.low == pytest.approx(middle - 1.96 * error, abs=0.3 * error)
    assert interval.high == pytest.approx(middle + 1.96 * error, abs=0.3 * error)


@pytest.mark.parametrize("n", [3, 500, 5000])
def test_no_drawn_mean_is_outside_the_values(n: int) -> None:
    for drawn in ([1.0] * n + [0.0], [1.0] * n + [0.0, 0.5]):
        interval = stats.stratified([Stratum(drawn)], 0)
        assert interval is not None
        assert 0 <= interval.low < interval.high <= 1


@pytest.mark.parametrize("n", [1000, 3000])
def test_strata_are_drawn_each_by_itself(n: int) -> None:
    interval = stats.stratified([Stratum([1.0] * n, 3.0), Stratum([0.0] * n, 1.0)], 0)
    assert interval == (0.75, 0.75)


def test_ranks_share_the_mean_of_their_places() -> None:
    assert stats.ranks([30, 10, 20, 10]) == [4.0, 1.5, 3.0, 1.5]


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], 1.0),
        ([1, 2, 3, 4], [40, 30, 20, 10], -1.0),
        ([1, 2, 3, 4, 5], [2, 1, 4, 3, 5], 0.8),  # 1 - 6 * 4 / (5 * 24)
    ],
)
def test_spearmans_correlation(x: list[float], y: list[float], expected: float) -> None:
    assert stats.spearman(x, y) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([1, 2, 3], [1, 2, 3], 1.0),
        ([1, 2, 3], [2, 1, 3], 1 / 3),
        ([1, 2, 2, 3], [1, 2, 3, 3], 0.8),  # 4 of 5 untied on each side
        ([1, 2], [2, 2], None),
    ],
)
def test_kendalls_tau_b(x: list[float], y: list[float], expected: float | None) -> None:
    assert stats.kendall_tau_b(x, y) == (expected and pytest.approx(expected))


@given(pairs)
def test_tau_b_is_the_textbook_formula(drawn: list[tuple[int, int]]) -> None:
    x, y = [a for a, _ in drawn], [b for _, b in drawn]
    both = list(itertools.combinations(range(len(x)), 2))
    concordant = sum((x[i] - x[j]) * (y[i] - y[j]) > 0 for i, j in both)
    discordant = sum((x[i] - x[j]) * (y[i] - y[j]) < 0 for i, j in both)
    untied_x = len(both) - sum(x[i] == x[j] for i, j in both)
    untied_y = len(both) - sum(y[i] == y[j] for i, j in both)
    tau = stats.kendall_tau_b(x, y)
    if not untied_x or not untied_y:
        assert tau is None
    else:
        assert tau == pytest.approx((concordant - discordant) / math.sqrt(untied_x * untied_y))


def test_ndcg_by_hand() -> None:
    ideal = 2 + 1 / math.log2(3)
    assert stats.ndcg([2, 1, 0], [3, 2, 1]) == 1
    assert stats.ndcg([2, 1, 0], [2, 3, 1]) == pytest.approx((1 + 2 / math.log2(3)) / ideal)
    assert stats.ndcg([2, 1, 0], [2, 3, 1], cut=1) == 0.5
    tied = (1.5 + 1.5 / math.log2(3)) / ideal
    assert stats.ndcg([2, 1, 0], [5, 5, 1]) == pytest.approx(tied)


@given(values, st.randoms(use_true_random=False))
def test_ndcg_of_ties_is_the_mean_over_the_orders_they_may_take(
    gains: list[float], drawn: random.Random
) -> None:
    predicted = [float(drawn.randrange(2)) for _ in gains]
    orders = [
        order
        for order in itertools.permutations(range(len(gains)))
        if [predicted[i] for i in order] == sorted(predicted, reverse=True)
    ]
    if not any(gains) or len(gains) > 5:
        return
    ideal = sum(gain / math.log2(2 + at) for at, gain in enumerate(sorted(gains, reverse=True)))
    sums = [sum(gains[i] / math.log2(2 + at) for at, i in enumerate(order)) for order in orders]
    assert stats.ndcg(gains, predicted) == pytest.approx(sum(sums) / len(sums) / ideal)


def test_precision_recall_and_f1_by_hand() -> None:
    labels, named = [0, 0, 1, 1, 1, 2], [0, 1, 1, 1, 3, 1]
    scores = stats.by_class(labels, named, [0, 1, 2])
    assert scores == [
        ClassScores(1.0, 0.5, pytest.approx(2 / 3)),
        ClassScores(0.5, pytest.approx(2 / 3), pytest.approx(4 / 7)),
        ClassScores(0.0, 0.0, 0.0),
    ]
    assert stats.averaged(scores, [1, 1, 1]) == pytest.approx((0.5, 7 / 18, 26 / 63))
    assert stats.averaged(scores, [2, 3, 1]) == pytest.approx((7 / 12, 0.5, 32 / 63))
