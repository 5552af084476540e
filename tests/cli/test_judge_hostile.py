"""What a person sees of text from elsewhere, and which model is meant where none is named."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from judge_runs import SCRIPTED, judge, judgments, rows, write_rows

from openreward.cli.engine import find_model
from openreward.cli.main import show_error
from openreward.errors import UserError
from openreward.policy.models import SMALL

ACTING = "\x1b]0;title\x07\x9b31m\x7f\u202e"
PLUGIN = f"""
from openreward.policy.scripted import ScriptedPolicy


def acting():
    return ScriptedPolicy(["It is. {ACTING!a} \\ud800 <answer>A</answer>"], model="m")
""".replace("'", "")


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_what_an_engine_writes_cannot_act_in_a_terminal(
    tmp_path: Path, flags: tuple[str, ...]
) -> None:
    (tmp_path / "hostile.py").write_text(PLUGIN)
    pair = ("--query", "Who?", "--a", "x", "--b", "y", "--orders", "one")
    run = judge(tmp_path, *pair, "--policy", "hostile:acting", "--no-tools", *flags)
    assert run.returncode == 0
    assert "It is." in run.stdout
    assert not set(run.stdout) & set(ACTING) - set("]0;title31m")
    if flags:
        explanation = json.loads(run.stdout)["explanation"]
        assert explanation == f"It is. {ACTING} ?"


def test_an_error_cannot_act_in_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_error(UserError("a\n\x1b[31m\x9bb"), as_json=False)
    assert capsys.readouterr().err == "error: a \\x1b[31m\\x9bb\n"
    show_error(UserError("a\n\x1b[31m\x9bb"), as_json=True)
    assert json.loads(capsys.readouterr().err)["error"] == "a \x1b[31m\x9bb"


def test_of_several_models_the_default_one_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENREWARD_HOME", str(tmp_path))
    (tmp_path / "models").mkdir()
    for name in ("a", SMALL.name, "z"):
        (tmp_path / "models" / f"{name}.gguf").write_bytes(b"GGUF")
    assert find_model(None) == tmp_path / "models" / f"{SMALL.name}.gguf"
    assert find_model("z") == tmp_path / "models" / "z.gguf"
    (tmp_path / "models" / f"{SMALL.name}.gguf").unlink()
    with pytest.raises(UserError, match="several local models; name one with --model: a, z"):
        find_model(None)


def test_a_model_name_longer_than_any_file_name_is_a_users_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENREWARD_HOME", str(tmp_path))
    with pytest.raises(UserError, match="openreward model fetch"):
        find_model("x" * 5000 + ".gguf")


def test_a_run_with_odd_names_and_settings_can_be_continued(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(4))
    odd = os.fsdecode(b"o\xff.jsonl")
    os.rename(tmp_path / "in.jsonl", tmp_path / os.fsdecode(b"i\xff.jsonl"))
    flags = (os.fsdecode(b"i\xff.jsonl"), "-o", odd, *SCRIPTED, "--seconds", "inf")
    flags = (*flags, "--principle", os.fsdecode(b"be \xff kind"))
    run = judge(tmp_path, *flags, "--limit", "2")
    assert (run.returncode, run.stderr) == (0, "")
    run = judge(tmp_path, *flags, "--resume", "--json")
    assert (run.returncode, run.stderr) == (0, "")
    assert json.loads(run.stdout)["rows"] == 4
    assert len(judgments(tmp_path / odd)) == 4


def test_standard_output_in_another_encoding_ends_no_run(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(1))
    run = judge(tmp_path, "in.jsonl", "-o", "→.jsonl", *SCRIPTED, PYTHONIOENCODING="latin-1")
    assert run.returncode == 0
    assert run.stdout.startswith("\\u2192.jsonl: 1 rows: 1 ok")


def test_a_pipe_is_refused_as_input_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "in.jsonl")
    run = judge(tmp_path, "in.jsonl", "-o", "o.jsonl", *SCRIPTED)
    assert run.returncode == 2
    assert run.stderr.startswith("error: in.jsonl: expected a file, got a device or a pipe")
    assert not (tmp_path / "o.jsonl").exists()


@pytest.mark.parametrize(
    ("output", "message"),
    [("x" * 5000, "cannot be written: File name too long"), ("", "expected a file, got a folder")],
)
def test_an_output_that_cannot_be_a_file_is_named(
    tmp_path: Path, output: str, message: str
) -> None:
    write_rows(tmp_path, rows(1))
    run = judge(tmp_path, "in.jsonl", "-o", output, "--resume", *SCRIPTED)
    assert (run.returncode, run.stdout) == (2, "")
    assert message in run.stderr


def test_of_one_pair_that_no_engine_judged_no_file_stays(tmp_path: Path) -> None:
    pair = ("--query", "Who?", "--a", "x", "--b", "y", "-o", "one.jsonl", "--no-tools")
    run = judge(tmp_path, *pair, "--endpoint", "http://127.0.0.1:1")
    assert run.returncode == 3
    assert not (tmp_path / "one.jsonl").exists()


def test_one_pair_without_a_verdict_in_time_ends_with_4(tmp_path: Path) -> None:
    write_rows(tmp_path, [])
    pair = ("--query", "Who?", "--a", "x", "--b", "y", "--seconds", "0.1")
    run = judge(tmp_path, *pair, *SCRIPTED, DELAY="5")
    assert run.returncode == 4
    assert run.stdout.startswith("verdict: error: time_limit: no verdict within 0.1 s")


@pytest.mark.parametrize("flags", [("--resume",), ("--limit", "3"), ("--temperature", "inf")])
def test_a_flag_that_one_pair_cannot_use_is_refused(tmp_path: Path, flags: tuple[str, ...]) -> None:
    write_rows(tmp_path, [])
    run = judge(tmp_path, "--query", "Who?", "--a", "x", "--b", "y", *SCRIPTED, *flags)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("error: ")
