"""JudgeBench (arXiv 2410.12784): pairs of which one answer is objectively right.

Both orders are asked: +1 for the right answer, -1 for the wrong one, 0 for a tie or no verdict; a
pair is right if the sum is above 0. Reported over all pairs and by kind of task.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from openreward.eval.benchmark import Comparison, Example, Score
from openreward.eval.cells import MISSING
from openreward.eval.checked import ORDERS
from openreward.eval.measures import (
    STRICT,
    ItemValue,
    better,
    by_group,
    share,
    values_of,
    won_twice,
)
from openreward.eval.per_item import PerItem, whole
from openreward.eval.reading import At, FormatRow, read_examples
from openreward.eval.sheet import Sheet
from openreward.records import Row, RowError

RULE = "both orders: +1 right, -1 wrong, 0 tie or no verdict; right if the sum is above 0"
KINDS = {
    "mmlu-pro": "knowledge",
    "livebench-reasoning": "reasoning",
    "livebench-math": "math",
    "livecodebench": "coding",
}


class JudgeBenchRow(FormatRow):
    """A row as its authors write it."""

    pair_id: str = Field(min_length=1)
    source: str
    question: str
    response_A: str
    response_B: str
    label: Literal["A>B", "B>A"]
    response_model: str = ""

    def example(self, at: At) -> Example:
        """The pair, in its group of tasks."""
        groups = {"kind": kind_of(self.source), "source": self.source}
        if self.response_model:
            groups["answers of"] = self.response_model
        return Example(
            id=self.pair_id,
            query=self.question,
            responses=(self.response_A, self.response_B),
            right=(0 if self.label == "A>B" else 1,),
            groups=groups,
        )


def kind_of(source: str) -> str:
    """The kind of task that a source belongs to."""
    for prefix, kind in KINDS.items():
        if source.startswith(prefix):
            return kind
    begin = ", ".join(KINDS)
    raise ValueError(f"field source: expected one that begins with {begin}, got {source!r:.80}")


class JudgeBench:
    """350 pairs of GPT-4o's answers and 270 of Claude 3.5 Sonnet's."""

    name = "judgebench"
    title = "JudgeBench"
    ties = False
    protocol: Literal["one", "both"] = "both"

    def load(self, source: Path | str) -> Iterator[Row[Example] | RowError]:
        """A file, the folder of both, or the hub's ScalerLab/JudgeBench (splits gpt, claude)."""
        return read_examples(source, JudgeBenchRow, JudgeBenchRow.example, split="gpt")

    def comparisons(self, example: Example) -> Sequence[Comparison]:
        """The one pair."""
        return (Comparison(None, 0, 1),)

    def per_item(self, sheet: Sheet) -> PerItem:
        """All pairs alike."""
        return PerItem(both_orders_game(sheet), won_twice(sheet), whole(sheet))

    def score(self, sheet: Sheet) -> Score:
        """By the game of two orders; strict: right in both."""
        (game, strict, *_), items = self.per_item(sheet), range(len(sheet))
        return Score(
            headline=share("accuracy", values_of(game, items), RULE),
            strict=share("accuracy", values_of(strict, items), STRICT),
            groups=by_group(sheet, ("kind", "source", "answers of"), game, strict, RULE),
        )


def both_orders_game(sheet: Sheet) -> ItemValue:
    """1 where right verdicts outnumber wrong ones over the two orders."""

    def value(item: int) -> float | None:
        right, points = better(sheet, item, 0), 0
        for order in ORDERS:
            outcome = sheet.said(item, 0, order)
            if outcome is MISSING:
                return None
            if outcome.status == "ok":
                points += 1 if outcome.winner == right else -1
        return float(points > 0)

    return value
