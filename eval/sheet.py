"""What judges said of a benchmark, small enough for a million rows: no text is kept.

Built from a stream of examples, then given predictions one by one; a prediction that cannot be
scored is named and counted, never scored. Memory: an example of two answers takes about 60 bytes, a
comparison 2, a listing (scores or a ranking of all answers) 12 an answer. `order` is 0 where a
comparison's answers are shown as the example has them, 1 where they are swapped.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

from openreward.eval.cells import MISSING, Outcome, PairCells, Slot, Valued
from openreward.eval.checked import Misfit, OfAll, OfPair, Order, check
from openreward.eval.items import Items
from openreward.eval.orders import list_orders
from openreward.records import RowError, RowFault

if TYPE_CHECKING:
    from openreward.eval.benchmark import Benchmark, Example, Prediction
    from openreward.types import VerdictStatus

MOST_PASSES = 64
KEPT_ERRORS = 100


class Sheet:
    """Outcomes by example, comparison and order; `items` says what the examples are."""

    def __init__(self, benchmark: Benchmark, seed: int = 0) -> None:
        self.benchmark = benchmark
        self.seed = seed
        self.items = Items()
        self.statuses: Counter[VerdictStatus] = Counter()  # of the predictions taken
        self.rejected: Counter[RowFault] = Counter()
        self.errors: list[RowError] = []  # the first hundred of the rejected
        self._drawn = array("b")  # which slot holds the listing in the one drawn order
        self._pairs: dict[int, PairCells] = {}  # by pass
        self._slots: dict[tuple[int, int], Slot] = {}  # by pass and slot
        self._scored = self._reordered = False

    @classmethod
    def of(cls, benchmark: Benchmark, examples: Iterable[Example], seed: int = 0) -> Sheet:
        """A sheet of these examples, with nothing said yet; ids must be unique."""
        sheet = cls(benchmark, seed)
        for example in examples:
            sheet.items.append(example, tuple(benchmark.comparisons(example)), seed)
            sheet._drawn.append(-1)
        return sheet

    def __len__(self) -> int:
        return len(self.items)

    def add(self, prediction: Prediction, line: int = 0, place: str = "line") -> RowError | None:
        """Take a prediction, or say why it cannot be scored; `line` is where it stands in a file.

        `place`: what the file calls its rows.
        """
        misfit = self._take(prediction)
        if misfit is None:
            self.statuses[prediction.status] += 1
            return None
        message = f"{place} {line}: {misfit.message}" if line else misfit.message
        return self.reject(RowError(line=line, fault=misfit.fault, message=message))

    def reject(self, error: RowError) -> RowError:
        """Count a row of predictions that cannot be scored."""
        self.rejected[error.fault] += 1
        if len(self.errors) < KEPT_ERRORS:
            self.errors.append(error)
        return error

    def placed(self, item: int, comparison: int) -> Order:
        """The order in which a protocol of one order shows a comparison; drawn from the seed."""
        return 1 if self.items.placed(item, comparison) else 0

    @property
    def orderless(self) -> bool:
        """Whether the judge scored each answer by itself, so that no order is seen."""
        return self._scored and not self._reordered

    def said(self, item: int, comparison: int, order: Order = 0, number: int = 0) -> Outcome:
        """What was said of a comparison shown in an order, in a pass; orderless in any order."""
        order = 0 if self.orderless else order
        _, first, second = self.items.shape(item).comparisons[comparison]
        if number in self._pairs:
            at = self.items.first_comparison(item) + comparison
            outcome = self._pairs[number].get(at, order, first, second)
            if outcome is not MISSING:
                return outcome
        for slot in self._filled(item, number):
            outcome, shown = slot.get(item, self.items.first_answer(item), first, second)
            if shown == order or self.orderless:
                return outcome
        return MISSING

    def one(self, item: int, comparison: int) -> Outcome:
        """What a protocol of one order takes: the drawn order, the other where that is missing."""
        slot = self._drawn_slot(item)
        if slot is not None:
            _, first, second = self.items.shape(item).comparisons[comparison]
            return slot.get(item, self.items.first_answer(item), first, second)[0]
        order = self.placed(item, comparison)
        drawn = self.said(item, comparison, order)
        if drawn is not MISSING:
            return drawn
        return self.said(item, comparison, 0 if order else 1)

    def listings(self, item: int, number: int = 0) -> list[Valued]:
        """The scores and rankings given of an example, the one in the drawn order first."""
        start, k = self.items.first_answer(item), self.items.shape(item).k
        drawn = self._drawn_slot(item, number)
        slots = sorted(self._filled(item, number), key=lambda slot: slot is not drawn)
        found = (slot.valued(item, start, k) for slot in slots)
        return [valued for valued in found if valued is not None]

    def listed(self, item: int) -> Outcome:
        """How the listing in the drawn order ended; a winner is not said."""
        slot = self._drawn_slot(item)
        return MISSING if slot is None else Outcome(slot.status(item))

    @property
    def reordered(self) -> bool:
        """Whether an answer was given to anything but the example's own order."""
        return self._reordered

    def missing(self, both: bool, lists: bool | None = None) -> int:
        """Questions without an answer, of those that one order, or `both`, come to.

        `lists`: whether a question is about all answers at once; None: as what was said shows.
        """
        orders: tuple[Order, ...] = (0, 1) if both else (0,)
        lists = bool(self._slots) and not self._pairs if lists is None else lists
        return sum(
            max(0, len(orders) - len(filled))
            if (filled := self._filled(item, 0)) or lists
            else self._missing_pairs(item, orders)
            for item in range(len(self))
        )

    def _missing_pairs(self, item: int, orders: tuple[Order, ...]) -> int:
        asked = range(len(self.items.shape(item).comparisons))
        if len(orders) == 1:
            return sum(self.one(item, at) is MISSING for at in asked)
        return sum(self.said(item, at, order) is MISSING for at in asked for order in orders)

    def _filled(self, item: int, number: int) -> list[Slot]:
        if not self._slots:
            return []
        found = (self._slots.get((number, which)) for which in (0, 1))
        return [slot for slot in found if slot is not None and slot.taken(item)]

    def _drawn_slot(self, item: int, number: int = 0) -> Slot | None:
        drawn = self._slots.get((number, self._drawn[item]))
        if drawn is not None and drawn.taken(item):
            return drawn
        return next(iter(self._filled(item, number)), None)

    def _take(self, said: Prediction) -> Misfit | None:
        if said.benchmark != self.benchmark.name:
            return Misfit(f"expected benchmark {self.benchmark.name}, got {said.benchmark!r:.80}")
        item = self.items.ids.find(said.id)
        if item is None:
            return Misfit(f"expected the id of an example, got {said.id!r:.80}", "unknown_id")
        if said.pass_ >= MOST_PASSES:
            return Misfit(f"expected a pass below {MOST_PASSES}, got {said.pass_}")
        checked = check(said, self.items.shape(item))
        if isinstance(checked, Misfit):
            return checked
        if self._taken(item, checked, said.pass_):
            return Misfit(
                f"id {said.id!r:.80}, part {said.part}, order {list(said.order)!r:.80}: that was "
                "answered before; give another try of it another pass",
                "duplicate_id",
            )
        if isinstance(checked, OfPair):
            self._keep_pair(item, checked, said.pass_)
        else:
            self._keep_listing(item, checked, said)
        self._reordered |= said.order != tuple(range(len(said.order)))
        return None

    def _taken(self, item: int, checked: OfPair | OfAll, number: int) -> bool:
        """Whether the question is answered; two answers can be listed or compared, not both."""
        shape = self.items.shape(item)
        plain = shape.k == 2 and None in shape.numbers
        if isinstance(checked, OfPair):
            at, order, which = checked.comparison, checked.order, int(checked.order)
        else:
            which = _which(checked.order)
            at, order = 0, 1 if which else 0
        if plain or isinstance(checked, OfPair):
            cells = self._pairs.get(number)
            if cells and cells.taken(self.items.first_comparison(item) + at, order):
                return True
        slot = self._slots.get((number, which))
        listed = slot is not None and slot.taken(item)
        return listed and (plain or isinstance(checked, OfAll))

    def _keep_pair(self, item: int, said: OfPair, number: int) -> None:
        if number not in self._pairs:
            self._pairs[number] = PairCells(self.items.asked)
        first = self.items.shape(item).comparisons[said.comparison].first
        at = self.items.first_comparison(item) + said.comparison
        self._pairs[number].put(at, said.order, said.outcome, first)

    def _keep_listing(self, item: int, listing: OfAll, said: Prediction) -> None:
        which = _which(listing.order)
        if (said.pass_, which) not in self._slots:
            self._slots[said.pass_, which] = Slot(len(self), self.items.answers)
        start = self.items.first_answer(item)
        self._slots[said.pass_, which].put(item, start, listing.said, listing.order)
        by_itself = said.scores is not None and listing.order == tuple(range(len(listing.order)))
        self._scored |= said.scores is not None
        if (
            not by_itself
            and listing.order == list_orders(False, len(listing.order), self.seed, said.id)[0]
        ):
            self._drawn[item] = which


def _which(order: tuple[int, ...]) -> int:
    """The slot of a listing: 0 or 1, never the same for an order and its reverse."""
    return int(order[0] > order[-1])
