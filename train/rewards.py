"""The reward of a trajectory: the verdict, and the right tool where the verdict is right.

R = R_EM + sign(R_EM) * lambda * R_tool (OpenReward, arXiv 2510.24636), per trajectory and pure.
What counts as a call is counting.py's to say. The paper gives neither lambda nor how R_tool is
taken over several calls: the defaults are our choices. A trajectory that failed by the engine or
by its services has no reward, so that an outage teaches nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Literal, NamedTuple

from pydantic import BeforeValidator, Field, ValidationError

from openreward import parse
from openreward.counting import CountedCall, counted_calls, failed_by_service, ran_calls, tool_of
from openreward.errors import UserError, shorten
from openreward.records import explain
from openreward.types import Pair, Record, Trajectory, Turn

ToolMode = Literal["fraction", "any", "first", "per_call"]
"""R_tool over the counted calls: the share of right ones; 1 if any is; 1 if the first is; right
ones over the call limit."""

Gate = Literal["outcome", "none", "no_tool"]
"""`outcome` is the paper's; `none` adds R_tool whatever the verdict; `no_tool` leaves it out."""


def _as_tuple(value: object) -> object:
    """Any sequence as a tuple: configs come with list types of their own."""
    return tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value


class RewardSettings(Record):
    """How a trajectory is rewarded; `tool_weight` is the paper's lambda."""

    em_range: Annotated[tuple[Literal[-1, 0], Literal[1]], BeforeValidator(_as_tuple)] = (0, 1)
    tool_mode: ToolMode = "fraction"
    tool_weight: float = Field(default=0.2, ge=0, le=100)
    gate: Gate = "outcome"
    call_limit: int = Field(default=4, ge=1)  # of the agent loop; only `per_call` reads it


class Target(Record):
    """What a trajectory is measured by: `winner` in the order SHOWN, and the right tool's name.

    As JSON it is the column, ground truth or label of a trainer's row.
    """

    pair: str = Field(min_length=1)  # its id, which is that of the task
    winner: Literal[0, 1]
    tool: str | None = None  # None: no tool is right, so only `no_tool` can train on it


class RewardParts(NamedTuple):
    """A reward and what it was made of; the first three are None for a failed trajectory."""

    reward: float | None
    exact_match: float | None
    tool: float | None
    correct: bool  # the verdict is the label's
    in_form: float  # share of turns in the form that was asked for
    calls: int  # counted ones
    right_calls: int

    @property
    def failed(self) -> bool:
        """Whether the engine or the services failed: no reward, no gradient."""
        return self.reward is None


def reward_settings(values: Mapping[str, object]) -> RewardSettings:
    """Settings as a config or a trainer's arguments give them; raises `UserError`."""
    known = list(RewardSettings.model_fields)
    for key in values:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else "tool_weight is the paper's lambda"
            expected = f"expected reward settings among {', '.join(known)}"
            raise UserError(f"{expected}, got {shorten(key)}; {hint}")
    try:
        return RewardSettings.model_validate(dict(values))
    except ValidationError as error:
        raise UserError(f"reward settings: {explain(error)}") from None


def target_of(
    pair: Pair, order: Sequence[int], tools: Collection[str], settings: RewardSettings
) -> Target:
    """The target of a pair shown in `order` (`order[i]` at place i) to a model with these tools.

    Raises `UserError` for a pair that can't be trained on: a label other than 0 or 1, equal
    answers, or, where the reward asks for the right tool, a source without one.
    """
    if tuple(order) not in ((0, 1), (1, 0)):
        raise UserError(f"expected the order (0, 1) or (1, 0), got {shorten(order)}; draw it again")
    if pair.label not in (0, 1):
        raise UserError(
            f"pair {shorten(pair.id)}: expected label 0 or 1, got {shorten(pair.label)}; leave "
            "pairs without a better answer out of training"
        )
    if pair.responses[0] == pair.responses[1]:
        raise UserError(
            f"pair {shorten(pair.id)}: expected two different answers, got the same one twice; "
            "leave it out of training"
        )
    tool = tool_of(pair.source) if pair.source else None
    known = tool if tool in tools else None
    if known is None and settings.gate != "no_tool":
        raise UserError(
            f"pair {shorten(pair.id)}: expected a source whose tool is among "
            f"{', '.join(sorted(tools)) or 'the tools (there are none)'}, got source "
            f"{shorten(pair.source)}; give it one, offer its tool, or train with gate no_tool"
        )
    return Target(pair=pair.id, winner=0 if order[0] == pair.label else 1, tool=known)


def reward_parts(
    trajectory: Trajectory,
    target: Target,
    settings: RewardSettings = RewardSettings(),  # noqa: B008
) -> RewardParts:
    """The reward of a trajectory and its parts; raises `UserError` if the two don't belong."""
    _check(trajectory, target, settings)
    correct = is_correct(trajectory, target)
    counted = counted_calls(trajectory)
    right = sum(_is_right(call, target) for call in counted)
    counts = (correct, format_validity(trajectory), len(counted), right)
    if failed_by_service(trajectory):
        return RewardParts(None, None, None, *counts)
    exact = exact_match(trajectory, target, settings)
    tool = tool_reward(trajectory, target, settings)
    return RewardParts(composite(exact, tool, settings), exact, tool, *counts)


def is_correct(trajectory: Trajectory, target: Target) -> bool:
    """Whether there is a verdict and it is the label's; a tie is not."""
    return trajectory.verdict.winner == target.winner  # None without a verdict, or for a tie


def exact_match(
    trajectory: Trajectory,
    target: Target,
    settings: RewardSettings = RewardSettings(),  # noqa: B008
) -> float:
    """R_EM: a missing, malformed or ambiguous verdict, or a tie, is worth what a wrong one is."""
    wrong, right = settings.em_range
    return float(right if is_correct(trajectory, target) else wrong)


def tool_reward(
    trajectory: Trajectory,
    target: Target,
    settings: RewardSettings = RewardSettings(),  # noqa: B008
) -> float:
    """R_tool in [0, 1]; without a counted call, or without a right tool, it is 0."""
    right = [_is_right(call, target) for call in counted_calls(trajectory)]
    if not right:
        return 0.0
    if settings.tool_mode == "any":
        return float(any(right))
    if settings.tool_mode == "first":
        return float(right[0])
    if settings.tool_mode == "per_call":
        return sum(right) / settings.call_limit
    return sum(right) / len(right)


def composite(exact: float, tool: float, settings: RewardSettings) -> float:
    """R_EM and R_tool as one; with the outcome's gate and R_EM 0, R_tool is worth nothing."""
    if settings.gate == "no_tool":
        return exact
    sign = 1 if settings.gate == "none" else (exact > 0) - (exact < 0)
    return exact + sign * settings.tool_weight * tool


def format_validity(trajectory: Trajectory) -> float:
    """The share of turns in form: calls that can be read, and at the end one readable verdict.

    A turn whose form the engine forced is not the model's merit. It is measured, not rewarded.
    """
    last = len(trajectory.turns) - 1
    good = [_in_form(turn, n == last, trajectory) for n, turn in enumerate(trajectory.turns)]
    return sum(good) / len(good) if good else 0.0


def _is_right(call: CountedCall, target: Target) -> bool:
    return call.found and call.tool == target.tool


def _in_form(turn: Turn, last: bool, trajectory: Trajectory) -> bool:
    if turn.forced:
        return False
    if last and trajectory.stop_reason == "verdict":
        return True
    reading = parse.read_calls(turn.text)
    return bool(turn.tool_calls or reading.calls) and not reading.problems and not last


def _check(trajectory: Trajectory, target: Target, settings: RewardSettings) -> None:
    if trajectory.task != target.pair:
        raise UserError(
            f"expected the trajectory of pair {shorten(target.pair)}, got one of "
            f"{shorten(trajectory.task)}; rows and rollouts are out of step"
        )
    if target.tool is None and settings.gate != "no_tool":
        raise UserError(
            f"pair {shorten(target.pair)}: expected a target with a tool, got none; make targets "
            "with the settings they are trained with, or set gate no_tool"
        )
    ran = len(ran_calls(trajectory))
    if settings.tool_mode == "per_call" and ran > settings.call_limit:
        raise UserError(
            f"expected at most {settings.call_limit} calls (call_limit), got {ran}; set it to the "
            "call limit of the rollouts"
        )
