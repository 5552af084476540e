"""`openreward score`: one answer, files of answers, resume, summary and exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import JsonValue

from openreward.records import Row, read_jsonl
from openreward.scoring.records import Score

PLUGIN = '''
"""A scripted scorer: what says "broken" fails, and every request is a line in calls.txt."""

from openreward.errors import PolicyError
from openreward.policy.scripted import ScriptedPolicy
from openreward.scoring.wording_en import ENGLISH as words

SAID = {
    words.statements: "1. It is tall.",
    words.statements_to_search: "1. It is tall. => tower height",
    words.extraction: "- it is tall",
    words.support: "So it says [1]. [[Fully supported]]",
}


def script(conversation, sampling):
    system, material = (message.content for message in conversation.messages[:2])
    with open("calls.txt", "a") as file:
        file.write("call\\n")
    if "unreachable" in material:
        raise PolicyError("unreachable", "nobody is there")
    if "broken" in material:
        raise PolicyError("timeout", "it broke")
    if "no facts" in material and system == words.statements:
        return "[[no statements]]"
    return SAID.get(system, "Fine. [[6]]")


def policy():
    return ScriptedPolicy(script)
'''
ENGINE = ("--policy", "plugin:policy")
DOCUMENT = "The tower is forty metres tall. It stands on a hill."


def rows(count: int, **more: JsonValue) -> list[dict[str, JsonValue]]:
    return [
        {"id": f"row-{n}", "query": f"question {n}", "answer": f"answer {n}", **more}
        for n in range(count)
    ]


def write(folder: Path, made: list[dict[str, JsonValue]]) -> Path:
    (folder / "plugin.py").write_text(PLUGIN)
    path = folder / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in made))
    return path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openreward.cli.main", "score", *arguments, *ENGINE],
        cwd=folder,
        env={**os.environ, "OPENREWARD_HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def scores(path: Path) -> dict[str, Score]:
    found = list(read_jsonl(path, Score))
    return {row.record.id: row.record for row in found if isinstance(row, Row)}


def test_one_answer_by_flags(tmp_path: Path) -> None:
    write(tmp_path, [])
    (tmp_path / "report.txt").write_text(DOCUMENT)
    flags = ("--query", "How tall?", "--answer", "Tall.", "--context-file", "report.txt")
    done = run(tmp_path, *flags)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[:7] == [
        "reward 7 of 10",
        "  helpfulness: 6",
        "  logicality: 6",
        "  faithfulness: 10",
        "  completeness: 6",
        "[1] full: It is tall.",
        f"    evidence: 0-{len(DOCUMENT)} (cited)",
    ]
    as_json = run(tmp_path, *flags, "--json", "--drop", "faithfulness", "-o", "one.jsonl")
    assert json.loads(as_json.stdout)["reward"] == 6.0
    assert scores(tmp_path / "one.jsonl")["answer"].reward == 6.0


def test_a_file_of_answers_and_its_summary(tmp_path: Path) -> None:
    made = rows(3, context=DOCUMENT)
    made[1]["answer"] = "no facts"
    path = write(tmp_path, made)
    done = run(tmp_path, path.name, "-o", "out.jsonl", "--json")
    assert done.returncode == 0
    told = json.loads(done.stdout)
    assert (told["rows"], told["ok"], told["incomplete"], told["error"]) == (3, 2, 1, 0)
    assert told["reward"] == 7.0
    assert told["dimensions"]["faithfulness"] == {
        "mean": 10.0,
        "scored": 2,
        "outcomes": {"no_statements": 1, "ok": 2},
    }
    assert told["statements"] == {"full": 2}
    assert told["requests"] == len((tmp_path / "calls.txt").read_text().splitlines()) == 17
    assert scores(tmp_path / "out.jsonl")["row-1"].reward is None


def test_resume_scores_only_what_is_missing(tmp_path: Path) -> None:
    path = write(tmp_path, rows(4))
    flags = (path.name, "-o", "out.jsonl", "--context", DOCUMENT)
    assert run(tmp_path, *flags, "--limit", "2").returncode == 0
    (tmp_path / "calls.txt").unlink()
    done = run(tmp_path, *flags, "--resume", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["rows"] == 4
    assert len((tmp_path / "calls.txt").read_text().splitlines()) == 12
    refused = run(tmp_path, *flags, "--resume", "--drop", "logicality")
    assert refused.returncode == 2
    assert "cannot be continued with other settings" in refused.stderr
    other = run(tmp_path, path.name, "-o", "out.jsonl", "--context", "another", "--resume")
    assert other.returncode == 2


def test_several_answers_of_a_row_share_the_extraction(tmp_path: Path) -> None:
    answers: list[JsonValue] = [
        "one",
        {"text": "two", "status": "ok"},
        {"text": "", "status": "empty"},
    ]
    row: dict[str, JsonValue] = {"id": 7, "prompt": "What?", "answers": answers, "doc": DOCUMENT}
    path = write(tmp_path, [row])
    done = run(tmp_path, path.name, "-o", "out.jsonl", "--context-field", "doc")
    assert done.returncode == 0
    found = scores(tmp_path / "out.jsonl")
    assert sorted(found) == ["7/0", "7/1"]
    assert sorted(each.shared for each in found.values()) == [False, True]


def test_failed_and_unusable_rows_have_exit_code_4(tmp_path: Path) -> None:
    made = rows(3, context=DOCUMENT)
    made[0]["answer"] = "broken"
    made.append({"id": "x", "query": "no answer"})
    made.append({"id": "y", "query": "q", "answer": "a", "context": 7})
    path = write(tmp_path, made)
    done = run(tmp_path, path.name, "-o", "out.jsonl", "--json")
    assert done.returncode == 4
    told = json.loads(done.stdout)
    assert (told["error"], told["ok"], told["left_out"]) == (1, 2, {"wrong_fields": 2})
    assert "field context: expected text, got 7" in done.stderr
    assert scores(tmp_path / "out.jsonl")["row-0"].fault == "timeout"


def test_a_fault_of_every_row_stops_the_run_and_is_not_written(tmp_path: Path) -> None:
    path = write(tmp_path, rows(2, context="unreachable"))
    done = run(tmp_path, path.name, "-o", "out.jsonl")
    assert done.returncode == 3
    assert "nobody is there" in done.stderr
    assert (tmp_path / "out.jsonl").read_text() == ""


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--query", "q"), "expected --answer TEXT or --answer-file FILE, got neither"),
        (("in.jsonl",), "expected -o FILE beside INPUT"),
        (("in.jsonl", "-o", "x", "--query", "q"), "expected INPUT or one answer, got both"),
        (("--query", "q", "--answer", "a", "--limit", "1"), "are for a file of answers"),
        (("in.jsonl", "-o", "x", "--drop", "style"), "--drop: expected one of helpfulness"),
        (("in.jsonl", "-o", "x", "--weight", "logicality=x"), "expected a number from 0 on"),
        (("in.jsonl", "-o", "x", "--tries", "0"), "settings: field tries"),
        (("in.jsonl", "-o", "x", "--embed-endpoint", "http://h"), "expected --embed MODEL"),
        (("none.jsonl", "-o", "x"), "none.jsonl: cannot be read"),
        (("--query", "q", "--answer", "a"), "no index in"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, flags: tuple[str, ...], message: str) -> None:
    write(tmp_path, rows(1))
    done = run(tmp_path, *flags)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_row_without_a_context_and_without_tools_has_a_named_outcome(tmp_path: Path) -> None:
    path = write(tmp_path, rows(1))
    assert run(tmp_path, path.name, "-o", "out.jsonl").returncode == 0
    statuses = [each.status for each in scores(tmp_path / "out.jsonl")["row-0"].dimensions]
    assert statuses == ["ok", "ok", "no_context", "no_context"]
