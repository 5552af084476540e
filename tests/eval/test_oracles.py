"""Judges whose numbers are known beforehand, on every benchmark whose real data are here."""

from __future__ import annotations

import math
import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from answered import answer, group, load, number

from openreward.eval.benchmark import Benchmark, Example
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.judges import Asked, Control, Said
from openreward.eval.llmbar import as_rewardbench
from openreward.eval.measures import bias
from openreward.eval.reading import At
from openreward.eval.rewardbench import RewardBenchRow
from openreward.eval.run import Plan
from openreward.eval.sheet import Sheet

FOLDERS = {
    "pandalm": "pandalm",
    "rmb": "rmb",
    "rm-bench": "rm-bench",
    "judgebench": "judgebench",
    "llmbar": "llmbar/LLMBar",
    "auto-j": "auto-j",
}
SIZES = {
    "pandalm": 999,
    "rmb": 6246,
    "rm-bench": 357,
    "judgebench": 620,
    "llmbar": 419,
    "auto-j": 1392,
}
TIED = {"pandalm": 105, "auto-j": 373}  # labelled a tie
PLAN = Plan(seed=7)
MOST = 600  # examples a judge is asked about, where no count of the whole file is needed

each_benchmark = pytest.mark.parametrize("name", FOLDERS)


@cache
def examples(name: str, folder: Path) -> list[Example]:
    return load(BENCHMARKS[name], folder / FOLDERS[name])


def some(name: str, folder: Path) -> list[Example]:
    found = examples(name, folder)
    return found[:: max(1, len(found) // MOST)]


def knowing(found: list[Example]) -> Control:
    """A judge that has the key: the answer that is right alone, a tie where none is."""
    keys = {each.id: each.right for each in found}

    def rule(asked: Asked) -> Said:
        key = keys[asked.id.rpartition("/")[0]]
        if not key:
            return Said(status="tie")
        return Said(status="ok", winner=asked.order.index(0 if 0 in key else 1))

    return Control("knows the key", "pairs", rule)


@each_benchmark
def test_real_files_are_read_whole(test_data: Path, name: str) -> None:
    found = examples(name, test_data)
    assert len(found) == SIZES[name]
    assert sum(not each.right for each in found) == TIED.get(name, 0)


@each_benchmark
def test_always_the_first_is_never_right_twice_and_always_flips(test_data: Path, name: str) -> None:
    benchmark = BENCHMARKS[name]
    sheet = answer(benchmark, some(name, test_data), "first", PLAN)
    score, moved = benchmark.score(sheet), bias(sheet)
    assert score.strict is not None
    assert score.strict.value == 0
    assert moved.first_position.value == 1
    assert moved.flip_rate.value == 1
    assert moved.longer_right.value == moved.shorter_right.value == 0.5
    assert sheet.missing(both=True) == 0


@each_benchmark
def test_always_right_gets_everything(test_data: Path, name: str) -> None:
    benchmark, found = BENCHMARKS[name], some(name, test_data)
    sheet = answer(benchmark, found, knowing(found), PLAN)
    score = benchmark.score(sheet)
    assert score.strict is not None
    assert score.headline.value == score.strict.value == 1
    assert {each.score.value for each in score.groups} == {1}
    assert bias(sheet).flip_rate.value == 0


@each_benchmark
def test_always_a_tie_gets_what_ties_are_worth(test_data: Path, name: str) -> None:
    benchmark, found = BENCHMARKS[name], examples(name, test_data)
    found = found if name in TIED else some(name, test_data)
    sheet = answer(benchmark, found, "tie", PLAN)
    score = benchmark.score(sheet)
    assert score.strict is not None
    share = TIED.get(name, 0) / len(found)
    assert score.strict.value == pytest.approx(share)
    assert score.headline.value == pytest.approx(0.25 if name == "rmb" else share)
    assert bias(sheet).flip_rate.n == 0
    assert sheet.statuses == {"tie": 2 * sum(len(benchmark.comparisons(each)) for each in found)}


@each_benchmark
def test_the_longer_answer_wins_where_length_is_right(test_data: Path, name: str) -> None:
    sheet = answer(BENCHMARKS[name], some(name, test_data), "longer", PLAN)
    moved = bias(sheet)
    assert moved.longer_right.value == 1
    assert moved.shorter_right.value == 0
    assert moved.first_position.n == moved.flip_rate.n == 0  # scores see no order


def chance(name: str, sheet: Sheet) -> tuple[float, float]:
    """The expected headline of a coin for each question, and its standard error."""
    items = sheet.items
    if name in ("llmbar", "rm-bench"):  # means of independent coins
        domains = sheet.items.members("domain") if name == "rm-bench" else {"": range(len(sheet))}
        coins = 9 if name == "rm-bench" else 2
        error = math.sqrt(sum(0.25 / (coins * len(d)) for d in domains.values())) / len(domains)
        return 0.5, error
    quadrants = sheet.items.members("quadrant") if name == "rmb" else {"": range(len(sheet))}
    means, squares = [], []
    for of in quadrants.values():
        shares = [_alone(name, len(items.shape(i).comparisons), items.key(i).right) for i in of]
        means.append(sum(shares) / len(of))
        squares.append(sum(p * (1 - p) for p in shares) / len(of) ** 2)
    return sum(means) / len(means), math.sqrt(sum(squares)) / len(means)


def _alone(name: str, losers: int, key: tuple[int, ...]) -> float:
    """The chance of one item."""
    if not key:
        return 0.0  # the coin names no tie
    return 0.25 if name in ("judgebench", "auto-j") else 0.5**losers


@each_benchmark
def test_a_coin_reaches_chance(test_data: Path, name: str) -> None:
    benchmark: Benchmark = BENCHMARKS[name]
    sheet = answer(benchmark, examples(name, test_data), "random", PLAN)
    score, (expected, error) = benchmark.score(sheet), chance(name, sheet)
    assert score.headline.value == pytest.approx(expected, abs=4 * error)
    assert error < 0.03
    assert bias(sheet).flip_rate.value == pytest.approx(0.5, abs=0.1)
    assert bias(sheet).first_position.value == pytest.approx(0.5, abs=0.05)


def test_chance_of_best_of_n_comes_from_the_loser_counts_of_the_file(test_data: Path) -> None:
    benchmark, found = BENCHMARKS["rmb"], examples("rmb", test_data)
    best_of = [each for each in found if each.groups["quadrant"].startswith("BoN")]
    sheet = answer(benchmark, best_of, "first", Plan(orders="one"))
    score = benchmark.score(sheet)
    coins, scores = number(score, "BoN chance, coins"), number(score, "BoN chance, scores")
    assert (coins.n, scores.n) == (1545, 1545)
    assert (round(coins.value or 0, 4), round(scores.value or 0, 4)) == (0.2150, 0.3095)


def test_random_scores_win_best_of_n_by_their_chance(test_data: Path) -> None:
    benchmark, found = BENCHMARKS["rmb"], examples("rmb", test_data)
    best_of = [each for each in found if each.groups["quadrant"] == "BoN Helpfulness"]

    def rule(asked: Asked) -> Said:
        return Said(status="ok", scores=tuple(float(hash_of(text)) for text in asked.responses))

    sheet = answer(benchmark, best_of, Control("by hash", "points", rule), PLAN)
    found_share = group(benchmark.score(sheet), "quadrant", "BoN Helpfulness")
    shares = [1 / len(each.responses) for each in best_of]
    expected = sum(shares) / len(shares)
    error = math.sqrt(sum(p * (1 - p) for p in shares)) / len(shares)
    assert found_share.value == pytest.approx(expected, abs=4 * error)


def hash_of(text: str) -> int:
    """A number that a text alone decides, the same in every run."""
    import hashlib

    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])


@pytest.mark.parametrize(
    ("judge", "headline", "strict", "error"),
    [("first", 0.5, 0, 0.1), ("tie", 0.5, 0, 0), ("random", 0.5, 0.25, 0.1)],
)
def test_llmbars_pairs_in_rewardbenchs_format(
    test_data: Path, judge: str, headline: float, strict: float, error: float
) -> None:
    rows = as_rewardbench(test_data / "llmbar" / "LLMBar")
    found = [row.example(At(1)) for row in rows if isinstance(row, RewardBenchRow)]
    sheet = answer(BENCHMARKS["rewardbench"], found, judge, PLAN)  # 419 of them; 4 errors are 0.1
    score = BENCHMARKS["rewardbench"].score(sheet)
    assert score.strict is not None
    assert score.headline.value == pytest.approx(headline, abs=error)
    assert score.strict.value == pytest.approx(strict, abs=error if strict else 0)
    section = group(score, "section", "Chat Hard").value
    assert section == pytest.approx(score.headline.value)
