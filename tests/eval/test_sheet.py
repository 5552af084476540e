"""The sheet: what is taken, what is rejected and why, what is said of each comparison."""

from __future__ import annotations

import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from answered import Plain, example, said, sheet_of

from openreward.eval.benchmark import Example, Prediction
from openreward.eval.cells import MISSING, Outcome, Valued
from openreward.eval.digests import Digests
from openreward.eval.orders import list_orders
from openreward.eval.sheet import Sheet

NAN = float("nan")
THREE = example("x", "a", "b", "c")


@pytest.mark.parametrize(
    ("wrong", "fault", "message"),
    [
        (said("y"), "unknown_id", "expected the id of an example, got 'y'"),
        (said(benchmark="rmb"), "wrong_fields", "expected benchmark plain, got 'rmb'"),
        (said(winner=0, part=7), "wrong_fields", "expected a part of [None], got 7"),
        (said(winner=0, order=[0, 0]), "wrong_fields", "[0, 1] or [1, 0], got [0, 0]"),
        (said(winner=0, order=[0]), "wrong_fields", "[0, 1] or [1, 0], got [0]"),
        (said(winner=2), "wrong_fields", "expected a winner of [0, 1], got 2"),
        (said(winner=-1), "wrong_fields", "expected a winner of [0, 1], got -1"),
        (said(), "wrong_fields", "expected a winner, scores or a ranking with status ok"),
        (said(status="tie", winner=0), "wrong_fields", "with status tie"),
        (said(scores=[1.0]), "wrong_fields", "expected 2 finite scores, got (1.0,)"),
        (said(scores=[1.0, NAN]), "wrong_fields", "expected 2 finite scores, got (1.0, nan)"),
        (said(scores=[1.0, float("inf")]), "wrong_fields", "finite scores"),
        (said(ranking=[[0]]), "wrong_fields", "expected each answer once in a ranking"),
        (said(ranking=[[0, 1], [1]]), "wrong_fields", "expected each answer once"),
        (said(scores=[1.0, 2.0], winner=0), "wrong_fields", "expected winner 0 at the top"),
        (said(winner=0, **{"pass": 64}), "wrong_fields", "expected a pass below 64, got 64"),
        (
            said(winner=0, times={"total": NAN}),
            "wrong_fields",
            "seconds and tokens from 0, got [nan",
        ),
        (said(winner=0, times={"total": -1.0}), "wrong_fields", "seconds and tokens from 0"),
        (said(winner=0, usage={"prompt_tokens": -5}), "wrong_fields", "got [0.0, -5, 0, 0]"),
    ],
)
def test_a_prediction_that_does_not_fit_is_named_and_counted(
    wrong: Prediction, fault: str, message: str
) -> None:
    sheet = sheet_of(example())
    error = sheet.add(wrong, 5)
    assert error is not None
    assert error.fault == fault
    assert message in error.message
    assert error.message.startswith("line 5: ")
    other = sheet_of(example()).add(wrong, 5, "item")
    assert other is not None
    assert other.message.startswith("item 5: ")
    assert sheet.rejected == {fault: 1}
    assert sheet.errors == [error]
    assert sheet.statuses == {}
    assert sheet.said(0, 0) is MISSING


@pytest.mark.parametrize(
    ("one", "again"),
    [
        (said(winner=0), said(winner=1)),
        (said(winner=0), said(status="tie")),
        (said(winner=0), said(scores=[1.0, 2.0])),
        (said(scores=[1.0, 2.0]), said(status="unparsed")),
        (said(ranking=[[1], [0]], order=[1, 0]), said(winner=0, order=[1, 0])),
    ],
)
def test_a_second_answer_to_a_question_is_rejected_and_the_first_one_stands(
    one: Prediction, again: Prediction
) -> None:
    sheet = sheet_of(example())
    assert sheet.add(one) is None
    order = 1 if one.order == (1, 0) else 0
    before = sheet.said(0, 0, order)
    error = sheet.add(again)
    assert error is not None
    assert error.fault == "duplicate_id"
    assert sheet.said(0, 0, order) == before
    assert sheet.rejected == {"duplicate_id": 1}


def test_orders_and_passes_are_different_questions() -> None:
    sheet = sheet_of(example())
    rows = [
        said(winner=0),
        said(winner=1, order=[1, 0]),
        said(status="refused", **{"pass": 1}),
        said(scores=[1.0, 2.0], order=[1, 0], **{"pass": 1}),
    ]
    assert [sheet.add(row) for row in rows] == [None] * 4
    assert sheet.said(0, 0, 0) == Outcome("ok", 0)
    assert sheet.said(0, 0, 1) == Outcome("ok", 1)
    assert sheet.said(0, 0, 0, 1) == Outcome("refused")
    assert sheet.said(0, 0, 1, 1) == Outcome("ok", 1)
    assert sheet.statuses == {"ok": 3, "refused": 1}
    assert sheet.missing(both=True) == 0


@pytest.mark.parametrize("status", ["tie", "unparsed", "refused", "error"])
def test_every_status_comes_back(status: str) -> None:
    pair, list_ = sheet_of(example()), sheet_of(THREE)
    assert pair.add(said(status=status)) is None
    assert list_.add(said(status=status, order=[2, 0, 1])) is None
    assert pair.said(0, 0) == Outcome(status)  # type: ignore[arg-type]
    assert list_.said(0, 0, 0) == Outcome(status)  # type: ignore[arg-type]
    assert list_.said(0, 1, 1) == Outcome(status)  # type: ignore[arg-type]
    assert list_.listings(0) == []


def test_scores_of_each_answer_by_itself_stand_for_both_orders() -> None:
    sheet = sheet_of(THREE)
    assert sheet.add(said(scores=[2.0, 2.0, 1.0], order=[0, 1, 2])) is None
    assert sheet.orderless
    assert [sheet.said(0, 0, 0), sheet.said(0, 0, 1)] == [Outcome("tie")] * 2
    assert [sheet.said(0, 1, 0), sheet.said(0, 1, 1)] == [Outcome("ok", 0)] * 2
    assert sheet.listings(0) == [Valued("scores", (2.0, 2.0, 1.0))]
    assert sheet.missing(both=False) == 0


def test_a_listing_speaks_for_the_order_in_which_it_showed_two_answers() -> None:
    sheet = sheet_of(THREE)
    assert sheet.add(said(ranking=[[1], [0, 2]], order=[1, 0, 2])) is None
    assert not sheet.orderless
    assert sheet.said(0, 0, 1) == Outcome("ok", 1)
    assert sheet.said(0, 0, 0) is MISSING
    assert sheet.said(0, 1, 0) == Outcome("tie")
    assert sheet.said(0, 1, 1) is MISSING
    assert sheet.missing(both=True) == 1
    assert sheet.missing(both=False) == 0
    assert sheet.add(said(ranking=[[0], [1], [2]], order=[2, 0, 1])) is None
    assert sheet.said(0, 0, 0) == Outcome("ok", 0)
    assert sheet.missing(both=True) == 0


def test_the_best_one_alone_beats_the_others_and_says_nothing_of_them() -> None:
    sheet = sheet_of(example("x", "a", "b", "c", right=(1,)))
    assert sheet.add(said(winner=1, order=[0, 1, 2])) is None
    assert sheet.said(0, 0) == Outcome("ok", 1)
    assert sheet.said(0, 1) is MISSING


def test_what_is_missing_is_counted_in_the_orders_that_were_asked() -> None:
    sheet = sheet_of(*(example(f"x{number}") for number in range(3)))
    assert (sheet.missing(both=False), sheet.missing(both=True)) == (3, 6)
    sheet.add(said("x0", winner=0))
    assert (sheet.missing(both=False), sheet.missing(both=True)) == (2, 5)
    assert not sheet.reordered
    sheet.add(said("x1", winner=0, order=[1, 0]))
    assert (sheet.missing(both=False), sheet.missing(both=True)) == (1, 4)
    assert sheet.reordered


def test_a_question_about_all_answers_is_missing_once() -> None:
    sheet = sheet_of(THREE, example("x2", "a", "b", "c"))
    assert sheet.missing(both=False, lists=True) == 2
    assert sheet.missing(both=True, lists=True) == 4


def test_one_order_takes_the_drawn_one_and_the_other_where_that_is_missing() -> None:
    examples = [example(f"x{number}") for number in range(40)]
    sheet = sheet_of(*examples, seed=3)
    placed = [sheet.placed(item, 0) for item in range(40)]
    assert 10 < sum(placed) < 30
    for each in examples:
        sheet.add(said(each.id, winner=0))
        sheet.add(said(each.id, winner=1, order=[1, 0]))
    assert [sheet.one(item, 0).winner for item in range(40)] == placed
    half = sheet_of(*examples, seed=3)
    half.add(said("x0", winner=0))
    assert half.one(0, 0) == Outcome("ok", 0)


def test_one_order_of_a_listing_is_the_drawn_one_for_all_its_comparisons() -> None:
    drawn, reverse = list_orders(True, 3, 0, "x")
    for order in ((drawn, reverse), (reverse, drawn)):
        sheet = sheet_of(THREE)
        for each in order:
            ranking = [[0], [1], [2]] if each == drawn else [[2], [1], [0]]
            assert sheet.add(said(ranking=ranking, order=each)) is None
        assert [sheet.one(0, 0).winner, sheet.one(0, 1).winner] == [0, 0]
        assert sheet.listings(0)[0] == Valued("ranking", (0.0, -1.0, -2.0))


def test_parts_of_an_item_are_answered_one_by_one() -> None:
    sheet = sheet_of(THREE)
    assert sheet.add(said(part=1, winner=2)) is None
    assert sheet.add(said(part=1, scores=[1.0, 0.0], order=[1, 0])) is None
    assert sheet.said(0, 0) is MISSING
    assert sheet.said(0, 1) == Outcome("ok", 2)
    assert sheet.said(0, 1, 1) == Outcome("ok", 0)
    wrong = sheet.add(said(part=0, winner=2))
    assert wrong is not None
    assert "expected a winner of [0, 1], got 2" in wrong.message
    assert sheet.missing(both=True) == 2


def test_an_example_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="expected unique ids, got 'x' twice"):
        sheet_of(example(), example())


@given(st.lists(st.text(max_size=3), max_size=60))
def test_digests_number_ids_as_a_dict_does(ids: list[str]) -> None:
    digests, numbers = Digests(), dict[str, int]()
    for id in ids:
        assert digests.add(id) == (id not in numbers)
        numbers.setdefault(id, len(numbers))
    assert {id: digests.find(id) for id in ids} == numbers
    assert digests.find("none of them") is None


@pytest.mark.parametrize("id", ["", "\0", "\ud800", "x" * 100_000, "東京"])
def test_any_text_is_an_id(id: str) -> None:
    digests = Digests()
    assert digests.add(id)
    assert digests.find(id) == 0


@pytest.mark.slow
def test_a_row_of_predictions_and_an_example_take_at_most_100_bytes_each() -> None:
    count = 10_000

    def examples() -> Iterator[Example]:
        for number in range(count):
            groups = {"section": str(number % 4), "subset": str(number % 23)}
            right = (number % 2,)
            texts = ("a", "bb")
            yield Example(
                id=f"row {number}", query="q", responses=texts, right=right, groups=groups
            )

    tracemalloc.start()
    try:
        sheet = Sheet.of(Plain(), examples())  # type: ignore[arg-type]
        of_examples = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        for number in range(count):
            sheet.add(said(f"row {number}", scores=[1.0, 2.0]))
        of_rows = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    assert of_examples / count < 100
    assert of_rows / count < 100
