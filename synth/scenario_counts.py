"""What the rows of a scenario set add up to: steps with their drops, answers, scores, items."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import get_args

from openreward.batch import Measure
from openreward.records import RowError
from openreward.resume import Totals
from openreward.synth.scenario_items import best_of_items, pair_items
from openreward.synth.scenario_records import ScenarioRow, ScenarioSettings, Step
from openreward.types import Record

STEPS: tuple[Step, ...] = get_args(Step)
_DROP, _ANSWER, _SCORE, _LABEL = "drop:", "answer:", "score:", "label:"
_PAIR, _BEST_OF = "pairs", "best_of"
_WEAK_FAILED = "weak_failed"  # prompts that the weak model did not answer; they are not easy


class Dropped(Record):
    """A line of dropped.jsonl: a prompt, or with `writer` one answer to it.

    `step` is that of a prompt, or `input` for a row that cannot be read, or `answer` or `score`.
    """

    id: str
    step: str
    reason: str
    detail: str
    writer: str | None = None


class StepCount(Record):
    """How many prompts came to a step, how many it dropped and why."""

    step: Step
    came: int
    dropped: int
    left: int
    reasons: dict[str, int]


class ScenarioCounts(Record):
    """What a set came to; `answers` and `scores` by status, `labels` of the prompts in it."""

    prompts: int
    steps: tuple[StepCount, ...]
    answers: dict[str, int]
    scores: dict[str, int]
    weak_failed: int
    kept: int
    pairs: int
    best_of: int
    labels: dict[str, int]


def measurer(settings: ScenarioSettings) -> Callable[[ScenarioRow], Measure]:
    """What a row adds to the totals of a run."""

    def measure(row: ScenarioRow) -> Measure:
        status = "kept" if row.drop is None else "dropped"
        if row.fault is not None:
            status = "error"
        return Measure(row.id, status, row.usage, row.seconds, tuple(_marks(row, settings)))

    return measure


def _marks(row: ScenarioRow, settings: ScenarioSettings) -> Iterator[str]:
    if row.drop is not None:
        yield f"{_DROP}{row.drop.step}:{row.drop.reason}"
    for answer in row.answers:
        yield _ANSWER + answer.status
        if answer.score is not None:
            yield _SCORE + answer.score.status
    if row.weak is not None and row.weak.score is None:
        yield _WEAK_FAILED
    if row.drop is None:
        yield f"{_LABEL}{row.label}"
        yield from [_PAIR] * len(pair_items(row, settings))
        yield from [_BEST_OF] * len(best_of_items(row, settings))


def counts_of(totals: Totals) -> ScenarioCounts:
    """The counts behind the totals of a run."""
    marks = totals.marks
    steps, left = list[StepCount](), totals.rows
    for step in STEPS:
        reasons = _under(marks, f"{_DROP}{step}:")
        came, dropped = left, sum(reasons.values())
        left = came - dropped
        steps.append(StepCount(step=step, came=came, dropped=dropped, left=left, reasons=reasons))
    return ScenarioCounts(
        prompts=totals.rows,
        steps=tuple(steps),
        answers=_under(marks, _ANSWER),
        scores=_under(marks, _SCORE),
        weak_failed=marks.get(_WEAK_FAILED, 0),
        kept=left,
        pairs=marks.get(_PAIR, 0),
        best_of=marks.get(_BEST_OF, 0),
        labels=_under(marks, _LABEL),
    )


def dropped_of(row: ScenarioRow) -> Iterator[Dropped]:
    """What a row says of drops: the prompt's, and its answers'."""
    if row.drop is not None:
        drop = row.drop
        yield Dropped(id=row.id, step=drop.step, reason=drop.reason, detail=drop.detail)
    for answer in row.answers:
        name = answer.llm_name
        if answer.status != "ok":
            yield Dropped(
                id=row.id, step="answer", reason=answer.status, detail=answer.detail, writer=name
            )
        elif answer.score is not None and answer.score.status != "ok":
            yield Dropped(
                id=row.id, step="score", reason=answer.score.status, detail="", writer=name
            )


def dropped_input(error: RowError) -> Dropped:
    """A row of the input that cannot be used."""
    line = f"line {error.line}"
    return Dropped(id=line, step="input", reason=error.fault, detail=error.message)


def _under(marks: Mapping[str, int], head: str) -> dict[str, int]:
    return {name[len(head) :]: n for name, n in marks.items() if name.startswith(head)}
