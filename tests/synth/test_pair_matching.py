from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.synth.pair_matching import REACHES, unmatched

ratios = st.floats(min_value=-0.7, max_value=0.7, allow_nan=False)


def kept(all: list[float]) -> tuple[list[float], list[float]]:
    """The ratios kept, by size: of rows with the longer grounded answer, and of the others."""
    gone = set(unmatched(all))
    left = [ratio for at, ratio in enumerate(all) if at not in gone]
    return sorted(r for r in left if r > 0), sorted(-r for r in left if r < 0)


@given(st.lists(ratios, max_size=60))
def test_as_many_are_longer_this_way_as_that_way_and_by_nearly_the_same(all: list[float]) -> None:
    longer, shorter = kept(all)
    assert len(longer) == len(shorter)
    apart = [abs(one - other) for one, other in zip(longer, shorter, strict=True)]
    assert max(apart, default=0.0) <= REACHES[-1] + 1e-12


@given(st.lists(ratios, max_size=30))
def test_no_two_that_were_left_out_could_be_partners(all: list[float]) -> None:
    out = [all[at] for at in unmatched(all)]
    assert not [1 for a in out for b in out if a > 0 > b and abs(a + b) <= REACHES[-1] - 1e-12]


@pytest.mark.parametrize(
    ("all", "out"),
    [
        ([], []),
        ([0.0, 0.0, 0.0], []),
        ([0.3], [0]),
        ([0.3, -0.3], []),
        ([0.3, -0.45], [0, 1]),
        ([0.30, 0.39, -0.31], [1]),  # the nearer one gets the partner
        ([0.39, 0.30, -0.31], [0]),
        ([0.2, 0.2, 0.2, -0.2], [1, 2]),  # of equal ones the first
        ([0.1, 0.2, -0.6, 0.0], [0, 1, 2]),
    ],
)
def test_worked_cases(all: list[float], out: list[int]) -> None:
    assert unmatched(all) == out


def bands(all: list[float], width: float) -> int:
    """How many rows equal numbers in bands of a fixed width would keep."""
    counts: dict[int, list[int]] = {}
    for ratio in all:
        counts.setdefault(int(abs(ratio) / width), [0, 0])[ratio > 0] += 1
    return sum(2 * min(both) for both in counts.values())


def test_fewer_rows_are_lost_than_with_bands_and_none_more_than_the_longer_side_has_too_many() -> (
    None
):
    random = Random(5)
    all = [ratio for _ in range(150) if abs(ratio := random.gauss(0.1, 0.3)) < math.log(2)]
    longer, shorter = kept(all)
    most = 2 * min(sum(r > 0 for r in all), sum(r < 0 for r in all))
    assert bands(all, REACHES[-1]) < len(longer) + len(shorter) <= most
