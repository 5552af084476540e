"""What is known of a trained model, as a record and as the card that goes with it."""

from __future__ import annotations

import importlib.metadata
import json
import platform
from pathlib import Path
from typing import Any

from pydantic import JsonValue

from openreward import __version__
from openreward.errors import UserError
from openreward.records import describe_file
from openreward.types import Record

_PACKAGES = ("torch", "transformers", "trl", "peft", "accelerate")


class ModelManifest(Record):
    """How a model came to be; numbers are those that its run measured."""

    base: str
    program: str  # grpo | sft | dpo
    steps: int
    settings: dict[str, JsonValue]
    data: dict[str, str]  # file -> its sum, of those that are still there
    versions: dict[str, str]
    held_out: dict[str, float] = {}  # of the last evaluation
    last: dict[str, float] = {}  # of the last step


def read_manifest(run: Path) -> ModelManifest:
    """What a run left; raises `UserError` where it left no settings."""
    import yaml

    try:
        settings = yaml.safe_load((run / "settings.yaml").read_text(encoding="utf-8"))
        base = str(settings["model"]["path"])
    except (OSError, KeyError, TypeError, yaml.YAMLError):
        raise UserError(f"{run}: expected a run's settings.yaml, got none to read") from None
    program = "grpo" if "rollout" in settings else "dpo" if "beta" in settings else "sft"
    held_out, last, steps = _numbers(run)
    return ModelManifest(
        base=base,
        program=program,
        steps=steps,
        settings=settings,
        data=_sums(settings),
        versions=_versions(),
        held_out=held_out,
        last=last,
    )


def card(manifest: ModelManifest, form: str) -> str:
    """The card, in Markdown with the head that the hub reads."""
    use = {
        "gguf": "openreward judge pairs.jsonl -o judgments.jsonl --adapter adapter.gguf",
        "merged": "vllm serve FOLDER   # then: openreward judge ... --endpoint http://127.0.0.1:8000",
        "weights": "vllm serve FOLDER   # then: openreward judge ... --endpoint http://127.0.0.1:8000",
        "adapter": "vllm serve BASE --enable-lora --lora-modules judge=FOLDER",
    }[form]
    numbers = manifest.held_out
    measured = "\n".join(f"| {name} | {value:.4f} |" for name, value in sorted(numbers.items()))
    shown = (
        f"| on held-out pairs | |\n| --- | --- |\n{measured}"
        if numbers
        else "Nothing was measured on held-out pairs in this run."
    )
    data = "\n".join(f"- {path}: sha256 {digest}" for path, digest in manifest.data.items())
    return f"""---
base_model: {manifest.base}
library_name: {"peft" if form in ("adapter", "gguf") else "transformers"}
tags: [reward-model, openreward, {manifest.program}]
---

# A judge trained with OpenReward

Base: {manifest.base}. Trained by {manifest.program} for {manifest.steps} steps. Form: {form}.

```
{use}
```

## What was measured

{shown}

What is not listed here was not measured. A judge is as good as the data it was trained and measured
on; look at its verdicts before you trust them.

## How it was made

{data or "- the data files were not there any more when this was written"}

Versions: {", ".join(f"{name} {version}" for name, version in manifest.versions.items())}. All
settings: manifest.json.
"""


def _numbers(run: Path) -> tuple[dict[str, float], dict[str, float], int]:
    held_out: dict[str, float] = {}
    last: dict[str, float] = {}
    steps = 0
    for row in _rows(run):
        numbers = {k: float(v) for k, v in row.items() if isinstance(v, int | float)}
        steps = max(steps, int(numbers.get("step", 0)))
        held = {k: v for k, v in numbers.items() if k.startswith("heldout/")}
        if held:
            held_out = held
        elif "loss" in numbers:
            last = numbers
    return held_out, last, steps


def _rows(run: Path) -> list[dict[str, Any]]:
    """`metrics.jsonl` of GRPO, else the trainer's own log in the last checkpoint."""
    metrics = run / "metrics.jsonl"
    if metrics.exists():
        return [json.loads(line) for line in metrics.read_text(encoding="utf-8").splitlines()]
    states = sorted(
        run.glob("checkpoint-*/trainer_state.json"),
        key=lambda path: int(path.parent.name.rpartition("-")[2]),
    )
    if not states:
        return []
    found = json.loads(states[-1].read_text(encoding="utf-8"))["log_history"]
    return list(found)


def _sums(settings: dict[str, Any]) -> dict[str, str]:
    data = settings.get("data", {})
    parts = [data] if "files" in data else [part for part in data.values()]
    files = [Path(file) for part in parts for file in part.get("files", ())]
    return {str(file): describe_file(file).sha256 for file in files if file.is_file()}


def _versions() -> dict[str, str]:
    found = {"openreward": __version__, "python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
