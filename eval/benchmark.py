"""What a benchmark is: examples with a known right answer, what to ask of them, how to score.

Four kinds of judge are measured on the same examples: one that compares two answers, one that
orders k, one that gives each answer a number, and a file of saved predictions. All of them come to
`Prediction` rows, and scoring reads nothing else. Indices count from 0 within the EXAMPLE.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol

from pydantic import ConfigDict, Field, Strict, model_validator

from openreward.eval.sheet import Sheet
from openreward.records import Row, RowError
from openreward.types import Record, Times, Trajectory, Usage, VerdictStatus

if TYPE_CHECKING:
    from openreward.eval.per_item import PerItem

Index = Annotated[int, Strict()]
"""An answer's number; a text or a truth value in a file of predictions is none."""

Part = Index | tuple[Index, Index] | None
"""Which comparison of an example: None where there is one, a loser's number, or (i, j)."""

Orders = Literal["protocol", "both", "one"]


class Example(Record):
    """One item. `right` are the answers that are right; none of them means a labelled tie.

    `groups` says where it belongs, level -> name, e.g. {"section": "Chat Hard", "subset": "..."}.
    """

    id: str = Field(min_length=1)
    query: str = Field(min_length=1)
    responses: tuple[str, ...] = Field(min_length=2)
    right: tuple[int, ...] = ()
    groups: dict[str, str] = Field(default_factory=dict)
    ranking: tuple[tuple[int, ...], ...] = ()  # best first, equals together, where one is known
    human: tuple[tuple[int, ...], ...] = ()  # people's ranking, where they made one
    agreed: tuple[tuple[int, int], ...] = ()  # (better, worse) that enough annotators agree on
    principle: str | None = None  # the item's own
    context: str | None = None  # the document that it is about

    @model_validator(mode="after")
    def _indices_exist(self) -> Example:
        k = len(self.responses)
        used = [*self.right, *(i for tier in self.ranking + self.human for i in tier)]
        used += [i for pair in self.agreed for i in pair]
        if any(not 0 <= index < k for index in used):
            raise ValueError(f"expected indices below {k}, the number of responses, got {used}")
        return self


class Comparison(NamedTuple):
    """Two answers of an example to compare: `first` and `second` in the example's own order."""

    part: Part
    first: int
    second: int


class Prediction(Record):
    """What a judge said of one example, or of one comparison of it, in one order.

    `order` is the order shown: [0, 1] or [1, 0] of the comparison, or a permutation of all
    responses; it is already undone in `winner`, `scores` and `ranking`. Unique by (id, part,
    order, pass).
    """

    model_config = ConfigDict(frozen=True, extra="forbid", serialize_by_alias=True)

    benchmark: str
    id: str
    part: Part = None
    order: tuple[Index, ...] = (0, 1)
    pass_: Index = Field(default=0, ge=0, alias="pass")
    status: VerdictStatus
    winner: Index | None = None
    scores: tuple[Annotated[float, Strict()], ...] | None = None  # one a response, higher is better
    ranking: tuple[tuple[Index, ...], ...] | None = None  # best first, equals together
    reason: str = ""
    trajectory: Trajectory | None = None
    usage: Usage = Usage()
    times: Times = Times()


class Number(Record):
    """One figure of a report with its rule in words."""

    name: str
    value: float | None  # None: nothing to compute it from
    n: int  # items it is over
    low: float | None = None  # bounds of the 95 % interval
    high: float | None = None
    rule: str = ""
    share: bool = True  # in [0, 1] (a correlation in [-1, 1]), written in percent; else as it is


class GroupScore(Record):
    """The benchmark's accuracy within one group."""

    level: str
    name: str
    score: Number
    strict: Number | None = None  # right in both orders


class Score(Record):
    """A benchmark's numbers: `headline` by its own protocol, `strict` in both orders."""

    headline: Number
    strict: Number | None
    groups: tuple[GroupScore, ...]
    numbers: tuple[Number, ...] = ()  # what the benchmark reports besides, each with its rule


class Benchmark(Protocol):
    """A benchmark: its files, its questions, its rules."""

    name: str
    title: str  # as its authors call it
    ties: bool  # whether an answer to it may be "tie"
    protocol: Literal["one", "both"]  # the orders its own protocol takes

    def load(self, source: Path | str) -> Iterator[Row[Example] | RowError]:
        """The examples of a file or folder in the original's own format, or of a hub id."""
        ...

    def comparisons(self, example: Example) -> Sequence[Comparison]:
        """What a judge of pairs is asked about an example."""
        ...

    def per_item(self, sheet: Sheet) -> PerItem:
        """What an item is worth, and how items are weighed, by the same rules."""
        ...

    def score(self, sheet: Sheet) -> Score:
        """The numbers, by exactly the benchmark's rules."""
        ...
