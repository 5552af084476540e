"""Runs of `openreward judge` in processes of their own, with a scripted policy as the plug-in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from pydantic import JsonValue

from openreward.records import Row, read_jsonl
from openreward.resume import Manifest, read_manifest
from openreward.types import Judgment

PLUGIN = '''
"""A policy that prefers the answer with "good" in it; the environment says how fast, how broken."""

import os

from openreward.errors import PolicyError
from openreward.policy.scripted import ScriptedPolicy


def script(conversation, sampling):
    text = conversation.messages[-1].content
    if "unreadable" in text:
        return "I cannot say."
    if "broken" in text:
        raise PolicyError(os.environ.get("FAULT", "timeout"), "the engine is broken")
    better = "A" if text.find("good") < text.find("poor") else "B"
    return f"One is better. <answer>{better}</answer>"


def policy():
    return ScriptedPolicy(script, delay=float(os.environ.get("DELAY", "0")))


class NoPolicy:
    model = "none"
'''
SCRIPTED = ("--policy", "plugin:policy", "--no-tools")


def rows(count: int, **changed: dict[str, JsonValue]) -> list[dict[str, JsonValue]]:
    """Pairs whose better answer alternates; `changed` maps `row_3` to fields of that row."""
    made: list[dict[str, JsonValue]] = []
    for number in range(1, count + 1):
        answers: list[JsonValue] = [f"a good answer {number}", f"a poor answer {number}"]
        label = number % 2
        pair: dict[str, JsonValue] = {
            "id": f"row-{number}",
            "query": f"question {number}",
            "responses": answers[::-1] if label else answers,
            "label": label,
        }
        made.append({**pair, **changed.get(f"row_{number}", {})})
    return made


def write_rows(folder: Path, made: list[dict[str, JsonValue]]) -> Path:
    """The plug-in and `in.jsonl` in a folder."""
    (folder / "plugin.py").write_text(PLUGIN)
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    return path


def start(
    folder: Path,
    *arguments: str,
    preexec: Callable[[], None] | None = None,
    stdin: int | None = None,
    **environment: str,
) -> subprocess.Popen[str]:
    """A run that goes on beside the test."""
    return subprocess.Popen(
        [sys.executable, "-m", "openreward.cli.main", "judge", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=preexec,
    )


def judge(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A run to its end."""
    with start(folder, *arguments, **environment) as process:
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def judgments(path: Path) -> list[Judgment]:
    """The rows of an output; every line must be one."""
    found = list(read_jsonl(path, Judgment))
    assert all(isinstance(row, Row) for row in found)
    return [row.record for row in found if isinstance(row, Row)]


def manifest(path: Path) -> Manifest:
    """The manifest of an output, which must be there."""
    found = read_manifest(path)
    assert found is not None
    return found
