"""What a person sees of text from elsewhere, and which model is meant where none is named."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from judge_runs import judge

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
