"""`openreward judge` with searches over a local index, and what the trajectories keep."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from judge_runs import judge, judgments, manifest, rows, write_rows

from openreward.tools.index_builder import build
from openreward.types import Document

SEARCHER = """
from openreward.policy.base import Generation
from openreward.policy.scripted import ScriptedPolicy

CALL = '<tool_call>{"name": "wikipedia_search", "arguments": {"query": "%s"}}</tool_call>'


def script(conversation, sampling):
    turn = sum(message.role == "assistant" for message in conversation.messages)
    if turn:
        text = "By [1], the first. <answer>A</answer>"
    elif "question 2" in conversation.messages[-1].content:
        text = CALL % "zebra crossing"
    else:
        text = CALL % "Ada Lovelace"
    return Generation(text=text, token_ids=(1, 2), logprobs=(-0.5, -0.25))


def policy():
    return ScriptedPolicy(script)
"""
FLAGS = ("in.jsonl", "-o", "out.jsonl", "--policy", "searcher:policy", "--orders", "one")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two pairs, a policy that searches, and an index in the OpenReward home."""
    write_rows(tmp_path, rows(2))
    (tmp_path / "searcher.py").write_text(SEARCHER)
    ada = Document(
        id="Ada Lovelace",
        source="wikipedia",
        title="Ada Lovelace",
        text="Ada Lovelace wrote about the engine.",
        revision="7",
    )
    build([ada], tmp_path / "home" / "indexes" / "wikipedia", "wikipedia")
    return tmp_path


def test_the_indexes_in_the_home_are_searched_and_counted(folder: Path) -> None:
    run = judge(folder, *FLAGS, OPENREWARD_HOME=str(folder / "home"))
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[1] == "with a real search: 1 of 2 (50%)"
    found = {each.id: each for each in judgments(folder / "out.jsonl")}
    evidence = found["row-1"].evidence[0]
    assert (evidence.passage.title, evidence.passage.revision) == ("Ada Lovelace", "7")
    assert evidence.cited
    assert found["row-2"].evidence == ()
    turn = found["row-1"].votes[0].trajectory.turns[0]
    assert (turn.token_ids, turn.logprobs) == ((), ())


def test_tokens_are_kept_when_asked_for(folder: Path) -> None:
    run = judge(folder, *FLAGS, "--tokens", OPENREWARD_HOME=str(folder / "home"))
    assert run.returncode == 0
    turn = judgments(folder / "out.jsonl")[0].votes[0].trajectory.turns[0]
    assert (turn.token_ids, turn.logprobs) == ((1, 2), (-0.5, -0.25))


def test_a_run_is_not_continued_over_another_index(folder: Path) -> None:
    named = ("--index", f"wikipedia={folder / 'home' / 'indexes' / 'wikipedia'}")
    assert judge(folder, *FLAGS, *named).returncode == 0
    version = manifest(folder / "out.jsonl").config["indexes"]
    other = Document(id="a", source="wikipedia", title="Zebra crossing", text="A zebra crossing.")
    build([other], folder / "home" / "indexes" / "wikipedia", "wikipedia")
    run = judge(folder, *FLAGS, *named, "--resume")
    assert run.returncode == 2
    assert isinstance(version, dict)
    assert f"config.indexes.wikipedia: '{version['wikipedia']}' then, '" in run.stderr
