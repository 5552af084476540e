"""How well a predicted order of an example's answers meets a reference order, from a sheet."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from openreward.eval.cells import Outcome, compared
from openreward.eval.checked import ORDERS, Order
from openreward.eval.sheet import Sheet
from openreward.eval.stats import kendall_tau_b, ndcg

Tiers = tuple[tuple[int, ...], ...]
"""Answers best first, equal ones together; it may leave answers out."""


def ordered_pairs(tiers: Tiers) -> list[tuple[int, int]]:
    """(better, worse), for every pair that the tiers order."""
    return [
        (better, worse)
        for at, tier in enumerate(tiers)
        for better in tier
        for lower in tiers[at + 1 :]
        for worse in lower
    ]


def predicted(sheet: Sheet, item: int) -> list[Sequence[float]]:
    """Values of all answers, higher is better: one for each order that was answered."""
    listed = [valued.values for valued in sheet.listings(item) if valued.form != "winner"]
    if listed:
        return list(listed)
    return [wins for order in ORDERS if (wins := _wins(sheet, item, order)) is not None]


def _wins(sheet: Sheet, item: int, order: Order) -> list[float] | None:
    """What each answer won in one order of its comparisons; None unless all were answered."""
    shape = sheet.items.shape(item)
    wins = [0.0] * shape.k
    for at, (_, first, second) in enumerate(shape.comparisons):
        outcome = sheet.said(item, at, order)
        if outcome.status == "missing":
            return None
        if outcome.winner is not None:
            wins[outcome.winner] += 1
        elif outcome.status == "tie":
            wins[first] += 0.5
            wins[second] += 0.5
    return wins


def right_pairs(sheet: Sheet, item: int, pairs: Sequence[tuple[int, int]]) -> list[float]:
    """The worth of the answered ones of some (better, worse) pairs, each over its orders."""
    shape, listings = sheet.items.shape(item), sheet.listings(item)
    found = []
    for better, worse in pairs:
        number = shape.numbers.get((min(better, worse), max(better, worse)))
        if listings:
            outcomes = [compared(each.values, 0, better, worse) for each in listings]
        elif number is not None:
            outcomes = [sheet.said(item, number, order) for order in ORDERS]
        else:
            continue
        known = [_is_right(outcome, better) for outcome in outcomes if outcome.status != "missing"]
        if known:
            found.append(sum(known) / len(known))
    return found


def _is_right(outcome: Outcome, better: int) -> float:
    return float(outcome.winner == better)


def kendall(tiers: Tiers, values: Sequence[float]) -> float | None:
    """Tau-b over the answers in the tiers; 0 where everything is predicted equal."""
    reference, own = _aligned(tiers, values)
    if len(set(reference)) < 2:
        return None
    return kendall_tau_b(reference, own) or 0.0


def gained(tiers: Tiers, values: Sequence[float]) -> float | None:
    """NDCG without a cut; an answer's gain is how many answers the reference puts below it."""
    reference, own = _aligned(tiers, values)
    gains = [float(sum(other < each for other in reference)) for each in reference]
    return ndcg(gains, own)


def _aligned(tiers: Tiers, values: Sequence[float]) -> tuple[list[float], list[float]]:
    places = {index: -float(at) for at, tier in enumerate(tiers) for index in tier}
    return list(places.values()), [values[index] for index in places]


def over_orders(
    sheet: Sheet, item: int, measure: Callable[[Sequence[float]], float | None]
) -> float | None:
    """The mean of a measure over an item's orders; None where there is nothing to measure."""
    found = [value for each in predicted(sheet, item) if (value := measure(each)) is not None]
    return sum(found) / len(found) if found else None
