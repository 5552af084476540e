"""What holds for the reward of any trajectory."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from openreward.counting import SERVICE_FAULTS, counted_calls
from openreward.train.rewards import (
    Gate,
    RewardSettings,
    ToolMode,
    composite,
    format_validity,
    reward_parts,
    tool_reward,
)
from openreward.types import StopReason, ToolStatus, Trajectory, Verdict

sys.path.insert(0, str(Path(__file__).parent))

from judged import RIGHT, TARGET, TIE, TOOLS, UNREAD, WRONG, Row, judged

LIMIT = 12
MODES: tuple[ToolMode, ...] = ("fraction", "any", "first", "per_call")
GATES: tuple[Gate, ...] = ("outcome", "none", "no_tool")
STATUSES: tuple[ToolStatus, ...] = (
    "ok",
    "no_result",
    "bad_query",
    "rate_limited",
    "unavailable",
    "timeout",
)

queries = st.sampled_from(["zinc", "Zinc", " zinc  cold", "zinc cold", "亜鉛", "", "  ", "\x00"])
calls = st.tuples(st.sampled_from(TOOLS), queries, st.sampled_from(STATUSES))
outages = st.tuples(st.sampled_from(TOOLS), queries, st.sampled_from(sorted(SERVICE_FAULTS)))
rows = st.lists(calls, max_size=4)
verdicts = st.sampled_from([RIGHT, WRONG, TIE, UNREAD, Verdict(status="error")])
wrong_ones = st.sampled_from([WRONG, TIE, UNREAD])
settings = st.builds(
    RewardSettings,
    em_range=st.sampled_from([(0, 1), (-1, 1)]),
    tool_mode=st.sampled_from(MODES),
    tool_weight=st.floats(0, 2),
    gate=st.sampled_from(GATES),
    call_limit=st.just(LIMIT),
)


def alone(row: Row) -> tuple[Row, ...]:
    return (row,)


def after(calls: list[Row], more: Row, place: int) -> Trajectory:
    """The calls, each in a turn, with one more at a place."""
    return judged(*map(alone, [*calls[:place], more, *calls[place:]]))


def served(made: list[Row]) -> bool:
    return any(status not in SERVICE_FAULTS for _, _, status in made)


@given(made=rows, verdict=verdicts, chosen=settings)
def test_every_part_keeps_its_bounds(
    made: list[Row], verdict: Verdict, chosen: RewardSettings
) -> None:
    parts = reward_parts(judged(*map(alone, made), verdict=verdict), TARGET, chosen)
    assert 0 <= parts.right_calls <= parts.calls <= len(made)
    assert 0 <= parts.in_form <= 1
    if parts.reward is None:
        assert made
        assert not served(made)
        return
    assert parts.tool is not None
    assert 0 <= parts.tool <= 1
    assert parts.exact_match == (1.0 if verdict == RIGHT else float(chosen.em_range[0]))
    assert abs(parts.reward - parts.exact_match) <= chosen.tool_weight


@given(made=rows, verdict=wrong_ones, mode=st.sampled_from(MODES), weight=st.floats(0, 100))
def test_no_tool_earns_anything_for_a_wrong_verdict(
    made: list[Row], verdict: Verdict, mode: ToolMode, weight: float
) -> None:
    assume(served(made))
    chosen = RewardSettings(tool_mode=mode, tool_weight=weight, call_limit=LIMIT)
    assert reward_parts(judged(*map(alone, made), verdict=verdict), TARGET, chosen).reward == 0.0


@given(made=rows, verdict=wrong_ones, mode=st.sampled_from(MODES))
def test_in_the_range_from_minus_one_a_wrong_verdict_with_good_tools_is_pushed_down(
    made: list[Row], verdict: Verdict, mode: ToolMode
) -> None:
    assume(served(made))
    chosen = RewardSettings(em_range=(-1, 1), tool_mode=mode, call_limit=LIMIT)
    parts = reward_parts(judged(*map(alone, made), verdict=verdict), TARGET, chosen)
    assert parts.tool is not None
    assert parts.reward == -1 - 0.2 * parts.tool


@given(tool=st.floats(0, 1), weight=st.floats(0, 100))
def test_the_sign_of_zero_is_zero(tool: float, weight: float) -> None:
    assert composite(0.0, tool, RewardSettings(tool_weight=weight)) == 0.0


@given(made=rows, verdict=verdicts, chosen=settings)
def test_without_the_tool_term_the_calls_do_not_matter(
    made: list[Row], verdict: Verdict, chosen: RewardSettings
) -> None:
    assume(served(made))
    ungated = chosen.model_copy(update={"gate": "no_tool"})
    with_calls = reward_parts(judged(*map(alone, made), verdict=verdict), TARGET, ungated)
    assert with_calls.reward == reward_parts(judged(verdict=verdict), TARGET, ungated).reward


@pytest.mark.parametrize("mode", MODES)
@given(made=rows, data=st.data())
def test_a_repeated_call_adds_nothing(made: list[Row], data: st.DataObject, mode: ToolMode) -> None:
    before = judged(*map(alone, made))
    counted = counted_calls(before)
    assume(counted)
    tool, query, _ = data.draw(st.sampled_from(counted))
    last = max(n for n, row in enumerate(made) if row[:2] == (tool, query))
    again: Row = (tool, f" {query.upper()}\n", data.draw(st.sampled_from(STATUSES)))
    place = data.draw(st.integers(last + 1, len(made)))
    chosen = RewardSettings(tool_mode=mode, call_limit=LIMIT)
    assert tool_reward(after(made, again, place), TARGET, chosen) == tool_reward(
        before, TARGET, chosen
    )


@pytest.mark.parametrize("mode", MODES)
@given(
    made=rows, tool=st.sampled_from(TOOLS), blank=st.sampled_from(["", " ", "\n\t"]), data=st.data()
)
def test_an_empty_query_adds_nothing(
    made: list[Row], tool: str, blank: str, data: st.DataObject, mode: ToolMode
) -> None:
    row: Row = (tool, blank, data.draw(st.sampled_from(STATUSES)))
    place = data.draw(st.integers(0, len(made)))
    chosen = RewardSettings(tool_mode=mode, call_limit=LIMIT)
    before = tool_reward(judged(*map(alone, made)), TARGET, chosen)
    assert tool_reward(after(made, row, place), TARGET, chosen) == before


@given(made=rows, down=outages, verdict=verdicts, chosen=settings, data=st.data())
def test_an_outage_changes_nothing_while_a_call_was_served(
    made: list[Row], down: Row, verdict: Verdict, chosen: RewardSettings, data: st.DataObject
) -> None:
    assume(served(made))
    place = data.draw(st.integers(0, len(made)))
    with_outage = after(made, down, place).model_copy(update={"verdict": verdict})
    before = judged(*map(alone, made)).model_copy(update={"verdict": verdict})
    assert reward_parts(with_outage, TARGET, chosen)[:3] == reward_parts(before, TARGET, chosen)[:3]


@given(made=st.lists(outages, min_size=1, max_size=4), verdict=verdicts, chosen=settings)
def test_calls_that_all_met_an_outage_leave_no_reward(
    made: list[Row], verdict: Verdict, chosen: RewardSettings
) -> None:
    parts = reward_parts(judged(*map(alone, made), verdict=verdict), TARGET, chosen)
    assert parts.reward is None


@pytest.mark.parametrize("mode", ["fraction", "any", "per_call"])
@given(
    made=st.lists(
        calls, max_size=5, unique_by=lambda row: (row[0], " ".join(row[1].casefold().split()))
    ),
    data=st.data(),
)
def test_the_order_of_different_calls_is_irrelevant_but_for_first(
    made: list[Row], data: st.DataObject, mode: ToolMode
) -> None:
    chosen = RewardSettings(tool_mode=mode, call_limit=LIMIT)
    shuffled = data.draw(st.permutations(made))
    one = tool_reward(judged(*map(alone, made)), TARGET, chosen)
    assert tool_reward(judged(*map(alone, shuffled)), TARGET, chosen) == one


@given(made=rows, chosen=settings)
def test_calls_of_one_turn_count_as_those_of_several(
    made: list[Row], chosen: RewardSettings
) -> None:
    several, one = judged(*map(alone, made)), judged(tuple(made))
    assert tool_reward(several, TARGET, chosen) == tool_reward(one, TARGET, chosen)


@given(text=st.text(), stop=st.sampled_from(["verdict", "no_verdict", "cut", "policy_error"]))
def test_form_is_measured_of_any_text(text: str, stop: StopReason) -> None:
    made = judged(stop=stop)
    odd = made.turns[0].model_copy(update={"text": text})
    assert 0 <= format_validity(made.model_copy(update={"turns": (odd, *made.turns)})) <= 1
