"""Whether a prediction fits its example: as one comparison's outcome, as a listing, or not at all.

A listing says something of all answers: scores, a ranking, or only which one is best. Scores or a
ranking without a `part` are one; for two answers a bare winner is a comparison's outcome.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from openreward.errors import shorten
from openreward.eval.cells import Outcome, Valued, compared

if TYPE_CHECKING:
    from openreward.eval.benchmark import Prediction
    from openreward.eval.items import Shape
    from openreward.records import RowFault
    from openreward.types import VerdictStatus

Order = Literal[0, 1]
ORDERS: tuple[Order, Order] = (0, 1)
NAN = math.nan


class Misfit(NamedTuple):
    """Why a prediction cannot be scored."""

    message: str
    fault: RowFault = "wrong_fields"


class OfPair(NamedTuple):
    """What was said of one comparison; `order` 1 is swapped."""

    comparison: int
    order: Order
    outcome: Outcome


class OfAll(NamedTuple):
    """What was said of all answers, shown in `order`: numbers, or why there are none."""

    order: tuple[int, ...]
    said: Valued | VerdictStatus


def check(said: Prediction, shape: Shape) -> OfPair | OfAll | Misfit:
    """A prediction as its example takes it."""
    times, usage = said.times, said.usage
    spent = (times.total, usage.prompt_tokens, usage.completion_tokens, usage.cached_tokens)
    if not all(0 <= each < math.inf for each in spent):
        return Misfit(f"expected seconds and tokens from 0, got {shorten(list(spent))}")
    given = [said.winner is not None, said.scores is not None, said.ranking is not None]
    if said.status != "ok" and any(given):
        return Misfit(f"expected no winner, scores or ranking with status {said.status}")
    if said.status == "ok" and not any(given):
        return Misfit("expected a winner, scores or a ranking with status ok, got none")
    if said.part is None and (None not in shape.numbers or any(given[1:])):
        return _of_all(said, shape.k)
    number = shape.numbers.get(said.part)
    if number is None:
        parts = shorten([comparison.part for comparison in shape.comparisons])
        return Misfit(f"expected a part of {parts}, got {said.part}")
    return _of_pair(said, number, shape)


def _of_all(said: Prediction, k: int) -> OfAll | Misfit:
    if sorted(said.order) != list(range(k)):
        return Misfit(f"expected an order of the {k} answers, got {shorten(list(said.order))}")
    if said.status != "ok":
        return OfAll(said.order, said.status)
    listed = _listed(said, range(k))
    return listed if isinstance(listed, Misfit) else OfAll(said.order, listed)


def _of_pair(said: Prediction, number: int, shape: Shape) -> OfPair | Misfit:
    if said.order not in ((0, 1), (1, 0)):
        return Misfit(f"expected order [0, 1] or [1, 0], got {shorten(list(said.order))}")
    order: Order = 1 if said.order == (1, 0) else 0
    if said.status != "ok":
        return OfPair(number, order, Outcome(said.status))
    _, first, second = shape.comparisons[number]
    listed = _listed(said, (first, second))
    if isinstance(listed, Misfit):
        return listed
    outcome = compared(listed.values, 0, 0, 1)
    if outcome.winner is None:
        return OfPair(number, order, outcome)
    return OfPair(number, order, Outcome("ok", (first, second)[outcome.winner]))


def _listed(said: Prediction, answers: Sequence[int]) -> Valued | Misfit:
    """What an ok prediction says of these answers, as numbers in their order."""
    if said.winner is not None and said.winner not in answers:
        return Misfit(f"expected a winner of {shorten(list(answers))}, got {said.winner}")
    if said.scores is not None:
        if len(said.scores) != len(answers) or not all(map(math.isfinite, said.scores)):
            return Misfit(f"expected {len(answers)} finite scores, got {shorten(said.scores)}")
        listed = Valued("scores", said.scores)
    elif said.ranking is not None:
        places = {index: -float(at) for at, tier in enumerate(said.ranking) for index in tier}
        if sorted(index for tier in said.ranking for index in tier) != sorted(answers):
            return Misfit(f"expected each answer once in a ranking, got {shorten(said.ranking)}")
        listed = Valued("ranking", tuple(places[index] for index in answers))
    else:
        return Valued("winner", tuple(1.0 if i == said.winner else NAN for i in answers))
    if said.winner is not None and listed.values[answers.index(said.winner)] < max(listed.values):
        return Misfit(f"expected winner {said.winner} at the top of its scores or ranking")
    return listed
