"""Puts a benchmark's questions to a judge: resumable, seeded, the same whatever the workers.

A question is one comparison in one order (judges of pairs), or one example in one order (the
others); its key is that of the `Prediction` it becomes. A limit takes a sample by the hash of ids:
the same for the same seed, not the first rows of a file that is sorted by subset.
"""

from __future__ import annotations

import hashlib
import heapq
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from openreward.batch import Measure, Output, Progress, run_rows
from openreward.counting import ran_calls
from openreward.errors import RecordError
from openreward.eval.benchmark import Benchmark, Comparison, Example, Orders, Part, Prediction
from openreward.eval.judges import Asked, Kind, MeasuredJudge, Said, checked
from openreward.eval.orders import list_orders, pair_orders
from openreward.judge import derive
from openreward.loose_json import clean_text
from openreward.records import DataFile, Row, RowError, describe_file
from openreward.resume import Totals
from openreward.types import Record

Rows = Iterator[Row[Example] | RowError]


class Plan(Record):
    """How a benchmark is put to a judge."""

    orders: Orders = "both"
    seed: int = 0
    limit: int | None = None  # examples
    principle: str | None = None  # instead of the items' own


def asks_both(plan: Plan, benchmark: Benchmark) -> bool:
    """Whether answers are shown in both orders."""
    return plan.orders == "both" or (plan.orders == "protocol" and benchmark.protocol == "both")


class Question(Record):
    """What a judge is asked once: `shown` are the example's answers it is about, `order` theirs."""

    example: Example
    part: Part
    shown: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def key(self) -> str:
        """Unique within a benchmark and a judge."""
        return question_key(self.example.id, self.part, self.order)


@dataclass
class Allowance:
    """What a run may spend; `spent` says in words what ran out, once something has."""

    tokens: int | None = None  # of all runs of an output
    minutes: float | None = None  # of this run
    clock: Callable[[], float] = time.monotonic
    spent: str = ""
    _started: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._started = self.clock()

    def left(self, totals: Totals) -> bool:
        """Whether another question may be asked."""
        used = totals.usage.prompt_tokens + totals.usage.completion_tokens
        if self.tokens is not None and used >= self.tokens:
            self.spent = f"{used} of {self.tokens} tokens are spent"
        minutes = (self.clock() - self._started) / 60
        if self.minutes is not None and minutes >= self.minutes:
            self.spent = f"{minutes:.1f} of {self.minutes:g} minutes are over"
        return not self.spent


class Sample(NamedTuple):
    """The ids a limit takes; None takes all."""

    ids: frozenset[str] | None
    examples: int


def question_key(id: str, part: Part, order: tuple[int, ...], number: int = 0) -> str:
    """The key of a question and of its prediction."""
    return f"{id}\0{part}\0{','.join(map(str, order))}\0{number}"


def key_of(prediction: Prediction) -> str:
    """The key of the question that a prediction answers."""
    return question_key(prediction.id, prediction.part, prediction.order, prediction.pass_)


def take_sample(rows: Rows, plan: Plan) -> Sample:
    """Which examples a limit takes; reads the rows to their end."""
    ids = (row.record.id for row in rows if isinstance(row, Row))
    if plan.limit is None:
        return Sample(None, sum(1 for _ in ids))
    taken = heapq.nsmallest(plan.limit, ids, key=lambda id: (derive(plan.seed, id, "sample"), id))
    return Sample(frozenset(taken), len(taken))


def select(rows: Rows, sample: Sample) -> Rows:
    """The rows of a sample, and every row that could not be read."""
    for row in rows:
        if isinstance(row, RowError) or sample.ids is None or row.record.id in sample.ids:
            yield row


def questions(
    rows: Rows, benchmark: Benchmark, kind: Kind, plan: Plan
) -> Iterator[Row[Question] | RowError]:
    """What is asked about each example, in the order of the file."""
    both = asks_both(plan, benchmark)
    for row in rows:
        if isinstance(row, RowError):
            yield row
            continue
        for question in _of_example(row.record, benchmark, kind, both, plan.seed):
            yield Row(row.line, question, row.place)


def _of_example(
    example: Example, benchmark: Benchmark, kind: Kind, both: bool, seed: int
) -> Iterator[Question]:
    everything = tuple(range(len(example.responses)))
    if kind == "points":
        yield Question(example=example, part=None, shown=everything, order=everything)
        return
    if kind == "list":
        for order in list_orders(both, len(everything), seed, example.id):
            yield Question(example=example, part=None, shown=everything, order=order)
        return
    for comparison in benchmark.comparisons(example):
        for order in pair_orders(both, seed, example.id, comparison.part):
            yield _comparing(example, comparison, order)


def _comparing(example: Example, comparison: Comparison, order: tuple[int, int]) -> Question:
    shown = (comparison.first, comparison.second)
    return Question(example=example, part=comparison.part, shown=shown, order=order)


async def put(
    asked: Iterator[Row[Question] | RowError],
    benchmark: Benchmark,
    judge: MeasuredJudge,
    plan: Plan,
    output: Output[Prediction],
    allowance: Allowance,
    *,
    progress: Progress,
    concurrency: int,
) -> None:
    """Ask what the output does not hold yet, until all is asked or the allowance is spent."""

    async def work(question: Question) -> Prediction:
        said = await judge.reply(_asked(question, plan))
        return _prediction(question, benchmark.name, checked(said, _asked(question, plan)))

    def within() -> Iterator[Row[Question] | RowError]:
        for row in asked:
            if isinstance(row, Row) and not allowance.left(output.totals()):
                return
            yield row

    await run_rows(
        within(),
        lambda question: question.key,
        work,
        output,
        progress=progress,
        concurrency=concurrency,
    )


def _asked(question: Question, plan: Plan) -> Asked:
    example = question.example
    part = "" if question.part is None else f"/{question.part}"
    return Asked(
        id=f"{example.id}{part}",
        query=example.query,
        original=tuple(example.responses[index] for index in question.shown),
        order=question.order,
        seed=plan.seed,
        principle=plan.principle or example.principle,
        context=example.context,
    )


def _prediction(question: Question, benchmark: str, said: Said) -> Prediction:
    """The reply in the example's own indices."""
    at = [question.shown[place] for place in question.order]  # place shown -> answer
    scores = None
    if said.scores is not None:
        by_answer = dict(zip(at, said.scores, strict=True))
        scores = tuple(by_answer[index] for index in sorted(by_answer))
    ranking = said.ranking
    if ranking is not None:
        ranking = tuple(tuple(sorted(at[place] for place in tier)) for tier in ranking)
    return Prediction(
        benchmark=benchmark,
        id=question.example.id,
        part=question.part,
        order=question.order,
        **{"pass": 0},
        status=said.status,
        winner=None if said.winner is None else at[said.winner],
        scores=scores,
        ranking=ranking,
        reason=clean_text(said.reason),
        trajectory=said.trajectory,
        usage=said.usage,
        times=said.times,
    )


def measure(prediction: Prediction) -> Measure:
    """What a prediction adds to the totals; its calls by how they ended are marks."""
    ran = ran_calls(prediction.trajectory) if prediction.trajectory else []
    marks = tuple(f"call_{result.status}" for _, result in ran)
    seconds = prediction.times.total
    return Measure(key_of(prediction), prediction.status, prediction.usage, seconds, marks)


def describe_source(source: Path) -> DataFile:
    """What a file or a folder of files held: a folder's sum is over its files' names and sums."""
    if not source.is_dir():
        return describe_file(source)
    files = sorted(path for path in source.rglob("*") if path.is_file())
    if not files:
        raise RecordError(f"{source}: expected a folder of data files, got none in it")
    digest, size = hashlib.sha256(), 0
    for path in files:
        one = describe_file(path)
        digest.update(
            f"{path.relative_to(source).as_posix()}\0{one.sha256}\n".encode(
                "utf-8", "surrogateescape"
            )
        )
        size += one.bytes
    return DataFile(path=clean_text(str(source)), sha256=digest.hexdigest(), bytes=size)
