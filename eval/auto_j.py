"""Auto-J's pairwise test set (arXiv 2310.05470): 58 scenarios, people's labels with ties.

Both orders are asked: agreement is the share of pairs named as labelled in BOTH orders, consistency
the share with the same verdict in both. The format has no ids: a row's id is its number in the file
(from 1), since two rows are alike but for their scenario.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import Field

from openreward.eval.benchmark import Comparison, Example, Score
from openreward.eval.cells import MISSING
from openreward.eval.measures import ItemValue, by_group, share, values_of, won_twice
from openreward.eval.per_item import PerItem, whole
from openreward.eval.reading import At, FormatRow, ZeroToTwo, read_examples
from openreward.eval.sheet import Sheet
from openreward.records import Row, RowError

AGREEMENT = "named as labelled (0, 1 or tie) in both orders"
CONSISTENCY = "the same verdict (an answer, or a tie) in both orders"


class AutoJRow(FormatRow):
    """A row as its authors write it; label 2 is a tie."""

    scenario: str
    label: ZeroToTwo
    prompt: str
    response_1: str = Field(alias="response 1")
    response_2: str = Field(alias="response 2")

    def example(self, at: At) -> Example:
        """The pair under its number."""
        return Example(
            id=row_id(at.number),
            query=self.prompt,
            responses=(self.response_1, self.response_2),
            right=() if self.label == 2 else (self.label,),
            groups={"scenario": self.scenario},
        )


def row_id(number: int) -> str:
    """The id of a row by its number from 1."""
    return str(number)


class AutoJ:
    """1,392 pairs of answers, 373 of them labelled a tie."""

    name = "auto-j"
    title = "Auto-J (pairwise)"
    ties = True
    protocol: Literal["one", "both"] = "both"

    def load(self, source: Path | str) -> Iterator[Row[Example] | RowError]:
        """testdata_pairwise.jsonl, or the folder that holds it alone."""
        return read_examples(source, AutoJRow, AutoJRow.example, pattern="testdata_pairwise*")

    def comparisons(self, example: Example) -> Sequence[Comparison]:
        """The one pair."""
        return (Comparison(None, 0, 1),)

    def per_item(self, sheet: Sheet) -> PerItem:
        """All pairs alike."""
        agreed = won_twice(sheet)
        return PerItem(agreed, agreed, whole(sheet))

    def score(self, sheet: Sheet) -> Score:
        """Agreement, which is strict already, and consistency."""
        (agreed, *_), items = self.per_item(sheet), range(len(sheet))
        headline = share("agreement", values_of(agreed, items), AGREEMENT)
        return Score(
            headline=headline,
            strict=headline,
            groups=by_group(sheet, ("scenario",), agreed, agreed, AGREEMENT),
            numbers=(share("consistency", values_of(same_verdict(sheet), items), CONSISTENCY),),
        )


def same_verdict(sheet: Sheet) -> ItemValue:
    """1 where both orders come to the same answer, or both to a tie."""

    def value(item: int) -> float | None:
        one, other = sheet.said(item, 0, 0), sheet.said(item, 0, 1)
        if MISSING in (one, other):
            return None
        return float(one == other and one.status in ("ok", "tie"))

    return value
