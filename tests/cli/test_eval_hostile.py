"""`openreward eval` with odd names and files: nothing acts, nothing breaks, each row told once."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from test_eval_runs import ENGINE, evaluate, pandalm_rows, predictions, report, start, write

ODD = "\x1b[2J\u202e<script>window.hit=1</script> | `x` [y](javascript:1)"
NOT_UTF8 = os.fsdecode(b"name \xff")  # as the command line gives it: half a surrogate pair


FIRST = """
from openreward.eval.judges import CONTROLS


def judge():
    return CONTROLS["first"]
"""


BREAKS = """
import os

from openreward.eval.judges import Said


class Judge:
    name, kind = "mine", "pairs"

    async def reply(self, asked):
        if asked.id == "2" and "MENDED" not in os.environ:
            raise ValueError("no such page")
        return Said(status="tie")
"""


def flags(data: Path, *more: str) -> tuple[str, ...]:
    return ("pandalm", "--data", str(data), "-o", "out", *ENGINE, *more)


def test_odd_names_and_groups_are_inert_everywhere(tmp_path: Path) -> None:
    rows = pandalm_rows(4)
    for row in rows:
        row["motivation_app"] = f"{ODD} {row['idx']}"
    data = write(tmp_path, rows)
    run = evaluate(tmp_path, *flags(data, "--name", ODD, "--principle", ODD))
    assert run.returncode == 0
    for text in (run.stdout, *(path.read_text() for path in (tmp_path / "out").glob("report.*"))):
        assert "\x1b" not in text
    for name in ("report.html", "report.md"):
        text = (tmp_path / "out" / name).read_text()
        assert not re.search(r"(?<!\\)<script", text)
        assert "\u202e" not in text
        assert "\\x1b[2J" in text.replace("\\[", "[")
    assert report(tmp_path).judges[0].name == ODD


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
def test_data_that_is_a_device_or_a_pipe_is_refused_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "zero.json").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe.json")
    for name in ("zero.json", "pipe.json"):
        run = evaluate(tmp_path, *flags(tmp_path / name))
        assert (run.returncode, run.stdout) == (2, "")
        assert f"{name}: expected a file, got a device or a pipe" in run.stderr
    assert not (tmp_path / "out").exists()


def test_names_without_a_utf8_form_do_not_end_a_run(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(4))
    odd = tmp_path / f"{NOT_UTF8}.json"
    data.rename(odd)
    run = evaluate(tmp_path, *flags(odd, "--name", NOT_UTF8, "--principle", NOT_UTF8))
    assert (run.returncode, run.stderr) == (0, "")
    made = report(tmp_path)
    assert (made.judges[0].name, made.plan.principle) == ("name ?", "name ?")
    saved = tmp_path / f"saved {NOT_UTF8}.jsonl"
    (tmp_path / "out" / "judge.predictions.jsonl").rename(saved)
    run = evaluate(
        tmp_path,
        "pandalm",
        "--data",
        str(tmp_path / odd),
        "-o",
        "out2",
        "--predictions",
        str(saved),
    )
    assert (run.returncode, run.stderr) == (0, "")


def test_rows_left_out_are_told_once_however_many_judges(tmp_path: Path) -> None:
    rows = pandalm_rows(30)
    for row in rows[:25]:
        row["annotator1"] = 3
    data = write(tmp_path, rows)
    run = evaluate(tmp_path, *flags(data, "--baseline", "first", "--baseline", "tie"))
    assert run.returncode == 4
    told = run.stderr.splitlines()
    assert len(told) == 21
    assert told[0].startswith("left out: item 1: field annotator1")
    assert told[-1] == "left out: 5 more"
    text = (tmp_path / "out" / "report.md").read_text()
    assert "item 25: field annotator1" in text


def test_predictions_that_cannot_be_scored_are_named(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(3))
    lines = [
        {"benchmark": "pandalm", "id": "0", "status": "ok", "winner": 0},
        {"benchmark": "pandalm", "id": "0", "status": "ok", "winner": 1},
        {"benchmark": "pandalm", "id": ODD, "status": "tie"},
        {"id": "1", "winner": 2},
    ]
    saved = tmp_path / "said.jsonl"
    saved.write_text("".join(json.dumps(line) + "\n" for line in lines) + "{torn")
    run = evaluate(tmp_path, *flags(data)[:-3], "--predictions", str(saved))
    assert run.returncode == 4
    assert [line.partition(": line ")[2][:1] for line in run.stderr.splitlines()] == [*"2345"]
    assert "\x1b" not in run.stderr
    judge = report(tmp_path).judges[0]
    assert judge.rejected == {"duplicate_id": 1, "unknown_id": 1, "wrong_fields": 1, "not_json": 1}
    assert (judge.statuses, judge.missing) == ({"ok": 1}, 2)
    assert report(tmp_path).partial.endswith("the saved predictions hold none")


def test_a_budget_that_ends_within_the_only_row_leaves_a_report_that_says_so(
    tmp_path: Path,
) -> None:
    data = write(tmp_path, pandalm_rows(1))
    run = evaluate(tmp_path, *flags(data, "--max-tokens", "1", "--concurrency", "1"))
    assert run.returncode == 4
    assert report(tmp_path).judges[0].missing == 1
    assert report(tmp_path).partial.startswith("1 questions have no answer: ")


def test_a_judge_that_breaks_ends_the_run_and_what_is_answered_stays(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(4))
    (tmp_path / "breaks.py").write_text(BREAKS)
    made = ("pandalm", "--data", str(data), "-o", "out", "--judge", "breaks:Judge")
    run = evaluate(tmp_path, *made, "--concurrency", "1")
    assert (run.returncode, run.stdout) == (2, "")
    assert "Traceback" not in run.stderr
    told = run.stderr.splitlines()[-1]
    assert told.startswith("error: --judge breaks:Judge: question '2': ValueError: 'no such page'")
    assert len(predictions(tmp_path / "out" / "judge.predictions.jsonl")) == 4
    assert evaluate(tmp_path, *made, "--resume", MENDED="1").returncode == 0
    assert len(predictions(tmp_path / "out" / "judge.predictions.jsonl")) == 8


def test_baselines_that_cost_nothing_are_measured_after_the_budget_is_spent(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(20))
    spent = ("--max-tokens", "800", "--concurrency", "1", "--baseline", "longer")
    run = evaluate(tmp_path, *flags(data, *spent))
    assert run.returncode == 4
    judge, longer = report(tmp_path).judges
    assert judge.missing > 0
    assert (longer.missing, longer.statuses) == (0, {"ok": 20})


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_says_how_to_go_on(tmp_path: Path, sent: signal.Signals) -> None:
    data = write(tmp_path, pandalm_rows(60))
    output = tmp_path / "out" / "judge.predictions.jsonl"
    with start(tmp_path, *flags(data, "--concurrency", "2"), DELAY="0.05") as process:
        while not output.is_file() or output.stat().st_size < 4000:
            assert process.poll() is None, "it ended before it could be stopped"
            time.sleep(0.02)
        process.send_signal(sent)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1].startswith("error: interrupted; what is answered is in out")
    assert not (tmp_path / "out" / "report.json").exists()
    assert 0 < len(predictions(output)) < 120
    assert evaluate(tmp_path, *flags(data, "--resume")).returncode == 0
    assert len(predictions(output)) == 120


def test_comparing_checks_what_must_be_alike(tmp_path: Path) -> None:
    data = write(tmp_path, pandalm_rows(12))
    (tmp_path / "other.py").write_text(FIRST)
    for out, more in (("a", ()), ("b", ("--seed", "1")), ("c", ("--orders", "one"))):
        made = ("pandalm", "--data", str(data), "-o", out, "--judge", "other:judge", *more)
        assert evaluate(tmp_path, *made).returncode == 0
    for other, said in (("b", "seed: 0 in A, 1 in B"), ("c", "orders: 'both' in A, 'one' in B")):
        run = evaluate(tmp_path, "compare", "a", other)
        assert (run.returncode, run.stdout) == (2, "")
        assert f"expected reports that differ in the judge only: {said}; --force" in run.stderr
        assert evaluate(tmp_path, "compare", "a", other, "--force").returncode == 0
    made = ("pandalm", "--data", str(data), "-o", "d", "--judge", "other:judge")
    assert evaluate(tmp_path, *made, "--baseline", "longer").returncode == 0
    assert "--judge must name one" in evaluate(tmp_path, "compare", "a", "d").stderr
    run = evaluate(tmp_path, "compare", "a", "d", "--judge", "the longer answer")
    assert "A always the first shown, B the longer answer" in run.stdout
    run = evaluate(tmp_path, "compare", "a", "a")
    assert "expected two judges, got 'always the first shown' twice" in run.stderr
    data.rename(tmp_path / "moved.json")
    assert evaluate(tmp_path, "compare", "a", "b", "--force").returncode == 2
    moved = ("compare", "a", "b", "--force", "--data", "moved.json", "-o", "compared.json")
    assert evaluate(tmp_path, *moved).returncode == 0
    assert json.loads((tmp_path / "compared.json").read_text())["answered"]["both"] == 12
    said = tmp_path / "a" / "judge.predictions.jsonl"
    said.write_text("".join(said.read_text().splitlines(keepends=True)[:3]))
    run = evaluate(tmp_path, *moved[:-2])
    assert run.returncode == 2
    assert "make the report anew (--resume)" in run.stderr
