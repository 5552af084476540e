"""Others' released outputs, scored here: the numbers they give, to the last printed digit."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from answered import group, load, number

from openreward.eval.benchmark import Benchmark, Example, Prediction, Score
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.released import read_predictions
from openreward.eval.rewardbench import SECTION_OF, SECTIONS
from openreward.eval.rmb import groups_of
from openreward.eval.sheet import Sheet
from openreward.records import Row

GPT = "dataset=judgebench,response_model=gpt-4o-2024-05-13"
CLAUDE = "dataset=judgebench,response_model=claude-3-5-sonnet-20240620"
REWARD_MODEL = "judge_name=reward_model,judge_model"
KINDS = ("knowledge", "reasoning", "math", "coding")
RM_R1 = "rm-r1-scores/RM-R1-Qwen2.5-Instruct-32B"


def scored(name: str, data: Path, predictions: Path) -> Score:
    benchmark: Benchmark = BENCHMARKS[name]
    sheet = Sheet.of(benchmark, load(benchmark, data))
    for row in read_predictions(benchmark, predictions):
        assert isinstance(row, Row)
        assert sheet.add(row.record) is None
    assert sheet.missing(both=sheet.reordered) == 0
    return benchmark.score(sheet)


def percent(value: float | None) -> str:
    assert value is not None
    return f"{100 * value:.2f}"


@pytest.mark.parametrize(
    ("data", "decisions", "printed"),
    [
        (
            GPT,
            f"{GPT},{REWARD_MODEL}=Skywork_Skywork-Reward-Llama-3.1-8B",
            "59.09 64.29 76.79 50.00 62.29",
        ),
        (
            GPT,
            f"{GPT},{REWARD_MODEL}=internlm_internlm2-20b-reward",
            "62.34 69.39 66.07 50.00 63.43",
        ),
        (
            GPT,
            f"{GPT},{REWARD_MODEL}=internlm_internlm2-7b-reward",
            "56.49 61.22 71.43 50.00 59.43",
        ),
        (
            CLAUDE,
            f"{CLAUDE},judge_name=arena_hard,judge_model=claude-3-haiku-20240307",
            "37.66 29.41 32.35 9.68 32.22",
        ),
    ],
    ids=["Skywork-8B", "InternLM2-20B", "InternLM2-7B", "Claude-3-haiku"],
)
def test_judgebench_decisions_give_the_published_table(
    test_data: Path, data: str, decisions: str, printed: str
) -> None:
    folder = test_data / "judgebench"
    score = scored(
        "judgebench", folder / f"{data}.jsonl", folder / "decisions" / f"{decisions}.jsonl"
    )
    found = [group(score, "kind", kind).value for kind in KINDS] + [score.headline.value]
    assert [percent(value) for value in found] == printed.split()


@pytest.mark.parametrize("given", ["pairwise_example_output", "pairwise_exchange_example_output"])
def test_auto_j_outputs_give_the_published_agreement_and_consistency(
    test_data: Path, given: str
) -> None:
    folder = test_data / "auto-j"
    score = scored("auto-j", folder / "testdata_pairwise.jsonl", folder / f"{given}.jsonl")
    found = [percent(score.headline.value), percent(number(score, "consistency").value)]
    assert found == ["54.96", "83.41"]
    assert score.headline.n == 1392


def test_pandalm_7b_results_give_accuracy_and_both_averages(test_data: Path) -> None:
    folder = test_data / "pandalm"
    score = scored("pandalm", folder, folder / "pandalm-7b-testset-v1.json")
    assert percent(score.headline.value) == "66.77"
    assert score.headline.n == 999
    assert [percent(each.value) for each in score.numbers] == [
        *("57.38", "57.50", "57.43"),
        *("66.90", "66.77", "66.82"),
    ]
    assert score.strict is not None
    assert (score.strict.value, score.strict.n) == (None, 0)  # they asked one order


def test_rm_r1_subset_scores_give_its_rewardbench_sections_and_overall(test_data: Path) -> None:
    folder = test_data / RM_R1 / "reward_bench" / "score_result"
    subsets, released = (
        json_of(folder / "each_small_section_score.json"),
        json_of(folder / "main_score.json"),
    )
    sizes = {name: n for of in SECTIONS.values() for name, n in of.items()} | {"math-prm": 447}
    right = {name: whole(subsets[name] * n) for name, n in sizes.items()}
    rows = [
        example(f"{name}/{at}", {"section": SECTION_OF[name], "subset": name})
        for name, n in sizes.items()
        for at in range(n)
    ]
    score = answered("rewardbench", rows, lambda id: number_of(id) < right[id.partition("/")[0]])
    for section in ("Chat", "Chat Hard", "Safety", "Reasoning"):
        value = group(score, "section", section).value
        assert value == pytest.approx(released[section], abs=1e-12)
    assert score.headline.n == 2985
    assert score.headline.value == pytest.approx(0.9136715597375524, abs=1e-12)


def test_rm_r1_leaf_scores_give_its_rmb_quadrants_and_overall(test_data: Path) -> None:
    folder = test_data / RM_R1 / "RMB"
    counts = json_of(test_data / "rm-r1-scores" / "rmb_leaf_counts.json")
    leaves: dict[str, float] = {}
    for part in folder.glob("*_set_*/score_result/Final_score.json"):
        leaves |= json.loads(part.read_text())[1]
    assert leaves.keys() == counts.keys()
    assert len(leaves) == 98
    right = {leaf: whole(value * counts[leaf]) for leaf, value in leaves.items()}
    rows = [
        example(f"{leaf}#{at}", groups_of(leaf, "BoN" if leaf.startswith("BoN") else "Pairwise"))
        for leaf, n in counts.items()
        for at in range(int(n))
    ]
    score = answered("rmb", rows, lambda id: number_of(id) < right[id.partition("#")[0]])
    released = json_of(folder / "META_RESULT.json")
    for quadrant in ("Pairwise Helpfulness", "Pairwise Harmlessness"):
        assert group(score, "quadrant", quadrant).value == pytest.approx(released[quadrant])
    for quadrant, won, n in (("BoN Helpfulness", 1372, 2109), ("BoN Harmlessness", 1111, 1677)):
        found = group(score, "quadrant", quadrant)
        assert (found.value, found.n) == (pytest.approx(won / n), n)
        assert found.value == pytest.approx(released[quadrant])
    assert score.headline.n == 20917
    assert score.headline.value == pytest.approx(0.7301355030914681, abs=1e-12)


def json_of(path: Path) -> Mapping[str, float]:
    found: Mapping[str, float] = json.loads(path.read_text())
    return found


def whole(count: float) -> int:
    """A share times its items, which must come to a number of items."""
    assert count == pytest.approx(round(count), abs=1e-6)
    return round(count)


def number_of(id: str) -> int:
    return int(re.split("[/#]", id)[-1])


def example(id: str, groups: dict[str, str]) -> Example:
    return Example(id=id, query="q", responses=("right", "wrong"), right=(0,), groups=groups)


def answered(name: str, examples: Sequence[Example], right: Callable[[str], bool]) -> Score:
    """The score of a judge of pairs that is right where it is said to be."""
    benchmark = BENCHMARKS[name]
    sheet = Sheet.of(benchmark, examples)
    for each in examples:
        part = benchmark.comparisons(each)[0].part
        winner = 0 if right(each.id) else 1
        said = Prediction(benchmark=name, id=each.id, part=part, status="ok", winner=winner)
        assert sheet.add(said) is None
    return benchmark.score(sheet)
