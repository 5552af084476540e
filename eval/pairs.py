"""The project's own held-out pairs: a query, an answer with the document, one without it.

Any file that `openreward judge` reads, with labels; a row's `context` is the document that the pair
is about, for judges that read it. Accuracy by source (Wikipedia, scientific, medical), and the
plain mean over sources, as the paper reports its in-domain accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from openreward.eval.benchmark import Comparison, Example, Score
from openreward.eval.measures import (
    STRICT,
    by_group,
    mean_of_groups,
    share,
    values_of,
    won,
    won_twice,
)
from openreward.eval.per_item import PerItem, by_level
from openreward.eval.reading import At, read_examples
from openreward.eval.sheet import Sheet
from openreward.inputs import PairRow
from openreward.records import Row, RowError

SOURCES = "plain mean of sources"
RULE = "one drawn order; a tie or no verdict is wrong"


def to_example(row: PairRow, at: At) -> Example:
    """A labelled pair; its source is its group."""
    if row.label is None or row.label == "tie":
        raise ValueError(f"field label: expected 0 or 1, the better answer, got {row.label!r}")
    context = row.meta.get("context")
    return Example(
        id=row.id,
        query=row.query,
        responses=row.responses,
        right=(row.label,),
        groups={"source": row.source or "none"},
        context=context if isinstance(context, str) else None,
    )


class Pairs:
    """Labelled pairs, by source."""

    name = "pairs"
    title = "held-out pairs"
    ties = False
    protocol: Literal["one", "both"] = "one"

    def load(self, source: Path | str) -> Iterator[Row[Example] | RowError]:
        """A file of pairs in any of the shapes that are read, or a folder of them."""
        return read_examples(source, PairRow, to_example)

    def comparisons(self, example: Example) -> Sequence[Comparison]:
        """The one pair."""
        return (Comparison(None, 0, 1),)

    def per_item(self, sheet: Sheet) -> PerItem:
        """A part for each source."""
        return PerItem(won(sheet), won_twice(sheet), by_level(sheet, "source"))

    def score(self, sheet: Sheet) -> Score:
        """The mean over sources, and the sources."""
        (value, strict, *_), items = self.per_item(sheet), range(len(sheet))
        return Score(
            headline=mean_of_groups(sheet, "source", value, "accuracy", f"{SOURCES}; {RULE}"),
            strict=mean_of_groups(sheet, "source", strict, "accuracy", f"{SOURCES}; {STRICT}"),
            groups=by_group(sheet, ("source",), value, strict, RULE),
            numbers=(share("accuracy over all rows", values_of(value, items), RULE),),
        )
