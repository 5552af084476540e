"""`openreward eval` as people run it: processes, a scripted engine, files of a benchmark's form."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from judge_runs import PLUGIN

from openreward.eval.benchmark import Prediction
from openreward.eval.report import JudgeReport, Report
from openreward.records import Row, read_jsonl

ENGINE = ("--policy", "plugin:policy", "--no-tools")


def pandalm_rows(count: int) -> list[dict[str, object]]:
    """The better answer is the first in rows of even number; all annotators agree."""
    made: list[dict[str, object]] = []
    for number in range(count):
        answers = [f"a good answer {number}", f"a poor answer {number}"]
        first, second = answers if number % 2 == 0 else answers[::-1]
        label = 1 + number % 2
        texts = {"instruction": f"question {number}", "input": "", "motivation_app": "none"}
        made.append(
            {
                "idx": number,
                "cmp_key": "a_b",
                **texts,
                "response1": first,
                "response2": second,
                **{f"annotator{each}": label for each in (1, 2, 3)},
            }
        )
    return made


def write(folder: Path, rows: Sequence[object]) -> Path:
    (folder / "plugin.py").write_text(PLUGIN)
    path = folder / "data.json"
    path.write_text(json.dumps(rows))
    return path


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "openreward.cli.main", "eval", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def evaluate(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    with start(folder, *arguments, **environment) as process:
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def report(folder: Path) -> Report:
    return Report.model_validate_json((folder / "out" / "report.json").read_text())


def predictions(path: Path) -> list[Prediction]:
    rows = list(read_jsonl(path, Prediction))
    assert all(isinstance(row, Row) for row in rows)
    return [row.record for row in rows if isinstance(row, Row)]


def keys(path: Path) -> list[tuple[object, ...]]:
    return sorted((said.id, str(said.part), said.order) for said in predictions(path))


def numbers(judge: JudgeReport) -> tuple[float | None, float | None, float | None]:
    strict = judge.score.strict
    return judge.score.headline.value, strict and strict.value, judge.bias.flip_rate.value


def test_a_judge_and_its_baselines_stand_in_one_report(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(10))
    controls = ("--baseline", "first", "--baseline", "tie", "--baseline", "longer")
    run = evaluate(tmp_path, "pandalm", "--data", str(data), "-o", "out", *ENGINE, *controls)
    assert (run.returncode, run.stderr) == (0, "")
    made = report(tmp_path)
    assert [judge.name for judge in made.judges] == [
        "scripted, no tools",
        "always the first shown",
        "always a tie",
        "the longer answer",
    ]
    right, first, tie, _ = made.judges
    assert numbers(right) == (1.0, 1.0, 0.0)
    assert numbers(first)[1:] == (0.0, 1.0)
    assert (tie.score.headline.value, tie.statuses) == (0.0, {"tie": 20})
    assert made.partial == ""
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {
        "report.html",
        "report.md",
        "judge.predictions.jsonl",
        "first.predictions.jsonl",
    }
    assert "always the first shown" in run.stdout


def test_a_limit_takes_a_sample_that_the_seed_draws_and_a_larger_one_holds(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(40))

    def ids(limit: int, seed: int) -> set[str]:
        out = f"out-{limit}-{seed}"
        flags = ("--limit", str(limit), "--seed", str(seed), "--orders", "one")
        run = evaluate(tmp_path, "pandalm", "--data", str(data), "-o", out, *ENGINE, *flags)
        assert run.returncode == 0
        said = predictions(tmp_path / out / "judge.predictions.jsonl")
        assert len(said) == limit  # one order each
        return {each.id for each in said}

    small, large, other = ids(5, 0), ids(12, 0), ids(5, 1)
    assert small < large
    assert small != other


def test_rows_that_cannot_be_used_are_named_and_counted(tmp_path: Path) -> None:
    rows = pandalm_rows(6)
    rows[1]["annotator1"] = 3
    del rows[2]["response2"]
    rows[3]["idx"] = 0
    data = write(tmp_path, rows)
    run = evaluate(tmp_path, "pandalm", "--data", str(data), "-o", "out", *ENGINE)
    assert run.returncode == 4
    made = report(tmp_path)
    assert (made.examples, made.left_out) == (3, {"wrong_fields": 2, "duplicate_id": 1})
    assert made.judges[0].score.headline.n == 3
    for place in ("item 2", "item 3", "item 4"):
        assert place in run.stderr


def test_a_killed_run_goes_on_and_asks_each_question_once(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(40))
    flags = ("pandalm", "--data", str(data), "-o", "out", *ENGINE, "--concurrency", "2")
    output = tmp_path / "out" / "judge.predictions.jsonl"
    with start(tmp_path, *flags, DELAY="0.05") as process:
        while not output.is_file() or output.stat().st_size < 4000:
            assert process.poll() is None, "it ended before it could be killed"
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    with output.open("a") as file:
        file.write('{"torn')
    again = evaluate(tmp_path, *flags)
    assert again.returncode == 2
    assert "continue it with --resume" in again.stderr
    done = evaluate(tmp_path, *flags, "--resume")
    assert done.returncode == 0
    found = keys(output)
    assert len(found) == len(set(found)) == 80
    other = evaluate(tmp_path, *flags, "--resume", "--answer-tokens", "50")
    assert other.returncode == 2
    assert "config.judge.answer_tokens: 700 then, 50 now" in other.stderr


def test_workers_do_not_change_what_is_said(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(12))

    def said(workers: str) -> list[str]:
        flags = ("-o", f"out-{workers}", *ENGINE, "--concurrency", workers)
        assert evaluate(tmp_path, "pandalm", "--data", str(data), *flags).returncode == 0
        found = predictions(tmp_path / f"out-{workers}" / "judge.predictions.jsonl")
        timeless = {"times": {"total": 0, "policy": 0, "tools": 0}}
        plain = [each.model_dump(mode="json") | timeless for each in found]
        for each in plain:
            each["trajectory"]["times"] = timeless["times"]
        return sorted(json.dumps(each, sort_keys=True) for each in plain)

    assert said("1") == said("8")


def test_what_may_be_spent_ends_a_run_with_a_report_that_says_so(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(20))
    flags = ("pandalm", "--data", str(data), "-o", "out", *ENGINE, "--concurrency", "1")
    run = evaluate(tmp_path, *flags, "--max-tokens", "800")
    assert run.returncode == 4
    made = report(tmp_path)
    answered = len(predictions(tmp_path / "out" / "judge.predictions.jsonl"))
    assert 0 < answered < 40
    assert made.judges[0].missing == 40 - answered
    assert made.partial.startswith(f"{40 - answered} questions have no answer: ")
    assert "of 800 tokens are spent" in made.partial
    assert "PARTIAL" in run.stdout
    whole = evaluate(tmp_path, *flags, "--resume")
    assert (whole.returncode, report(tmp_path).partial) == (0, "")


def test_saved_predictions_give_the_same_numbers_without_a_model(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(10))
    evaluate(tmp_path, "pandalm", "--data", str(data), "-o", "out", *ENGINE)
    asked = report(tmp_path).judges[0]
    saved = str(tmp_path / "out" / "judge.predictions.jsonl")
    flags = ("-o", "out", "--predictions", saved, "--name", "saved", "--resume")
    assert evaluate(tmp_path, "pandalm", "--data", str(data), *flags).returncode == 0
    again = report(tmp_path).judges[0]
    assert (again.name, again.score, again.bias) == ("saved", asked.score, asked.bias)


def test_a_principle_reaches_the_judge_from_a_file(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(1))
    (tmp_path / "principle.txt").write_text("Prefer the kinder answer.\n")
    flags = ("-o", "out", *ENGINE, "--principle", "principle.txt")
    assert evaluate(tmp_path, "pandalm", "--data", str(data), *flags).returncode == 0
    assert report(tmp_path).plan.principle == "Prefer the kinder answer."
    said = predictions(tmp_path / "out" / "judge.predictions.jsonl")[0]
    assert said.trajectory is not None
    assert "Prefer the kinder answer." in said.trajectory.prompt[1].content


def test_for_machines_there_is_one_object(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(2))
    run = evaluate(tmp_path, "pandalm", "--data", str(data), "-o", "out", *ENGINE, "--json")
    assert Report.model_validate_json(run.stdout) == report(tmp_path)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--predictions", "none.jsonl"), "expected a file of predictions"),
        (("--baseline", "luck"), "one of no-tools, first, tie, random, longer"),
        (("--predictions", "plugin.py", "--scalar", "m"), "expected one judge, got --predictions"),
        (("--judge", "plugin"), "--judge: expected MODULE:FACTORY, got 'plugin'"),
        (("--judge", "plugin:NoPolicy"), "without name, kind, reply"),
        (("--data", "nowhere.json"), "nowhere.json"),
    ],
)
def test_what_does_not_fit_is_said_before_anything_is_asked(
    tmp_path: Path, flags: tuple[str, ...], message: str
) -> None:
    data = write(tmp_path, pandalm_rows(2))
    run = evaluate(tmp_path, "pandalm", "--data", str(data), "-o", "out", *ENGINE, *flags)
    assert (run.returncode, run.stdout) == (2, "")
    assert message in run.stderr
    assert not list(tmp_path.glob("out/*.jsonl"))
