"""The reward: hand-worked trajectories, settings, targets."""

from __future__ import annotations

import sys
from collections import UserList
from pathlib import Path
from typing import Any

import pytest

from openreward.counting import tool_of
from openreward.errors import UserError
from openreward.tools.sources import SOURCES
from openreward.tools.static import StaticSearch
from openreward.train.rewards import (
    RewardSettings,
    Target,
    composite,
    exact_match,
    format_validity,
    reward_parts,
    reward_settings,
    target_of,
    tool_reward,
)
from openreward.types import StopReason, Turn, Verdict

sys.path.insert(0, str(Path(__file__).parent))

from judged import (
    PAIR,
    RIGHT,
    TARGET,
    TIE,
    TOOLS,
    UNREAD,
    WRONG,
    Row,
    judged,
    pubmed,
    target,
    turn_of,
    wiki,
)

Turns = list[tuple[Row, ...]]

# Calls turn by turn, and R_tool as fraction, any, first and per_call (limit 4), worked by hand.
HAND_WORKED: list[tuple[str, Turns, tuple[float, float, float, float]]] = [
    ("no call", [], (0, 0, 0, 0)),
    ("one right", [(pubmed("zinc"),)], (1, 1, 1, 0.25)),
    ("one of another tool", [(wiki("zinc"),)], (0, 0, 0, 0)),
    ("right tool, nothing found", [(pubmed("zinc", "no_result"),)], (0, 0, 0, 0)),
    ("right tool, bad query", [(pubmed("zinc OR", "bad_query"),)], (0, 0, 0, 0)),
    ("two right", [(pubmed("zinc"), pubmed("cold"))], (1, 1, 1, 0.5)),
    ("right then wrong", [(pubmed("zinc"),), (wiki("zinc"),)], (0.5, 1, 1, 0.25)),
    ("wrong then right", [(wiki("zinc"),), (pubmed("zinc"),)], (0.5, 1, 0, 0.25)),
    ("empty then right", [(pubmed("zinc", "no_result"),), (pubmed("cold"),)], (0.5, 1, 0, 0.25)),
    (
        "three right of four",
        [(pubmed("a"), wiki("a")), (pubmed("b"), pubmed("c"))],
        (0.75, 1, 1, 0.75),
    ),
    ("four right", [(pubmed("a"), pubmed("b"), pubmed("c"), pubmed("d"))], (1, 1, 1, 1)),
    ("a repeat is no call", [(pubmed("Zinc"),), (pubmed(" zinc "),)], (1, 1, 1, 0.25)),
    ("an empty query is no call", [(wiki("  "), pubmed("zinc"))], (1, 1, 1, 0.25)),
    ("an outage before", [(wiki("a", "timeout"),), (pubmed("zinc"),)], (1, 1, 1, 0.25)),
    ("an outage, then the same", [(pubmed("a", "rate_limited"),), (pubmed("a"),)], (1, 1, 1, 0.25)),
    ("an outage after a wrong one", [(wiki("a"), pubmed("b", "unavailable"))], (0, 0, 0, 0)),
]
MODES = ("fraction", "any", "first", "per_call")


@pytest.mark.parametrize(
    ("turns", "mode", "expected"),
    [
        pytest.param(turns, mode, value, id=f"{name}: {mode}")
        for name, turns, values in HAND_WORKED
        for mode, value in zip(MODES, values, strict=True)
    ],
)
def test_the_tool_reward_is_what_was_worked_out_by_hand(
    turns: Turns, mode: Any, expected: float
) -> None:
    settings = RewardSettings(tool_mode=mode)
    assert tool_reward(judged(*turns), TARGET, settings) == expected
    assert reward_parts(judged(*turns), TARGET, settings).tool == expected


ONE_OF_TWO = [(pubmed("zinc"), wiki("zinc"))]


@pytest.mark.parametrize(
    ("verdict", "em_range", "gate", "expected"),
    [
        (RIGHT, (0, 1), "outcome", 1.1),
        (RIGHT, (0, 1), "none", 1.1),
        (RIGHT, (0, 1), "no_tool", 1.0),
        (WRONG, (0, 1), "outcome", 0.0),
        (WRONG, (0, 1), "none", 0.1),
        (WRONG, (0, 1), "no_tool", 0.0),
        (RIGHT, (-1, 1), "outcome", 1.1),
        (RIGHT, (-1, 1), "none", 1.1),
        (RIGHT, (-1, 1), "no_tool", 1.0),
        (WRONG, (-1, 1), "outcome", -1.1),
        (WRONG, (-1, 1), "none", -0.9),
        (WRONG, (-1, 1), "no_tool", -1.0),
    ],
)
def test_the_gate_decides_when_the_tool_term_counts(
    verdict: Verdict, em_range: Any, gate: Any, expected: float
) -> None:
    settings = RewardSettings(em_range=em_range, gate=gate)
    parts = reward_parts(judged(*ONE_OF_TWO, verdict=verdict), TARGET, settings)
    assert parts.reward == pytest.approx(expected, abs=1e-12)
    assert parts.tool == 0.5
    assert (parts.calls, parts.right_calls) == (2, 1)


@pytest.mark.parametrize(
    ("verdict", "stop"),
    [
        (WRONG, "verdict"),
        (TIE, "verdict"),
        (UNREAD, "no_verdict"),
        (UNREAD, "cut"),
        (Verdict(status="refused"), "refused"),
        (Verdict(status="error"), "time_limit"),
        (Verdict(status="error"), "context_limit"),
        (Verdict(status="error"), "token_limit"),
    ],
)
def test_whatever_is_not_the_labels_verdict_is_worth_what_a_wrong_one_is(
    verdict: Verdict, stop: StopReason
) -> None:
    trajectory = judged(*ONE_OF_TWO, verdict=verdict, stop=stop)
    assert exact_match(trajectory, TARGET) == 0.0
    assert exact_match(trajectory, TARGET, RewardSettings(em_range=(-1, 1))) == -1.0
    parts = reward_parts(trajectory, TARGET)
    assert (parts.reward, parts.correct, parts.failed) == (0.0, False, False)


@pytest.mark.parametrize(
    ("turns", "stop"),
    [
        ([(pubmed("zinc"),)], "policy_error"),
        ([], "policy_error"),
        ([(pubmed("zinc", "timeout"),)], None),
        ([(pubmed("a", "unavailable"), wiki("a", "rate_limited"))], None),
    ],
)
def test_a_trajectory_that_failed_by_its_infrastructure_has_no_reward(
    turns: Turns, stop: StopReason | None
) -> None:
    verdict = Verdict(status="error") if stop else RIGHT
    parts = reward_parts(judged(*turns, verdict=verdict, stop=stop), TARGET)
    assert (parts.reward, parts.exact_match, parts.tool) == (None, None, None)
    assert parts.failed


def test_an_outage_of_some_calls_is_no_failure() -> None:
    parts = reward_parts(judged((pubmed("a", "timeout"), pubmed("b"))), TARGET)
    assert parts.reward == 1.2


def test_composite_of_a_wrong_verdict_worth_0_is_plain_zero() -> None:
    assert str(composite(0.0, 1.0, RewardSettings())) == "0.0"


@pytest.mark.parametrize(("order", "winner"), [((0, 1), 1), ((1, 0), 0)])
def test_the_target_is_in_the_order_shown(order: tuple[int, int], winner: int) -> None:
    made = target_of(PAIR, order, TOOLS, RewardSettings())
    assert made == Target(pair="p1", winner=winner, tool="pubmed_search")
    assert Target.model_validate_json(made.model_dump_json()) == made
    verdict = Verdict(status="ok", winner=winner)
    assert reward_parts(judged((pubmed("zinc"),), verdict=verdict), made).reward == 1.2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"label": "tie"}, "expected label 0 or 1, got 'tie'"),
        ({"label": None}, "expected label 0 or 1, got None"),
        ({"responses": ("same", "same")}, "expected two different answers"),
        ({"source": None}, "got source None; give it one, offer its tool"),
        ({"source": "legal"}, "got source 'legal'; give it one, offer its tool"),
    ],
)
def test_a_pair_that_cannot_be_trained_on_is_refused(change: dict[str, Any], message: str) -> None:
    pair = PAIR.model_copy(update=change)
    with pytest.raises(UserError, match="'p1'") as refused:
        target_of(pair, (0, 1), TOOLS, RewardSettings())
    assert message in str(refused.value)


@pytest.mark.parametrize("source", [None, "legal"])
def test_without_a_tool_term_a_pair_needs_no_source(source: str | None) -> None:
    settings = RewardSettings(gate="no_tool")
    made = target_of(PAIR.model_copy(update={"source": source}), (0, 1), TOOLS, settings)
    assert made.tool is None
    parts = reward_parts(judged((pubmed("zinc"),)), made, settings)
    assert (parts.reward, parts.tool, parts.right_calls) == (1.0, 0.0, 0)


@pytest.mark.parametrize("order", [(0, 0), (1,), (0, 1, 2), ("A", "B")])
def test_an_order_that_is_none_is_refused(order: Any) -> None:
    with pytest.raises(UserError, match=r"expected the order \(0, 1\) or \(1, 0\)"):
        target_of(PAIR, order, TOOLS, RewardSettings())


@pytest.mark.parametrize("source", list(SOURCES))
def test_the_right_tool_of_each_source_is_the_one_that_searches_it(source: str) -> None:
    assert SOURCES[source](StaticSearch([]), 3).spec.name == tool_of(source)


def test_rows_and_rollouts_out_of_step_are_refused() -> None:
    with pytest.raises(UserError, match="pair 'p1', got one of 'p2'"):
        reward_parts(judged(task="p2"), TARGET)


def test_a_target_without_a_tool_is_refused_where_the_tool_counts() -> None:
    with pytest.raises(UserError, match="expected a target with a tool"):
        reward_parts(judged(), target(tool=None))


def test_per_call_refuses_more_calls_than_its_limit() -> None:
    settings = RewardSettings(tool_mode="per_call", call_limit=1)
    with pytest.raises(UserError, match=r"at most 1 calls \(call_limit\), got 2"):
        reward_parts(judged((pubmed("a"), pubmed("b"))), TARGET, settings)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"tool_wieght": 0.1}, "got 'tool_wieght'; did you mean tool_weight?"),
        ({"em_rang": (0, 1)}, "did you mean em_range?"),
        ({"lambda": 0.1}, "got 'lambda'; tool_weight is the paper's lambda"),
        ({"gate": "outcom"}, "reward settings: field gate"),
        ({"em_range": [1, 0]}, "reward settings: field em_range"),
        ({"em_range": "01"}, "reward settings: field em_range"),
        ({"tool_weight": float("nan")}, "reward settings: field tool_weight"),
        ({"tool_weight": -0.1}, "reward settings: field tool_weight"),
        ({"call_limit": 0}, "reward settings: field call_limit"),
    ],
)
def test_wrong_settings_are_refused(values: dict[str, object], message: str) -> None:
    with pytest.raises(UserError) as refused:
        reward_settings(values)
    assert message in str(refused.value)


@pytest.mark.parametrize("kind", [list, tuple, UserList])
def test_a_range_may_be_any_sequence_as_configs_have_their_own(kind: Any) -> None:
    assert reward_settings({"em_range": kind([-1, 1])}).em_range == (-1, 1)


def test_the_defaults_are_the_documented_ones() -> None:
    assert reward_settings({}).model_dump() == {
        "em_range": (0, 1),
        "tool_mode": "fraction",
        "tool_weight": 0.2,
        "gate": "outcome",
        "call_limit": 4,
    }


CALL = '<tool_call>{"name": "pubmed_search", "arguments": {"query": "zinc"}}</tool_call>'
BROKEN = '<tool_call>{"name": "pubmed_search", "arguments": "zinc"</tool_call>'
ANSWER = Turn(text="<answer>B</answer>")


@pytest.mark.parametrize(
    ("turns", "stop", "expected"),
    [
        ([turn_of(pubmed("zinc"), text=CALL), ANSWER], "verdict", 1.0),
        ([ANSWER], "verdict", 1.0),
        ([Turn(text=BROKEN), ANSWER], "verdict", 0.5),
        ([Turn(text=CALL + BROKEN), ANSWER], "verdict", 0.5),
        ([Turn(text="Let me think."), ANSWER], "verdict", 0.5),
        ([Turn(text=CALL, problems=("you asked that before",)), ANSWER], "verdict", 1.0),
        ([turn_of(pubmed("zinc")), ANSWER], "verdict", 1.0),  # a native call
        ([Turn(text=CALL), Turn(text="<answer>B</answer>", forced=True)], "verdict", 0.5),
        ([Turn(text=CALL), Turn(text="B is better.")], "no_verdict", 0.5),
        ([Turn(text=CALL)], "time_limit", 0.0),
        ([], "policy_error", 0.0),
    ],
)
def test_form_is_the_share_of_turns_that_keep_it(
    turns: list[Turn], stop: StopReason, expected: float
) -> None:
    verdict = RIGHT if stop == "verdict" else UNREAD
    made = judged(verdict=verdict, stop=stop).model_copy(update={"turns": tuple(turns)})
    assert format_validity(made) == expected
