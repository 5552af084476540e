"""Benchmarks answered by judges without a model, as tests need them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from pathlib import Path

from openreward.eval.benchmark import Benchmark, Comparison, Example, Number, Prediction, Score
from openreward.eval.judges import CONTROLS, Asked, MeasuredJudge, checked
from openreward.eval.run import Plan, Question, questions
from openreward.eval.sheet import Sheet
from openreward.records import Row, RowError


def load(benchmark: Benchmark, source: Path | str) -> list[Example]:
    """The examples of a source in which every row can be read."""
    rows = list(benchmark.load(source))
    assert [row for row in rows if isinstance(row, RowError)] == []
    return [row.record for row in rows if isinstance(row, Row)]


def errors(benchmark: Benchmark, source: Path | str) -> list[RowError]:
    return [row for row in benchmark.load(source) if isinstance(row, RowError)]


def answer(
    benchmark: Benchmark, examples: Sequence[Example], judge: MeasuredJudge | str, plan: Plan
) -> Sheet:
    """The sheet after a judge (or the control of that name) answered everything."""
    judge = CONTROLS[judge] if isinstance(judge, str) else judge
    rows = (Row(number, example) for number, example in enumerate(examples, 1))
    sheet = Sheet.of(benchmark, examples, plan.seed)

    async def answers() -> None:
        for row in questions(rows, benchmark, judge.kind, plan):
            assert isinstance(row, Row)
            assert sheet.add(await _predict(benchmark, row.record, judge, plan)) is None

    asyncio.run(answers())
    return sheet


async def _predict(
    benchmark: Benchmark, question: Question, judge: MeasuredJudge, plan: Plan
) -> Prediction:
    example, part = question.example, question.part
    asked = Asked(
        id=f"{example.id}/{part}",
        query=example.query,
        original=tuple(example.responses[index] for index in question.shown),
        order=question.order,
        seed=plan.seed,
    )
    said = checked(await judge.reply(asked), asked)
    at = [question.shown[place] for place in question.order]
    scores = said.scores and tuple(said.scores[at.index(index)] for index in sorted(at))
    return prediction(
        benchmark.name,
        example.id,
        part=part,
        order=question.order,
        status=said.status,
        winner=None if said.winner is None else at[said.winner],
        scores=scores,
        ranking=said.ranking and tuple(tuple(at[place] for place in tier) for tier in said.ranking),
    )


def prediction(benchmark: object, id: object, **fields: object) -> Prediction:
    """A prediction that is `ok` where nothing else is said."""
    return Prediction.model_validate({"benchmark": benchmark, "id": id, "status": "ok", **fields})


def number(score: Score, name: str) -> Number:
    return next(each for each in score.numbers if each.name == name)


def group(score: Score, level: str, name: str) -> Number:
    return next(each.score for each in score.groups if (each.level, each.name) == (level, name))


class Plain:
    """A benchmark of pairs, or of best-of-k items, without a file format."""

    name = "plain"
    title = "plain"
    ties = True
    protocol = "one"

    def comparisons(self, example: Example) -> Sequence[Comparison]:
        k = len(example.responses)
        if k == 2:
            return (Comparison(None, 0, 1),)
        return tuple(Comparison(at, 0, at + 1) for at in range(k - 1))

    def load(self, source: Path | str) -> Iterable[Row[Example] | RowError]:
        raise NotImplementedError

    def score(self, sheet: Sheet) -> Score:
        raise NotImplementedError


def example(id: str = "x", *responses: str, right: tuple[int, ...] = (0,)) -> Example:
    return Example(id=id, query="q", responses=responses or ("a", "bb"), right=right)


def sheet_of(*examples: Example, seed: int = 0) -> Sheet:
    return Sheet.of(Plain(), examples, seed)  # type: ignore[arg-type]


def said(id: str = "x", **fields: object) -> Prediction:
    return prediction(**{"benchmark": "plain", "id": id, **fields})
