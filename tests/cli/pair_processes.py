"""Runs of `openreward synth pairs` in processes of their own, and what they leave."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from openreward.records import Row, read_jsonl
from openreward.synth.pair_records import PairRow
from openreward.types import Pair

HERE = Path(__file__).parent
SETS = ("train.jsonl", "dev.jsonl", "test.jsonl", "dropped.jsonl")
SCRIPTED = ("--policy", "pair_runs:writer", "--same", "1")


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "openreward.cli.main", "synth", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HERE), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    with start(folder, *arguments, **environment) as process:
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def rows(folder: Path) -> dict[str, PairRow]:
    found = [row.record for row in read_jsonl(folder / "rows.jsonl", PairRow)
             if isinstance(row, Row)]  # fmt: skip
    assert len({row.id for row in found}) == len(found)
    return {row.id: row.model_copy(update={"seconds": 0.0}) for row in found}


def pairs(folder: Path, name: str) -> list[Pair]:
    return [row.record for row in read_jsonl(folder / name, Pair) if isinstance(row, Row)]


def same_set(one: Path, other: Path) -> bool:
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in SETS)
