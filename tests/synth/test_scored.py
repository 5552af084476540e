from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import JsonValue

from openreward.errors import UserError
from openreward.records import Row, RowError, check_value
from openreward.synth.scored import ScoreRow, Scores, align, check_used, read_scores, read_tiers


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1, 2.5, None], [1.0, 2.5, None]),
        ({"x": 1, "y": None}, {"x": 1.0, "y": None}),
        ({"scores": {"x": 1}, "best-to-worst": ["x"]}, {"x": 1.0}),
        ({"scores": [1, 2], "raw_output": "..."}, [1.0, 2.0]),
        ({"scores": 3, "other": 1}, {"scores": 3.0, "other": 1.0}),  # an answer of that name
    ],
)
def test_scores_are_a_list_or_by_name_or_within_what_a_judge_returned(
    given: JsonValue, expected: Scores
) -> None:
    read = check_value("line", 1, {"id": 7, "scores": given}, ScoreRow)
    assert isinstance(read, Row)
    assert read.record.scores == expected


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("5", "expected scores as a list or by the answers' names, got '5'"),
        ([True], "expected finite numbers as scores, or null, got True"),
        (["5"], "expected finite numbers as scores, or null, got '5'"),
        ({"x": float("nan")}, "expected finite numbers as scores, or null, got nan"),
        ([float("inf")], "expected finite numbers as scores, or null, got inf"),
        ([1e308], "expected finite numbers as scores, or null, got 1e+308"),  # sums would not be
        ([10**400], "expected finite numbers as scores, or null, got 1000"),
        ([[1]], "expected finite numbers as scores, or null, got [1]"),
    ],
)
def test_what_is_no_score_is_refused(given: JsonValue, message: str) -> None:
    read = check_value("line", 1, {"id": "a", "scores": given}, ScoreRow)
    assert isinstance(read, RowError)
    assert f"line 1: field scores: {message}" in read.message


def test_scores_are_put_in_the_order_of_the_answers() -> None:
    assert align({"y": 1.0, "x": 2.0}, ["x", "y", "z"]) == (2.0, 1.0, None)
    assert align({"1": 1.0}, [0, 1]) == (None, 1.0)
    assert align([3.0, None], ["x", "y"]) == (3.0, None)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([1.0], "expected 2, one for each answer (null: none), got 1"),
        ({"model-9": 1.0}, "expected them of ['x', 'y'], got one of 'model-9'"),
    ],
)
def test_scores_that_do_not_fit_the_answers_are_refused(scores: Scores, message: str) -> None:
    with pytest.raises(ValueError, match="scores: expected") as caught:
        align(scores, ["x", "y"])
    assert message in str(caught.value)


def test_a_ranking_may_hold_equals_and_leave_answers_out() -> None:
    assert read_tiers("ranking", ["z", ["x", "y"]], ["x", "y", "z", "w"]) == ((2,), (0, 1))


@pytest.mark.parametrize("ranking", [["x", "x"], ["v"], [[]], [["x"], ["x", "y"]]])
def test_a_ranking_that_does_not_fit_is_refused(ranking: list[int | str | list[int | str]]) -> None:
    with pytest.raises(ValueError, match=r"ranking: expected answers of \['x', 'y'\]"):
        read_tiers("ranking", ranking, ["x", "y"])


def test_a_file_of_scores_keeps_what_can_be_used_and_says_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    path.write_text(
        '{"id": 1, "scores": [1]}\n{"id": "1", "scores": [2]}\n{"id": 2}\n'
        '{"id": 3, "scores": {"x": 1}}\n'
    )
    found = read_scores(path)
    assert found.scores == {"1": [1.0], "3": {"x": 1.0}}
    assert [(error.line, error.fault) for error in found.errors] == [
        (2, "duplicate_id"),
        (3, "wrong_fields"),
    ]
    assert found.errors[0].message == f"{path}: line 2: expected a new id, got '1' again"


def test_scores_of_no_row_are_told_and_a_file_of_them_is_refused() -> None:
    path = Path("s.jsonl")
    assert check_used(path, {"a": [1.0], "b": [1.0]}, 2) is None
    assert check_used(path, {"a": [1.0], "b": [1.0]}, 1) == "s.jsonl: 1 of 2 ids are of no row"
    assert check_used(path, {}, 0) is None
    with pytest.raises(UserError, match="expected the ids of the rows that were scored, got 'a'"):
        check_used(path, {"a": [1.0]}, 0)
