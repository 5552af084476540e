"""`openreward judge --tape`: a recorded run is had again without network, or stops."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest
from pydantic import JsonValue

sys.path.insert(0, str(Path(__file__).parent))

from judge_runs import judgments, manifest, start
from live_runs import flags, library, openreward, served, variables

RECORD = ("--tape", "record=tape.jsonl")
STRICT = ("judge", "in.jsonl", "-o", "strict.jsonl", "--policy", "searcher:policy",
          "--tape", "replay-strict=tape.jsonl")  # fmt: skip


def without_times(value: JsonValue) -> JsonValue:
    """The same without times; the seconds of a taped result stay, they come from the tape."""
    if isinstance(value, dict):
        return {name: without_times(v) for name, v in value.items() if name != "times"}
    return [without_times(item) for item in value] if isinstance(value, list) else value


def written(path: Path) -> dict[str, JsonValue]:
    return {each.id: without_times(each.model_dump(mode="json")) for each in judgments(path)}


def lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0


@pytest.fixture
def taped(tmp_path: Path) -> Path:
    """A folder with a recorded run; the service is gone, and so is the file that named it."""
    with served(tmp_path):
        run = openreward(tmp_path, *flags(*RECORD))
    assert (run.returncode, run.stderr) == (0, "")
    (tmp_path / "tools.toml").unlink()
    return tmp_path


def test_a_recorded_run_is_had_again_without_a_service(taped: Path) -> None:
    assert lines(taped / "tape.jsonl") == 1 + 4 * 2
    before = (taped / "tape.jsonl").read_bytes()
    run = openreward(taped, *STRICT, OPENREWARD_HOME=str(taped / "nowhere"))
    assert (run.returncode, run.stderr) == (0, "")
    assert written(taped / "strict.jsonl") == written(taped / "out.jsonl")
    assert (taped / "tape.jsonl").read_bytes() == before
    recorded, replayed = manifest(taped / "out.jsonl"), manifest(taped / "strict.jsonl")
    assert replayed.config["live"] == recorded.config["live"] != {}
    tapes = [recorded.config["tape"], replayed.config["tape"]]
    assert [tape["mode"] for tape in tapes if isinstance(tape, dict)] == ["record", "replay-strict"]
    assert len({tape["header"] for tape in tapes if isinstance(tape, dict)}) == 1


def test_a_strict_miss_stops_the_run_and_names_the_query(taped: Path) -> None:
    run = openreward(taped, *STRICT, MORE=" and more")
    assert (run.returncode, run.stdout) == (2, "")
    assert "error: tape.jsonl: trajectory 'row-" in run.stderr
    assert "call 1: asked pubmed_search" in run.stderr
    assert "and more" in run.stderr
    assert "on tape pubmed_search" in run.stderr
    assert lines(taped / "strict.jsonl") == 0
    assert manifest(taped / "strict.jsonl").state == "stopped"
    again = openreward(taped, *STRICT, "--resume")
    assert again.returncode == 0
    assert written(taped / "strict.jsonl") == written(taped / "out.jsonl")


def test_a_strict_miss_of_one_pair_leaves_no_file(taped: Path) -> None:
    pair = ("--query", "question 1 of poles", "--a", "x", "--b", "y", "-o", "one.jsonl")
    run = openreward(taped, "judge", *pair, *STRICT[4:])
    assert run.returncode == 2
    assert "call 1: asked pubmed_search" in run.stderr
    assert not (taped / "one.jsonl").exists()


def test_a_tape_without_tools_is_refused(taped: Path) -> None:
    run = openreward(taped, *STRICT, "--no-tools")
    assert run.returncode == 2
    assert "expected --tape or --no-tools, got both" in run.stderr


def test_what_a_replay_misses_is_run_and_taped(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        assert openreward(tmp_path, *flags(*RECORD, "--limit", "2")).returncode == 0
        asked = len(server.requests)
        replay = flags("--tape", "replay=tape.jsonl", output="all.jsonl")
        run = openreward(tmp_path, *replay, OPENREWARD_HOME=str(tmp_path / "empty"))
        assert run.returncode == 0
        assert len(server.requests) == 2 * asked
    assert lines(tmp_path / "tape.jsonl") == 1 + 4 * 2
    first, whole = written(tmp_path / "out.jsonl"), written(tmp_path / "all.jsonl")
    assert {id: whole[id] for id in first} == first
    assert len(whole) == 4


def test_a_tape_is_not_recorded_over_nor_with_other_tools(tmp_path: Path) -> None:
    with served(tmp_path):
        assert openreward(tmp_path, *flags(*RECORD)).returncode == 0
        before = (tmp_path / "tape.jsonl").read_bytes()
        again = openreward(tmp_path, *flags(*RECORD, output="b.jsonl"))
        assert again.returncode == 2
        assert "tape.jsonl: exists already; continue it with --resume" in again.stderr
        replay = flags("--tape", "replay=tape.jsonl", "--passages", "2", output="b.jsonl")
        other = openreward(tmp_path, *replay)
        assert other.returncode == 2
        assert "tape.jsonl: recorded with other tools" in other.stderr
    assert (tmp_path / "tape.jsonl").read_bytes() == before
    assert not (tmp_path / "b.jsonl").exists()


def test_of_a_run_whose_engine_failed_no_tape_stays(tmp_path: Path) -> None:
    with served(tmp_path):
        command = flags(*RECORD, "--endpoint", "http://127.0.0.1:9", "--model", "none")
        command[command.index("--policy") : command.index("--policy") + 2] = []
        run = openreward(tmp_path, *command)
    assert run.returncode == 3
    assert not (tmp_path / "tape.jsonl").exists()


def test_a_killed_recording_goes_on_and_is_whole(tmp_path: Path) -> None:
    with served(tmp_path, count=30):
        environment = variables(tmp_path, {"DELAY": "0.05"})
        with start(tmp_path, *flags(*RECORD, "--concurrency", "3")[1:], **environment) as process:
            end = time.monotonic() + 60
            while lines(tmp_path / "tape.jsonl") < 12 and time.monotonic() < end:
                time.sleep(0.005)
            assert process.poll() is None, process.communicate()
            process.kill()
            process.communicate()
        with (tmp_path / "tape.jsonl").open("ab") as file:
            file.write(b'{"trajectory": "row-')
        command = flags(*RECORD, "--concurrency", "3", "--resume")
        run = openreward(tmp_path, *command)
        assert (run.returncode, run.stderr) == (0, "")
    assert 61 <= lines(tmp_path / "tape.jsonl") <= 67  # rows in flight may be taped again
    assert openreward(tmp_path, *STRICT).returncode == 0
    assert written(tmp_path / "strict.jsonl") == written(tmp_path / "out.jsonl")


def test_a_run_with_an_mcp_server_is_had_again_without_it(tmp_path: Path) -> None:
    with served(tmp_path, count=2):
        pass
    (tmp_path / "tools.toml").write_text(library())
    named = {"TOOLS": "find_book", "ARGUMENT": "title"}
    run = openreward(tmp_path, *flags(*RECORD, live=()), **named)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[1] == "with a real search: 2 of 2 (100%)"
    assert manifest(tmp_path / "out.jsonl").config["mcp"] == {"books": "library 1.2"}
    (tmp_path / "tools.toml").unlink()
    again = openreward(tmp_path, *STRICT, **named)
    assert (again.returncode, again.stderr) == (0, "")
    assert written(tmp_path / "strict.jsonl") == written(tmp_path / "out.jsonl")
    found = judgments(tmp_path / "strict.jsonl")[0].evidence[0]
    assert found.passage.text.startswith(f"'{found.query}' is on shelf ")
