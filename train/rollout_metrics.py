"""What a batch of rollouts says of itself, as a trainer logs it; the reward's parts are elsewhere.

Shares are of all rollouts of the batch, failed ones included, unless a name says otherwise. A share
of nothing is not a number and is left out of means.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import get_args

from openreward.counting import counted_calls, failed_by_service, ran_calls
from openreward.train.rollout import Batch
from openreward.types import Trajectory, VerdictStatus

PREFIX = "rollouts/"


def batch_metrics(batch: Batch) -> dict[str, float]:
    """The same names each time; seconds are wall time of this process."""
    made = batch.trajectories
    runs = [run for each in made for run in ran_calls(each)]
    counted = [
        (call.found, call.tool == row.target.tool)
        for row, each in zip(batch.rows, made, strict=True)
        for call in counted_calls(each)
    ]
    tokens = sum(each.usage.completion_tokens for each in made)
    found = {f"{status}": _share(made, status) for status in get_args(VerdictStatus)}
    found |= {
        "failed": _mean([failed_by_service(each) for each in made]),
        "turns": _mean([len(each.turns) for each in made]),
        "calls": _mean([len(ran_calls(each)) for each in made]),
        "calls_found": _mean([found for found, _ in counted]),
        "calls_right_tool": _mean([right for _, right in counted]),
        "calls_cached": _mean([result.cached for _, result in runs]),
        "calls_failed": _mean([result.status not in _OF_THE_MODEL for _, result in runs]),
        "call_seconds": _mean([result.seconds for _, result in runs]),
        "tool_wait": _ratio(sum(e.times.tools for e in made), sum(e.times.total for e in made)),
        "seconds": batch.seconds,
        "tokens_per_second": _ratio(tokens, batch.seconds),
        "resampled": float(batch.again),
    }
    return {PREFIX + name: value for name, value in found.items()}


_OF_THE_MODEL = ("ok", "no_result", "bad_query")


def _share(made: Sequence[Trajectory], status: str) -> float:
    return _mean([each.verdict.status == status for each in made])


def _mean(values: Sequence[float]) -> float:
    return _ratio(sum(values), len(values))


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
