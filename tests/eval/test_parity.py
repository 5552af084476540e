"""Others' released outputs, scored here: the numbers they give, to the last printed digit."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from answered import group, load, number

from openreward.eval.benchmark import Benchmark, Score
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.released import read_predictions, read_scores
from openreward.eval.rewardbench import overall, section_means
from openreward.eval.rmb import quadrants_of
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
    assert sheet.missing(both=benchmark.protocol == "both") == 0
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
    sections = section_means(read_scores(folder / "each_small_section_score.json"))
    released = read_scores(folder / "main_score.json")
    assert sections == pytest.approx({name: released[name] for name in sections}, abs=1e-14)
    assert [*sections] == ["Chat", "Chat Hard", "Safety", "Reasoning"]
    assert overall(sections) == pytest.approx(0.9136715597375524, abs=1e-14)


def test_rm_r1_leaf_scores_give_its_rmb_quadrants_and_overall(test_data: Path) -> None:
    folder = test_data / RM_R1 / "RMB"
    counts: Mapping[str, int] = json.loads(
        (test_data / "rm-r1-scores" / "rmb_leaf_counts.json").read_text()
    )
    leaves = {
        leaf: score
        for part in folder.glob("*_set_*/score_result/Final_score.json")
        for leaf, score in read_scores(part).items()
        if "/" in leaf and leaf.split("_set/")[0] in ("Pairwise", "BoN")
    }
    assert leaves.keys() == counts.keys()
    assert len(leaves) == 98
    quadrants = quadrants_of(leaves, counts)
    released = read_scores(folder / "META_RESULT.json")
    assert quadrants == pytest.approx({name: released[name] for name in quadrants}, abs=1e-12)
    assert round(quadrants["BoN Helpfulness"] * 2109, 6) == 1372
    assert round(quadrants["BoN Harmlessness"] * 1677, 6) == 1111
    assert f"{sum(quadrants.values()) / 4:.4f}" == "0.7301"
