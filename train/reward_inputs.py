"""What a trainer's row tells of a rollout: its target, and the trajectory that was attached.

Trainers that hand over text alone show neither how calls ended nor where a turn begins, and the
text of a page would stand beside the model's own. So text is read only where there is nothing but
one completion and no tool in the reward: as the last turn of the agent loop is.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from openreward import parse
from openreward.errors import OpenRewardError, UserError, shorten
from openreward.records import explain
from openreward.train.rewards import RewardParts, RewardSettings, Target, reward_parts
from openreward.types import Trajectory, Turn


class NoReward(OpenRewardError):
    """A rollout failed by its engine or services, and the trainer takes no reward but a number."""

    exit_code = 3


def read_target(value: object) -> Target:
    """A target as a row holds it, as JSON or parsed; raises `UserError`."""
    try:
        if isinstance(value, str | bytes):
            return Target.model_validate_json(value)
        return Target.model_validate(value)
    except ValidationError as error:
        raise UserError(
            f"expected a target as target_of(...).model_dump_json() writes it, got "
            f"{shorten(value)} ({explain(error)}); write the rows again"
        ) from None


def read_trajectory(value: object) -> Trajectory:
    """A trajectory as a rollout attaches it, as JSON or parsed; raises `UserError`."""
    try:
        if isinstance(value, str | bytes):
            return Trajectory.model_validate_json(value)
        return Trajectory.model_validate(value)
    except ValidationError as error:
        raise UserError(
            f"expected a trajectory as model_dump_json() writes it, got {shorten(value)} "
            f"({explain(error)}); attach what the agent loop returned"
        ) from None


def trajectory_of_text(completion: str, target: Target) -> Trajectory:
    """One completion as a trajectory of one turn, in which no call ran."""
    verdict = parse.read_verdict(completion)
    return Trajectory(
        task=target.pair,
        path="chat",
        model="",
        prompt=(),
        turns=(Turn(text=completion),),
        evidence=(),
        verdict=verdict,
        explanation=parse.explanation(completion),
        stop_reason="verdict" if verdict.status == "ok" else "no_verdict",
    )


def parts_of_text(completion: str, target: Target, settings: RewardSettings) -> RewardParts:
    """The parts of a completion that no trajectory came with; raises `UserError` with a tool term.

    The text of several turns must not be given: a page that a tool brought could hold a verdict.
    """
    if settings.gate != "no_tool":
        raise UserError(
            f"pair {shorten(target.pair)}: expected the rollout's trajectory beside the text, got "
            "text alone, which does not say what the calls brought; attach it, or set gate no_tool"
        )
    return reward_parts(trajectory_of_text(completion, target), target, settings)


def rewarded(parts: RewardParts, target: Target) -> float:
    """The reward of parts that must have one; raises `NoReward`."""
    if parts.reward is None:
        raise NoReward(
            f"pair {shorten(target.pair)}: the engine or every search of this rollout failed, so "
            "there is no reward; run it again, or leave it out of its group"
        )
    return parts.reward


def measures(parts: RewardParts) -> Mapping[str, float]:
    """The parts as metrics, the same keys each time; those of a failed rollout must not be asked.

    `accuracy` is 1 for the label's verdict whatever `em_range` is.
    """
    return {
        "accuracy": float(parts.correct),
        "exact_match": parts.exact_match or 0.0,
        "tool": parts.tool or 0.0,
        "in_form": parts.in_form,
        "calls": float(parts.calls),
        "right_calls": float(parts.right_calls),
    }
