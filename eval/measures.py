"""What is measured alike on every benchmark: shares with intervals, both orders, places, lengths.

A comparison has a better answer where exactly one of its two is right, or a reference ranks them.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence

from openreward.eval.benchmark import GroupScore, Number
from openreward.eval.cells import MISSING, Outcome
from openreward.eval.checked import ORDERS
from openreward.eval.report import Bias
from openreward.eval.sheet import Sheet
from openreward.eval.stats import Stratum, mean, stratified, wilson

ItemValue = Callable[[int], float | None]
"""What an item is worth, in [0, 1]; None where it was not answered."""

STRICT = "right in both orders; a tie or no verdict is wrong"


def better(sheet: Sheet, item: int, comparison: int) -> int | None:
    """The answer that should win; None where the two are equal, or nobody knows."""
    _, first, second = sheet.items.shape(item).comparisons[comparison]
    key = sheet.items.key(item)
    if (first in key.right) != (second in key.right):
        return first if first in key.right else second
    tiers = {index: at for at, tier in enumerate(key.ranking) for index in tier}
    if first in tiers and second in tiers and tiers[first] != tiers[second]:
        return first if tiers[first] < tiers[second] else second
    return None


def worth(
    outcome: Outcome, right: int | None, *, tie: float = 0.0, none: float = 0.0
) -> float | None:
    """1 for the right answer (for a tie where none is better), `tie`, or `none` for no verdict."""
    if outcome is MISSING:
        return None
    if outcome.status == "ok":
        return float(outcome.winner == right)
    if outcome.status == "tie":
        return 1.0 if right is None else tie
    return none


def won(sheet: Sheet, *, tie: float = 0.0, none: float = 0.0) -> ItemValue:
    """One order: the worth of an item's comparison, or the product over them where it has more."""

    def value(item: int) -> float | None:
        return _product(
            worth(sheet.one(item, at), better(sheet, item, at), tie=tie, none=none)
            for at in range(len(sheet.items.shape(item).comparisons))
        )

    return kept(value, len(sheet))


def won_twice(sheet: Sheet) -> ItemValue:
    """Whether every comparison of an item is right in both orders."""

    def value(item: int) -> float | None:
        return _product(
            worth(sheet.said(item, at, order), better(sheet, item, at))
            for at in range(len(sheet.items.shape(item).comparisons))
            for order in ORDERS
        )

    return kept(value, len(sheet))


def kept(value: ItemValue, count: int) -> ItemValue:
    """The same values, each worked out once (several groups ask for them), in a byte an item."""
    codes, table = bytearray(count), list[float | None]()
    numbers: dict[float | None, int] = {}  # from 1; 0 is not worked out yet

    def look(item: int) -> float | None:
        if codes[item]:
            return table[codes[item] - 1]
        new = value(item)
        if new not in numbers and len(table) < 255:
            table.append(new)
            numbers[new] = len(table)
        codes[item] = numbers.get(new, 0)
        return new

    return look


def _product(values: Iterator[float | None]) -> float | None:
    found = 1.0
    some = False
    for value in values:
        if value is None:
            return None
        found, some = found * value, True
    return found if some else None


def values_of(value: ItemValue, items: Sequence[int]) -> array[float]:
    """The values of the items that were answered."""
    return array("d", (found for item in items if (found := value(item)) is not None))


def share(name: str, values: Sequence[float], rule: str) -> Number:
    """The mean of values in [0, 1], with Wilson's interval."""
    total = sum(values)
    interval = wilson(total, len(values))
    low, high = interval or (None, None)
    return Number(name=name, value=mean(values), n=len(values), low=low, high=high, rule=rule)


def weighted(
    name: str, strata: Sequence[Stratum], rule: str, seed: int, least: float | None = 0.0
) -> Number:
    """The weighted mean by strata of values in [least, 1], with a stratified bootstrap interval.

    Where every draw is alike, it would say that nothing is uncertain: Wilson's interval stands
    instead. `least` None is for values without bounds, which then have no interval.
    """
    used = [stratum for stratum in strata if stratum.values]
    total = sum(stratum.weight for stratum in used)
    n = sum(len(stratum.values) for stratum in used)
    if not total:
        return Number(name=name, value=None, n=n, rule=rule)
    value = sum(weight * (mean(values) or 0.0) for values, weight in used) / total
    low, high = stratified(used, seed) or (None, None)
    if low == high:
        low, high = _of_all_alike(value, n, least)
    share = least is not None
    return Number(name=name, value=value, n=n, low=low, high=high, rule=rule, share=share)


def _of_all_alike(value: float, n: int, least: float | None) -> tuple[float | None, float | None]:
    if least is None:
        return None, None
    low, high = wilson((value - least) / (1 - least) * n, n) or (0.0, 1.0)
    return least + (1 - least) * low, least + (1 - least) * high


def mean_of_groups(sheet: Sheet, level: str, value: ItemValue, name: str, rule: str) -> Number:
    """The plain mean over the groups of a level of the means of their items."""
    strata = [Stratum(values_of(value, items)) for items in sheet.items.members(level).values()]
    return weighted(name, strata, rule, sheet.seed)


def by_group(
    sheet: Sheet, levels: Sequence[str], value: ItemValue, strict: ItemValue | None, rule: str
) -> tuple[GroupScore, ...]:
    """Plain means over the items of each group."""
    return tuple(
        GroupScore(
            level=level,
            name=name,
            score=share(name, values_of(value, items), rule),
            strict=share(name, values_of(strict, items), STRICT) if strict else None,
        )
        for level in levels
        for name, items in sheet.items.members(level).items()
    )


def bias(sheet: Sheet) -> Bias:
    """What moves the judge besides the answers' worth."""
    longer, shorter = by_length(sheet)
    return Bias(
        flip_rate=flip_rate(sheet),
        first_position=first_position(sheet),
        longer_right=longer,
        shorter_right=shorter,
    )


def flip_rate(sheet: Sheet) -> Number:
    """How often the two orders of a comparison name different winners."""
    flips = array("d")
    if not sheet.orderless:
        for item, at in _asked(sheet):
            one, other = sheet.said(item, at, 0), sheet.said(item, at, 1)
            if one.status == other.status == "ok":
                flips.append(one.winner != other.winner)
    return share("flip rate", flips, "of the comparisons decided in both orders")


def first_position(sheet: Sheet) -> Number:
    """How often a decided comparison names the answer that was shown first."""
    first = array("d")
    if not sheet.orderless:
        for item, at in _asked(sheet):
            comparison = sheet.items.shape(item).comparisons[at]
            for order in ORDERS:
                outcome = sheet.said(item, at, order)
                shown_first = comparison.second if order else comparison.first
                if outcome.status == "ok":
                    first.append(outcome.winner == shown_first)
    return share("first position", first, "of the decided comparisons, in each order asked")


def by_length(sheet: Sheet) -> tuple[Number, Number]:
    """Accuracy where the better answer is the longer one, and where it is the shorter one."""
    longer, shorter = array("d"), array("d")
    for item, at in _asked(sheet):
        comparison, right = sheet.items.shape(item).comparisons[at], better(sheet, item, at)
        lengths = sheet.items.lengths(item)
        first, second = lengths[comparison.first], lengths[comparison.second]
        if right is None or first == second:
            continue
        is_longer = (right == comparison.first) == (first > second)
        for order in ORDERS[:1] if sheet.orderless else ORDERS:
            value = worth(sheet.said(item, at, order), right)
            if value is not None:
                (longer if is_longer else shorter).append(value)
    rule = "comparisons in each order asked; a tie or no verdict is wrong; length in characters"
    return (
        share("right is longer", longer, rule),
        share("right is shorter", shorter, rule),
    )


def _asked(sheet: Sheet) -> Iterator[tuple[int, int]]:
    for item in range(len(sheet)):
        for at in range(len(sheet.items.shape(item).comparisons)):
            yield item, at
