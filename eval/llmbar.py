"""LLMBar (arXiv 2310.07641): does the answer follow the instruction? One natural set, four sly.

Accuracy is averaged over both orders; beside it the share of pairs with the same verdict in both.
The format has no ids: a row's id is its set and its number in it from 1, "Natural/1". The same sets
are five subsets of RewardBench: `as_rewardbench` writes them in that format.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from openreward.eval.auto_j import CONSISTENCY, same_verdict
from openreward.eval.benchmark import Comparison, Example, Score
from openreward.eval.checked import ORDERS
from openreward.eval.measures import (
    STRICT,
    ItemValue,
    better,
    by_group,
    share,
    values_of,
    won_twice,
    worth,
)
from openreward.eval.per_item import PerItem, whole
from openreward.eval.reading import At, FormatRow, OneOrTwo, read_examples
from openreward.eval.rewardbench import RewardBenchRow
from openreward.eval.sheet import Sheet
from openreward.records import Row, RowError

RULE = "mean of both orders; a tie or no verdict is wrong"
SUBSETS = {
    "Natural": "llmbar-natural",
    "Neighbor": "llmbar-adver-neighbor",
    "GPTInst": "llmbar-adver-GPTInst",
    "GPTOut": "llmbar-adver-GPTOut",
    "Manual": "llmbar-adver-manual",
}


class LLMBarRow(FormatRow):
    """A row as its authors write it."""

    input: str
    output_1: str
    output_2: str
    label: OneOrTwo

    def example(self, at: At) -> Example:
        """The pair; its set is the folder of its file."""
        name = set_of(at.file)
        family = "Natural" if name == "Natural" else "Adversarial"
        return Example(
            id=f"{name}/{at.number}",
            query=self.input,
            responses=(self.output_1, self.output_2),
            right=(self.label - 1,),
            groups={"family": family, "set": name} if name in SUBSETS else {"set": name},
        )


def set_of(file: str) -> str:
    """`LLMBar/Adversarial/GPTOut/dataset.json` -> GPTOut; rows without a file -> LLMBar."""
    return Path(file).parent.name or "LLMBar"


class LLMBar:
    """419 pairs."""

    name = "llmbar"
    title = "LLMBar"
    ties = False
    protocol: Literal["one", "both"] = "both"

    def load(self, source: Path | str) -> Iterator[Row[Example] | RowError]:
        """The folder LLMBar of the original, one of its sets, or one file."""
        return read_examples(source, LLMBarRow, LLMBarRow.example, pattern="**/dataset.json*")

    def comparisons(self, example: Example) -> Sequence[Comparison]:
        """The one pair."""
        return (Comparison(None, 0, 1),)

    def per_item(self, sheet: Sheet) -> PerItem:
        """All pairs alike."""
        return PerItem(mean_of_orders(sheet), won_twice(sheet), whole(sheet))

    def score(self, sheet: Sheet) -> Score:
        """The mean of both orders, by set too."""
        (value, strict, *_), items = self.per_item(sheet), range(len(sheet))
        return Score(
            headline=share("accuracy", values_of(value, items), RULE),
            strict=share("accuracy", values_of(strict, items), STRICT),
            groups=by_group(sheet, ("family", "set"), value, strict, RULE),
            numbers=(share("same verdict", values_of(same_verdict(sheet), items), CONSISTENCY),),
        )


def mean_of_orders(sheet: Sheet) -> ItemValue:
    """The mean of an item's two verdicts, each 1 or 0."""

    def value(item: int) -> float | None:
        right = better(sheet, item, 0)
        one, other = (worth(sheet.said(item, 0, order), right) for order in ORDERS)
        return None if one is None or other is None else (one + other) / 2

    return value


def as_rewardbench(source: Path) -> Iterator[RewardBenchRow | RowError]:
    """LLMBar's pairs as rows of RewardBench, whose five subsets of Chat Hard they are."""
    for row in LLMBar().load(source):
        if isinstance(row, RowError):
            yield row
            continue
        example = row.record
        name, _, number = example.id.rpartition("/")
        right = example.right[0]
        yield RewardBenchRow(
            id=int(number),
            prompt=example.query,
            chosen=example.responses[right],
            rejected=example.responses[1 - right],
            subset=SUBSETS[name],
        )
