"""Statistics of reports: intervals, rank correlation, NDCG, precision and recall. Pure functions.

Intervals hold 95 %. What cannot be computed (no values, no spread) is None, never 0. Random draws
come from the seed given; global random state is never touched.
"""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from random import Random
from typing import NamedTuple

Z = 1.959963984540054  # the 97.5th percentile of the normal distribution
RESAMPLES = 1000
EXACT = 2000  # up to so many right or wrong items a stratum is drawn exactly,
ONE_BY_ONE = 300  # up to so many of other values; larger ones have their mean's normal limit


class Interval(NamedTuple):
    """Bounds of a 95 % interval."""

    low: float
    high: float


class Stratum(NamedTuple):
    """Values of one group, and the weight of its mean."""

    values: Sequence[float]
    weight: float = 1.0


class ClassScores(NamedTuple):
    """Precision, recall and F1 in [0, 1], of one class or averaged over classes."""

    precision: float
    recall: float
    f1: float


def mean(values: Sequence[float]) -> float | None:
    """The plain mean."""
    return math.fsum(values) / len(values) if values else None


def wilson(successes: float, n: int) -> Interval | None:
    """Wilson's score interval of a share; parts of a success (a tie's half) count as such."""
    if not n:
        return None
    share, shrink = successes / n, 1 + Z * Z / n
    middle = (share + Z * Z / (2 * n)) / shrink
    reach = Z * math.sqrt(max(0.0, share * (1 - share)) / n + Z * Z / (4 * n * n)) / shrink
    low = 0.0 if successes <= 0 else max(0.0, middle - reach)
    return Interval(low, 1.0 if successes >= n else min(1.0, middle + reach))


def bootstrap(
    values: Sequence[float],
    seed: int,
    statistic: Callable[[Sequence[float]], float | None] = mean,
    resamples: int = RESAMPLES,
) -> Interval | None:
    """Percentile interval of a statistic over values that are drawn anew, with replacement."""
    if not values:
        return None
    random = Random(seed)
    drawn = (statistic(random.choices(values, k=len(values))) for _ in range(resamples))
    return percentiles([value for value in drawn if value is not None])


def stratified(strata: Sequence[Stratum], seed: int) -> Interval | None:
    """Bootstrap interval of the weighted mean of strata's means, each stratum drawn by itself.

    The draws of a large stratum's mean come from its normal limit.
    """
    strata = [stratum for stratum in strata if stratum.values]
    total = math.fsum(stratum.weight for stratum in strata)
    if not total:
        return None
    random = Random(seed)
    sums = [0.0] * RESAMPLES
    for values, weight in strata:
        for at, drawn in enumerate(_drawn_means(values, random)):
            sums[at] += weight * drawn
    return percentiles([value / total for value in sums])


def _drawn_means(values: Sequence[float], random: Random) -> list[float]:
    n, (low, *_, high) = len(values), [*sorted(set(values)), max(values)]
    if low == high:
        return [low] * RESAMPLES
    if n <= EXACT and all(value in (low, high) for value in values):
        return _drawn_of_two(low, high, sum(value == high for value in values), n, random)
    if n <= ONE_BY_ONE:
        return [math.fsum(random.choices(values, k=n)) / n for _ in range(RESAMPLES)]
    middle = math.fsum(values) / n
    error = math.sqrt(math.fsum((value - middle) ** 2 for value in values)) / n
    return [min(high, max(low, random.gauss(middle, error))) for _ in range(RESAMPLES)]


def _drawn_of_two(low: float, high: float, highs: int, n: int, random: Random) -> list[float]:
    """Means of n values drawn from two: the number of high ones is binomial."""
    share = math.log(highs / n), math.log(1 - highs / n)
    ways = (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) for k in range(n + 1))
    chances = [math.exp(w + k * share[0] + (n - k) * share[1]) for k, w in enumerate(ways)]
    up_to = list(itertools.accumulate(chances))
    counts = (bisect_left(up_to, random.random() * up_to[-1]) for _ in range(RESAMPLES))
    return [low + (high - low) * count / n for count in counts]


def percentiles(values: Sequence[float]) -> Interval | None:
    """The middle 95 % of drawn values."""
    if not values:
        return None
    ordered = sorted(values)
    cut = int(len(ordered) * 0.025)
    return Interval(ordered[cut], ordered[-1 - cut])


def ranks(values: Sequence[float]) -> list[float]:
    """Ranks from 1, equal values sharing their mean rank."""
    order = sorted(range(len(values)), key=lambda index: values[index])
    found, start = [0.0] * len(values), 0
    while start < len(order):
        end = start
        while end < len(order) and values[order[end]] == values[order[start]]:
            end += 1
        for index in order[start:end]:
            found[index] = (start + 1 + end) / 2
        start = end
    return found


def spearman(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Spearman's correlation of ranks; None for fewer than two values or no spread."""
    one, other = ranks(x), ranks(y)
    middle = (len(one) + 1) / 2
    pairs = [(a - middle, b - middle) for a, b in zip(one, other, strict=True)]
    spread = math.fsum(a * a for a, _ in pairs) * math.fsum(b * b for _, b in pairs)
    return math.fsum(a * b for a, b in pairs) / math.sqrt(spread) if spread else None


def kendall_tau_b(x: Sequence[float], y: Sequence[float]) -> float | None:
    """Kendall's tau-b, which corrects for ties; None where one of the two ties everything."""
    agreement = spread_x = spread_y = 0
    for i in range(len(x)):
        for j in range(i):
            one, other = _sign(x[i] - x[j]), _sign(y[i] - y[j])
            agreement += one * other
            spread_x += abs(one)
            spread_y += abs(other)
    return agreement / math.sqrt(spread_x * spread_y) if spread_x and spread_y else None


def _sign(value: float) -> int:
    return (value > 0) - (value < 0)


def ndcg(
    gains: Sequence[float], predicted: Sequence[float], cut: int | None = None
) -> float | None:
    """Gains discounted by log2(1 + place) in the predicted order, over the best order's.

    Answers that are predicted equal share the mean gain of the places they take. `cut` counts the
    first places only. None where no answer has a gain.
    """
    order = sorted(range(len(gains)), key=lambda index: -predicted[index])
    shared: list[float] = []
    while len(shared) < len(order):
        start = len(shared)
        equal = [i for i in order[start:] if predicted[i] == predicted[order[start]]]
        shared += [math.fsum(gains[i] for i in equal) / len(equal)] * len(equal)
    best = _discounted(sorted(gains, reverse=True)[:cut])
    return _discounted(shared[:cut]) / best if best else None


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(2 + place) for place, gain in enumerate(gains))


def by_class(
    labels: Sequence[Hashable], named: Sequence[Hashable], classes: Sequence[Hashable]
) -> list[ClassScores]:
    """Precision, recall and F1 of each class; 0 where a class is never named, or never right."""
    right = Counter(label for label, name in zip(labels, named, strict=True) if label == name)
    of, said = Counter(labels), Counter(named)
    found = []
    for each in classes:
        precision = right[each] / said[each] if said[each] else 0.0
        recall = right[each] / of[each] if of[each] else 0.0
        f1 = 2 * right[each] / (of[each] + said[each]) if of[each] + said[each] else 0.0
        found.append(ClassScores(precision, recall, f1))
    return found


def averaged(scores: Sequence[ClassScores], weights: Sequence[float]) -> ClassScores | None:
    """The weighted mean over classes: equal weights are macro, counts of labels weighted."""
    total = math.fsum(weights)
    if not total:
        return None
    columns = zip(*scores, strict=True)
    sums = (math.fsum(w * s for w, s in zip(weights, column, strict=True)) for column in columns)
    return ClassScores(*(value / total for value in sums))
