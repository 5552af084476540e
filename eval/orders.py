"""In which orders answers are shown: drawn per question from the seed, never from global state."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from openreward.judge import derive

if TYPE_CHECKING:
    from openreward.eval.benchmark import Part

FORWARD, SWAPPED = (0, 1), (1, 0)


def placement(seed: int, id: str, part: Part) -> int:
    """0 or 1: whether a comparison's one placement is as the example has it, or swapped."""
    return derive(seed, f"{id}/{part}", "placement") % 2


def pair_orders(both: bool, seed: int, id: str, part: Part) -> tuple[tuple[int, int], ...]:
    """The orders a comparison is shown in."""
    if both:
        return (FORWARD, SWAPPED)
    return (SWAPPED if placement(seed, id, part) else FORWARD,)


def list_orders(both: bool, k: int, seed: int, id: str) -> tuple[tuple[int, ...], ...]:
    """One drawn order of k answers; with `both` also its reverse, so that first becomes last."""
    order = list(range(k))
    Random(derive(seed, id, "order of answers")).shuffle(order)
    return (tuple(order), tuple(reversed(order))) if both else (tuple(order),)
