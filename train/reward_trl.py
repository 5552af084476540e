"""The reward as a function of TRL's GRPOTrainer: `reward_funcs=[OpenReward(settings)]`.

The rows have a column `target`, the rollout function gives a field `trajectory`. A failed rollout
gets None, which TRL (1.16) keeps out of the group's mean and deviation and gives advantage 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from openreward.errors import UserError
from openreward.train.reward_inputs import measures, read_target, read_trajectory
from openreward.train.rewards import RewardParts, RewardSettings, reward_parts

LogMetric = Callable[[str, float], None]


@dataclass(frozen=True)
class OpenReward:
    """A reward function; TRL names its metrics after the class."""

    settings: RewardSettings = RewardSettings()

    def __call__(
        self,
        prompts: Sequence[object],
        completions: Sequence[object],
        completion_ids: Sequence[object],
        *,
        target: Sequence[object] = (),
        trajectory: Sequence[object] = (),
        log_metric: LogMetric | None = None,
        **columns: object,
    ) -> list[float | None]:
        """One reward a completion; `columns` are TRL's own and the row's other ones."""
        for name, given in (("target", target), ("trajectory", trajectory)):
            if len(given) != len(prompts):
                raise UserError(
                    f"expected {len(prompts)} values of {name}, got {len(given)}; rows need a "
                    "column target, and the rollout function must return a list trajectory"
                )
        parts = [
            reward_parts(read_trajectory(made), read_target(wanted), self.settings)
            for made, wanted in zip(trajectory, target, strict=True)
        ]
        if log_metric is not None:
            _log(parts, log_metric)
        return [each.reward for each in parts]


def _log(parts: Sequence[RewardParts], log_metric: LogMetric) -> None:
    """The means of a batch; failed rollouts only count as such."""
    failed = [each.failed for each in parts]
    if parts:
        log_metric("openreward/failed", sum(failed) / len(parts))
    rows = [measures(each) for each in parts if not each.failed]
    for name in rows[0] if rows else ():
        log_metric(f"openreward/{name}", sum(row[name] for row in rows) / len(rows))
