"""Runs of train/grpo.py as a user starts them, on the tiny model; and the engine they plug in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import runs
import tiny

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "train" / "grpo.py"
CONFIG = ROOT / "train" / "configs" / "tiny.yaml"


def engine(settings: Any, tokenizer: Any, context: int) -> Any:
    """A search, then a verdict by the seed; notes the sum of the weights it is given."""
    from openreward.train.engines.scripted import ScriptedEngine

    class Noting(ScriptedEngine):
        async def update(self, model: Any, step: int, state: object | None = None) -> None:
            await super().update(model, step, state)
            total = sum(float(each.double().sum()) for each in model.parameters())
            file = settings.output / f"weights-{os.environ.get('RANK', '0')}.jsonl"
            with file.open("a") as notes:
                notes.write(json.dumps([step, total]) + "\n")

    return Noting(tokenizer, say)


def say(text: str, seed: int) -> str:
    """What the engine says: behind a tool's answer the verdict."""
    if "<tool_response>" in text:
        return f"So it is. <answer>{'AB'[seed % 2]}</answer>"
    return runs.call("the tower")


def prepared(folder: Path) -> list[str]:
    """Model, pairs and index in a folder, and the words that name them."""
    from openreward.tools.index_builder import build
    from openreward.types import Document

    tiny.saved(folder / "model")
    pairs = runs.pairs_file(folder, 6)
    page = Document(id="1", source="wikipedia", title="Tower", text="The tower is in Paris.")
    build([page], folder / "index", "wikipedia")
    return [
        f"model.path={folder / 'model'}",
        f"data.files=[{pairs}]",
        f"tools.indexes.wikipedia={folder / 'index'}",
        f"output={folder / 'out'}",
        "engine.plugin=launched:engine",
    ]


def environment() -> dict[str, str]:
    """Ours, without a hub, and with this folder for the plug-in."""
    mine = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""}
    return {**os.environ, **mine, "PYTHONPATH": str(Path(__file__).parent)}


def command(words: Sequence[str], processes: int = 1) -> list[str]:
    """By `accelerate launch`, which starts one process on CPUs; by torchrun for more."""
    launch = ["-m", "accelerate.commands.launch", "--cpu", "--num_processes", "1"]
    launch += ["--num_machines", "1", "--mixed_precision", "no", "--dynamo_backend", "no"]
    if processes > 1:
        launch = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node"]
        launch += [str(processes)]
    return [sys.executable, *launch, str(SCRIPT), "--config", str(CONFIG), *words]


def launch(
    words: Sequence[str], processes: int = 1, seconds: float = 300
) -> subprocess.CompletedProcess[str]:
    """A whole run."""
    return subprocess.run(
        command(words, processes),
        env=environment(),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )


def batches(folder: Path, rank: int = 0) -> dict[int, list[str]]:
    """The rows that each step took; a step done again counts by its last time."""
    file = folder / "out" / f"rank-{rank}" / "batches.jsonl"
    return {row["step"]: row["rows"] for row in map(json.loads, file.read_text().splitlines())}


def weights(folder: Path, rank: int = 0) -> dict[int, float]:
    """The sum of the weights that the engine of a rank was given, by step."""
    file = folder / "out" / f"weights-{rank}.jsonl"
    return dict(map(json.loads, file.read_text().splitlines()))
