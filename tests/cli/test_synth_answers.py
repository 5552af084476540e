from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pydantic import JsonValue

from openreward.resume import read_manifest
from openreward.synth.answer_sampling import AnswerRow

PLUGIN = '''
"""Answers by the seed; `IN_FLIGHT` holds the most turns that ran at once."""

import os
from pathlib import Path

from openreward.errors import PolicyError
from openreward.policy.scripted import ScriptedPolicy

running = 0
most = 0


class Counting(ScriptedPolicy):
    async def generate(self, conversation, sampling):
        global running, most
        running += 1
        if running > most:
            most = running
            Path("in_flight").write_text(str(most))
        try:
            return await super().generate(conversation, sampling)
        finally:
            running -= 1


def script(conversation, sampling):
    text = conversation.messages[-1].content
    if "broken" in text:
        raise PolicyError(os.environ.get("FAULT", "timeout"), "the engine is broken")
    if "silent" in text:
        return ""
    return f"An answer to {text} by {sampling.seed % 1000}."


def policy():
    return Counting(script, delay=float(os.environ.get("DELAY", "0")))
'''
OUT = ("in.jsonl", "-o", "out.jsonl", "--policy", "plugin:policy", "--number", "4")


def write(folder: Path, *prompts: str) -> None:
    (folder / "plugin.py").write_text(PLUGIN)
    rows = [{"id": f"p{number}", "prompt": prompt} for number, prompt in enumerate(prompts)]
    (folder / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "openreward.cli.main", "synth", "answers", *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    with start(folder, *arguments, **environment) as process:
        out, err = process.communicate(timeout=60)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def answers(path: Path) -> dict[str, JsonValue]:
    rows = [AnswerRow.model_validate_json(line) for line in path.read_bytes().splitlines()]
    assert len({row.id for row in rows}) == len(rows)
    return {row.id: row.model_dump(mode="json", exclude={"seconds"}) for row in rows}


def test_prompts_get_their_answers_and_the_totals_say_what_they_are(tmp_path: Path) -> None:
    write(tmp_path, "one", "a silent one", "three")
    ran = run(tmp_path, *OUT, "--writer", "small=engine", "--writer", "warm=engine,temperature=2")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[:2] == [
        "out.jsonl: 2 of 3 prompts have answers",
        "answers: 8 empty, 16 ok",
    ]
    rows = answers(tmp_path / "out.jsonl")
    assert set(rows) == {"p0", "p1", "p2"}
    manifest = read_manifest(tmp_path / "out.jsonl")
    assert manifest is not None
    assert manifest.config["writers"][1] == {  # type: ignore[index, call-overload]
        "name": "warm",
        "model": "scripted",
        "plugin": "plugin:policy",
        "temperature": 2.0,
        "seed": 1,
    }


def test_hundreds_are_in_flight_and_workers_change_nothing(tmp_path: Path) -> None:
    write(tmp_path, *(f"prompt {number}" for number in range(20)))
    many = ("--concurrency", "20", "--number", "20")
    assert run(tmp_path, *OUT, *many, DELAY="0.2").returncode == 0
    assert int((tmp_path / "in_flight").read_text()) == 400
    one = ("in.jsonl", "-o", "one.jsonl", "--policy", "plugin:policy", "--number", "20")
    assert run(tmp_path, *one, "--concurrency", "1").returncode == 0
    assert answers(tmp_path / "one.jsonl") == answers(tmp_path / "out.jsonl")


def test_kills_lose_nothing_and_a_resumed_run_is_the_same(tmp_path: Path) -> None:
    write(tmp_path, *(f"prompt {number}" for number in range(30)))
    whole = ("in.jsonl", "-o", "whole.jsonl", "--policy", "plugin:policy", "--number", "4")
    assert run(tmp_path, *whole).returncode == 0
    out = tmp_path / "out.jsonl"
    for number in range(2):
        before = out.read_bytes().count(b"\n") if out.exists() else 0
        with start(tmp_path, *OUT, "--resume", "--concurrency", "4", DELAY="0.05") as process:
            end = time.monotonic() + 30
            while time.monotonic() < end and process.poll() is None:
                if out.exists() and out.read_bytes().count(b"\n") >= before + 5:
                    break
                time.sleep(0.005)
            process.kill()
            process.communicate()
        if number:  # the power fails within a write
            with out.open("ab") as file:
                file.write(b'{"id":"p29","prompt":[')
    assert 0 < out.read_bytes().count(b"\n") < 30
    end_of_it = run(tmp_path, *OUT, "--resume")
    assert (end_of_it.returncode, end_of_it.stderr) == (0, "")
    assert answers(out) == answers(tmp_path / "whole.jsonl")
    assert "in 3 runs" in end_of_it.stdout


def test_what_was_not_done_is_counted_and_done_by_a_resumed_run(tmp_path: Path) -> None:
    write(tmp_path, "one", "a broken one", "three")
    ran = run(tmp_path, *OUT, "--patience", "0")
    assert ran.returncode == 4
    assert ran.stderr == "left out: line 2 ('p1'): the engine is broken\n"
    assert "rows not done: 1 not_done" in ran.stdout
    again = run(tmp_path, *OUT, "--resume", FAULT="bad_request")
    assert again.returncode == 4
    assert "answers: 4 error, 8 ok" in again.stdout
    assert set(answers(tmp_path / "out.jsonl")) == {"p0", "p1", "p2"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--number", "1001"), "error: settings: field number: "),
        (("--writer", "a=/etc"), "error: --writer a: expected engine, local, a URL"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    write(tmp_path, "one")
    ran = run(tmp_path, *OUT, *arguments)
    assert ran.returncode == 2
    assert ran.stderr.startswith(message)
    assert not (tmp_path / "out.jsonl").exists()
