"""Folders as runs of `openreward synth pairs` leave them, with made-up rows."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from pydantic import JsonValue

from openreward.cli.pair_summary import ROWS
from openreward.records import DataFile
from openreward.resume import Manifest, write_manifest
from openreward.synth.pair_records import PairRow, PairSettings

sys.path.insert(0, str(Path(__file__).parent.parent / "synth"))

from pair_rows import write

FILES = ("train.jsonl", "dev.jsonl", "test.jsonl", "dropped.jsonl")
SETTINGS = PairSettings(seed=5)


def manifest(shard: str = "1/1", **changed: JsonValue) -> Manifest:
    """The manifest of a run; `changed` are parts of its config."""
    config: dict[str, JsonValue] = {
        "shard": shard,
        "writers": [{"name": "writer", "model": "small"}],
        "prompts": "3",
        "settings": SETTINGS.model_dump(mode="json", exclude={"seed"}),
    }
    return Manifest(
        program="synth pairs",
        state="finished",
        config=config | changed,
        setup={"concurrency": 4},
        seed=5,
        versions={},
        data=DataFile(path="documents.jsonl", sha256="ab", bytes=1),
    )


def shard(folder: Path, rows: Sequence[PairRow], made: Manifest) -> Path:
    """The folder of a run that wrote the rows."""
    write_manifest(write(folder / ROWS, rows), made)
    return folder


def shards(folder: Path, rows: Sequence[PairRow], count: int) -> list[Path]:
    """The folders of so many machines."""
    return [
        shard(folder / f"part{n + 1}", rows[n::count], manifest(f"{n + 1}/{count}"))
        for n in range(count)
    ]


def contents(folder: Path) -> dict[str, bytes]:
    """The files of a set, the summary apart."""
    return {name: (folder / name).read_bytes() for name in FILES}


def summary(folder: Path) -> dict[str, JsonValue]:
    """The summary of a set."""
    found: dict[str, JsonValue] = json.loads((folder / "summary.json").read_text())
    return found
