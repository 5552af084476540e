"""What a run of a benchmark came to, as one record: `report.json`, from which all else is drawn.

Every judge of a report answered the same examples. A number that cannot be computed is None, never
0; questions without an answer are counted as `missing`, and a report with any says it is partial.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field, JsonValue

from openreward.eval.benchmark import Number, Score
from openreward.eval.run import Plan
from openreward.records import DataFile, RowError
from openreward.types import Record, ToolStatus, Usage, VerdictStatus


class Costs(Record):
    """What the answers took; seconds are those of the judgements added up, not of a clock."""

    judgements: int = 0
    calls: dict[ToolStatus, int] = Field(default_factory=dict)  # searches by how they ended
    usage: Usage = Usage()
    seconds: float = 0.0

    def each(self, amount: float) -> float | None:
        """An amount a judgement."""
        return amount / self.judgements if self.judgements else None


class Bias(Record):
    """What moves a judge besides the answers' worth; None where orders or lengths do not tell."""

    flip_rate: Number  # pairs whose two orders name different winners, of those decided in both
    first_position: Number  # share of decided comparisons that name the answer shown first
    longer_right: Number  # accuracy where the right answer is the longer one
    shorter_right: Number


class JudgeReport(Record):
    """One judge on the benchmark."""

    name: str
    kind: str  # pairs | list | points | saved
    config: dict[str, JsonValue]  # of the run's manifest: model, prompts, tools, settings
    score: Score
    statuses: dict[VerdictStatus, int]
    missing: int  # questions without an answer
    rejected: dict[str, int] = Field(default_factory=dict)  # prediction rows not scored, by why
    errors: tuple[RowError, ...] = ()  # the first hundred of them
    bias: Bias
    costs: Costs
    predictions: str  # file name, beside the report


class Report(Record):
    """A benchmark run: the data, how it was put, and what each judge made of it."""

    format: Literal[1] = 1
    benchmark: str
    data: DataFile
    plan: Plan
    examples: int  # asked about
    left_out: dict[str, int] = Field(default_factory=dict)  # rows of the data, by why
    errors: tuple[RowError, ...] = ()  # the first hundred of them
    partial: str = ""  # why not everything was answered, in words
    judges: tuple[JudgeReport, ...]
    versions: dict[str, str]
