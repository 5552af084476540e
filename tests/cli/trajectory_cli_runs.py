"""Runs of `openreward synth trajectories`, with a scripted tutor as the plug-in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from openreward.records import Row, read_jsonl
from openreward.training_rows import TrainingTrajectory

TUTOR = '''
"""Searches for the last word of the question, and prefers the answer with "good" in it."""

import os
import re

from openreward.errors import PolicyError
from openreward.policy.scripted import ScriptedPolicy

CALL = '<tool_call>{"name": "wikipedia_search", "arguments": {"query": "%s"}}</tool_call>'


def script(conversation, sampling):
    first, text = (conversation.messages[n].content for n in (1, -1))
    if "broken" in first:
        raise PolicyError(os.environ.get("FAULT", "timeout"), "the engine is broken")
    if sum(message.role == "assistant" for message in conversation.messages):
        better = "A" if first.find("good") < first.find("poor") else "B"
        return f"By [1]. <answer>{'A' if 'stubborn' in first else better}</answer>"
    if "lazy" in first:
        return "Clear. <answer>A</answer>"
    word = re.search(r"(\\w+)\\.\\n### end", first)[1]
    return CALL % word


def policy():
    return ScriptedPolicy(script, delay=float(os.environ.get("DELAY", "0")))
'''
NAMES = ("Amber Harbour", "Birch Observatory", "Cedar Parliament", "Delta Orchestra")
ORACLE = ("in.jsonl", "-o", "out.jsonl", "--teacher", "oracle")
ENGINE = (*ORACLE[:-1], "engine", "--policy", "tutor:policy", "--orders", "both")


def rows(count: int) -> list[dict[str, Any]]:
    """Pairs of made-up things, each the subject of a document of the index."""
    made = []
    for number in range(count):
        name, answers = NAMES[number % 4], [f"a good one {number}", f"a poor one {number}"]
        made.append(
            {
                "id": f"row-{number:03}",
                "query": f"Explain what is special of the {name}.",
                "responses": answers[::-1] if number % 2 else answers,
                "label": number % 2,
                "source": "wikipedia",
                "meta": {"document": f"wikipedia:{name}"},
            }
        )
    return made


def write(folder: Path, made: list[dict[str, Any]]) -> None:
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "openreward.cli.main", "synth", "trajectories", *arguments],
        cwd=folder,
        env={**os.environ, "OPENREWARD_HOME": str(folder / "home"), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    with start(folder, *arguments, **environment) as process:
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def data(path: Path) -> list[TrainingTrajectory]:
    found = list(read_jsonl(path, TrainingTrajectory))
    assert all(isinstance(row, Row) for row in found)
    return [row.record for row in found if isinstance(row, Row)]


def objects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def objects_done(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().split(b"\n")[:-1]] if path.exists() else []
