from __future__ import annotations

import json
import random
import signal
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from openreward.cli.synth import app
from openreward.errors import RecordError, UserError
from openreward.tools.index_builder import build
from openreward.types import Document

sys.path.insert(0, str(Path(__file__).parent))

from trajectory_cli_runs import (
    ENGINE,
    NAMES,
    ORACLE,
    TUTOR,
    data,
    objects,
    objects_done,
    rows,
    run,
    start,
    write,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four pairs, the tutor, and an index in the OpenReward home."""
    write(tmp_path, rows(4))
    (tmp_path / "tutor.py").write_text(TUTOR)
    documents = [
        Document(
            id=f"wikipedia:{name}",
            source="wikipedia",
            title=name,
            text=f"The {name} was founded in {1800 + number} and is known for its quiet.",
        )
        for number, name in enumerate(NAMES)
    ]
    build(documents, tmp_path / "home" / "indexes" / "wikipedia", "wikipedia")
    return tmp_path


def test_the_oracle_makes_a_trajectory_of_each_pair(folder: Path) -> None:
    made = run(folder, *ORACLE, "--orders", "both")
    assert (made.returncode, made.stderr) == (0, "")
    assert made.stdout.splitlines()[:3] == [
        "source         made   kept  own document found  why dropped",
        "wikipedia         8      8  8 of 8 (100%)",
        "out.jsonl: 8 trajectories of 4 of 4 pairs by oracle; better shown as A in 4, as B in 4",
    ]
    found = data(folder / "out.jsonl")
    assert [each.id for each in found[:3]] == ["row-000/01/0", "row-000/10/0", "row-001/01/0"]
    for each in found:
        (span,) = each.unlearned
        assert each.messages[span.message].content[span.start : span.end] == each.label
    assert objects(folder / "out.dropped.jsonl") == []
    manifest = json.loads((folder / "out.rows.jsonl.manifest.json").read_text())
    assert (manifest["program"], manifest["state"]) == ("synth trajectories", "finished")
    assert manifest["config"]["settings"]["teacher"] == "oracle"
    assert manifest["config"]["indexes"].keys() == {"wikipedia"}


def test_of_an_engine_s_trajectories_the_right_ones_are_kept(folder: Path) -> None:
    made = rows(4)
    made[1]["query"] = "Be stubborn. Explain the Birch Observatory."
    made[2]["query"] = "Be lazy. Explain the Cedar Parliament."
    made[3]["query"] = "Explain what is special of the Zeppelin."
    write(folder, [*made, {**rows(1)[0], "id": "x", "source": "gazette"}])
    run_ = run(folder, *ENGINE, "--json")
    assert (run_.returncode, run_.stderr) == (0, "")
    summary = json.loads(run_.stdout)
    assert summary == json.loads((folder / "out.summary.json").read_text())
    assert (summary["pairs"], summary["pairs_kept"], summary["kept"]) == (5, 2, 3)
    assert summary["teacher"] == "scripted"
    assert summary["sources"] == [
        {
            "source": "(no tool)",
            "trajectories": 1,
            "kept": 0,
            "dropped": {"no_tool": 1},
            "own_found": 0,
            "own_known": 0,
        },
        {
            "source": "wikipedia",
            "trajectories": 8,
            "kept": 3,
            "dropped": {"no_counted_call": 1, "nothing_found": 2, "wrong_verdict": 2},
            "own_found": 4,
            "own_known": 6,
        },
    ]
    dropped = objects(folder / "out.dropped.jsonl")
    assert [(each["pair"], each["order"], each["reason"]) for each in dropped] == [
        ("row-001", [0, 1], "wrong_verdict"),
        ("row-002", [0, 1], "no_counted_call"),
        ("row-002", [1, 0], "wrong_verdict"),
        ("row-003", [0, 1], "nothing_found"),
        ("row-003", [1, 0], "nothing_found"),
        ("x", None, "no_tool"),
    ]
    assert {each.unlearned for each in data(folder / "out.jsonl")} == {()}


def test_rows_that_cannot_be_used_and_engines_of_the_moment_are_named(folder: Path) -> None:
    broken = {**rows(1)[0], "id": "b", "query": "A broken one."}
    write(folder, [*rows(1), broken, rows(1)[0]])
    with (folder / "in.jsonl").open("a") as file:
        file.write("nonsense\n")
    first = run(folder, *ENGINE, "--concurrency", "1")
    assert first.returncode == 4
    assert "rows that gave nothing: 1 not_done, 1 duplicate_id, 1 not_json" in first.stdout
    assert [(each["line"], each["reason"]) for each in objects(folder / "out.dropped.jsonl")] == [
        (2, "not_done"),
        (3, "duplicate_id"),
        (4, "not_json"),
    ]
    (folder / "tutor.py").write_text(TUTOR.replace('if "broken"', 'if "mended"'))
    again = run(folder, *ENGINE, "--resume")
    assert again.returncode == 4
    assert [each.pair for each in data(folder / "out.jsonl")] == ["row-000"] * 2
    assert objects(folder / "out.dropped.jsonl")[2]["pair"] == "b"


def test_an_engine_that_is_down_stops_the_run(folder: Path) -> None:
    write(folder, [*rows(1), {**rows(1)[0], "id": "b", "query": "A broken one."}])
    made = run(folder, *ENGINE, "--concurrency", "1", FAULT="unreachable")
    assert (made.returncode, made.stdout) == (3, "")
    assert made.stderr == "error: the engine is broken; then go on with --resume\n"
    assert len(objects(folder / "out.rows.jsonl")) == 1
    assert not (folder / "out.jsonl").exists()


def test_workers_and_shards_of_time_do_not_change_the_data(folder: Path) -> None:
    write(folder, rows(40))
    teacher = ("--teacher", "engine", "--policy", "tutor:policy", "--samples", "2")
    one = run(folder, "in.jsonl", "-o", "one.jsonl", *teacher, "--concurrency", "1")
    many = run(folder, "in.jsonl", "-o", "many.jsonl", *teacher, "--limit", "9", DELAY="0.002")
    more = run(folder, "in.jsonl", "-o", "many.jsonl", *teacher, "--resume", DELAY="0.002")
    assert [each.returncode for each in (one, many, more)] == [0, 0, 0]
    for name in ("", ".dropped"):
        assert (folder / f"one{name}.jsonl").read_bytes() == (
            folder / f"many{name}.jsonl"
        ).read_bytes()
    assert 40 < len(data(folder / "one.jsonl")) <= 80


@pytest.mark.slow
def test_kills_lose_nothing(folder: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    sys.stderr.write(f"seed {seed}\n")
    chance = random.Random(seed)
    write(folder, rows(60))
    rows_path = folder / "out.rows.jsonl"
    assert run(folder, "in.jsonl", "-o", "whole.jsonl", *ENGINE[3:]).returncode == 0
    for _ in range(5):
        wanted = len(objects_done(rows_path)) + chance.randrange(1, 9)
        with start(folder, *ENGINE, "--resume", "--concurrency", "2", DELAY="0.05") as process:
            end = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < end:
                if len(objects_done(rows_path)) >= wanted:
                    break
                time.sleep(0.005)
            process.kill()
            process.communicate()
        with rows_path.open("ab") as file:
            file.write(b'{"id": "torn')
    assert not (folder / "out.jsonl").exists()
    last = run(folder, *ENGINE, "--resume")
    assert (last.returncode, last.stderr) == (0, "")
    assert (folder / "out.jsonl").read_bytes() == (folder / "whole.jsonl").read_bytes()
    counts = [json.loads((folder / f"{n}.summary.json").read_text()) for n in ("out", "whole")]
    assert counts[0]["sources"] == counts[1]["sources"]
    assert [path.name for path in folder.iterdir() if path.name.endswith(".tmp")] == []


def test_a_stopped_run_says_how_to_go_on(folder: Path) -> None:
    write(folder, rows(60))
    with start(folder, *ENGINE, "--concurrency", "2", DELAY="0.05") as process:
        end = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < end:
            if len(objects_done(folder / "out.rows.jsonl")) >= 3:
                break
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (130, "")
    assert stderr == (
        "error: interrupted; what is done is in out.rows.jsonl; "
        "the same command with --resume goes on\n"
    )


def invoke(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """A run within this process, which raises what the command raises; the exit code."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("OPENREWARD_HOME", str(folder / "home"))
    made = CliRunner().invoke(app, ["trajectories", *arguments], catch_exceptions=False)
    return made.exit_code


@pytest.mark.parametrize("name", ["out.jsonl", "out.dropped.jsonl", "out.summary.json"])
def test_what_is_there_is_not_written_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (folder / name).write_text("my own\n")
    for more in ((), ("--resume",)):
        with pytest.raises(RecordError) as refused:
            invoke(folder, monkeypatch, *ORACLE, *more)
        assert str(refused.value) == (
            f"{name}: exists already, without out.rows.jsonl beside it, which it would be made "
            "from; name another output"
        )
    assert (folder / name).read_text() == "my own\n"


def test_a_run_goes_on_only_as_it_began(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert invoke(folder, monkeypatch, *ORACLE) == 0
    before = (folder / "out.jsonl").read_bytes()
    with pytest.raises(RecordError, match="out.rows.jsonl: exists already; continue it with"):
        invoke(folder, monkeypatch, *ORACLE)
    with pytest.raises(RecordError, match="config.settings.judge.tie: False then, True now"):
        invoke(folder, monkeypatch, *ORACLE, "--resume", "--tie")
    (folder / "out.jsonl").unlink()
    assert invoke(folder, monkeypatch, *ORACLE, "--resume") == 0
    assert (folder / "out.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*ORACLE, "--no-tools"), "--no-tools: expected tools"),
        ((*ORACLE, "--model", "x"), "--teacher oracle asks no model, got a flag of an engine"),
        ((*ORACLE, "--tokens"), "--tokens: the oracle has no token ids; leave it out"),
        ((*ENGINE, "--tool-style", "prompt"), "--tool-style is the oracle's"),
        (("in.jsonl", "-o", "out", "--teacher", "oracle"), "expected a name that ends in .jsonl"),
        (("none.jsonl", *ORACLE[1:]), "none.jsonl: cannot be read"),
        (("in.jsonl", "-o", "a/b.jsonl", *ORACLE[3:]), "a/b.rows.jsonl: cannot be written"),
    ],
)
def test_a_setting_that_cannot_be_is_named_before_anything_is_made(
    folder: Path, arguments: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(UserError) as refused:
        invoke(folder, monkeypatch, *arguments)
    assert message in str(refused.value)
    assert sorted(path.name for path in folder.iterdir()) == before


def test_ids_are_asked_of_the_token_path_only(folder: Path) -> None:
    made = run(folder, *ENGINE, "--tokens")
    assert made.returncode == 2
    assert made.stderr == "error: --tokens: expected the token path, got --chat or a chat engine\n"
