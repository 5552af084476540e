"""The four-dimension score as a judge of pairs that people labelled: agreement, and each drop."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import JsonValue

sys.path.insert(0, str(Path(__file__).parent.parent / "scoring"))
sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))

from scripted import CONTEXT, ScriptedJudge
from test_score import PLUGIN

from openreward.errors import PolicyError
from openreward.eval.judges import Asked, Said, checked
from openreward.eval.score_judge import ScoreJudge
from openreward.inputs import PairRow
from openreward.scoring.records import ScoreSettings
from openreward.scoring.scorer import Scorer

ASKED = Asked("1", "What?", ("a good answer", "a poor answer"), (1, 0), 0, context=CONTEXT)


def helpfulness(material: str) -> str:
    return "[[9]]" if "good" in material else "[[3]]"


def reply(judge: ScriptedJudge, asked: Asked = ASKED) -> Said:
    scorer = Scorer(judge.policy, settings=ScoreSettings())
    return asyncio.run(ScoreJudge(scorer, "score").reply(asked))


def test_rewards_are_in_the_order_shown() -> None:
    judge = ScriptedJudge(helpfulness=helpfulness)
    said = reply(judge)
    assert (said.status, said.scores) == ("ok", (7.25, 8.75))
    assert said.reason == (
        "helpfulness 3 9; logicality 10 10; faithfulness 10 10; completeness 6 6"
    )
    assert checked(said, ASKED) == said
    assert judge.counts["extraction"] == 1


def test_an_answer_without_a_reward_leaves_the_item_without_scores() -> None:
    said = reply(ScriptedJudge(logicality="?"))
    assert (said.status, said.scores) == ("unparsed", None)
    assert said.reason.startswith("logicality: unparsed")
    broken = ScriptedJudge(completeness=lambda material: PolicyError("timeout", "slow"))
    assert reply(broken).status == "error"


def test_a_fault_of_every_item_is_raised() -> None:
    judge = ScriptedJudge(completeness=lambda material: PolicyError("unreachable", "gone"))
    with pytest.raises(PolicyError, match="--resume"):
        reply(judge)


def test_the_document_of_a_pair_is_read_from_its_row() -> None:
    row = {"query": "q", "responses": ["a", "b"], "label": 0}
    plain, with_one = (PairRow.model_validate({**row, **more}) for more in ({}, {"context": "d"}))
    assert (plain.meta, with_one.meta) == ({}, {"context": "d"})
    assert plain.id != with_one.id
    other = PairRow.model_validate({**row, "context": "e"})
    assert other.id != with_one.id


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openreward.cli.main", "eval", "pairs", *arguments],
        cwd=folder,
        env={**os.environ, "OPENREWARD_HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


GRADING = '''
from plugin import SAID, words
from openreward.policy.scripted import ScriptedPolicy


def say(conversation, sampling):
    """Good answers help, kind ones are faithful."""
    system, material = (message.content for message in conversation.messages[:2])
    if system == words.helpfulness:
        return "[[9]]" if "good" in material else "[[7]]"
    if system == words.statements:
        return "1. A kind fact." if "kind" in material else "1. A fact."
    if system == words.support:
        return "[[Fully supported]]" if "kind" in material else "[[No support]]"
    return SAID.get(system, "[[6]]")


def policy():
    return ScriptedPolicy(say)
'''


def test_agreement_with_people_and_without_a_dimension(tmp_path: Path) -> None:
    (tmp_path / "plugin.py").write_text(PLUGIN)
    (tmp_path / "grading.py").write_text(GRADING)
    rows: list[dict[str, JsonValue]] = [
        {"id": str(n), "query": "q", "responses": pair, "label": label, "context": "A document."}
        for n, (pair, label) in enumerate(
            [(["good", "kind"], 1), (["kind", "good"], 0), (["good", "poor"], 0)]
        )
    ]
    (tmp_path / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    flags = ("--data", "pairs.jsonl", "--judge", "score", "--policy", "grading:policy", "--json")
    whole = run(tmp_path, *flags, "-o", "whole")
    assert whole.returncode == 0, whole.stderr
    less = run(tmp_path, *flags, "-o", "less", "--drop", "faithfulness")
    assert less.returncode == 0, less.stderr

    def headline(done: subprocess.CompletedProcess[str]) -> float:
        value: float = json.loads(done.stdout)["judges"][0]["score"]["headline"]["value"]
        return value

    assert headline(whole) == 1.0
    assert headline(less) == pytest.approx(1 / 3)
    assert "score without faithfulness" in less.stdout
    (prediction, *_) = (tmp_path / "whole" / "judge.predictions.jsonl").read_text().splitlines()
    assert json.loads(prediction)["scores"] in (
        [5.25, 7.25],
        [7.25, 4.75],
        [7.25, 5.25],
        [5.25, 4.75],
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--drop", "logicality"), "--drop goes with --judge score"),
        (("--judge", "score", "--drop", "style"), "--drop: expected one of helpfulness"),
        (("--judge", "score", "--principle", "be kind"), "no principle"),
    ],
)
def test_flags_that_do_not_fit_are_told(
    tmp_path: Path, flags: tuple[str, ...], message: str
) -> None:
    (tmp_path / "pairs.jsonl").write_text("{}\n")
    done = run(tmp_path, "--data", "pairs.jsonl", "-o", "out", *flags)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert message in done.stderr
    assert not (tmp_path / "out").exists()
