"""The warm start as users start it, on a tiny model and rows of the oracle."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("torch", reason="needs [train]")
pytest.importorskip("trl", reason="needs [train]")
pytest.importorskip("yaml", reason="needs [train]")

import runs  # noqa: E402
import tiny  # noqa: E402

from openreward.records import read_rows  # noqa: E402
from openreward.synth.trajectories import Teaching, TeachingSettings  # noqa: E402
from openreward.train import sft  # noqa: E402
from openreward.types import Pair  # noqa: E402

CONFIG = Path(__file__).parents[2] / "train" / "configs" / "sft-tiny.yaml"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sft")
    tiny.saved(made / "model")
    teaching = Teaching(None, runs.tools(), TeachingSettings())
    pairs = [row.record for row in read_rows(runs.pairs_file(made, 6), Pair)]  # type: ignore[union-attr]
    kept = [row for pair in pairs for row in asyncio.run(teaching.teach(pair)).kept]
    (made / "warm.jsonl").write_text("".join(row.model_dump_json() + "\n" for row in kept))
    return made


def run(folder: Path, out: Path, *words: str) -> int:
    named = [f"model.path={folder / 'model'}", f"data.files=[{folder / 'warm.jsonl'}]"]
    return sft.main(["--config", str(CONFIG), *named, f"output={out}", *words])


def test_two_steps_move_the_model_and_it_is_resumed(folder: Path, tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    out = tmp_path / "out"
    assert run(folder, out) == 0
    before = AutoModelForCausalLM.from_pretrained(folder / "model").state_dict()
    after = AutoModelForCausalLM.from_pretrained(out / "final").state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    assert AutoTokenizer.from_pretrained(out / "final").chat_template == tiny.QWEN
    assert run(folder, out, "--resume", "trainer.max_steps=3") == 0
    state = json.loads((out / "checkpoint-3" / "trainer_state.json").read_text())
    assert [row["step"] for row in state["log_history"] if "loss" in row] == [1, 2, 3]


def test_a_new_adapter_is_trained_alone(folder: Path, tmp_path: Path) -> None:
    assert run(folder, tmp_path / "out", "model.lora.rank=2", "trainer.max_steps=1") == 0
    assert (tmp_path / "out" / "final" / "adapter_model.safetensors").exists()
    assert not (tmp_path / "out" / "final" / "model.safetensors").exists()


def test_a_dry_run_says_what_is_learned(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(folder, tmp_path / "out", "--dry-run") == 0
    told = capsys.readouterr().err
    assert "data: 6 rows, 0 unusable" in told
    assert "are learned; the longest row has" in told
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["data.max_tokens=100"], "expected at most 100 tokens"),
        (["trainer.max_length=3"], "is set by data.max_tokens"),
        (["trainer.learnin_rate=3"], "did you mean learning_rate?"),
        (["data.files=[/nowhere.jsonl]"], "/nowhere.jsonl"),
        (["model.path=/nowhere"], "expected a folder with a model"),
    ],
)
def test_bad_input_is_refused(
    folder: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    words: list[str],
    said: str,
) -> None:
    assert run(folder, tmp_path / "out", *words) == 2
    assert said in capsys.readouterr().err


def test_rows_of_another_kind_are_named(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pairs = runs.pairs_file(tmp_path)
    assert run(folder, tmp_path / "out", f"data.files=[{pairs}]") == 2
    assert "pairs.jsonl, line 1" in capsys.readouterr().err
