"""The judge of pairs: orders, votes, what a judgment says, and what it is told of bad answers."""

from __future__ import annotations

import asyncio
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from agent_runs import call, find_tool

from openreward.errors import PolicyError, UserError
from openreward.judge import Judge, JudgeSettings, derive
from openreward.policy.base import Conversation, Generation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.types import Judgment, Pair, PolicyFault, Usage

PAIR = Pair(id="p1", query="How tall?", responses=("the ten", "the twelve"), label=1)
Said = Literal["A", "B", "tie", "?", "refused"] | PolicyError


def fake(*said: Said) -> ScriptedPolicy:
    """Says one after the other as trajectories ask, whatever the order shown; each names itself."""
    left = list(said)

    def script(talk: Conversation, sampling: Sampling) -> str | Generation:
        word = left.pop(0)
        if isinstance(word, PolicyError):
            raise word
        if word == "refused":
            return Generation("no", finish_reason="refused")
        text = "Hm." if word == "?" else f"Call {len(said) - len(left)}. <answer>{word}</answer>"
        return Generation(text, usage=Usage(prompt_tokens=10, completion_tokens=2, cached_tokens=1))

    return ScriptedPolicy(script)


def judge(
    *said: Said, votes: int = 1, orders: Literal["both", "one"] = "both", tie: bool = True
) -> Judgment:
    settings = JudgeSettings(votes=votes, orders=orders, tie=tie)
    return asyncio.run(Judge(fake(*said), [], settings).judge(PAIR))


def prefers(word: str) -> ScriptedPolicy:
    """Searches once, then prefers the answer with `word` in it."""

    def script(talk: Conversation, sampling: Sampling) -> str:
        asked = talk.messages[1].content
        letter = "A" if word in asked[: asked.index("### answer B")] else "B"
        if len(talk.messages) == 2:
            return call(f"about {letter}")
        return f"The {word} is right [1]. <answer>{letter}</answer>"

    return ScriptedPolicy(script)


@pytest.mark.parametrize(("word", "winner"), [("ten", 0), ("twelve", 1)])
def test_orders_that_agree_have_a_winner(word: str, winner: int) -> None:
    found = asyncio.run(Judge(prefers(word), [find_tool()]).judge(PAIR))
    assert (found.status, found.winner, found.reason) == ("ok", winner, "")
    assert (found.id, found.label) == ("p1", 1)
    assert found.explanation == f"The {word} is right [1]."
    assert [(vote.order, vote.winner) for vote in found.votes] == [
        ((0, 1), winner),
        ((1, 0), winner),
    ]
    assert [item.cited for item in found.evidence] == [True]


def test_orders_that_differ_are_a_tie_that_keeps_both_verdicts() -> None:
    found = judge("A", "A")
    assert (found.status, found.winner) == ("tie", None)
    assert found.reason == "the two orders name different winners"
    assert [vote.winner for vote in found.votes] == [0, 1]
    assert [vote.trajectory.explanation for vote in found.votes] == ["Call 1.", "Call 2."]
    assert found.explanation == ""  # neither vote speaks for the tie


@pytest.mark.parametrize(
    ("said", "status", "winner", "reason"),
    [
        (["A", "B"], "ok", 0, ""),
        (["B", "A"], "ok", 1, ""),
        (["tie", "tie"], "tie", None, "the model called a tie"),
        (["A", "tie"], "tie", None, "one order names a winner, the other a tie"),
        (["A", "?"], "unparsed", None, "the last turn held no verdict, or two different ones"),
        (["?", "B"], "unparsed", None, "the last turn held no verdict, or two different ones"),
        (["refused", "?"], "refused", None, "the engine reported a refusal"),
        (["A", "refused"], "refused", None, "the engine reported a refusal"),
        (["refused", PolicyError("timeout", "slow")], "error", None, "policy_error: slow"),
    ],
)
def test_two_orders_make_one_status(
    said: Sequence[Said], status: str, winner: int | None, reason: str
) -> None:
    found = judge(*said)
    assert (found.status, found.winner, found.reason) == (status, winner, reason)
    assert len(found.votes) == 2


@pytest.mark.parametrize(
    ("said", "status", "winner", "reason"),
    [
        ("AAB", "ok", 0, ""),
        ("BAB", "ok", 1, ""),
        ("A?B", "tie", None, "the votes name no one winner"),  # equal counts
        ("A??", "ok", 0, ""),  # the readable ones decide
        ("???", "unparsed", None, "the last turn held no verdict, or two different ones"),
    ],
)
def test_votes_of_one_order_are_a_majority(
    said: str, status: str, winner: int | None, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openreward.judge.derive", lambda *_: 0)  # the order as given
    words: list[Said] = ["?" if each == "?" else "A" if each == "A" else "B" for each in said]
    found = judge(*words, votes=3, orders="one", tie=False)
    assert (found.status, found.winner, found.reason) == (status, winner, reason)
    assert [vote.vote for vote in found.votes] == [0, 1, 2]


def test_votes_count_within_their_order() -> None:
    found = judge("A", "A", "B", "B", "B", "A", votes=3)  # order (0, 1) says 0, (1, 0) says 0
    assert (found.status, found.winner) == ("ok", 0)
    assert [(vote.order, vote.vote, vote.winner) for vote in found.votes] == [
        ((0, 1), 0, 0),
        ((0, 1), 1, 0),
        ((0, 1), 2, 1),
        ((1, 0), 0, 0),
        ((1, 0), 1, 0),
        ((1, 0), 2, 1),
    ]


def test_most_votes_for_a_tie_are_a_tie() -> None:
    found = judge("tie", "A", "tie", votes=3, orders="one")
    assert (found.status, found.reason) == ("tie", "the votes name no one winner")
    assert found.explanation == "Call 1."


def test_explanation_and_evidence_are_those_of_a_vote_that_won() -> None:
    found = judge("B", "A", "A", "B", "B", "A", votes=3)
    assert (found.winner, found.explanation) == (0, "Call 2.")


def test_an_engine_failure_of_one_vote_does_not_undo_the_others() -> None:
    broken = PolicyError("server_error", "boom")
    found = judge(broken, "A", "A", "B", "B", "B", votes=3)
    assert (found.status, found.winner, found.fault) == ("ok", 0, None)
    assert [vote.status for vote in found.votes] == ["error", "ok", "ok", "ok", "ok", "ok"]
    assert found.votes[0].trajectory.fault == "server_error"


@pytest.mark.parametrize("fault", ["unreachable", "context_overflow", "rate_limited"])
def test_the_fault_of_an_engine_is_passed_on(fault: PolicyFault) -> None:
    found = judge("A", PolicyError(fault, "the engine says no"))
    assert (found.status, found.winner, found.fault) == ("error", None, fault)
    assert found.reason.endswith(": the engine says no")


def test_an_engine_that_cannot_count_tokens_is_an_error_not_an_exception() -> None:
    class NoCount(ScriptedPolicy):
        async def count_tokens(self, text: str) -> int:
            raise PolicyError("unreachable", "nobody there")

    found = asyncio.run(Judge(NoCount(["x"]), []).judge(PAIR))
    assert (found.status, found.fault, found.label) == ("error", "unreachable", 1)
    assert found.reason == "policy_error: nobody there"
    assert found.votes == ()


def test_a_bug_is_raised_as_itself() -> None:
    def script(*_: object) -> str:
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError, match="a bug"):
        Judge(ScriptedPolicy(script), []).compare_sync("q", "a", "b")


def test_usage_is_the_sum_over_the_votes() -> None:
    expected = Usage(prompt_tokens=40, completion_tokens=8, cached_tokens=4)
    assert judge("A", "A", "B", "B", votes=2).usage == expected


def test_one_order_is_drawn_from_the_seed_and_balanced_over_ids() -> None:
    settings = JudgeSettings(orders="one", seed=3)
    judging = Judge(ScriptedPolicy(["<answer>A</answer>"]), [], settings)

    def orders(ids: Sequence[str]) -> list[tuple[int, ...]]:
        pairs = [PAIR.model_copy(update={"id": id}) for id in ids]
        return [asyncio.run(judging.judge(pair)).votes[0].order for pair in pairs]

    ids = [f"row-{n}" for n in range(200)]
    drawn = orders(ids)
    assert drawn == orders(ids)
    assert drawn[::-1] == orders(ids[::-1])
    assert 80 <= drawn.count((1, 0)) <= 120
    assert all(len(asyncio.run(judging.judge(PAIR)).votes) == 1 for _ in range(2))


def test_derived_seeds_stay_what_they_are() -> None:
    assert derive(0, "pair", "order") == 1372771947
    assert derive(1, "pair", "order") == 1066145943
    assert derive(0, "pair", "(0, 1)/0") == 105224255
    assert derive(7, "\u00e9\ud800", "order") == 1386654231


def test_each_vote_has_a_seed_of_its_own() -> None:
    seeds = []

    def script(talk: Conversation, sampling: Sampling) -> str:
        seeds.append((sampling.seed, sampling.temperature, sampling.top_p))
        return "<answer>A</answer>"

    settings = JudgeSettings(votes=2, temperature=0.7, top_p=0.9)
    asyncio.run(Judge(ScriptedPolicy(script), [], settings).judge(PAIR))
    places = ("(0, 1)/0", "(0, 1)/1", "(1, 0)/0", "(1, 0)/1")
    assert seeds == [(derive(0, "p1", place), 0.7, 0.9) for place in places]


def test_identical_answers_are_a_tie_without_asking() -> None:
    found = Judge(fake(), []).compare_sync("q", "same", "same")
    assert (found.status, found.votes) == ("tie", ())
    assert found.reason == "the two answers are identical; the model was not asked"


def test_answers_that_differ_only_behind_the_cut_are_a_tie_without_asking() -> None:
    same = "word " * 1000
    found = Judge(fake(), []).compare_sync("q", same + "one", same + "two")
    assert (found.status, found.votes) == ("tie", ())
    assert found.reason.startswith("the two answers are identical as far as they fit")
    assert len(found.notes) == 2


def test_an_empty_answer_is_shown_as_empty_and_noted() -> None:
    found = Judge(fake("A", "B"), []).compare_sync("q", "", "  \n")
    assert (found.status, found.notes) == ("ok", ("answer 1 is empty", "answer 2 is empty"))
    assert found.votes[0].trajectory.prompt[1].content.count("(empty)") == 2


def test_a_very_long_answer_is_cut_and_the_cut_marked_and_noted() -> None:
    long = "It is ten metres tall, they say. " * 3100  # 102,300 characters
    found = Judge(fake("A", "B"), []).compare_sync("q", long, "short")
    assert (found.status, found.winner) == ("ok", 0)
    (note,) = found.notes
    assert note.startswith("answer 1 was cut to ")
    assert note.endswith(" tokens, of 102300 characters")
    shown = found.votes[0].trajectory.prompt[1].content
    assert "say. [... cut here]" in shown
    assert 600 <= len(shown.split()) <= 800


def test_the_sync_form_within_a_running_loop_says_what_to_call() -> None:
    async def main() -> None:
        Judge(fake("A", "B"), []).compare_sync("q", "a", "b")

    with pytest.raises(UserError, match="await judge.compare"):
        asyncio.run(main())


def test_global_random_state_is_not_touched() -> None:
    random.seed(5)
    before = random.getstate()
    settings = JudgeSettings(orders="one", votes=3, temperature=1.0)
    asyncio.run(Judge(prefers("ten"), [find_tool()], settings).judge(PAIR))
    assert random.getstate() == before
