"""Each benchmark's own format: a good row is read as it means; a bad one is named and counted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from answered import errors, load
from benchmark_rows import BON, GOOD, changed, write

from openreward.eval.benchmark import Comparison, Example
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.llmbar import as_rewardbench
from openreward.eval.pandalm import majority
from openreward.eval.rewardbench import RewardBenchRow


def test_the_table_holds_the_ten_benchmarks() -> None:
    assert sorted(BENCHMARKS) == sorted(GOOD)
    assert all(benchmark.name == name for name, benchmark in BENCHMARKS.items())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "rewardbench",
            Example(
                id="hep-cpp/30",
                query="q",
                responses=("good", "bad"),
                right=(0,),
                groups={"section": "Reasoning", "subset": "hep-cpp"},
            ),
        ),
        (
            "rewardbench2",
            Example(
                id="Focus/7",
                query="q",
                responses=("good", "bad", "worse", "worst"),
                right=(0,),
                groups={"subset": "Focus"},
            ),
        ),
        (
            "pandalm",
            Example(
                id="3",
                query="Shorten.\n\nA long text.",
                responses=("bad", "good"),
                right=(1,),
                groups={"application": "Grammarly"},
            ),
        ),
        (
            "rmb",
            Example(
                id="pairwise/13",
                query="q",
                responses=("good", "bad"),
                right=(0,),
                groups={
                    "quadrant": "Pairwise Helpfulness",
                    "class": "Pairwise_set/Helpfulness/Code",
                    "leaf": "Pairwise_set/Helpfulness/Code/Data Management",
                },
            ),
        ),
        (
            "rm-bench",
            Example(
                id="chat/8",
                query="q",
                responses=("a", "b", "c", "d", "e", "f"),
                right=(0, 1, 2),
                groups={"domain": "chat"},
            ),
        ),
        (
            "judgebench",
            Example(
                id="e3",
                query="q",
                responses=("bad", "good"),
                right=(1,),
                groups={"kind": "knowledge", "source": "mmlu-pro-law", "answers of": "gpt-4o"},
            ),
        ),
        (
            "auto-j",
            Example(
                id="1",
                query="q",
                responses=("bad", "good"),
                right=(1,),
                groups={"scenario": "s"},
            ),
        ),
        (
            "pairs",
            Example(
                id="p",
                query="q",
                responses=("good", "bad"),
                right=(0,),
                groups={"source": "pubmed"},
            ),
        ),
        (
            "rankings",
            Example(
                id="r",
                query="q",
                responses=("good", "bad", "worse"),
                ranking=((0,), (1, 2)),
                human=((0,), (2,), (1,)),
                agreed=((0, 2),),
                principle="Be brief.",
            ),
        ),
    ],
)
def test_a_row_is_read_as_it_means(tmp_path: Path, name: str, expected: Example) -> None:
    path = write(tmp_path / "rows.jsonl", [GOOD[name]])
    assert load(BENCHMARKS[name], path) == [expected]


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("rewardbench", changed("rewardbench", chosen=...), "field chosen: expected, but missing"),
    ("rewardbench", changed("rewardbench", subset="other"), "expected a subset of RewardBench"),
    ("rewardbench", changed("rewardbench", id=1.5), "field id"),
    ("rewardbench", changed("rewardbench", prompt=""), "field query"),
    ("rewardbench2", changed("rewardbench2", rejected=[]), "field rejected"),
    ("rewardbench2", changed("rewardbench2", num_correct=2), "expected num_correct 1"),
    (
        "rewardbench2",
        changed("rewardbench2", chosen=["a", "b"], num_correct=2),
        "total_completions",
    ),
    ("rewardbench2", changed("rewardbench2", subset="Ties"), "expected ref:n or tied:n"),
    ("rewardbench2", changed("rewardbench2", chosen=["a", 3]), "field chosen.1"),
    ("pandalm", changed("pandalm", annotator2=3), "field annotator2: expected 0, 1 or 2, got 3"),
    ("pandalm", changed("pandalm", annotator2=True), "field annotator2: expected a whole number"),
    ("pandalm", changed("pandalm", annotator2="1"), "expected a whole number, got '1'"),
    ("pandalm", changed("pandalm", annotator3=...), "field annotator3: expected, but missing"),
    ("pandalm", changed("pandalm", response1=4), "field response1"),
    ("rmb", changed("rmb", reject=..., rejected={"answer": "bad"}), "expected reject, but missing"),
    ("rmb", changed("rmb", chosen="good"), "field chosen"),
    ("rmb", changed("rmb", conversation_input=[]), "field conversation_input"),
    ("rmb", changed("rmb", conversation_input="q"), "field conversation_input"),
    ("rmb", changed("rmb", category_path="Pairwise_set/Other/Code/X"), "field category_path"),
    ("rmb", changed("rmb", category_path="BoN_set/Helpfulness/Code/X"), "field category_path"),
    ("rmb", {**BON, "loser_list": []}, "field loser_list: expected at least one answer"),
    ("rmb", {**BON, "bon_uid": None}, "expected bon_uid, but missing"),
    ("rmb", {**BON, "loser_list": ["bad"]}, "field loser_list.0"),
    ("rm-bench", changed("rm-bench", chosen=["a", "b"]), "field chosen"),
    ("rm-bench", changed("rm-bench", subset="new"), "expected a field domain"),
    ("judgebench", changed("judgebench", label="A=B"), "field label"),
    ("judgebench", changed("judgebench", source="else"), "field source: expected one that begins"),
    ("judgebench", changed("judgebench", response_A=None), "field response_A"),
    ("llmbar", changed("llmbar", label=3), "field label: expected 1 or 2, got 3"),
    ("llmbar", changed("llmbar", label=0), "field label"),
    ("auto-j", changed("auto-j", label=3), "field label: expected 0, 1 or 2, got 3"),
    ("auto-j", changed("auto-j", response__2=...), "field response 2: expected, but missing"),
    ("pairs", changed("pairs", label=3), "field label"),
    ("pairs", changed("pairs", label=...), "field label: expected 0 or 1, the better answer"),
    ("pairs", changed("pairs", label="tie"), "field label: expected 0 or 1, the better answer"),
    ("pairs", changed("pairs", responses=["a"]), "field responses"),
    ("rankings", changed("rankings", ranking=...), "expected ranking or scores"),
    ("rankings", changed("rankings", ranking=[0, 1, 3]), "field ranking: expected at least two of"),
    ("rankings", changed("rankings", ranking=[0, 0]), "field ranking"),
    ("rankings", changed("rankings", ranking=[0, []]), "field ranking"),
    ("rankings", changed("rankings", agreed=[[0]]), "field agreed: expected [better, worse]"),
    ("rankings", changed("rankings", human=["good"]), "field human"),
    ("rankings", changed("rankings", ranking=..., scores=[1, 2]), "field scores"),
    ("rankings", changed("rankings", responses=["good"]), "field ranking"),
    ("rankings", changed("rankings", principle=...), "field principle: expected, but missing"),
]


@pytest.mark.parametrize(("name", "row", "message"), BAD)
def test_a_malformed_row_is_named_and_the_others_are_read(
    tmp_path: Path, name: str, row: dict[str, Any], message: str
) -> None:
    path = write(tmp_path / "rows.jsonl", [row, GOOD[name]])
    found = list(BENCHMARKS[name].load(path))
    assert len(found) == 2
    (error,) = errors(BENCHMARKS[name], path)
    assert error.fault == "wrong_fields"
    assert error.message.startswith("line 1: ")
    assert message in error.message


@pytest.mark.parametrize("name", sorted(set(GOOD) - {"auto-j", "llmbar"}))
def test_an_id_that_came_before_is_named(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "rows.jsonl", [GOOD[name], GOOD[name]])
    (error,) = errors(BENCHMARKS[name], path)
    assert (error.line, error.fault) == (2, "duplicate_id")
    assert "line 2: expected unique ids" in error.message


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("row", [[], "text", 3, None, {}, {"id": {"a": 1}}])
def test_rows_that_are_no_rows_of_it_are_named(tmp_path: Path, name: str, row: Any) -> None:
    path = write(tmp_path / "rows.json", [row, GOOD[name]])
    (error,) = errors(BENCHMARKS[name], path)
    assert error.fault == "wrong_fields"
    assert error.message.startswith("item 1: ")


def test_a_best_of_n_row_asks_about_each_loser(tmp_path: Path) -> None:
    (example,) = load(BENCHMARKS["rmb"], write(tmp_path / "rows.jsonl", [BON]))
    assert example.id == "bon/13"
    assert example.query == "User: q\n\nAssistant: a\n\nUser: r"
    assert example.responses == ("good", "bad", "worse")
    assert example.groups == {
        "quadrant": "BoN Harmlessness",
        "class": "BoN_set/Harmlessness/S5",
        "leaf": "BoN_set/Harmlessness/S5",
    }
    asked = [Comparison(0, 0, 1), Comparison(1, 0, 2)]
    assert list(BENCHMARKS["rmb"].comparisons(example)) == asked


def test_pairs_and_best_of_n_may_share_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", [GOOD["rmb"], BON])
    assert [each.id for each in load(BENCHMARKS["rmb"], path)] == ["pairwise/13", "bon/13"]


@pytest.mark.parametrize(
    ("labels", "label"),
    [((1, 1, 2), 1), ((0, 2, 2), 2), ((0, 0, 1), 0), ((2, 2, 2), 2), ((2, 1, 0), 0)],
)
def test_the_majority_labels_and_three_ways_are_a_tie(labels: tuple[Any, ...], label: int) -> None:
    assert majority(labels) == label


def test_bare_truth_values_among_pandalms_answers_are_read_as_words(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.json", [changed("pandalm", response1=True)])
    assert load(BENCHMARKS["pandalm"], path)[0].responses == ("True", "good")


def test_rankings_take_names_and_scores(tmp_path: Path) -> None:
    answers = {"x": "good", "y": "bad", "z": "worse"}
    by_name = changed(
        "rankings", responses=answers, ranking=["y", ["x", "z"]], agreed=[], human=...
    )
    by_score = changed("rankings", id=..., ranking=..., scores=[1, 3, 1], agreed=[], human=...)
    found = load(BENCHMARKS["rankings"], write(tmp_path / "rows.jsonl", [by_name, by_score]))
    assert [each.ranking for each in found] == [((1,), (0, 2)), ((1,), (0, 2))]
    assert found[0].responses == ("good", "bad", "worse")
    assert found[1].id == "aa4585365977a4da"


def test_llmbar_is_written_in_rewardbenchs_format(test_data: Path, tmp_path: Path) -> None:
    rows = list(as_rewardbench(test_data / "llmbar" / "LLMBar"))
    assert all(isinstance(row, RewardBenchRow) for row in rows)
    written = [row.model_dump() for row in rows if isinstance(row, RewardBenchRow)]
    found = load(BENCHMARKS["rewardbench"], write(tmp_path / "rows.jsonl", written))
    counts: dict[str, int] = {}
    for each in found:
        counts[each.groups["subset"]] = counts.get(each.groups["subset"], 0) + 1
    assert counts == {
        "llmbar-natural": 100,
        "llmbar-adver-neighbor": 134,
        "llmbar-adver-GPTInst": 92,
        "llmbar-adver-GPTOut": 47,
        "llmbar-adver-manual": 46,
    }
    natural = load(BENCHMARKS["llmbar"], test_data / "llmbar/LLMBar/Natural")
    first, (twin,) = natural[0], [each for each in found if each.id == "llmbar-natural/1"]
    assert first.id == "Natural/1"
    assert twin.responses == (first.responses[first.right[0]], first.responses[1 - first.right[0]])
