"""What was said, in arrays: a byte a comparison and order; a number an answer and order.

A judge that orders or scores all answers of an example says something of every comparison at once.
Its answers are kept as numbers, higher is better, in one of two slots: an order of the answers and
the reverse of it never share one.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from openreward.types import VerdictStatus

UNSAID, FIRST, SECOND = 0, 1, 2
STATUSES: tuple[VerdictStatus, ...] = ("ok", "tie", "unparsed", "refused", "error")
_CODES = {"tie": 3, "unparsed": 4, "refused": 5, "error": 6}
_NAMES: dict[int, VerdictStatus] = {3: "tie", 4: "unparsed", 5: "refused", 6: "error"}

Form = Literal["scores", "ranking", "winner"]
_FORMS: tuple[Form, ...] = ("scores", "ranking", "winner")


class Outcome(NamedTuple):
    """What was said of a comparison; `missing` when nothing was. `winner` as the example counts."""

    status: VerdictStatus | Literal["missing"]
    winner: int | None = None


MISSING = Outcome("missing")


class PairCells:
    """One code for each comparison and order."""

    def __init__(self, comparisons: int) -> None:
        self._codes = array("B", bytes(2 * comparisons))

    def taken(self, comparison: int, order: int) -> bool:
        """Whether something was said."""
        return self._codes[2 * comparison + order] != UNSAID

    def put(self, comparison: int, order: int, outcome: Outcome, first: int) -> None:
        """Keep an outcome; `first` is the first answer of the comparison."""
        code = _CODES.get(outcome.status) or (FIRST if outcome.winner == first else SECOND)
        self._codes[2 * comparison + order] = code

    def get(self, comparison: int, order: int, first: int, second: int) -> Outcome:
        """What was said, MISSING for nothing."""
        code = self._codes[2 * comparison + order]
        if code == UNSAID:
            return MISSING
        if code in _NAMES:
            return Outcome(_NAMES[code])
        return Outcome("ok", first if code == FIRST else second)


class Valued(NamedTuple):
    """Numbers for all answers of an example, higher is better; `form` is how they were given."""

    form: Form
    values: tuple[float, ...]


class Slot:
    """One listing of each example: its status, and for each answer its value and place shown."""

    def __init__(self, examples: int, answers: int) -> None:
        self._codes = array("B", bytes(examples))  # 1, 2, 3: ok in one of the forms
        self._values = array("d", bytes(8 * answers))
        self._answers = answers
        self._places: array[int] | None = None  # None while all listings are in the given order

    def taken(self, item: int) -> bool:
        """Whether something was said of the example."""
        return self._codes[item] != UNSAID

    def put(
        self, item: int, start: int, said: Valued | VerdictStatus, order: Sequence[int]
    ) -> None:
        """Keep a listing, or why there is none; an example's answers are kept from `start` on."""
        self._place(start, order)
        if isinstance(said, str):
            self._codes[item] = len(_FORMS) + _CODES[said]
            return
        self._codes[item] = 1 + _FORMS.index(said.form)
        for index, value in enumerate(said.values):
            self._values[start + index] = value

    def _place(self, start: int, order: Sequence[int]) -> None:
        if self._places is None and list(order) == list(range(len(order))):
            return
        if self._places is None:
            self._places = array("I", range(self._answers))  # in the given order, all of them
        for place, index in enumerate(order):
            self._places[start + index] = start + place

    def status(self, item: int) -> VerdictStatus | Literal["missing"]:
        """How the listing of an example ended."""
        code = self._codes[item]
        if code == UNSAID:
            return "missing"
        return "ok" if code <= len(_FORMS) else _NAMES[code - len(_FORMS)]

    def valued(self, item: int, start: int, k: int) -> Valued | None:
        """The listing itself."""
        if self.status(item) != "ok":
            return None
        return Valued(_FORMS[self._codes[item] - 1], tuple(self._values[start : start + k]))

    def get(self, item: int, start: int, first: int, second: int) -> tuple[Outcome, int]:
        """The outcome of two answers, and whether the second was shown before the first."""
        status = self.status(item)
        places = self._places or range(self._answers)
        order = int(places[start + first] > places[start + second])
        if status != "ok":
            return Outcome(status), order
        return compared(self._values, start, first, second), order


def compared(values: Sequence[float], start: int, first: int, second: int) -> Outcome:
    """The answer with the higher number; equal ones tie, two unknown ones are missing."""
    one, other = values[start + first], values[start + second]
    if math.isnan(one) and math.isnan(other):
        return MISSING
    if one == other:
        return Outcome("tie")
    return Outcome("ok", first if one > other or math.isnan(other) else second)
