"""Judges behind their seam: replies that fit the question, and the controls without a model."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from openreward.eval.judges import CONTROLS, Asked, PairJudge, Said, checked
from openreward.judge import Judge
from openreward.policy.scripted import ScriptedPolicy

NAN = float("nan")
ASKED = Asked(id="x", query="q", original=("a", "bb", "ccc"), order=(2, 0, 1), seed=0)
PAIR = Asked(id="x", query="q", original=("a good one", "a poor one"), order=(1, 0), seed=0)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (Said(status="ok"), "expected a winner, scores or a ranking, got none"),
        (Said(status="ok", winner=3), "expected a winner below 3, got 3"),
        (Said(status="ok", winner=-1), "expected a winner below 3, got -1"),
        (Said(status="ok", scores=(1.0, 2.0)), "expected 3 finite scores"),
        (Said(status="ok", scores=(1.0, 2.0, NAN)), "expected 3 finite scores"),
        (Said(status="ok", ranking=((0, 1),)), "expected each of 3 answers once"),
        (Said(status="ok", ranking=((0, 1), (1, 2))), "expected each of 3 answers once"),
    ],
)
def test_a_reply_that_does_not_fit_is_unparsed_with_the_reason(said: Said, why: str) -> None:
    found = checked(said, ASKED)
    assert (found.status, found.winner, found.scores, found.ranking) == (
        "unparsed",
        None,
        None,
        None,
    )
    assert found.reason.startswith(why)


@pytest.mark.parametrize(
    "said",
    [
        Said(status="ok", winner=2),
        Said(status="ok", scores=(0.0, 1.0, -2.5)),
        Said(status="ok", ranking=((2,), (0, 1))),
        Said(status="tie"),
        Said(status="error", reason="the engine is away"),
    ],
)
def test_a_reply_that_fits_stays_as_it_is(said: Said) -> None:
    assert checked(said, ASKED) == said


@pytest.mark.parametrize(
    "odd",
    [{"winner": True}, {"winner": "0"}, {"scores": ("1", "2")}, {"ranking": (("0",), (True,))}],
)
def test_a_text_or_a_truth_value_in_a_reply_is_no_number(odd: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=[*odd][0]):
        Said.model_validate({"status": "ok", **odd})


def test_answers_are_shown_in_the_order() -> None:
    assert ASKED.responses == ("ccc", "a", "bb")


@pytest.mark.parametrize(
    ("control", "expected"),
    [
        ("first", Said(status="ok", winner=0)),
        ("tie", Said(status="tie")),
        ("longer", Said(status="ok", scores=(3.0, 1.0, 2.0))),
    ],
)
def test_controls_go_by_their_rule(control: str, expected: Said) -> None:
    assert asyncio.run(CONTROLS[control].reply(ASKED)) == expected


@given(seed=st.integers(0, 2**40), id=st.text(max_size=20))
def test_the_coin_depends_on_seed_question_and_order_alone(seed: int, id: str) -> None:
    asked = ASKED._replace(seed=seed, id=id)
    one, again = (asyncio.run(CONTROLS["random"].reply(asked)) for _ in range(2))
    assert one == again
    assert one.winner in (0, 1, 2)


def test_a_judge_of_pairs_speaks_of_the_places_shown() -> None:
    policy = ScriptedPolicy(lambda conversation, sampling: "Better. <answer>B</answer>")
    said = asyncio.run(PairJudge(Judge(policy, []), "scripted").reply(PAIR))
    assert (said.status, said.winner) == ("ok", 1)
    assert said.trajectory is not None
    assert PAIR.responses == ("a poor one", "a good one")


def test_identical_answers_are_a_tie_without_asking() -> None:
    def never(conversation: object, sampling: object) -> str:
        raise AssertionError("the model was asked")

    asked = PAIR._replace(original=("same", "same"))
    said = asyncio.run(PairJudge(Judge(ScriptedPolicy(never), []), "scripted").reply(asked))
    assert (said.status, said.trajectory) == ("tie", None)
