"""Group-relative advantages (GRPO): a reward against the others of its group.

Members without a reward are in neither mean nor deviation, and have advantage 0. Equal rewards have
advantage exactly 0: dividing what is left of them by float arithmetic through a deviation just as
small would make a gradient of nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from openreward.errors import UserError, shorten

_SAME = 1e-6  # of the largest reward, at least 1: above the noise of float32, under any reward step
_FLOOR = 1e-4  # added to the deviation, as TRL does
_LARGEST = 1e9


def group_advantages(
    rewards: Sequence[float | None], scale: Literal["group", "none"] = "group"
) -> list[float]:
    """The advantage of each member of one group; `group` divides by the sample deviation.

    Raises `UserError` for a reward that is no number.
    """
    known = [_checked(reward) for reward in rewards if reward is not None]
    if is_flat(known):  # one alone too
        return [0.0] * len(rewards)
    mean = math.fsum(known) / len(known)
    variance = math.fsum((reward - mean) ** 2 for reward in known) / (len(known) - 1)
    unit = math.sqrt(variance) + _FLOOR if scale == "group" else 1.0
    return [0.0 if reward is None else (reward - mean) / unit for reward in rewards]


def is_flat(rewards: Sequence[float]) -> bool:
    """Whether all rewards are the same but for float noise: the group teaches nothing."""
    if not rewards:
        return True
    low, high = min(rewards), max(rewards)
    return high - low <= _SAME * max(1.0, abs(low), abs(high))


def _checked(reward: float) -> float:
    if not abs(reward) <= _LARGEST:  # nan too
        raise UserError(
            f"expected rewards up to {_LARGEST:g}, got {shorten(reward)}; a member that can't be "
            "rewarded has None"
        )
    return reward
