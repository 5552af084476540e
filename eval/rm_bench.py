"""RM-Bench (arXiv 2410.16184): each prompt has a right and a wrong answer in three styles each.

M[i][j] is the share of prompts whose right answer in style i beats the wrong one in style j, by a
strictly higher score. Hard is the mean of i < j (the wrong answer looks better), normal of i = j,
easy of i > j. A domain is the mean of its three, overall the plain mean of the domains.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field

from openreward.eval.benchmark import Comparison, Example, GroupScore, Number, Score
from openreward.eval.checked import ORDERS
from openreward.eval.measures import (
    STRICT,
    ItemValue,
    better,
    by_group,
    mean_of_groups,
    share,
    values_of,
    worth,
)
from openreward.eval.per_item import PerItem, by_level
from openreward.eval.reading import At, FormatRow, read_examples
from openreward.eval.sheet import Sheet
from openreward.records import Row, RowError

STYLES = ("concise", "plain detail", "markdown")
DOMAINS = ("chat", "code", "math", "safety")
DOMAIN_OF = {"alpacaeval": "chat", "bigcode/humanevalpack": "code"}
RULE = "one drawn order; a tie or no verdict is wrong"
OVERALL = "plain mean of the domains"
PARTS = tuple((i, j) for i in range(3) for j in range(3))


class Level(NamedTuple):
    """A kind of comparison, and its three parts."""

    name: str
    parts: tuple[tuple[int, int], ...]


LEVELS = (
    Level("hard", tuple((i, j) for i, j in PARTS if i < j)),
    Level("normal", tuple((i, j) for i, j in PARTS if i == j)),
    Level("easy", tuple((i, j) for i, j in PARTS if i > j)),
)


class RMBenchRow(FormatRow):
    """A row as its authors write it; answers in the order concise, plain detail, markdown."""

    id: int | str
    prompt: str
    chosen: list[str] = Field(min_length=3, max_length=3)
    rejected: list[str] = Field(min_length=3, max_length=3)
    domain: str | None = None
    subset: str | None = None

    def example(self, at: At) -> Example:
        """The right answers first."""
        full = self.domain or DOMAIN_OF.get(self.subset or "") or Path(at.file).name
        domain = next((name for name in DOMAINS if full.startswith(name)), None)
        if domain is None:
            raise ValueError(
                f"expected a field domain, or a file whose name begins with {', '.join(DOMAINS)}; "
                f"got domain {self.domain!r:.80}, file {at.file!r:.80}"
            )
        named = full.partition("_")[0].partition(".")[0]
        return Example(
            id=f"{named}/{self.id}",
            query=self.prompt,
            responses=(*self.chosen, *self.rejected),
            right=(0, 1, 2),
            groups={"domain": domain},
        )


class RMBench:
    """1,327 prompts in four domains."""

    name = "rm-bench"
    title = "RM-Bench"
    ties = False
    protocol: Literal["one", "both"] = "one"

    def load(self, source: Path | str) -> Iterator[Row[Example] | RowError]:
        """A file, the folder of the domains' files, or the hub's THU-KEG/RM-Bench."""
        return read_examples(
            source, RMBenchRow, RMBenchRow.example, pattern="*_filtered*", split="train"
        )

    def comparisons(self, example: Example) -> Sequence[Comparison]:
        """Each right answer against each wrong one: part (i, j) is style i against style j."""
        return tuple(Comparison((i, j), i, 3 + j) for i, j in PARTS)

    def per_item(self, sheet: Sheet) -> PerItem:
        """A part for each domain."""
        value, strict = mean_of(sheet, PARTS), mean_of(sheet, PARTS, strict=True)
        return PerItem(value, strict, by_level(sheet, "domain"))

    def score(self, sheet: Sheet) -> Score:
        """Matrices of the domains, what they come to, and the strict numbers."""
        value, strict, *_ = self.per_item(sheet)
        return Score(
            headline=_overall(sheet, value, "accuracy", RULE),
            strict=_overall(sheet, strict, "accuracy", STRICT),
            groups=(
                *by_group(sheet, ("domain",), value, strict, RULE),
                *_by_level(sheet),
            ),
            numbers=tuple(_matrices(sheet)),
        )


def mean_of(sheet: Sheet, parts: Sequence[tuple[int, int]], *, strict: bool = False) -> ItemValue:
    """An item's mean worth over some of its nine comparisons; None unless all were answered."""
    numbers = [PARTS.index(part) for part in parts]

    def of_comparison(item: int, at: int) -> float | None:
        right = better(sheet, item, at)
        if not strict:
            return worth(sheet.one(item, at), right)
        one, other = (worth(sheet.said(item, at, order), right) for order in ORDERS)
        return None if one is None or other is None else one * other

    def value(item: int) -> float | None:
        values = [of_comparison(item, at) for at in numbers]
        known = [value for value in values if value is not None]
        return sum(known) / len(values) if len(known) == len(values) else None

    return value


def _overall(sheet: Sheet, value: ItemValue, name: str, rule: str) -> Number:
    over = f"{OVERALL} ({', '.join(sheet.items.members('domain'))})"
    return mean_of_groups(sheet, "domain", value, name, f"{over}; {rule}")


def _by_level(sheet: Sheet) -> Iterator[GroupScore]:
    for name, parts in LEVELS:
        yield GroupScore(
            level="difficulty",
            name=name,
            score=_overall(sheet, mean_of(sheet, parts), name, RULE),
            strict=_overall(sheet, mean_of(sheet, parts, strict=True), name, STRICT),
        )


def _matrices(sheet: Sheet) -> Iterator[Number]:
    for domain, items in sheet.items.members("domain").items():
        for name, parts in LEVELS:
            yield share(f"{domain}: {name}", values_of(mean_of(sheet, parts), items), RULE)
        for i, j in PARTS:
            name = f"{domain}: right {STYLES[i]} over wrong {STYLES[j]}"
            yield share(name, values_of(mean_of(sheet, [(i, j)]), items), RULE)
