"""From a file of predictions to a judge's part of a report: read once, scored from the sheet."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from openreward.counting import ran_calls
from openreward.eval.benchmark import Benchmark, Example, Prediction
from openreward.eval.measures import bias
from openreward.eval.released import read_predictions
from openreward.eval.report import Costs, JudgeReport
from openreward.eval.run import Plan, Rows, asks_both
from openreward.eval.sheet import Sheet
from openreward.records import Row, RowError
from openreward.types import ToolStatus, Usage


class Judged(NamedTuple):
    """What a judge said of a benchmark, and what it took."""

    sheet: Sheet
    costs: Costs


def read_sheet(benchmark: Benchmark, rows: Rows, predictions: Path, plan: Plan) -> Judged:
    """A sheet of the examples, filled from a file; rows that cannot be scored are counted in it.

    With a limit, predictions of examples that are not in the sample are passed over.
    """
    sheet = Sheet.of(benchmark, _examples(rows), plan.seed)
    costs = _Costs()
    for row in read_predictions(benchmark, predictions):
        if isinstance(row, RowError):
            sheet.reject(row)
            continue
        asked = plan.limit is None or sheet.items.ids.find(row.record.id) is not None
        if asked and sheet.add(row.record, row.line, row.place) is None:
            costs.add(row.record)
    return Judged(sheet, costs.total())


def judge_report(
    judged: Judged,
    benchmark: Benchmark,
    plan: Plan,
    name: str,
    kind: str,
    config: dict[str, JsonValue],
    predictions: str,
) -> JudgeReport:
    """A judge's part of a report."""
    sheet = judged.sheet
    return JudgeReport(
        name=name,
        kind=kind,
        config=config,
        score=benchmark.score(sheet),
        statuses=dict(sheet.statuses),
        missing=_missing(sheet, asks_both(plan, benchmark), kind),
        rejected={str(fault): count for fault, count in sheet.rejected.items()},
        errors=tuple(sheet.errors),
        bias=bias(sheet),
        costs=judged.costs,
        predictions=predictions,
    )


def _missing(sheet: Sheet, both: bool, kind: str) -> int:
    """Saved answers to nothing but the given order are those of a judge that was asked in one."""
    if kind == "saved":
        return sheet.missing(both and sheet.reordered)
    return sheet.missing(both and kind != "points", lists=kind != "pairs")


def _examples(rows: Rows) -> Iterable[Example]:
    return (row.record for row in rows if isinstance(row, Row))


class _Costs:
    """Costs that grow."""

    def __init__(self) -> None:
        self.judgements, self.seconds = 0, 0.0
        self.prompt = self.completion = self.cached = 0
        self.calls: Counter[ToolStatus] = Counter()

    def add(self, said: Prediction) -> None:
        self.judgements += 1
        self.seconds += said.times.total
        self.prompt += said.usage.prompt_tokens
        self.completion += said.usage.completion_tokens
        self.cached += said.usage.cached_tokens
        if said.trajectory is not None:
            self.calls.update(result.status for _, result in ran_calls(said.trajectory))

    def total(self) -> Costs:
        return Costs(
            judgements=self.judgements,
            calls=dict(self.calls),
            usage=Usage(
                prompt_tokens=self.prompt,
                completion_tokens=self.completion,
                cached_tokens=self.cached,
            ),
            seconds=self.seconds,
        )
