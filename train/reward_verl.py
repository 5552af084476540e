"""The reward as verl's `custom_reward_function` (read at verl 0.9.1).

    reward.custom_reward_function.path=pkg://openreward.train.reward_verl
    reward.custom_reward_function.name=compute_score
    reward.custom_reward_function.reward_kwargs={gate: outcome}

`reward_model.ground_truth` is a target's JSON. The agent loop of the rollout puts the trajectory's
JSON into `extra_fields["trajectory"]`; verl hands those on in `extra_info`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import SupportsInt

from openreward.errors import UserError
from openreward.train.reward_inputs import (
    measures,
    parts_of_text,
    read_target,
    read_trajectory,
    rewarded,
)
from openreward.train.rewards import reward_parts, reward_settings

_ONE_TURN = 2  # what verl counts for a prompt and one completion


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: object,
    extra_info: Mapping[str, object] | None = None,
    **settings: object,
) -> dict[str, float]:
    """The score and its parts; `settings` are those of `RewardSettings`.

    Raises `NoReward` for a failed rollout: verl takes no "none", but its v1 trainer leaves a
    rollout whose reward raised out of the group (the older one stops). Without a trajectory the
    text of one turn is read, with gate `no_tool` alone.
    """
    chosen = reward_settings(settings)
    target = read_target(ground_truth)
    extra = extra_info or {}
    attached = extra.get("trajectory")
    if attached is None:
        _one_turn(extra.get("num_turns"))
        parts = parts_of_text(solution_str, target, chosen)
    else:
        parts = reward_parts(read_trajectory(attached), target, chosen)
    measured = measures(parts)
    return {"score": rewarded(parts, target), "acc": measured["accuracy"], **measured}


def _one_turn(turns: object) -> None:
    if isinstance(turns, SupportsInt) and int(turns) > _ONE_TURN:
        raise UserError(
            f"expected extra_info['trajectory'] for a rollout of several turns, got text of "
            f"{int(turns)} turns, in which a tool's text could hold a verdict; put the "
            "trajectory's JSON into the agent loop's extra_fields"
        )
