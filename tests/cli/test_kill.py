"""What a killed, stopped or crowded `openreward judge` leaves, and how it goes on."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pydantic import JsonValue

sys.path.insert(0, str(Path(__file__).parent))

from judge_runs import SCRIPTED, judge, judgments, manifest, rows, start, write_rows

from openreward.resume import manifest_path
from openreward.types import Judgment, total_usage

OUT = ("in.jsonl", "-o", "out.jsonl", *SCRIPTED)
TIMES = {"times", "seconds"}


def without_times(value: JsonValue) -> JsonValue:
    if isinstance(value, dict):
        return {name: without_times(v) for name, v in value.items() if name not in TIMES}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def by_id(found: list[Judgment]) -> dict[str, JsonValue]:
    return {each.id: without_times(each.model_dump(mode="json")) for each in found}


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for_rows(process: subprocess.Popen[str], path: Path, count: int) -> None:
    end = time.monotonic() + 60
    while process.poll() is None and lines(path) < count and time.monotonic() < end:
        time.sleep(0.002)


@pytest.mark.slow
def test_twenty_kills_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    seed = int(os.environ.get("KILL_SEED", random.SystemRandom().randrange(10**6)))
    sys.stderr.write(f"KILL_SEED={seed}\n")
    chance = random.Random(seed)
    write_rows(tmp_path, rows(300))
    out, whole = tmp_path / "out.jsonl", tmp_path / "whole.jsonl"
    assert judge(tmp_path, "in.jsonl", "-o", "whole.jsonl", *SCRIPTED).returncode == 0

    for number in range(20):
        with start(tmp_path, *OUT, "--resume", "--concurrency", "4", DELAY="0.1") as process:
            if chance.random() < 0.1:  # while it starts
                time.sleep(chance.random())
            else:
                wait_for_rows(process, out, lines(out) + chance.randrange(12))
                time.sleep(chance.random() / 50)
            assert process.poll() is None, (seed, number, process.communicate())
            process.kill()
            process.communicate()
        if out.exists() and chance.random() < 0.5:  # the power fails within a write
            with out.open("ab") as file:
                line = whole.read_bytes().splitlines()[0]
                file.write(line[: chance.randrange(1, len(line))])
    sys.stderr.write(f"{lines(out)} rows after 20 kills\n")
    assert 0 < lines(out) < 300, seed

    end = judge(tmp_path, *OUT, "--resume")
    assert (end.returncode, end.stderr) == (0, ""), seed
    assert out.read_bytes().endswith(b"\n")
    found = judgments(out)
    assert sorted(each.id for each in found) == sorted(f"row-{n}" for n in range(1, 301)), seed
    assert by_id(found) == by_id(judgments(whole)), seed
    ours, theirs = manifest(out), manifest(whole)
    assert ours.totals.usage == theirs.totals.usage == total_usage([f.usage for f in found])
    assert (ours.totals.rows, ours.totals.status) == (300, {"ok": 300})
    assert ours.totals.marks == theirs.totals.marks == {"labelled": 300, "right": 300}
    assert ours.totals.seconds == pytest.approx(sum(f.times.total for f in found))
    assert (ours.state, theirs.runs) == ("finished", 1)
    assert 10 <= ours.runs <= 21, seed


def test_in_the_background_ctrl_c_is_ignored_and_sigterm_stops(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(60))
    out = tmp_path / "out.jsonl"

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    with start(tmp_path, *OUT, preexec=ignore, DELAY="0.1") as process:
        wait_for_rows(process, out, 5)
        process.send_signal(signal.SIGINT)
        wait_for_rows(process, out, 15)
        process.send_signal(signal.SIGTERM)
        stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (130, "")
    assert stderr == (
        "error: interrupted; what is done is in out.jsonl; the same command with --resume goes on\n"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_how_to_go_on_and_does(tmp_path: Path, number: signal.Signals) -> None:
    write_rows(tmp_path, rows(60))
    out = tmp_path / "out.jsonl"
    with start(tmp_path, *OUT, DELAY="0.1") as process:
        wait_for_rows(process, out, 5)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (130, "")
    assert stderr == (
        "error: interrupted; what is done is in out.jsonl; the same command with --resume goes on\n"
    )
    done = judgments(out)
    stopped = manifest(out)
    assert 5 <= len(done) < 60
    assert (stopped.state, stopped.totals.rows) == ("stopped", len(done))
    assert judge(tmp_path, *OUT, "--resume").returncode == 0
    assert sorted(each.id for each in judgments(out)) == sorted(f"row-{n}" for n in range(1, 61))
    assert (manifest(out).runs, manifest(out).totals.rows) == (2, 60)


def test_two_runs_do_not_write_one_file(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(60))
    out = tmp_path / "out.jsonl"
    with start(tmp_path, *OUT, DELAY="0.2") as first:
        wait_for_rows(first, out, 1)
        second = judge(tmp_path, *OUT, "--resume")
        assert second.returncode == 2
        assert second.stderr == (
            "error: out.jsonl: another run is writing to it; wait for it, or name another output\n"
        )
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=30)
    assert len({each.id for each in judgments(out)}) == lines(out)


def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_room(tmp_path: Path) -> None:
    """A limit on the size of files stands in for the disk."""

    def fill() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))

    write_rows(tmp_path, rows(40))
    out = tmp_path / "out.jsonl"
    with start(tmp_path, *OUT, preexec=fill) as process:
        stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout) == (2, "")
    assert stderr == (
        "error: out.jsonl: cannot be written: File too large; "
        "its lines are whole; make room, then continue with --resume\n"
    )
    assert out.read_bytes().endswith(b"\n")
    assert 0 < len(judgments(out)) < 40
    assert judge(tmp_path, *OUT, "--resume").returncode == 0
    assert len({each.id for each in judgments(out)}) == lines(out) == 40


@pytest.mark.parametrize("fault", ["unreachable", "unauthorized", "unknown_model"])
def test_a_fault_of_all_rows_stops_the_run_and_they_are_done_again(
    tmp_path: Path, fault: str
) -> None:
    write_rows(tmp_path, rows(30, row_20={"query": "a broken one"}))
    out = tmp_path / "out.jsonl"
    run = judge(tmp_path, *OUT, "--concurrency", "1", FAULT=fault)
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr.startswith("error: ")
    assert "the engine is broken" in run.stderr
    assert run.stderr.endswith("; then go on with --resume\n")
    assert [each.id for each in judgments(out)] == [f"row-{n}" for n in range(1, 20)]
    assert manifest(out).state == "stopped"
    again = judge(tmp_path, *OUT, "--resume", FAULT="timeout")
    assert again.returncode == 4
    by_status = {each.id: each.status for each in judgments(out)}
    assert by_status == {f"row-{n}": "ok" for n in range(1, 31)} | {"row-20": "error"}
    assert manifest(out).totals.status == {"error": 1, "ok": 29}


def test_another_setting_is_not_mixed_in(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(3))
    assert judge(tmp_path, *OUT).returncode == 0
    before = (tmp_path / "out.jsonl").read_bytes()
    run = judge(tmp_path, *OUT, "--resume", "--tie", "--seed", "7", "--concurrency", "2")
    assert run.returncode == 2
    assert run.stderr == (
        "error: out.jsonl: cannot be continued with other settings or data "
        "(config.judge.tie: False then, True now; seed: 0 then, 7 now); "
        "take the same, or name another output\n"
    )
    write_rows(tmp_path, rows(4))
    run = judge(tmp_path, *OUT, "--resume")
    assert run.returncode == 2
    assert "(data.sha256: '" in run.stderr
    assert (tmp_path / "out.jsonl").read_bytes() == before


def test_an_existing_output_is_not_written_over(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(1))
    out = tmp_path / "out.jsonl"
    out.write_text("mine")
    run = judge(tmp_path, *OUT)
    assert (run.returncode, run.stderr) == (
        2,
        "error: out.jsonl: exists already; continue it with --resume, or name another output\n",
    )
    run = judge(tmp_path, *OUT, "--resume")
    assert run.returncode == 2
    assert "expected out.jsonl.manifest.json beside it" in run.stderr
    assert out.read_text() == "mine"
    assert not manifest_path(out).exists()
