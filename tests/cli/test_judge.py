"""`openreward judge` on one pair and on files: what it says, writes and ends with."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import JsonValue

sys.path.insert(0, str(Path(__file__).parent))

from judge_runs import SCRIPTED, judge, judgments, manifest, rows, start, write_rows

from openreward.inputs import PairRow
from openreward.parquet import write_parquet
from openreward.types import Judgment

OUT = ("in.jsonl", "-o", "out.jsonl", *SCRIPTED)
PAIR = ("--query", "Who?", "--a", "a poor one", "--b", "a good one")


def test_one_pair_from_flags(tmp_path: Path) -> None:
    write_rows(tmp_path, [])
    run = judge(tmp_path, *PAIR, *SCRIPTED)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[0] == "verdict: answer B is better"
    assert "One is better." in run.stdout


def test_one_pair_from_files_and_standard_input_as_json(tmp_path: Path) -> None:
    write_rows(tmp_path, [])
    (tmp_path / "a.txt").write_text("\ufeffa good one", encoding="utf-8")
    flags = ("--query", "Who?", "--a-file", "a.txt", "--b-file", "-", "--json", *SCRIPTED)
    with start(tmp_path, *flags, stdin=subprocess.PIPE) as process:
        out, err = process.communicate("a poor one", timeout=60)
    assert (process.returncode, err) == (0, "")
    judgment = Judgment.model_validate_json(out)
    assert (judgment.status, judgment.winner, len(judgment.votes)) == ("ok", 0, 2)


def test_one_pair_can_be_written_and_shown(tmp_path: Path) -> None:
    write_rows(tmp_path, [])
    run = judge(tmp_path, *PAIR, *SCRIPTED, "-o", "one.jsonl")
    assert run.returncode == 0
    assert [each.winner for each in judgments(tmp_path / "one.jsonl")] == [1]
    assert judge(tmp_path, *PAIR, *SCRIPTED, "-o", "one.jsonl").returncode == 2


def test_one_pair_whose_engine_fails_ends_with_3(tmp_path: Path) -> None:
    write_rows(tmp_path, [])
    run = judge(tmp_path, "--query", "broken", "--a", "x", "--b", "y", *SCRIPTED)
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr.startswith("error: ")
    assert "the engine is broken" in run.stderr


def test_identical_answers_are_a_tie_that_says_why(tmp_path: Path) -> None:
    write_rows(tmp_path, [])
    run = judge(tmp_path, "--query", "Who?", "--a", "same", "--b", "same", *SCRIPTED)
    assert run.returncode == 0
    first = run.stdout.splitlines()[0]
    assert first == "verdict: tie: the two answers are identical; the model was not asked"


def test_an_empty_answer_is_judged_and_noted(tmp_path: Path) -> None:
    write_rows(tmp_path, [])
    run = judge(tmp_path, "--query", "Who?", "--a", "", "--b", "a good one", *SCRIPTED)
    assert run.returncode == 0
    assert "note: answer 1 is empty" in run.stdout


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((), "expected INPUT, or --query, --a and --b; got neither; see --help"),
        (("--query", "q", "--a", "x"), "expected --b TEXT or --b-file FILE, got neither"),
        ((*PAIR, "--a-file", "a.txt"), "expected --a TEXT or --a-file FILE, got both"),
        (
            ("--query-file", "-", "--a-file", "-", "--b", "x"),
            "standard input (-) can be only one of --query-file, --a-file and --b-file",
        ),
        (
            ("--query", "", "--a", "x", "--b", "y"),
            "field query: String should have at least 1 character, got ''",
        ),
        (
            ("--query-file", "none.txt", "--a", "x", "--b", "y"),
            "none.txt: cannot be read: No such file or directory; check the path",
        ),
        (("in.jsonl",), "expected -o FILE beside INPUT, got none"),
        (
            ("in.jsonl", "-o", "o.jsonl", "--a", "x"),
            "expected INPUT or a pair, got both",
        ),
        (
            (*PAIR, "--turns", "0"),
            "settings: field turns: expected greater than or equal to 1, got 0",
        ),
        (
            (*PAIR, "--endpoint", "http://127.0.0.1:9"),
            "expected --policy alone, got it with --endpoint or --model; drop one",
        ),
        (
            (*PAIR, "--chat"),
            "--chat chooses a path to a server; name it with --endpoint URL",
        ),
        (
            (*PAIR, "--api-key-env", "NO_SUCH_KEY"),
            "--api-key-env NO_SUCH_KEY: expected a key in that variable, got nothing; export it",
        ),
        ((*PAIR, "--index", "wikipedia=x"), "expected --index or --no-tools, got both; drop one"),
        (("in.csv", "-o", "o.jsonl"), "in.csv: expected a file that ends in .jsonl, .ndjson"),
        (
            ("none.jsonl", "-o", "o.jsonl"),
            "none.jsonl: cannot be read: No such file or directory; check the path",
        ),
        (
            ("in.jsonl", "-o", "none/o.jsonl"),
            "none/o.jsonl: cannot be written: No such file or directory; check the folder",
        ),
    ],
)
def test_wrong_use_is_one_line_and_ends_with_2(
    tmp_path: Path, flags: tuple[str, ...], message: str
) -> None:
    write_rows(tmp_path, rows(1))
    run = judge(tmp_path, *flags, *SCRIPTED)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith(f"error: {message}")
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("plugin", "message"),
    [
        ("plugin", "--policy: expected MODULE:FACTORY, got 'plugin'"),
        ("nothing:here", "--policy nothing:here: cannot import nothing: No module named 'nothing'"),
        ("plugin:nothing", "--policy plugin:nothing: plugin has no nothing"),
        ("..:policy", "--policy: expected MODULE:FACTORY, got '..:policy'"),
        ("plugin:os", "--policy plugin:os: expected a function, got <module 'os'"),
        ("plugin:NoPolicy", "expected a policy (openreward.policy.base.Policy), got NoPolicy wit"),
    ],
)
def test_a_wrong_plug_in_is_named(tmp_path: Path, plugin: str, message: str) -> None:
    write_rows(tmp_path, [])
    run = judge(tmp_path, *PAIR, "--policy", plugin, "--no-tools")
    assert run.returncode == 2
    assert message in run.stderr
    assert run.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (
            ("--policy", "plugin:policy"),
            2,
            "; fetch one with `openreward index fetch wikipedia-introductions`, build one",
        ),
        (
            ("--policy", "plugin:policy", "--index", "wikipedia"),
            2,
            "--index: expected SOURCE=DIR, got 'wikipedia'",
        ),
        (("--policy", "plugin:policy", "--index", "wikipedia=none"), 2, "none holds no index; "),
        (("--no-tools",), 2, "; `openreward model fetch` brings the default one"),
        (("--no-tools", "--model", "mine"), 2, "model 'mine' is not in "),
        (("--no-tools", "--endpoint", "http://127.0.0.1:9"), 3, "127.0.0.1:9"),
    ],
)
def test_what_is_missing_on_a_fresh_machine_is_said_with_its_remedy(
    tmp_path: Path, flags: tuple[str, ...], code: int, message: str
) -> None:
    write_rows(tmp_path, [])
    run = judge(tmp_path, *PAIR, *flags, OPENREWARD_HOME=str(tmp_path / "home"))
    assert (run.returncode, run.stdout) == (code, "")
    assert message in run.stderr
    assert run.stderr.count("\n") == 1


def test_a_file_is_judged_and_summed_up(tmp_path: Path) -> None:
    changed: dict[str, dict[str, JsonValue]] = {
        "row_2": {"query": "unreadable"},
        "row_3": {"query": "broken"},
        "row_4": {"responses": ["same", "same"]},
    }
    write_rows(tmp_path, rows(10, **changed))
    run = judge(tmp_path, *OUT)
    assert (run.returncode, run.stderr) == (4, "")
    lines = run.stdout.splitlines()
    assert lines[0] == "out.jsonl: 10 rows: 7 ok, 1 tie, 1 unparsed, 0 refused, 1 error"
    assert lines[1] == "with a real search: 0 of 10 (0%)"
    assert lines[3] == "as labelled: 7 of 10 (70%)"
    found = {each.id: each for each in judgments(tmp_path / "out.jsonl")}
    assert (found["row-1"].winner, found["row-1"].label) == (1, 1)
    assert (found["row-3"].status, found["row-3"].fault) == ("error", "timeout")


def test_broken_rows_are_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = write_rows(tmp_path, rows(3))
    with path.open("ab") as file:
        file.write(b'{"id": "x", "query": "q"\n')
        file.write(b'\n{"id": "y", "query": 7, "responses": ["a", "b"]}\n')
        file.write(b'{"id": "z", "query": "q", "response_a": "only"}\n')
        file.write(b'{"id": "row-1", "query": "q", "responses": ["a good", "a poor"]}\n')
        file.write(b'{"id": "\xff"}\n')
        file.write(b'{"id": "last", "query": "q", "responses": ["a good", "a poor"]}')
    run = judge(tmp_path, *OUT)
    assert run.returncode == 4
    named = [line.split(": ")[1] for line in run.stderr.splitlines()]
    assert named == ["line 4", "line 6", "line 7", "line 8", "line 9"]
    assert run.stdout.splitlines()[-1] == (
        "left out: 1 not_json, 2 wrong_fields, 1 duplicate_id, 1 not_utf8; "
        "named in out.jsonl.manifest.json"
    )
    ids = sorted(each.id for each in judgments(tmp_path / "out.jsonl"))
    assert ids == ["last", "row-1", "row-2", "row-3"]
    assert [error.line for error in manifest(tmp_path / "out.jsonl").errors] == [4, 6, 7, 8, 9]


def test_for_machines_there_is_one_object_on_stdout(tmp_path: Path) -> None:
    path = write_rows(tmp_path, rows(5))
    with path.open("a") as file:
        file.write("oops\n")
    run = judge(tmp_path, *OUT, "--json", "--limit", "3")
    assert (run.returncode, run.stderr) == (0, "")  # the limit came before the broken line
    assert json.loads(run.stdout)["rows"] == 3
    run = judge(tmp_path, *OUT, "--json", "--resume")
    assert run.returncode == 4
    assert json.loads(run.stderr) == {
        "line": 6,
        "fault": "not_json",
        "message": "line 6: expected one JSON object, got 'oops': expected value at column 1",
    }
    summary = json.loads(run.stdout)
    assert (summary.pop("seconds") >= 0, summary.pop("usage")["completion_tokens"]) == (True, 40)
    assert set(summary.pop("searches").values()) == {0}
    assert summary == {
        "output": "out.jsonl",
        "manifest": "out.jsonl.manifest.json",
        "rows": 5,
        "unserved": 0,
        "unserved_trajectories": 0,
        "ok": 5,
        "tie": 0,
        "unparsed": 0,
        "refused": 0,
        "error": 0,
        "left_out": {"not_json": 1},
        "searched": 0,
        "searched_share": 0.0,
        "labelled": 5,
        "right": 5,
        "runs": 2,
    }


def test_parquet_and_rows_without_ids_are_judged(tmp_path: Path) -> None:
    write_rows(tmp_path, [])
    pairs = [PairRow.model_validate({**row, "id": None}) for row in rows(4)]
    write_parquet(tmp_path / "in.parquet", pairs, PairRow)
    run = judge(tmp_path, "in.parquet", "-o", "out.jsonl", *SCRIPTED)
    assert (run.returncode, run.stderr) == (0, "")
    ids = sorted(each.id for each in judgments(tmp_path / "out.jsonl"))
    assert ids == sorted(pair.id for pair in pairs)


def test_the_engine_s_password_is_not_written_down(tmp_path: Path) -> None:
    from openreward.cli.engine import EngineChoice

    choice = EngineChoice(endpoint="http://me:secret@127.0.0.1:8000/v1?key=secret", model="m")
    assert choice.address() == "http://127.0.0.1:8000/v1"


def test_a_terminal_gets_a_bar(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(20))
    ours, theirs = pty.openpty()
    run = subprocess.Popen(
        [sys.executable, "-m", "openreward.cli.main", "judge", *OUT],
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", "DELAY": "0.05"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    try:
        while more := os.read(ours, 4096):
            shown += more
    except OSError:  # how Linux says that the other end is closed
        pass
    os.close(ours)
    assert run.wait(60) == 0
    assert b"20/20" in shown
    assert b"20 ok" in shown
