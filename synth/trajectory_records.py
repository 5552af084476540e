"""What becomes of a pair in making warm-start data, and why a trajectory is not used.

The trajectories that are used are `openreward.training_rows`: the trainer reads them too.
"""

from __future__ import annotations

from typing import Literal

from openreward.training_rows import TrainingTrajectory
from openreward.types import Record, Usage

TrajectoryReason = Literal[
    "unlabelled",  # a pair that names no better answer
    "same_answers",  # a pair
    "no_tool",  # a pair whose source no open tool searches, or that names no source
    "engine_error",  # the engine refuses this conversation, or it does not fit
    "service_failed",  # every search failed by its service
    "limit",  # tokens or seconds of the trajectory were spent
    "refused",  # the engine's own word
    "no_verdict",
    "tie",
    "wrong_verdict",
    "no_counted_call",
    "wrong_tool",  # no counted call is of the tool of the pair's source
    "nothing_found",  # none of those brought passages
    "control_text",  # a turn holds control strings that are not its own calls and verdict
    "duplicate",  # the same as another one of the pair
]


class DroppedTrajectory(Record):
    """Why a trajectory is not used; without an order it is the whole pair."""

    pair: str
    order: tuple[int, int] | None = None
    sample: int | None = None
    reason: TrajectoryReason
    detail: str = ""
    own_document: bool | None = None


class PairTrajectories(Record):
    """All that became of one pair."""

    id: str
    source: str | None
    kept: tuple[TrainingTrajectory, ...] = ()
    dropped: tuple[DroppedTrajectory, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0
