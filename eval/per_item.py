"""What each item adds to a benchmark's headline, so that two judges can be compared item by item.

The headline is the plain mean of parts; a part is the mean of its slices by their weights; a slice
is the mean of its items, by their hefts where items count unequally.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from openreward.eval.benchmark import Number
from openreward.eval.measures import ItemValue
from openreward.eval.sheet import Sheet


class Slice(NamedTuple):
    """Items that weigh alike."""

    part: str
    items: Sequence[int]
    weight: float = 1.0


class PerItem(NamedTuple):
    """The rules of a benchmark for one item, and how items are weighed."""

    value: ItemValue  # by the headline's rule
    strict: ItemValue  # right in both orders
    slices: Sequence[Slice]
    heft: Callable[[int], float] | None = None  # how much an item counts in its slice
    fixed: Number | None = None  # one more part, which is no mean over items


def whole(sheet: Sheet) -> list[Slice]:
    """All items alike."""
    return [Slice("", range(len(sheet)))]


def by_level(sheet: Sheet, level: str) -> list[Slice]:
    """A part for each group of a level."""
    return [Slice(name, items) for name, items in sheet.items.members(level).items()]
