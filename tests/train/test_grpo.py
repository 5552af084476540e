"""The script as users start it: two ranks, killed and resumed, bad input refused early."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("torch", reason="needs [train]")
pytest.importorskip("trl", reason="needs [train]")
pytest.importorskip("yaml", reason="needs [train]")

import launched  # noqa: E402
import tiny  # noqa: E402

from openreward.train import grpo  # noqa: E402
from openreward.train.program import SETTINGS_FILE  # noqa: E402

Change = Callable[[Path], list[str]]


def test_two_ranks_train_one_model(tmp_path: Path) -> None:
    words = launched.prepared(tmp_path)
    ran = launched.launch([*words, "trainer.max_steps=3"], processes=2)
    assert ran.returncode == 0, ran.stderr[-3000:]
    first, second = launched.weights(tmp_path, 0), launched.weights(tmp_path, 1)
    assert first == second
    assert list(first) == [0, 1, 2]
    assert len(set(first.values())) == 3  # every step moved them
    mine, theirs = launched.batches(tmp_path, 0), launched.batches(tmp_path, 1)
    assert all(set(mine[step]) != set(theirs[step]) for step in mine)
    assert (tmp_path / "out" / "final" / "tokenizer.json").exists()


def test_a_run_killed_at_any_time_goes_on_with_the_same_data(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    whole.mkdir()
    killed.mkdir()
    more = ["trainer.max_steps=8", "trainer.save_steps=1", "trainer.num_generations=2"]
    done = launched.launch([*launched.prepared(whole), *more])
    assert done.returncode == 0, done.stderr[-3000:]
    words = [*launched.prepared(killed), *more]
    process = subprocess.Popen(
        launched.command(words),
        env=launched.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    _wait_for(killed / "out" / "checkpoint-3" / "trainer_state.json")
    os.killpg(process.pid, signal.SIGKILL)  # the launcher and what it launched
    assert process.wait() == -signal.SIGKILL
    again = launched.launch([*words, "--resume"])
    assert again.returncode == 0, again.stderr[-3000:]
    assert launched.batches(killed) == launched.batches(whole)
    assert launched.weights(whole)[7] != launched.weights(whole)[0]
    assert launched.weights(killed)[7] == pytest.approx(launched.weights(whole)[7], rel=1e-6)


def _wait_for(path: Path, seconds: float = 200) -> None:
    until = time.monotonic() + seconds
    while not path.exists():
        assert time.monotonic() < until, f"{path} did not come"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("prepared")
    launched.prepared(made)
    return made


def words_of(folder: Path, out: Path) -> list[str]:
    named = {
        "model.path": folder / "model",
        "data.files": f"[{folder / 'pairs.jsonl'}]",
        "tools.indexes.wikipedia": folder / "index",
        "output": out,
        "engine.plugin": "launched:engine",
    }
    return [f"{key}={value}" for key, value in named.items()]


def write(path: Path, *rows: dict[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def tokenizer_changed(folder: Path, **change: object) -> list[str]:
    """A copy of the model's folder with another tokenizer."""
    import shutil

    copy = folder.parent / f"changed-{'-'.join(change)}"
    shutil.copytree(folder / "model", copy, dirs_exist_ok=True)
    (copy / "chat_template.jinja").unlink(missing_ok=True)
    made = tiny.tokenizer()
    for name, value in change.items():
        setattr(made, name, value)
    made.save_pretrained(copy)
    return [f"model.path={copy}"]


ROW = {"id": "1", "query": "q", "responses": ["a", "b"], "label": 0, "source": "wikipedia"}
BAD: dict[str, tuple[Change, str]] = {
    "a key that is almost right": (lambda at: ["trainer.lerning_rate=1"], "learning_rate"),
    "a key of a part": (lambda at: ["rollout.limits.callz=1"], "rollout.limits.calls"),
    "a key at the top": (lambda at: ["modle.path=x"], "did you mean model"),
    "a key that is ours": (lambda at: ["trainer.temperature=1"], "rollout.temperature"),
    "a value of another type": (lambda at: ["rollout.limits.calls=many"], "calls"),
    "a word without =": (lambda at: ["rollout"], "key=value"),
    "other columns": (
        lambda at: [f"data.files=[{write(at / 'c.jsonl', {'question': 'q', 'best': 'a'})}]"],
        "expected query and responses",
    ),
    "a label that is neither": (
        lambda at: [f"data.files=[{write(at / 'l.jsonl', {**ROW, 'label': 'tie'})}]"],
        "expected label 0 or 1",
    ),
    "no file": (lambda at: ["data.files=[/nowhere.jsonl]"], "/nowhere.jsonl"),
    "a source without a tool": (
        lambda at: [f"data.files=[{write(at / 's.jsonl', {**ROW, 'source': 'pubmed'})}]"],
        "wikipedia_search",
    ),
    "no model": (lambda at: ["model.path=/nowhere"], "expected a folder with a model"),
    "no chat template": (lambda at: tokenizer_changed(at, chat_template=None), "chat template"),
    "no padding": (lambda at: tokenizer_changed(at, pad_token=None), "padding token"),
    "limits that hold no prompt": (
        lambda at: ["rollout.limits.total_tokens=300"],
        "rollout.limits.total_tokens",
    ),
    "no vLLM": (
        lambda at: [
            "engine.plugin=null",
            "engine.name=vllm-server",
            "engine.url=http://127.0.0.1:9",
            f"engine.adapters={at}",
            "model.lora.rank=4",
        ],
        "127.0.0.1:9",
    ),
    "no CUDA": (lambda at: ["device=cuda"], "CUDA"),
    "no engine of that name": (lambda at: ["engine.plugin=nowhere:x"], "engine.plugin"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_refused_before_a_model_is_loaded(
    name: str,
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from transformers import AutoModelForCausalLM

    def loaded(*args: Any, **named: Any) -> None:
        raise AssertionError("the model was loaded")

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", loaded)
    change, said = BAD[name]
    words = [*words_of(folder, tmp_path / "out"), *change(folder)]
    assert grpo.main(["--config", str(launched.CONFIG), *words]) in (2, 3)
    told = capsys.readouterr().err
    assert "error: " in told
    assert said in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "launcher",
    [
        {"ACCELERATE_USE_FSDP": "true"},
        {"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_DEEPSPEED_ZERO_STAGE": "3"},
        {"PARALLELISM_CONFIG_TP_SIZE": "2"},
    ],
)
def test_an_engine_in_the_process_refuses_a_model_in_pieces(
    launcher: dict[str, str],
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for key, value in launcher.items():
        monkeypatch.setenv(key, value)
    words = [*words_of(folder, tmp_path / "out"), "engine.plugin=null"]
    assert grpo.main(["--config", str(launched.CONFIG), *words]) == 2
    assert "wait for each other for ever; use engine vllm-server" in capsys.readouterr().err


def test_an_output_that_holds_a_run_is_not_written_over(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from openreward.train.config_files import read_settings, write_settings
    from openreward.train.settings import GrpoSettings

    words = words_of(folder, tmp_path / "out")
    settings = read_settings(launched.CONFIG, words, GrpoSettings)
    write_settings(settings, tmp_path / "out" / SETTINGS_FILE)
    assert grpo.main(["--config", str(launched.CONFIG), *words]) == 2
    assert "--resume goes on with it" in capsys.readouterr().err
    other = [*words, "--resume", "reward.tool_weight=0.9"]
    assert grpo.main(["--config", str(launched.CONFIG), *other]) == 2
    assert "another reward" in capsys.readouterr().err


def test_a_dry_run_says_what_it_found_and_loads_nothing(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(os.environ, "RANK", raising=False)
    words = [*words_of(folder, tmp_path / "out"), "engine.plugin=null", "--dry-run"]
    assert grpo.main(["--config", str(launched.CONFIG), *words]) == 0
    told = capsys.readouterr().err
    assert "data: 12 rows of 6 pairs, 0 unusable" in told
    assert "template: appends only" in told
    assert "engine: transformers" in told
    assert "memory, estimated:" in told
    assert not (tmp_path / "out").exists()
