"""Advantages within a group: worked by hand, and beside a second way to compute them."""

from __future__ import annotations

import math
import statistics
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from openreward.errors import UserError
from openreward.train.advantages import group_advantages, is_flat

sizes = st.floats(-100, 100)
members = st.lists(st.none() | sizes, max_size=12)
noise = st.floats(-1e-9, 1e-9)


@pytest.mark.parametrize(
    ("rewards", "scale", "expected"),
    [
        ([1.0, 0.0], "none", [0.5, -0.5]),
        ([1.2, 0.0, None], "none", [0.6, -0.6, 0.0]),
        ([3.0, 1.0, 2.0], "none", [1.0, -1.0, 0.0]),
        ([3.0, 1.0, 2.0], "group", [1 / 1.0001, -1 / 1.0001, 0.0]),  # deviation 1, and the floor
        ([3.0, None, 1.0, 2.0], "group", [1 / 1.0001, 0.0, -1 / 1.0001, 0.0]),
        ([], "group", []),
        ([1.2], "group", [0.0]),
        ([None, 1.2, None], "group", [0.0, 0.0, 0.0]),
        ([None, None], "group", [0.0, 0.0]),
        ([0.1 + 0.2, 0.3], "group", [0.0, 0.0]),
        ([0.1 + 0.2, None, 0.3], "none", [0.0, 0.0, 0.0]),
        ([1.2] * 7, "group", [0.0] * 7),
        ([1.2, 1.2000000476837158], "group", [0.0, 0.0]),  # the second as float32 has it
    ],
)
def test_advantages_worked_by_hand(
    rewards: list[float | None], scale: Any, expected: list[float]
) -> None:
    assert group_advantages(rewards, scale) == pytest.approx(expected, abs=1e-12)
    assert [n for n, value in enumerate(group_advantages(rewards, scale)) if value == 0.0] == [
        n for n, value in enumerate(expected) if value == 0.0
    ]


@given(value=st.floats(-1000, 1000), off=st.lists(noise, min_size=1, max_size=12), data=st.data())
def test_equal_rewards_have_advantage_zero_whatever_the_float_noise(
    value: float, off: list[float], data: st.DataObject
) -> None:
    group: list[float | None] = [value * (1 + each) for each in off]
    for place in data.draw(st.lists(st.integers(0, len(group)), max_size=3)):
        group.insert(place, None)
    assert group_advantages(group) == [0.0] * len(group)
    assert group_advantages(group, "none") == [0.0] * len(group)


@given(
    parts=st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.7, 1.1]), min_size=2, max_size=9),
    data=st.data(),
)
def test_sums_in_another_order_are_equal_rewards(parts: list[float], data: st.DataObject) -> None:
    orders = [data.draw(st.permutations(parts)) for _ in range(4)]
    assert group_advantages([sum(order) for order in orders]) == [0.0] * 4


@given(rewards=members)
def test_those_without_a_reward_change_nothing(rewards: list[float | None]) -> None:
    known = [reward for reward in rewards if reward is not None]
    all_of_them = group_advantages(rewards)
    kept = [value for value, reward in zip(all_of_them, rewards, strict=True) if reward is not None]
    assert kept == group_advantages(known)
    assert all(v == 0.0 for v, r in zip(all_of_them, rewards, strict=True) if r is None)


@given(rewards=st.lists(sizes, min_size=2, max_size=12))
def test_advantages_are_those_of_the_textbook(rewards: list[float]) -> None:
    assume(not is_flat(rewards))
    mean, deviation = statistics.fmean(rewards), statistics.stdev(rewards)
    found = group_advantages(rewards)
    expected = [(reward - mean) / (deviation + 1e-4) for reward in rewards]
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert math.fsum(found) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e300])
def test_a_reward_that_is_no_number_is_refused(bad: float) -> None:
    with pytest.raises(UserError, match=r"expected rewards up to 1e\+09, got"):
        group_advantages([1.0, bad])
