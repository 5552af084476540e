"""Scores of sampled answers: LongReward, a pointwise judge, games of a judge of pairs, contrast."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

sys.path.insert(0, str(Path(__file__).parent.parent / "scoring"))

from scripted import CONTEXT, ScriptedJudge

from openreward.batch import NotDone
from openreward.errors import PolicyError
from openreward.eval.judges import CONTROLS
from openreward.judge import Judge
from openreward.policy.base import Conversation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.scoring.records import ScoreSettings
from openreward.scoring.scorer import Scorer
from openreward.synth.answer_scores import (
    AnswerJudge,
    AnswerScores,
    Contrast,
    Games,
    LongRewards,
    PointScores,
    schedule,
    score_answers,
)
from openreward.synth.preferences import Preference, PreferenceSettings, prefer
from openreward.synth.scored_answers import ScoredRow, scored_answers

ANSWERS: list[JsonValue] = [
    {"text": "a good answer", "writer": "strong"},
    {"text": "a poor answer", "writer": "weak"},
    {"text": "", "writer": "weak", "status": "empty"},
    {"text": "a fair answer", "writer": "weak"},
]


def row(**more: JsonValue) -> ScoredRow:
    return ScoredRow.model_validate(
        {"id": "r1", "prompt": "What?", "answers": ANSWERS, "context": CONTEXT, **more}
    )


def scores(judge: AnswerJudge, given: ScoredRow | None = None) -> AnswerScores:
    return asyncio.run(score_answers(judge, given or row(), clock=lambda: 0.0))


def helpfulness(material: str) -> str:
    """9 for the good answer, 3 for the poor one, unreadable for the fair one."""
    return next(said for word, said in GRADES.items() if word in material)


GRADES = {"good": "[[9]]", "poor": "[[3]]", "fair": "I cannot say."}


def test_long_rewards_by_the_row_s_context() -> None:
    judge = ScriptedJudge(helpfulness=helpfulness)
    found = scores(LongRewards(Scorer(judge.policy)))
    assert found.scores == (8.75, 7.25, None, None)
    assert found.reasons[:3] == ("", "", "the answer is not ok")
    assert found.reasons[3].startswith("helpfulness: unparsed")
    assert found.dimensions[0] == {
        "helpfulness": 9.0,
        "logicality": 10.0,
        "faithfulness": 10.0,
        "completeness": 6.0,
    }
    assert judge.counts["extraction"] == 1
    assert found.requests == sum(judge.counts.values())


def test_the_question_is_shown_without_the_document() -> None:
    judge = ScriptedJudge()
    asked = row(prompt=f"{CONTEXT}\n\nHow tall?", query="How tall?")
    scores(LongRewards(Scorer(judge.policy)), asked)
    assert all("harbour" not in material for material in judge.materials("helpfulness"))
    assert all("How tall?" in material for material in judge.materials("helpfulness"))


@pytest.mark.parametrize(
    ("fault", "raised"),
    [("unreachable", PolicyError), ("timeout", NotDone), ("server_error", NotDone)],
)
def test_a_fault_of_the_engine_is_not_a_score(fault: str, raised: type[Exception]) -> None:
    def fail(material: str) -> Exception:
        return PolicyError(fault, "it broke")  # type: ignore[arg-type]

    judge = ScriptedJudge(helpfulness=fail)
    with pytest.raises(raised, match="it broke"):
        scores(LongRewards(Scorer(judge.policy)))


def test_an_answer_that_does_not_fit_has_no_score() -> None:
    def too_long(material: str) -> str | Exception:
        return PolicyError("context_overflow", "too long") if "fair" in material else "[[5]]"

    judge = ScriptedJudge(helpfulness=too_long)
    settings = ScoreSettings(dimensions=("helpfulness",))
    found = scores(LongRewards(Scorer(judge.policy, settings=settings)))
    assert found.scores == (5.0, 5.0, None, None)


def test_a_pointwise_judge_sees_no_context() -> None:
    assert scores(PointScores(CONTROLS["longer"])).scores == (13.0, 13.0, None, 13.0)
    found = scores(PointScores(CONTROLS["tie"]))
    assert found.scores == (None,) * 4
    assert found.reasons[0] == "the judge gave no scores (tie)"


def test_a_strong_writer_s_answers_are_the_better_ones() -> None:
    assert scores(Contrast("strong")).scores == (1.0, 0.0, None, 0.0)
    assert scores(Contrast("nobody")).reasons[0] == "no answer of 'nobody'"
    named = ScoredRow.model_validate(
        {"prompt": "What?", "answers": {"strong": "good", "weak": "poor"}}
    )
    assert scores(Contrast("strong"), named).scores == (1.0, 0.0)


def worth(talk: Conversation, sampling: Sampling) -> str:
    """Prefers good to fair to poor, and cannot tell where it is told so."""
    shown = talk.messages[1].content
    order = sorted(("good", "fair", "poor"), key=lambda word: shown.find(f"{word} answer") % 10**9)
    if "unreadable" in shown:
        return "?"
    there = [word for word in order if f"{word} answer" in shown]
    better = min(there, key=("good", "fair", "poor").index)
    return f"<answer>{'AB'[there.index(better)]}</answer>"


def test_games_give_the_share_that_an_answer_wins() -> None:
    found = scores(Games(Judge(ScriptedPolicy(worth), [])))
    assert found.scores == (1.0, 0.0, None, 0.5)
    assert found.requests == 3
    pair = prefer(scored_answers(row(), list(found.scores)), PreferenceSettings(fewest=2, seed=1))
    assert isinstance(pair, Preference)
    assert (pair.chosen, pair.rejected) == (0, 1)


def test_games_without_a_verdict_count_for_neither() -> None:
    found = scores(Games(Judge(ScriptedPolicy(worth), [])), row(prompt="unreadable"))
    assert found.scores == (None,) * 4
    assert found.reasons[0] == "no game of it has a verdict"


@given(st.integers(0, 15), st.integers(1, 20))
def test_nobody_meets_another_twice_and_all_play_alike(count: int, rounds: int) -> None:
    games = schedule(count, rounds)
    assert len(set(games)) == len(games)
    assert all(0 <= one < other < count for one, other in games)
    played = Counter(player for game in games for player in game)
    most = max(0, min(rounds, count - 1 if count % 2 == 0 else count))
    assert all(played[player] in (most, most - 1) for player in range(count) if count > 1)
    assert len(schedule(count)) == count * (count - 1) // 2
