"""Files of predictions: ours, and other people's, broken rows among them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from answered import prediction
from benchmark_rows import write

from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.released import read_predictions
from openreward.records import Row, RowError

Said = tuple[str, tuple[int, ...], str, int | None]


def read(name: str, path: Path) -> tuple[list[Said], list[RowError]]:
    rows = list(read_predictions(BENCHMARKS[name], path))
    said = [row.record for row in rows if isinstance(row, Row)]
    wrong = [row for row in rows if isinstance(row, RowError)]
    return [(each.id, each.order, each.status, each.winner) for each in said], wrong


def test_our_own_predictions_come_back(tmp_path: Path) -> None:
    rows = [
        prediction("rmb", "bon/1", part=2, order=[1, 0], winner=0, **{"pass": 3}),
        prediction("rmb", "bon/2", order=[2, 0, 1], ranking=[[1], [0, 2]]),
        prediction("rmb", "bon/3", order=[0, 1], scores=[1.5, -2.0]),
        prediction("rm-bench", "chat/1", part=[1, 2], status="refused", reason="a filter"),
    ]
    path = tmp_path / "own.jsonl"
    path.write_text("".join(f"{row.model_dump_json()}\n" for row in rows))
    found = list(read_predictions(BENCHMARKS["rmb"], path))
    assert [row.record for row in found if isinstance(row, Row)] == rows
    assert json.loads(path.read_text().splitlines()[0])["pass"] == 3


def test_broken_rows_of_our_own_are_named(tmp_path: Path) -> None:
    good = {"benchmark": "rmb", "id": "x", "status": "ok", "winner": 0}
    rows = [{**good, "status": "won"}, {**good, "winer": 1}, {**good, "part": "x"}, good, 3]
    said, wrong = read("rmb", write(tmp_path / "x.jsonl", rows))
    assert said == [("x", (0, 1), "ok", 0)]
    assert [error.line for error in wrong] == [1, 2, 3, 5]
    assert "field winer: no such field" in wrong[1].message


@pytest.mark.parametrize(
    "odd",
    [
        {"winner": True},
        {"winner": "1"},
        {"winner": 1.0},
        {"scores": ["1", "2"]},
        {"scores": [True, False]},
        {"ranking": [["0"], [True]]},
        {"winner": 0, "order": [False, True]},
        {"winner": 0, "pass": "0"},
        {"winner": 0, "part": "1"},
        {"winner": 0, "part": True},
        {"winner": 0, "part": [0, True]},
    ],
)
def test_a_text_or_a_truth_value_is_no_number(tmp_path: Path, odd: dict[str, object]) -> None:
    row = {"benchmark": "rmb", "id": "x", "status": "ok", **odd}
    said, (wrong,) = read("rmb", write(tmp_path / "x.jsonl", [row]))
    assert (said, wrong.fault) == ([], "wrong_fields")
    assert f"field {[*odd][-1]}" in wrong.message


def test_judgebenchs_second_decision_is_turned_back(tmp_path: Path) -> None:
    rows = [
        {"pair_id": "a", "label": "A>B", "decisions": ["A>B", "A>B"]},
        {"pair_id": "b", "label": "A>B", "decisions": ["A=B", None]},
        {"pair_id": "c", "label": "A>B", "decisions": ["hm"]},
        {"pair_id": "d", "label": "A>B", "decisions": []},
        {"pair_id": "e", "label": "A>B", "decisions": [3, "A>B"]},
    ]
    said, wrong = read("judgebench", write(tmp_path / "x.jsonl", rows))
    assert said == [
        ("a", (0, 1), "ok", 0),
        ("a", (1, 0), "ok", 1),
        ("b", (0, 1), "tie", None),
        ("b", (1, 0), "unparsed", None),
        ("c", (0, 1), "unparsed", None),
    ]
    assert [error.line for error in wrong] == [4, 5]


def test_pandalms_results(tmp_path: Path) -> None:
    rows = [{"idx": at, "pandalm_result": result} for at, result in enumerate([0, 1, 2, 3, "1"])]
    said, wrong = read("pandalm", write(tmp_path / "x.json", rows))
    assert said == [("0", (0, 1), "tie", None), ("1", (0, 1), "ok", 0), ("2", (0, 1), "ok", 1)]
    assert [error.line for error in wrong] == [4, 5]
    assert "expected 0, 1 or 2, got 3" in wrong[0].message


@pytest.mark.parametrize("given", ["pairwise_x.jsonl", "pairwise_exchange_x.jsonl"])
def test_auto_js_two_files_are_read_together(tmp_path: Path, given: str) -> None:
    write(tmp_path / "pairwise_x.jsonl", [{"output": 0}, {"output": 2}])
    write(tmp_path / "pairwise_exchange_x.jsonl", [{"output": 0}, {"output": 1}])
    said, wrong = read("auto-j", tmp_path / given)
    assert wrong == []
    assert said == [
        ("1", (0, 1), "ok", 0),
        ("2", (0, 1), "tie", None),
        ("1", (1, 0), "ok", 1),
        ("2", (1, 0), "ok", 0),
    ]


@pytest.mark.parametrize(
    ("name", "order", "winner"),
    [
        ("mine.jsonl", (0, 1), 1),
        ("pairwise_mine.jsonl", (0, 1), 1),
        ("pairwise_exchange_mine.jsonl", (1, 0), 0),
    ],
)
def test_one_of_auto_js_files_may_be_alone(
    tmp_path: Path, name: str, order: tuple[int, int], winner: int
) -> None:
    said, wrong = read("auto-j", write(tmp_path / name, [{"output": 1}, {"output": 5}]))
    assert said == [("1", order, "ok", winner)]
    assert [error.line for error in wrong] == [2]


def test_others_predictions_are_theirs_only_for_their_benchmark(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [{"output": 1}])
    said, (error,) = read("pandalm", path)
    assert said == []
    assert "field benchmark: expected, but missing" in error.message


def test_an_empty_file_holds_no_predictions(tmp_path: Path) -> None:
    assert read("rmb", write(tmp_path / "x.jsonl", [])) == ([], [])
