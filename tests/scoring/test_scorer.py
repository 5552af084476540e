"""One answer in four dimensions: what is asked, what comes out, and what has a name of its own."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scripted import CONTEXT, ScriptedJudge, in_turn, score

from openreward.errors import PolicyError
from openreward.judge import Judge
from openreward.policy.base import Generation
from openreward.scoring.records import Dimension, ScoreSettings, Weights
from openreward.scoring.scorer import Scorer
from openreward.types import PolicyFault


def by_colour(material: str) -> str:
    """The walls are green: what says that the tower is red has no support."""
    statement = material[material.index("### statement") :]
    return "Red is wrong. [[No support]]" if "red" in statement else "Yes [1]. [[Fully supported]]"


def test_the_four_scores_and_their_mean() -> None:
    judge = ScriptedJudge(support=by_colour)
    found = score(judge)
    assert [(each.name, each.score) for each in found.dimensions] == [
        ("helpfulness", 8.0),
        ("logicality", 10.0),
        ("faithfulness", 5.0),
        ("completeness", 6.0),
    ]
    assert (found.status, found.reward, found.reason) == ("ok", 7.25, "")
    assert dict(judge.counts) == {
        "helpfulness": 1,
        "logicality": 1,
        "statements": 1,
        "extraction": 1,
        "support": 2,
        "completeness": 1,
    }
    assert found.calls == 7
    assert found.usage.completion_tokens > 0


def test_each_step_sees_what_the_paper_says_and_no_more() -> None:
    judge = ScriptedJudge()
    score(judge)
    asked = dict(judge.asked)
    for step in ("helpfulness", "logicality"):
        assert "harbour" not in asked[step]
        assert "What is the tower like?" in asked[step]
    assert "What is the tower like?" not in asked["statements"]
    assert "tall and red" not in asked["support"]
    assert "harbour" in asked["extraction"]
    assert "tall and red" not in asked["extraction"]
    assert "harbour" not in asked["completeness"]
    assert "- the tower is tall" in asked["completeness"]


def test_statements_have_their_evidence_with_spans_in_the_order_of_the_context() -> None:
    found = score(ScriptedJudge(support=by_colour), settings=ScoreSettings(piece_tokens=20))
    tall, red = found.statements
    assert (tall.text, tall.support, tall.verdict) == (
        "The tower is tall.",
        "full",
        "Yes [1]. [[Fully supported]]",
    )
    assert (red.support, red.status) == ("none", "ok")
    for item in tall.evidence:
        passage = item.passage
        assert CONTEXT[passage.start : passage.end] == passage.text
    starts = [item.passage.start for item in tall.evidence]
    assert starts == sorted(starts)
    assert [item.number for item in tall.evidence] == [1, 2, 3]
    assert [item.cited for item in tall.evidence] == [True, False, False]
    assert "hill" in tall.evidence[0].passage.text


def test_the_points_have_the_span_they_come_from() -> None:
    (piece,) = score(ScriptedJudge()).extracted
    assert (piece.start, piece.end, piece.points) == (0, len(CONTEXT), "- the tower is tall")


def test_a_reward_only_when_all_asked_dimensions_have_a_score() -> None:
    judge = ScriptedJudge(logicality="I cannot say.")
    found = score(judge)
    assert (found.status, found.reward) == ("incomplete", None)
    logic = found.of("logicality")
    assert logic is not None
    assert (logic.status, logic.score, logic.tries) == ("unparsed", None, 5)
    assert found.reason == (
        "logicality: unparsed: no score in double square brackets (after 5 tries)"
    )
    rest: tuple[Dimension, ...] = ("helpfulness", "faithfulness", "completeness")
    assert score(judge, settings=ScoreSettings(dimensions=rest)).reward == 8.0


def test_a_dropped_dimension_costs_no_request() -> None:
    judge = ScriptedJudge()
    found = score(judge, settings=ScoreSettings(dimensions=("helpfulness", "completeness")))
    assert found.reward == 7.0
    assert set(judge.counts) == {"helpfulness", "extraction", "completeness"}
    assert found.of("faithfulness") is None


def test_weights_are_settings() -> None:
    weights = Weights(helpfulness=3, logicality=0, faithfulness=0, completeness=1)
    assert score(ScriptedJudge(), settings=ScoreSettings(weights=weights)).reward == 7.5
    with pytest.raises(ValueError, match="one above 0"):
        ScoreSettings(dimensions=("logicality",), weights=weights)
    with pytest.raises(ValueError, match="each once"):
        ScoreSettings(dimensions=("logicality", "logicality"))


@pytest.mark.parametrize("context", ["", " \n\t "])
def test_an_empty_context_is_an_outcome_not_a_zero(context: str) -> None:
    judge = ScriptedJudge()
    found = score(judge, context)
    assert [each.status for each in found.dimensions] == [
        "ok",
        "ok",
        "empty_context",
        "empty_context",
    ]
    assert (found.status, found.reward) == ("incomplete", None)
    assert set(judge.counts) == {"helpfulness", "logicality"}


def test_no_context_and_no_tools_is_another() -> None:
    found = score(ScriptedJudge(), None)
    assert [each.status for each in found.dimensions][2:] == ["no_context", "no_context"]


@pytest.mark.parametrize(
    ("answer", "said"), [("Hello!", "[[no statements]]"), ("", "1. It is tall.")]
)
def test_an_answer_without_facts_has_an_outcome_of_its_own(answer: str, said: str) -> None:
    found = score(ScriptedJudge(statements=said), answer=answer)
    facts = found.of("faithfulness")
    assert facts is not None
    assert (facts.status, facts.score) == ("no_statements", None)
    assert (found.status, found.reward, found.statements) == ("incomplete", None, ())


def test_what_cannot_be_read_is_asked_again_warmer_with_another_seed() -> None:
    judge = ScriptedJudge(
        helpfulness=in_turn("[[15]]", "[[-1]]", "a [[3]]"), support="[[Not fully supported]]"
    )
    found = score(judge, settings=ScoreSettings(tries=4))
    helped, facts = found.of("helpfulness"), found.of("faithfulness")
    assert helped is not None
    assert facts is not None
    assert (helped.score, helped.tries) == (3.0, 3)
    assert (facts.status, facts.score) == ("unparsed", None)
    assert "2 of 2 statements have no verdict" in facts.reason
    assert [each.support for each in found.statements] == [None, None]
    tries = [
        sampling
        for (step, _), sampling in zip(judge.asked, judge.samplings, strict=True)
        if step == "helpfulness"
    ]
    assert [each.temperature for each in tries] == [0.0, 0.95, 0.95]
    assert len({each.seed for each in tries}) == 3


@pytest.mark.parametrize("fault", ["timeout", "unreachable"])
def test_an_engine_that_fails_is_a_status_and_ends_no_other_dimension(fault: PolicyFault) -> None:
    found = score(ScriptedJudge(completeness=lambda material: PolicyError(fault, "it broke")))
    assert [each.status for each in found.dimensions] == ["ok", "ok", "ok", "error"]
    assert (found.status, found.reward, found.fault) == ("error", None, fault)


def test_a_failed_extraction_is_not_kept() -> None:
    judge = ScriptedJudge(extraction=in_turn(PolicyError("timeout", "slow"), "- a point"))

    async def twice() -> list[str]:
        scorer = Scorer(judge.policy)
        return [(await scorer.score("q", "a", CONTEXT)).status for _ in range(2)]

    assert asyncio.run(twice()) == ["error", "ok"]


def test_a_refusal_is_not_argued_with() -> None:
    refused = Generation("No.", finish_reason="refused")
    judge = ScriptedJudge(helpfulness=lambda material: refused)
    helped = score(judge).of("helpfulness")
    assert helped is not None
    assert (helped.status, judge.counts["helpfulness"]) == ("refused", 1)


def test_a_list_cut_at_its_limit_is_not_taken_for_the_whole() -> None:
    cut = Generation("1. The tower is", finish_reason="length")
    found = score(ScriptedJudge(statements=lambda material: cut)).of("faithfulness")
    assert found is not None
    assert found.status == "unparsed"
    assert "cut at its token limit" in found.reason


def test_repeated_statements_count_once() -> None:
    judge = ScriptedJudge(statements="1. It is tall.\n2. It is red.\n3. it  IS tall.\n")
    found = score(judge, settings=ScoreSettings(statements=1))
    assert [each.text for each in found.statements] == ["It is tall."]
    assert found.notes == (
        "1 of 3 statements repeat an earlier one",
        "of 2 statements the first 1 are checked",
    )


def test_the_judge_scores_too() -> None:
    judge = ScriptedJudge()
    found = asyncio.run(Judge(judge.policy, []).score("What is it?", "It is tall.", CONTEXT))
    assert found.reward == 8.5


def test_the_language_follows_the_question() -> None:
    chinese = {
        "statements": "1. 塔很高。\n2. 塔是红色的。",
        "support": "段落 [1] 提到。[[部分支持]]",
    }
    judge = ScriptedJudge(support=chinese["support"], statements=chinese["statements"])
    context = "塔在山上，高四十米。墙在一九五〇年漆成绿色。"
    found = score(judge, context, query="这座塔是什么样的？", answer="塔很高，是红色的。")
    assert (found.language, judge.languages) == ("zh", {"zh"})
    assert [each.support for each in found.statements] == ["partial", "partial"]
    assert found.reward == (8 + 10 + 5 + 6) / 4
