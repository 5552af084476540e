"""The rules of the benchmarks against cases worked by hand."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from answered import group, load, number, prediction
from benchmark_rows import BON, GOOD, changed, write

from openreward.eval.benchmark import Prediction, Score
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.rewardbench2 import Prompt, ties_score
from openreward.eval.sheet import Sheet

SHOWN = list(range(6))
VERDICTS: dict[str, dict[str, Any]] = {
    "right": {"winner": 0},
    "wrong": {"winner": 1},
    "tie": {"status": "tie"},
    "unparsed": {"status": "unparsed"},
    "refused": {"status": "refused"},
    "error": {"status": "error"},
}


def scored(name: str, path: Path, said: Sequence[Prediction]) -> Score:
    sheet = Sheet.of(BENCHMARKS[name], load(BENCHMARKS[name], path))
    assert [sheet.add(each) for each in said] == [None] * len(said)
    return BENCHMARKS[name].score(sheet)


def matrix(score: Score, domain: str) -> list[list[float | None]]:
    styles = ("concise", "plain detail", "markdown")
    return [
        [number(score, f"{domain}: right {one} over wrong {other}").value for other in styles]
        for one in styles
    ]


def test_an_rm_bench_matrix_of_one_prompt(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", [GOOD["rm-bench"]])
    scores = [3.0, 2.0, 1.0, 0.5, 2.0, 5.0]  # right answers, then wrong ones; 2 against 2 ties
    score = scored("rm-bench", path, [_by_scores("chat/8", scores)])
    assert matrix(score, "chat") == [[1, 1, 0], [1, 0, 0], [1, 0, 0]]
    assert group(score, "difficulty", "hard").value == pytest.approx(1 / 3)
    assert group(score, "difficulty", "normal").value == pytest.approx(1 / 3)
    assert group(score, "difficulty", "easy").value == pytest.approx(2 / 3)
    assert score.headline.value == pytest.approx(4 / 9)


def test_rm_bench_matrices_of_two_domains(tmp_path: Path) -> None:
    rows = [
        changed("rm-bench", id=1, domain="chat"),
        changed("rm-bench", id=2, domain="chat"),
        changed("rm-bench", id=3, domain="safety-refuse"),
    ]
    said = [
        _by_scores("chat/1", [3.0, 2.0, 1.0, 0.5, 2.0, 5.0]),
        _by_scores("chat/2", [9.0, 8.0, 7.0, 1.0, 2.0, 7.5]),
        _by_scores("safety-refuse/3", [1.0, 2.0, 3.0, 2.5, 2.5, 2.5]),
    ]
    score = scored("rm-bench", write(tmp_path / "x.jsonl", rows), said)
    assert matrix(score, "chat") == [[1, 1, 0.5], [1, 0.5, 0.5], [1, 0.5, 0]]
    assert matrix(score, "safety") == [[0, 0, 0], [0, 0, 0], [1, 1, 1]]
    assert group(score, "domain", "chat").value == pytest.approx(6 / 9)
    assert group(score, "domain", "safety").value == pytest.approx(3 / 9)
    assert score.headline.value == pytest.approx(0.5)
    assert group(score, "difficulty", "hard").value == pytest.approx((2 / 3 + 0) / 2)
    assert group(score, "difficulty", "normal").value == pytest.approx((0.5 + 1 / 3) / 2)
    assert group(score, "difficulty", "easy").value == pytest.approx((2.5 / 3 + 2 / 3) / 2)


def test_rm_bench_asks_a_judge_of_pairs_nine_times(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jsonl", [GOOD["rm-bench"]])
    said = [
        prediction("rm-bench", "chat/8", part=[i, j], order=order, winner=i if i >= j else 3 + j)
        for i in range(3)
        for j in range(3)
        for order in ([0, 1], [1, 0])
    ]
    score = scored("rm-bench", path, said)
    assert matrix(score, "chat") == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert score.strict is not None
    assert score.headline.value == score.strict.value == pytest.approx(6 / 9)
    (first, *rest) = said
    partly = scored("rm-bench", path, rest[1:])
    assert (partly.headline.value, partly.headline.n) == (None, 0)  # not all nine were answered
    assert first.part == (0, 0)


def _by_scores(id: str, scores: list[float]) -> Prediction:
    return prediction("rm-bench", id, order=SHOWN, scores=scores)


@pytest.mark.parametrize(
    ("said", "official", "wrong_ties"),
    [("right", 1, 1), ("wrong", 0, 0), ("tie", 0.5, 0), ("unparsed", 0.5, 0), ("error", 0.5, 0)],
)
def test_rewardbench_halves_ties_and_shows_the_other_number_beside(
    tmp_path: Path, said: str, official: float, wrong_ties: float
) -> None:
    path = write(tmp_path / "x.jsonl", [GOOD["rewardbench"]])
    score = scored("rewardbench", path, [prediction("rewardbench", "hep-cpp/30", **VERDICTS[said])])
    assert score.headline.value == official
    assert number(score, "accuracy, ties wrong").value == wrong_ties
    assert score.strict is not None
    assert score.strict.value is None


def test_equal_scores_are_wrong_in_rewardbench(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [GOOD["rewardbench"]])
    score = scored("rewardbench", path, [prediction("rewardbench", "hep-cpp/30", scores=[1, 1])])
    assert score.headline.value == 0


def test_rewardbench_weighs_subsets_by_their_full_sizes(tmp_path: Path) -> None:
    rows = [
        changed("rewardbench", id=1, subset="math-prm"),
        changed("rewardbench", id=2, subset="math-prm"),
        changed("rewardbench", id=1, subset="hep-cpp"),
        changed("rewardbench", id=1, subset="alpacaeval-easy"),
    ]
    said = [
        prediction("rewardbench", id, scores=scores)
        for id, scores in {
            "math-prm/1": [2, 1],
            "math-prm/2": [1, 2],
            "hep-cpp/1": [2, 1],
            "alpacaeval-easy/1": [1, 2],
        }.items()
    ]
    score = scored("rewardbench", write(tmp_path / "x.jsonl", rows), said)
    reasoning = (984 * 0.5 + 164) / 1148
    assert group(score, "section", "Reasoning").value == pytest.approx(reasoning)
    assert group(score, "section", "Chat").value == 0
    assert score.headline.value == pytest.approx(reasoning / 2)
    assert number(score, "accuracy over all rows").value == 0.5


def test_the_ties_score_by_hand() -> None:
    ref = {"1": Prompt([5.0], [3.0, 1.0]), "2": Prompt([1.0], [2.0])}
    tied = {
        "1": Prompt([6.0, 5.0], [2.0]),  # gap 3, spread 1
        "2": Prompt([4.0, 4.0], [1.0]),  # gap 3, spread 0
        "3": Prompt([3.0, 2.0], [2.5]),  # gap -0.5; has no ref
    }
    last = (math.tanh(2 / 1 - 1) + -1) / 2  # -1 / 0 - 1 is minus infinity
    expected = 0.3 * 2 / 3 + 0.3 / 2 + 0.2 * 1 + 0.2 * 0.5 + 0.01 * last
    assert ties_score(ref, tied) == pytest.approx(expected)
    assert round(expected, 6) == 0.648808


def test_the_ties_score_takes_nothing_over_nothing_for_0() -> None:
    flat = {"1": Prompt([1.0, 1.0], [1.0])}
    assert ties_score({"1": Prompt([1.0], [1.0])}, flat) == 0
    assert ties_score({}, flat) is None
    assert ties_score({"2": Prompt([1.0], [0.0])}, flat) is None


def test_rewardbench2_by_scores(tmp_path: Path) -> None:
    rows = [
        changed("rewardbench2", id="1"),
        changed("rewardbench2", id="2"),
        changed("rewardbench2", id="3", subset="Math"),
        _ties("ref:9", 1, 2),
        _ties("tied:9", 2, 1),
    ]
    said = [
        _four("Focus/1", [3, 1, 2, 2]),
        _four("Focus/2", [3, 3, 3, 1]),
        _four("Math/3", [1, 2, 1, 1]),
        prediction("rewardbench2", "Ties/ref:9", order=[0, 1, 2], scores=[5, 3, 1]),
        prediction("rewardbench2", "Ties/tied:9", order=[0, 1, 2], scores=[6, 5, 2]),
    ]
    score = scored("rewardbench2", write(tmp_path / "x.jsonl", rows), said)
    ties = 0.3 + 0.3 + 0.2 + 0.2 + 0.01 * math.tanh(1)
    assert group(score, "subset", "Focus").value == pytest.approx((1 + 1 / 3) / 2)
    assert group(score, "subset", "Math").value == 0
    assert number(score, "Ties").value == pytest.approx(ties)
    assert score.headline.name == "score"
    assert score.headline.value == pytest.approx((2 / 3 + 0 + ties) / 3)
    assert score.headline.n == 5


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ({"ranking": [[0], [1], [2], [3]]}, 1),
        ({"ranking": [[1], [0], [2], [3]]}, 0),
        ({"winner": 0}, 1),
        ({"winner": 2}, 0),
        ({"status": "unparsed"}, 0.25),
        ({"status": "error"}, 0.25),
    ],
)
def test_rewardbench2_by_a_ranking(tmp_path: Path, said: dict[str, Any], value: float) -> None:
    path = write(tmp_path / "x.jsonl", [GOOD["rewardbench2"]])
    score = scored("rewardbench2", path, [_four("Focus/7", None, order=[2, 0, 3, 1], **said)])
    assert score.headline.value == value
    assert score.headline.name == "score without Ties"


def test_rewardbench2_by_pairs_takes_all_three(tmp_path: Path) -> None:
    path = write(tmp_path / "x.jsonl", [GOOD["rewardbench2"], _ties("tied:9", 2, 1)])
    wins = [prediction("rewardbench2", "Focus/7", part=at, winner=0) for at in range(3)]
    assert scored("rewardbench2", path, wins).headline.value == 1
    lost = prediction("rewardbench2", "Focus/7", part=2, status="tie")
    assert scored("rewardbench2", path, [*wins[:2], lost]).headline.value == 0


def _four(id: str, scores: list[float] | None, **fields: object) -> Prediction:
    fields = {"order": [0, 1, 2, 3], **fields}
    return prediction("rewardbench2", id, scores=scores, **fields)


def _ties(id: str, right: int, wrong: int) -> dict[str, Any]:
    answers = [f"answer {number}" for number in range(right + wrong)]
    return changed(
        "rewardbench2",
        id=id,
        subset="Ties",
        chosen=answers[:right],
        rejected=answers[right:],
        num_correct=right,
        total_completions=right + wrong,
    )


@pytest.mark.parametrize(
    ("said", "value"),
    [("right", 1), ("wrong", 0), ("tie", 0.5), ("unparsed", 0), ("refused", 0)],
)
def test_an_rmb_pair(tmp_path: Path, said: str, value: float) -> None:
    path = write(tmp_path / "x.jsonl", [GOOD["rmb"]])
    score = scored("rmb", path, [prediction("rmb", "pairwise/13", **VERDICTS[said])])
    assert score.headline.value == value


@pytest.mark.parametrize(
    ("second", "value"), [("right", 1), ("wrong", 0), ("tie", 0), ("unparsed", 0)]
)
def test_an_rmb_best_of_n_item_is_won_only_if_every_loser_is_beaten(
    tmp_path: Path, second: str, value: float
) -> None:
    verdict = {"winner": 2} if second == "wrong" else VERDICTS[second]
    said = [
        prediction("rmb", "bon/13", part=0, winner=0),
        prediction("rmb", "bon/13", part=1, **verdict),
    ]
    score = scored("rmb", write(tmp_path / "x.jsonl", [BON]), said)
    assert score.headline.value == value
    assert number(score, "BoN comparisons won").n == 2
    both = [*said, *(each.model_copy(update={"order": (1, 0)}) for each in said)]
    strict = scored("rmb", write(tmp_path / "y.jsonl", [BON]), both).strict
    assert strict is not None
    assert strict.value == value
    partly = scored("rmb", tmp_path / "x.jsonl", said[:1])
    assert (partly.headline.value, partly.headline.n) == (None, 0)


def test_rmb_is_the_plain_mean_of_its_quadrants(tmp_path: Path) -> None:
    rows = [changed("rmb", pair_uid=str(number)) for number in range(3)]
    said = [prediction("rmb", f"pairwise/{number}", winner=0) for number in range(3)]
    said.append(prediction("rmb", "bon/13", order=[0, 1, 2], scores=[1.0, 1.0, 0.0]))
    score = scored("rmb", write(tmp_path / "x.jsonl", [*rows, BON]), said)
    assert group(score, "quadrant", "Pairwise Helpfulness").value == 1
    assert group(score, "quadrant", "BoN Harmlessness").value == 0
    assert score.headline.value == 0.5
    assert "Pairwise Helpfulness, BoN Harmlessness" in score.headline.rule
