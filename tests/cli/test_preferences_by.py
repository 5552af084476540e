"""From rows with a document to pairs for DPO: answers, their scores by --by, pairs; resumed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import JsonValue

Json = dict[str, JsonValue]
PLUGIN = '''
"""A writer of numbered answers; a scorer and a judge of pairs that like the word more."""

import os

from openreward.errors import PolicyError
from openreward.policy.scripted import ScriptedPolicy
from openreward.scoring.wording_en import ENGLISH as words

SAID = {
    words.statements: "1. It is tall.",
    words.extraction: "- it is tall",
    words.support: "[[Fully supported]]",
    words.logicality: "[[5]]",
    words.completeness: "[[5]]",
}


def say(conversation, sampling):
    system, material = conversation.messages[0].content, conversation.messages[-1].content
    with open("calls.txt", "a") as file:
        file.write("call\\n")
    if system == words.helpfulness:
        if "lake" in material and os.environ.get("FAULT"):
            raise PolicyError("timeout", "it broke")
        return f"[[{material.count('more')}]]"
    if system in SAID:
        return SAID[system]
    if "judge" in system:
        first, second = (material.split(f"### answer {letter}")[1] for letter in "AB")
        first = first.split("### answer B")[0]
        return f"<answer>{'A' if first.count('more') > second.count('more') else 'B'}</answer>"
    return "It is " + "more " * (sampling.seed % 7) + f"tall. {sampling.seed}"


def policy():
    return ScriptedPolicy(say)
'''
ROWS: list[Json] = [
    {"id": word, "query": f"How tall is the {word}?", "context": f"The {word} is forty metres."}
    for word in ("tower", "lake")
]
ENGINE = ("--policy", "plugin:policy")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "plugin.py").write_text(PLUGIN)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    done = run(tmp_path, "answers", "rows.jsonl", "-o", "a.jsonl", "--number", "6", *ENGINE)
    assert done.returncode == 0, done.stderr
    (tmp_path / "calls.txt").unlink()
    return tmp_path


def run(folder: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openreward.cli.main", "synth", *arguments],
        cwd=folder,
        env={**os.environ, "OPENREWARD_HOME": str(folder), **more},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_writers_read_the_document_before_the_question(folder: Path) -> None:
    made = {str(row["id"]): row for row in lines(folder / "a.jsonl")}
    row = made["tower"]
    assert (row["query"], row["context"]) == (
        "How tall is the tower?",
        "The tower is forty metres.",
    )
    content = "The tower is forty metres.\n\nHow tall is the tower?"
    assert row["prompt"] == [{"role": "user", "content": content}]


def test_pairs_by_longreward_are_best_against_worst(folder: Path) -> None:
    done = run(folder, "preferences", "a.jsonl", "-o", "p.jsonl", "--by", "longreward", *ENGINE)
    assert done.returncode == 0, done.stderr
    assert "p.jsonl: 2 pairs of 2 rows" in done.stdout
    for pair in lines(folder / "p.jsonl"):
        chosen, rejected = str(pair["chosen"]), str(pair["rejected"])
        assert chosen.count("more") > rejected.count("more")
        helped = (chosen.count("more"), rejected.count("more"))
        assert (pair["score_chosen"], pair["score_rejected"]) == tuple(
            (each + 5 + 10 + 5) / 4 for each in helped
        )
        assert str(pair["prompt"]).startswith("The ")  # what the policy was asked, document and all
    # 2 rows: an extraction each, and of 6 answers helpfulness, logicality, statements, a verdict,
    # completeness
    assert len((folder / "calls.txt").read_text().splitlines()) == 2 * (1 + 6 * 5)
    again = run(folder, "preferences", "a.jsonl", "-o", "q.jsonl", "--scores", "p.scores.jsonl")
    assert again.returncode == 0
    assert (folder / "q.jsonl").read_text() == (folder / "p.jsonl").read_text()


def test_a_row_that_the_engine_failed_at_is_done_again_on_resume(folder: Path) -> None:
    flags = ("preferences", "a.jsonl", "-o", "p.jsonl", "--by", "longreward", *ENGINE)
    broken = run(folder, *flags, FAULT="1")
    assert broken.returncode == 4
    assert "rows that could not be scored: 1; --resume does them again" in broken.stdout
    assert [pair["id"] for pair in lines(folder / "p.jsonl")] == ["tower"]
    refused = run(folder, *flags)
    assert refused.returncode == 2
    assert "exists already" in refused.stderr
    (folder / "calls.txt").unlink()
    done = run(folder, *flags, "--resume")
    assert done.returncode == 0, done.stderr
    assert {pair["id"] for pair in lines(folder / "p.jsonl")} == {"tower", "lake"}
    assert len((folder / "calls.txt").read_text().splitlines()) == 1 + 6 * 5


def test_pairs_by_games_of_a_judge_of_pairs(folder: Path) -> None:
    flags = ("--by", "judge", "--no-tools", "--rounds", "3", *ENGINE)
    done = run(folder, "preferences", "a.jsonl", "-o", "p.jsonl", *flags)
    assert done.returncode == 0, done.stderr
    made = lines(folder / "p.scores.jsonl")
    assert [row["requests"] for row in made] == [9, 9]
    for pair in lines(folder / "p.jsonl"):
        assert str(pair["chosen"]).count("more") > str(pair["rejected"]).count("more")


def test_pairs_by_contrast_need_no_engine(tmp_path: Path) -> None:
    row: Json = {"id": "1", "prompt": "What?", "answers": {"strong": "A tower.", "weak": "A cat."}}
    (tmp_path / "in.jsonl").write_text(json.dumps(row) + "\n")
    flags = ("--by", "contrast", "--strong", "strong")
    done = run(tmp_path, "preferences", "in.jsonl", "-o", "p.jsonl", *flags)
    assert done.returncode == 0, done.stderr
    (pair,) = lines(tmp_path / "p.jsonl")
    assert (pair["chosen"], pair["rejected"]) == ("A tower.", "A cat.")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--by", "contrast"), "expected --strong NAME"),
        (("--by", "scalar"), "expected --scalar MODEL"),
        (("--by", "judge", "--strong", "x"), "--strong goes with --by contrast"),
        (("--rounds", "2"), "--rounds goes with --by judge"),
        (("--resume",), "--resume goes on with the scoring of --by"),
        (("--by", "judge", "--scores", "s.jsonl"), "expected --by or --scores, got both"),
        (("--by", "judge", "--rounds", "0"), "--rounds: expected at least 1"),
    ],
)
def test_flags_that_do_not_fit_are_told(
    tmp_path: Path, flags: tuple[str, ...], message: str
) -> None:
    (tmp_path / "in.jsonl").write_text("{}\n")
    done = run(tmp_path, "preferences", "in.jsonl", "-o", "p.jsonl", *flags)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert message in done.stderr
