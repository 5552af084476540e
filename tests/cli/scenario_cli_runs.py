"""Runs of `openreward synth scenarios` in processes of their own, with a scripted plug-in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from pydantic import JsonValue

PLUGIN = '''
"""Judges and writes: what it says follows from the words and the temperature."""

import os

from openreward.errors import PolicyError
from openreward.policy.scripted import ScriptedPolicy

WORTH = {0.0: "1", 0.1: "4.5", 0.2: "3.5", 0.3: "2.5"}
FEATURES = "<answer>" + "".join(f"\\n{n}. feature {n}" for n in range(1, 6)) + "\\n</answer>"


def script(conversation, sampling):
    text = conversation.messages[-1].content
    if "broken" in text:
        raise PolicyError(os.environ.get("FAULT", "timeout"), "the engine is broken")
    if "Which scenario describes" in text and "undecided" in text:
        return "<answer>Code</answer>"
    if "<answer>name</answer>" in text:
        return "<answer>Chat</answer>"
    if "key features that" in text:
        return FEATURES
    if "do what the user asks" in text:
        return "<answer>5</answer>" if "simple" in text else "<answer>2</answer>"
    if "meet the features" in text:
        return f"<answer>{text.rpartition('worth ')[2].split()[0]}</answer>"
    return f"An answer worth {WORTH[sampling.temperature]} points."


def policy():
    return ScriptedPolicy(script, delay=float(os.environ.get("DELAY", "0")))


def other():
    return ScriptedPolicy(["An answer worth 4 points."], model="other")
'''
WRITERS = (
    *("--writer", "a=engine,temperature=0.1"),
    *("--writer", "b=engine,temperature=0.2"),
    *("--writer", "c=engine,temperature=0.3"),
)
SCRIPTED = ("--policy", "plugin:policy", *WRITERS)
_WORDS = (
    "amber birch cedar delta ember fjord grove heron inlet jetty knoll lotus maple north ocean "
    "pearl quill river stone tulip umber vivid willow xenon yonder zephyr"
)
WORDS = _WORDS.split()


def rows(count: int) -> list[dict[str, JsonValue]]:
    """Prompts that have no three words in common."""
    return [
        {
            "id": f"p{number:03}",
            "prompt": f"{WORDS[number % 26]}{number} is what, {WORDS[number // 26]}{number}?",
        }
        for number in range(1, count + 1)
    ]


def write_rows(folder: Path, made: list[dict[str, JsonValue]]) -> Path:
    """The plug-in and `in.jsonl` in a folder."""
    (folder / "plugin.py").write_text(PLUGIN)
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    return path


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """A run that goes on beside the test."""
    return subprocess.Popen(
        [sys.executable, "-m", "openreward.cli.main", "synth", "scenarios", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def build(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """A run to its end."""
    with start(folder, *arguments, **environment) as process:
        out, err = process.communicate(timeout=120)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def lines(path: Path) -> list[dict[str, JsonValue]]:
    """The lines of a file as objects; none where it is not there."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_bytes().splitlines()]
