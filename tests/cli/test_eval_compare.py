"""`openreward eval compare` and `correlate`, over reports that `openreward eval` wrote."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_eval_runs import ENGINE, evaluate, pandalm_rows, write

JUDGES = '''
"""Judges that know which answer is good, to a degree that their name says."""

import hashlib

from openreward.eval.judges import Control, Said


def degree(share):
    def rule(asked):
        drawn = int(hashlib.sha256(f"{asked.id}".encode()).hexdigest()[:8], 16) % 100
        good = max(range(2), key=lambda place: "good" in asked.responses[place])
        return Said(status="ok", winner=good if drawn < share else 1 - good)
    return Control(f"knows {share}", "pairs", rule)


def half():
    return degree(50)


def most():
    return degree(75)


def all_of_it():
    return degree(100)
'''


def measured(folder: Path, data: Path, benchmark: str, factory: str, out: str) -> None:
    (folder / "judges.py").write_text(JUDGES)
    flags = ("--data", str(data), "-o", out, "--judge", f"judges:{factory}")
    assert evaluate(folder, benchmark, *flags).returncode == 0


def test_two_judges_are_compared_item_by_item(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(20))
    evaluate(tmp_path, "pandalm", "--data", str(data), "-o", "a", *ENGINE, "--name", "right")
    evaluate(tmp_path, "pandalm", "--data", str(data), "-o", "b", *ENGINE, "--baseline", "first")
    run = evaluate(tmp_path, "compare", "a", "b", "--judge", "right", "--judge", "first", "--json")
    assert run.returncode == 2  # a has one judge, b two: each --judge is of one report
    run = evaluate(
        tmp_path, "compare", "b", "--judge", "judge.predictions.jsonl", "--judge",
        "always the first shown", "--json",
    )  # fmt: skip
    assert run.returncode == 0
    made = json.loads(run.stdout)
    strict = made["strict"]
    assert made["answered"] == {"both": 20, "only_a": 0, "only_b": 0, "neither": 0}
    assert (strict["a"]["value"], strict["b"]["value"]) == (1.0, 0.0)
    assert strict["difference"]["value"] == 1.0
    headline = made["headline"]["difference"]
    assert 0.0 < headline["low"] < headline["value"] < headline["high"]
    assert {(item["a"], item["b"]) for item in made["a_better"]} == {(1.0, 0.0)}
    assert made["b_better"] == []
    assert headline["value"] == pytest.approx(len(made["a_better"]) / 20)


def test_reports_of_other_data_are_not_compared(tmp_path: Path) -> None:
    for name, count in (("a", 4), ("b", 5)):
        data = write(tmp_path, pandalm_rows(count))
        evaluate(tmp_path, "pandalm", "--data", str(data), "-o", name, *ENGINE)
    run = evaluate(tmp_path, "compare", "a", "b")
    assert (run.returncode, run.stdout) == (2, "")
    assert "data" in run.stderr


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(4))
    evaluate(tmp_path, "pandalm", "--data", str(data), "-o", "a", *ENGINE, "--baseline", "first")
    before = (tmp_path / "a" / "report.json").read_bytes()
    for words in (("compare", "a"), ("correlate", "a", "--downstream", "a/report.json")):
        run = evaluate(tmp_path, *words, "-o", "a/report.json")
        assert (run.returncode, run.stdout) == (2, "")
        assert "a/report.json: exists already; name another output" in run.stderr
    assert (tmp_path / "a" / "report.json").read_bytes() == before


def test_a_report_of_another_format_is_refused(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(4))
    evaluate(tmp_path, "pandalm", "--data", str(data), "-o", "a", *ENGINE, "--baseline", "first")
    path = tmp_path / "a" / "report.json"
    path.write_text(path.read_text().replace('"format": 1,', '"format": 2,', 1))
    run = evaluate(tmp_path, "compare", "a")
    assert (run.returncode, run.stdout) == (2, "")
    assert "field format: expected 1, got 2" in run.stderr


def rmb_rows(kind: str, count: int) -> list[dict[str, object]]:
    made: list[dict[str, object]] = []
    for number in range(count):
        asked = [{"role": "user", "content": f"question {number}"}]
        best = {"llm_name": "m", "answer": f"a good answer {number}"}
        poor = [{"llm_name": "m", "answer": f"a poor answer {number}, {i}"} for i in range(2)]
        row: dict[str, object] = {"conversation_input": asked}
        goal = "Helpfulness/Chat/Discussion" if number % 2 else "Harmlessness/S5"
        row["category_path"] = f"{kind}_set/{goal}"
        if kind == "Pairwise":
            row |= {"pair_uid": number, "chosen": best, "reject": poor[0]}
        else:
            row |= {"bon_uid": number, "bon_best": best, "loser_list": poor}
        made.append(row)
    return made


def test_accuracy_is_put_beside_the_quality_of_what_judges_select(tmp_path: Path) -> None:
    data = write(tmp_path, rmb_rows("Pairwise", 60) + rmb_rows("BoN", 60))
    for factory in ("half", "most", "all_of_it"):
        measured(tmp_path, data, "rmb", factory, factory)
    quality = tmp_path / "quality.jsonl"
    rows = [("knows 50", 0.1), ("knows 75", 0.5), ("knows 100", 0.9)]
    quality.write_text(
        "".join(json.dumps({"judge": name, "quality": value}) + "\n" for name, value in rows)
    )
    flags = ("correlate", "half", "most", "all_of_it", "--downstream", str(quality), "--json")
    run = evaluate(tmp_path, *flags)
    assert (run.returncode, run.stderr) == (0, "")
    made = json.loads(run.stdout)
    values = {number["name"]: number["value"] for number in made["numbers"]}
    assert len(made["judges"]) == 3
    assert values == {
        "pairwise accuracy and quality": 1.0,
        "BoN accuracy and quality": 1.0,
        "BoN above pairwise": 0.0,
        "helpfulness and harmlessness": 1.0,
    }


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"judge": "knows 50", "quality": 1}\n', "expected at least 3 judges"),
        ('{"judge": "knows 50", "quality": "NaN"}\n', "quality"),
        ('{"judge": "knows 50", "quality": NaN}\n', "expected a finite number, got nan"),
        ('{"judge": "knows 50", "quality": "0.5"}\n', "quality"),
        ('{"judge": "knows 50", "quality": true}\n', "quality"),
    ],
)
def test_a_downstream_file_that_does_not_do_is_refused(
    tmp_path: Path, lines: str, message: str
) -> None:
    data = write(tmp_path, rmb_rows("Pairwise", 4))
    measured(tmp_path, data, "rmb", "half", "half")
    (tmp_path / "quality.jsonl").write_text(lines)
    run = evaluate(tmp_path, "correlate", "half", "--downstream", "quality.jsonl")
    assert run.returncode == 2
    assert message in run.stderr
