"""The rules that take both orders, and those of rankings, against cases worked by hand."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from answered import group, load, number, prediction
from benchmark_rows import GOOD, changed, write

from openreward.eval.benchmark import Score
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.measures import bias
from openreward.eval.sheet import Sheet

BOTH = ([0, 1], [1, 0])


def scored(name: str, path: Path, id: str, *said: dict[str, Any]) -> Score:
    return BENCHMARKS[name].score(sheet(name, path, id, *said))


def sheet(name: str, path: Path, id: str, *said: dict[str, Any]) -> Sheet:
    found = Sheet.of(BENCHMARKS[name], load(BENCHMARKS[name], path))
    for order, fields in zip(BOTH, said, strict=False):
        assert found.add(prediction(name, id, **{"order": order, **fields})) is None
    return found


RIGHT, WRONG, TIE, NONE = {"winner": 1}, {"winner": 0}, {"status": "tie"}, {"status": "unparsed"}


@pytest.mark.parametrize(
    ("one", "other", "game", "strict", "mean", "same"),
    [
        (RIGHT, RIGHT, 1, 1, 1, 1),
        (RIGHT, WRONG, 0, 0, 0.5, 0),
        (RIGHT, TIE, 1, 0, 0.5, 0),
        (RIGHT, NONE, 1, 0, 0.5, 0),
        (WRONG, TIE, 0, 0, 0, 0),
        (WRONG, WRONG, 0, 0, 0, 1),
        (TIE, TIE, 0, 0, 0, 1),
        (NONE, NONE, 0, 0, 0, 0),
    ],
)
def test_two_orders_of_judgebench_and_llmbar(
    tmp_path: Path,
    one: dict[str, Any],
    other: dict[str, Any],
    game: float,
    strict: float,
    mean: float,
    same: float,
) -> None:
    path = write(tmp_path / "x.jsonl", [GOOD["judgebench"]])
    score = scored("judgebench", path, "e3", one, other)
    assert (score.headline.value, score.strict and score.strict.value) == (game, strict)
    path = write(tmp_path / "Natural/dataset.json", [GOOD["llmbar"]])
    score = scored("llmbar", path, "Natural/1", one, other)
    assert (score.headline.value, score.strict and score.strict.value) == (mean, strict)
    assert number(score, "same verdict").value == same


def test_a_pair_that_was_asked_in_one_order_is_left_out_of_both(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [GOOD["judgebench"], changed("judgebench", pair_id="e4")])
    score = scored("judgebench", path, "e3", RIGHT)
    assert (score.headline.value, score.headline.n) == (None, 0)


def test_a_labelled_tie_is_right_as_a_tie_alone(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [changed("auto-j", label=2)])
    assert scored("auto-j", path, "1", TIE, TIE).headline.value == 1
    assert scored("auto-j", path, "1", TIE, RIGHT).headline.value == 0
    assert scored("auto-j", path, "1", NONE, NONE).headline.value == 0


def test_flips_places_and_lengths_by_hand(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [GOOD["judgebench"]])  # the right answer is the longer
    moved = bias(sheet("judgebench", path, "e3", RIGHT, WRONG))
    assert (moved.flip_rate.value, moved.first_position.value) == (1, 0)
    assert (moved.longer_right.value, moved.longer_right.n) == (0.5, 2)
    assert (moved.shorter_right.value, moved.shorter_right.n) == (None, 0)
    moved = bias(sheet("judgebench", path, "e3", RIGHT, TIE))
    assert (moved.flip_rate.value, moved.flip_rate.n) == (None, 0)
    assert (moved.first_position.value, moved.first_position.n) == (0, 1)


def test_a_pair_of_pandalm_that_nobody_decides_is_wrong_and_of_no_class(tmp_path: Path) -> None:
    rows = [changed("pandalm", idx=1), changed("pandalm", idx=2)]
    found = Sheet.of(
        BENCHMARKS["pandalm"], load(BENCHMARKS["pandalm"], write(tmp_path / "x.json", rows))
    )
    found.add(prediction("pandalm", "1", winner=1))
    found.add(prediction("pandalm", "2", status="unparsed"))
    score = BENCHMARKS["pandalm"].score(found)
    assert (score.headline.value, score.headline.n) == (0.5, 2)
    assert number(score, "macro precision").value == pytest.approx(1 / 3)
    assert number(score, "macro recall").value == pytest.approx(0.5 / 3)
    assert number(score, "weighted precision").value == 1
    assert number(score, "weighted recall").value == 0.5


def test_pairs_are_averaged_over_their_sources(tmp_path: Path) -> None:
    rows = [changed("pairs", id=str(at), source="arxiv") for at in range(3)]
    rows.append(changed("pairs", id="3", source=...))
    found = Sheet.of(
        BENCHMARKS["pairs"], load(BENCHMARKS["pairs"], write(tmp_path / "x.jsonl", rows))
    )
    for at in range(4):
        found.add(prediction("pairs", str(at), winner=0 if at < 3 else 1))
    score = BENCHMARKS["pairs"].score(found)
    assert group(score, "source", "arxiv").value == 1
    assert group(score, "source", "none").value == 0
    assert score.headline.value == 0.5
    assert number(score, "accuracy over all rows").value == 0.75


REFERENCE = changed("rankings", ranking=[0, 1, 2], agreed=[[0, 2], [0, 1]], human=[1, 0, 2])


def test_a_ranking_against_its_reference_and_against_people(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [REFERENCE])
    score = scored("rankings", path, "r", {"order": [0, 1, 2], "ranking": [[1], [0], [2]]})
    ndcg = (1 + 2 / math.log2(3)) / (2 + 1 / math.log2(3))
    assert score.headline.value == pytest.approx(2 / 3)
    assert score.headline.n == 3
    assert number(score, "accuracy, agreed pairs").value == 0.5
    assert number(score, "Kendall tau-b").value == pytest.approx(1 / 3)
    assert number(score, "NDCG").value == pytest.approx(ndcg)
    assert number(score, "people: accuracy").value == 1
    assert number(score, "people: Kendall tau-b").value == 1
    assert number(score, "people: NDCG").value == 1
    assert number(score, "variance of scores").value is None


def test_scores_for_all_alike_order_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [REFERENCE])
    score = scored("rankings", path, "r", {"order": [0, 1, 2], "scores": [2, 2, 2]})
    assert score.headline.value == 0
    assert number(score, "Kendall tau-b").value == 0
    assert number(score, "variance of scores").value == 0


def test_numbers_that_are_all_alike_are_still_uncertain(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [REFERENCE])
    alike = scored("rankings", path, "r", {"order": [0, 1, 2], "scores": [2, 2, 2]})
    tau, variance = number(alike, "Kendall tau-b"), number(alike, "variance of scores")
    assert tau.low == pytest.approx(-0.8907, abs=1e-4)  # Wilson's of half of 1, over [-1, 1]
    assert tau.high == pytest.approx(0.8907, abs=1e-4)
    assert (variance.low, variance.high, variance.share) == (None, None, False)
    right = scored("rankings", path, "r", {"order": [0, 1, 2], "scores": [3, 2, 1]})
    assert number(right, "Kendall tau-b").low == pytest.approx(-0.5869, abs=1e-4)
    assert number(right, "Kendall tau-b").high == 1


def test_a_reference_may_leave_answers_out(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [changed("rankings", ranking=[2, 0])])
    score = scored("rankings", path, "r", {"order": [0, 1, 2], "scores": [1, 9, 2]})
    assert (score.headline.value, score.headline.n) == (1, 1)
    assert number(score, "Kendall tau-b").value == 1


def test_a_judge_of_pairs_ranks_by_its_wins(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [REFERENCE])
    found = sheet("rankings", path, "r")
    for part, said in (([0, 1], {"winner": 0}), ([0, 2], {"winner": 0}), ([1, 2], TIE)):
        for order in BOTH:
            fields = {"part": part, "order": order, **said}
            assert found.add(prediction("rankings", "r", **fields)) is None
    score = BENCHMARKS["rankings"].score(found)
    assert score.headline.value == pytest.approx(2 / 3)
    assert score.strict is not None
    assert score.strict.value == pytest.approx(2 / 3)
    assert number(score, "Kendall tau-b").value == pytest.approx(2 / math.sqrt(6))  # wins 2, .5, .5
