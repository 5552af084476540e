"""Two judges on the same items: their numbers, the difference with its interval, what differs.

Items that both answered count, each with both judges' values, so what makes an item hard for
either cancels out. Items are drawn anew within the slices of the benchmark (a paired bootstrap,
stratified) and weighed as its protocol weighs them.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from openreward.eval.benchmark import Benchmark, Example, Number
from openreward.eval.measures import STRICT, ItemValue
from openreward.eval.per_item import Slice
from openreward.eval.run import Plan
from openreward.eval.sheet import Sheet
from openreward.eval.stats import Stratum, mean, stratified, wilson
from openreward.records import DataFile
from openreward.types import Record

COMPARED_FORMAT = 1
PAIRED = "paired bootstrap over the items that both answered"


class Side(Record):
    """One of the two judges."""

    report: str
    judge: str
    plan: Plan
    predictions: str


class Contrast(Record):
    """A number of both judges over the same items, and how far a is above b."""

    level: str  # of the group; "" for all items
    name: str
    a: Number
    b: Number
    difference: Number


class Differing(Record):
    """An item that the two judges are worth different on, by the headline's rule."""

    id: str
    a: float
    b: float


class Answered(Record):
    """Items by who answered them, as the headline's rule asks."""

    both: int
    only_a: int
    only_b: int
    neither: int


class Compared(Record):
    """Everything that two judges' answers to the same items show."""

    format: int = COMPARED_FORMAT
    benchmark: str
    data: DataFile
    a: Side
    b: Side
    answered: Answered
    headline: Contrast
    strict: Contrast
    groups: tuple[Contrast, ...]
    a_better: tuple[Differing, ...]  # in the order of the data
    b_better: tuple[Differing, ...]


class Values(NamedTuple):
    """What items are worth with each judge, by number; NaN where unanswered."""

    a: array[float]
    b: array[float]

    def both(self, item: int) -> bool:
        """Whether both judges answered an item."""
        return not (math.isnan(self.a[item]) or math.isnan(self.b[item]))


class Sides:
    """Two sheets of the same examples."""

    def __init__(self, benchmark: Benchmark, a: Sheet, b: Sheet) -> None:
        self.sheet, self.rules = a, (benchmark.per_item(a), benchmark.per_item(b))
        one, other = self.rules
        self.values = Values(_all(one.value, len(a)), _all(other.value, len(b)))
        self.strict = Values(_all(one.strict, len(a)), _all(other.strict, len(b)))

    def answered(self) -> Answered:
        """How many items each answered."""
        there = [array("b", (not math.isnan(value) for value in values)) for values in self.values]
        both, a, b = sum(map(int.__and__, *there)), sum(there[0]), sum(there[1])
        counts = {"both": both, "only_a": a - both, "only_b": b - both}
        return Answered(**counts, neither=len(self.sheet) - a - b + both)

    def headline(self) -> Contrast:
        """By the benchmark's own rule and weights."""
        one, other = self.rules
        found = _contrast(self, self.values, one.slices, ("", "score"), one.heft, PAIRED)
        if one.fixed is None or one.fixed.value is None:
            return found
        if other.fixed is None or other.fixed.value is None:
            return found
        used = {each.part for each in one.slices if any(map(self.values.both, each.items))}
        return _with_fixed(found, one.fixed, other.fixed, len(used))

    def twice(self) -> Contrast:
        """Right in both orders, by the benchmark's weights."""
        rule = f"{PAIRED}; {STRICT}"
        return _contrast(self, self.strict, self.rules[0].slices, ("", "strict"), None, rule)

    def groups(self) -> Iterator[Contrast]:
        """The headline's rule within each group that has items both answered."""
        of = array("i", [-1]) * len(self.sheet)
        slices = self.rules[0].slices
        for number, each in enumerate(slices):
            for item in each.items:
                of[item] = number
        for level in self.sheet.items.levels():
            for name, items in self.sheet.items.members(level).items():
                parts: dict[int, array[int]] = {}
                for item in items:
                    parts.setdefault(of[item], array("I")).append(item)
                within = [slices[at]._replace(items=its) for at, its in parts.items() if at >= 0]
                made = _contrast(self, self.values, within, (level, name), None, PAIRED)
                if made.difference.n:
                    yield made

    def differing(self, examples: Iterable[Example]) -> Iterator[Differing]:
        """The items that are worth different, from the examples in the order of the sheets."""
        for item, example in enumerate(examples):
            a, b = self.values.a[item], self.values.b[item]
            if self.values.both(item) and a != b:
                yield Differing(id=example.id, a=a, b=b)


def _all(value: ItemValue, count: int) -> array[float]:
    known = (value(item) for item in range(count))
    return array("d", (math.nan if found is None else found for found in known))


def _contrast(
    sides: Sides,
    values: Values,
    slices: Sequence[Slice],
    named: tuple[str, str],
    heft: Callable[[int], float] | None,
    rule: str,
) -> Contrast:
    used = [each._replace(items=array("I", filter(values.both, each.items))) for each in slices]
    used = [each for each in used if len(each.items)]
    total: dict[str, float] = {}
    for each in used:
        total[each.part] = total.get(each.part, 0.0) + each.weight

    def strata(value: Callable[[int], float]) -> list[Stratum]:
        return [
            Stratum(_hefted(each.items, value, heft), each.weight / total[each.part])
            for each in used
        ]

    def difference(item: int) -> float:
        return values.a[item] - values.b[item]

    return Contrast(
        level=named[0],
        name=named[1],
        a=_plain("a", strata(values.a.__getitem__)),
        b=_plain("b", strata(values.b.__getitem__)),
        difference=_drawn(strata(difference), rule, sides.sheet.seed),
    )


def _drawn(strata: Sequence[Stratum], rule: str, seed: int) -> Number:
    found, interval = _plain("a - b", strata), stratified(strata, seed)
    if found.value is None or interval is None:
        return found.model_copy(update={"rule": rule})
    low, high = interval
    if low == high:  # all items alike: drawn anew they say nothing, so what n unseen ones may hide
        _, reach = wilson(0, found.n) or (0.0, 1.0)
        low, high = max(-1.0, low - reach), min(1.0, high + reach)
    return found.model_copy(update={"low": low, "high": high, "rule": rule})


def _plain(name: str, strata: Sequence[Stratum]) -> Number:
    """The weighted mean; the interval that matters is the difference's."""
    n, total = sum(len(each.values) for each in strata), sum(each.weight for each in strata)
    value = math.fsum(each.weight * (mean(each.values) or 0.0) for each in strata)
    return Number(name=name, value=value / total if total else None, n=n)


def _hefted(
    items: Sequence[int], value: Callable[[int], float], heft: Callable[[int], float] | None
) -> array[float]:
    """Values whose plain mean is the mean by hefts, and which spread as that mean does.

    Drawn anew, their mean is the ratio of sums to first order (its linearisation).
    """
    plain = array("d", map(value, items))
    if heft is None:
        return plain
    hefts = array("d", map(heft, items))
    total = math.fsum(hefts)
    if not total:
        return plain
    middle = math.fsum(w * x for w, x in zip(hefts, plain, strict=True)) / total
    scale = len(plain) / total
    return array(
        "d", (middle + scale * w * (x - middle) for w, x in zip(hefts, plain, strict=True))
    )


def _with_fixed(found: Contrast, one: Number, other: Number, parts: int) -> Contrast:
    """One more part of the headline; its number has no interval, so it shifts the bounds."""
    a, b = one.value or 0.0, other.value or 0.0
    rule = f"{PAIRED}; {one.name} as it is, not drawn anew"

    def shifted(number: Number, by: float) -> Number:
        def mixed(bound: float | None) -> float | None:
            return None if bound is None else (parts * bound + by) / (parts + 1)

        bounds = {name: mixed(getattr(number, name)) for name in ("value", "low", "high")}
        return number.model_copy(update={**bounds, "rule": rule})

    return found.model_copy(
        update={
            "a": shifted(found.a, a),
            "b": shifted(found.b, b),
            "difference": shifted(found.difference, a - b),
        }
    )
