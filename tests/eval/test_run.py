"""Putting questions: which, in which orders, until when."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from answered import example

from openreward.batch import Output
from openreward.eval.benchmark import Example, Orders, Prediction
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.judges import Asked, Control, Kind, Said
from openreward.eval.run import (
    Allowance,
    Plan,
    Question,
    describe_source,
    key_of,
    measure,
    put,
    questions,
    select,
    take_sample,
)
from openreward.eval.sheet import Sheet
from openreward.records import DataFile, Row, RowError
from openreward.resume import Manifest, Totals
from openreward.types import Usage

PAIRS, RMB, JUDGEBENCH = BENCHMARKS["pairs"], BENCHMARKS["rmb"], BENCHMARKS["judgebench"]
BROKEN = RowError(line=9, fault="wrong_fields", message="line 9: broken")


def rows(count: int) -> Iterator[Row[Example] | RowError]:
    yield from (Row(number, example(f"e{number}")) for number in range(count))
    yield BROKEN


def best_of(k: int) -> Example:
    answers = tuple("abcdefgh"[:k])
    where = {"quadrant": "BoN Helpfulness"}
    return Example(id="x", query="q", responses=answers, right=(0,), groups=where)


def asked(found: Iterator[Row[Question] | RowError]) -> list[Question]:
    return [row.record for row in found if isinstance(row, Row)]


def test_a_smaller_sample_is_part_of_a_larger_one_and_of_its_seed() -> None:
    samples = {
        (limit, seed): take_sample(rows(100), Plan(limit=limit, seed=seed)).ids or frozenset()
        for limit, seed in ((10, 0), (30, 0), (10, 1))
    }
    assert samples[10, 0] < samples[30, 0]
    assert samples[10, 0] != samples[10, 1]
    assert [len(ids) for ids in samples.values()] == [10, 30, 10]


def test_a_sample_does_not_depend_on_the_order_of_the_file() -> None:
    plan = Plan(limit=5)
    turned = iter(list(rows(40))[::-1])
    assert take_sample(rows(40), plan) == take_sample(turned, plan)


def test_without_a_limit_everything_is_taken_and_counted() -> None:
    assert take_sample(rows(7), Plan()) == (None, 7)


def test_rows_that_cannot_be_read_pass_a_sample() -> None:
    plan = Plan(limit=2)
    found = list(select(rows(10), take_sample(rows(10), plan)))
    assert len(found) == 3
    assert found[-1] is BROKEN


@pytest.mark.parametrize(
    ("kind", "orders", "expected"),
    [
        ("pairs", "both", [(0, (0, 1)), (0, (1, 0)), (1, (0, 1)), (1, (1, 0))]),
        ("points", "both", [(None, (0, 1, 2))]),
        ("points", "one", [(None, (0, 1, 2))]),
    ],
)
def test_what_each_kind_of_judge_is_asked_of_best_of_three(
    kind: Kind, orders: Orders, expected: list[tuple[int | None, tuple[int, ...]]]
) -> None:
    given = iter([Row(1, best_of(3))])
    found = asked(questions(given, RMB, kind, Plan(orders=orders)))
    assert [(each.part, each.order) for each in found] == expected
    shown = {each.part: each.shown for each in found}
    assert shown == ({0: (0, 1), 1: (0, 2)} if kind == "pairs" else {None: (0, 1, 2)})


def test_a_listwise_judge_gets_an_order_and_its_reverse() -> None:
    found = asked(questions(iter([Row(1, best_of(5))]), RMB, "list", Plan(orders="both")))
    assert [each.part for each in found] == [None, None]
    assert found[0].order == found[1].order[::-1]
    assert sorted(found[0].order) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("orders", "benchmark", "each"),
    [("both", "pairs", 2), ("one", "pairs", 1), ("protocol", "pairs", 1)]
    + [("protocol", "judgebench", 2), ("one", "judgebench", 1)],
)
def test_the_protocol_says_in_how_many_orders(orders: Orders, benchmark: str, each: int) -> None:
    found = asked(questions(rows(20), BENCHMARKS[benchmark], "pairs", Plan(orders=orders)))
    assert len(found) == 20 * each


def test_the_one_order_asked_is_the_one_that_scoring_takes() -> None:
    found = asked(questions(rows(60), PAIRS, "pairs", Plan(orders="one", seed=5)))
    sheet = Sheet.of(PAIRS, [each.example for each in found], 5)
    orders = [sheet.placed(item, 0) for item in range(60)]
    assert [each.order for each in found] == [(1, 0) if order else (0, 1) for order in orders]
    assert 15 < sum(orders) < 45


class Heard:
    """Who is told; keeps what was dropped."""

    def __init__(self) -> None:
        self.dropped: list[RowError] = []

    def advance(self, totals: Totals) -> None:
        pass

    def drop(self, error: RowError) -> None:
        self.dropped.append(error)


def manifest() -> Manifest:
    return Manifest(
        program="eval", state="running", config={}, setup={}, seed=0, versions={},
        data=DataFile(path="d", sha256="0", bytes=1),
    )  # fmt: skip


def run(folder: Path, judge: Control, allowance: Allowance, count: int = 10) -> list[Prediction]:
    """What a judge of pairs says in both orders until the allowance is spent."""
    path, heard, plan = folder / "out.jsonl", Heard(), Plan()

    async def put_all() -> None:
        with Output(path, Prediction, measure, manifest(), resume=path.exists()) as output:
            given = questions(rows(count), PAIRS, judge.kind, plan)
            await put(given, PAIRS, judge, plan, output, allowance, progress=heard, concurrency=1)

    asyncio.run(put_all())
    return [Prediction.model_validate_json(line) for line in path.read_text().splitlines()]


def put_one(path: Path, question: Question, judge: Control) -> Prediction:
    """What a judge's reply to one question is written as."""

    async def put_it() -> None:
        given: Iterator[Row[Question] | RowError] = iter([Row(1, question)])
        with Output(path, Prediction, measure, manifest()) as output:
            await put(
                given, RMB, judge, Plan(), output, Allowance(), progress=Heard(), concurrency=1
            )

    asyncio.run(put_it())
    return Prediction.model_validate_json(path.read_text())


def hundred_tokens(asked: Asked) -> Said:
    usage = Usage(prompt_tokens=90, completion_tokens=10)
    return Said(status="ok", winner=1, usage=usage)


SPENDER = Control("spender", "pairs", hundred_tokens)


def test_predictions_speak_of_the_example_whatever_was_shown(tmp_path: Path) -> None:
    found = run(tmp_path, SPENDER, Allowance(), count=1)
    assert [(each.order, each.winner) for each in found] == [((0, 1), 1), ((1, 0), 0)]
    assert len({key_of(each) for each in found}) == 2


def test_tokens_that_are_spent_end_a_run_and_count_those_of_former_runs(tmp_path: Path) -> None:
    allowance = Allowance(tokens=350)
    assert len(run(tmp_path, SPENDER, allowance)) == 4
    assert allowance.spent == "400 of 350 tokens are spent"
    assert len(run(tmp_path, SPENDER, Allowance(tokens=600))) == 6
    assert len(run(tmp_path, SPENDER, Allowance())) == 20


def test_minutes_that_are_over_end_a_run(tmp_path: Path) -> None:
    times = iter(range(0, 10_000, 30))  # every look at the clock is half a minute later
    allowance = Allowance(minutes=2, clock=lambda: float(next(times)))
    assert len(run(tmp_path, SPENDER, allowance)) == 3
    assert allowance.spent == "2.0 of 2 minutes are over"


@pytest.mark.parametrize(
    ("said", "winner", "scores", "ranking"),
    [
        (Said(status="ok", scores=(3.0, 1.0, 2.0)), None, (1.0, 2.0, 3.0), None),
        (Said(status="ok", ranking=((0,), (1, 2))), None, None, ((2,), (0, 1))),
        (Said(status="ok", winner=0), 2, None, None),
    ],
)
def test_a_listing_is_turned_back(
    tmp_path: Path,
    said: Said,
    winner: int | None,
    scores: tuple[float, ...] | None,
    ranking: tuple[tuple[int, ...], ...] | None,
) -> None:
    judge = Control("lister", "list", lambda asked: said)
    question = Question(example=best_of(3), part=None, shown=(0, 1, 2), order=(2, 0, 1))
    found = put_one(tmp_path / "out.jsonl", question, judge)
    assert (found.winner, found.scores, found.ranking) == (winner, scores, ranking)


def test_a_comparison_of_a_part_is_turned_back_to_the_answers_it_is_about(tmp_path: Path) -> None:
    question = Question(example=best_of(3), part=1, shown=(0, 2), order=(1, 0))
    first = Control("first", "pairs", lambda asked: Said(status="ok", winner=0))
    assert put_one(tmp_path / "out.jsonl", question, first).winner == 2


def test_a_reason_without_a_utf8_form_is_written(tmp_path: Path) -> None:
    question = Question(example=best_of(3), part=1, shown=(0, 2), order=(1, 0))
    odd = Control("odd", "pairs", lambda asked: Said(status="error", reason="half \ud800"))
    assert put_one(tmp_path / "out.jsonl", question, odd).reason == "half ?"


def test_a_folder_has_a_sum_that_its_names_and_contents_make(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "a.json").write_text("[]")
    one = describe_source(folder)
    (folder / "in" / "a.json").rename(folder / "in" / "b.json")
    other = describe_source(folder)
    assert one.bytes == other.bytes == 2
    assert one.sha256 != other.sha256
    assert describe_source(folder / "in" / "b.json").sha256 != other.sha256
