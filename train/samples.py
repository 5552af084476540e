"""What a run leaves to look at: which rows each step took, and some trajectories as they are."""

from __future__ import annotations

import json
from pathlib import Path

from openreward.train.rewards import RewardSettings, reward_parts
from openreward.train.rollout import Batch


class Samples:
    """An `Observer` of one process: `batches.jsonl`, and `samples.jsonl` with `kept` of a batch."""

    def __init__(self, folder: Path, reward: RewardSettings, kept: int) -> None:
        self._batches = folder / "batches.jsonl"
        self._samples = folder / "samples.jsonl"
        self._reward = reward
        self._kept = kept
        folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, batch: Batch) -> None:
        """Write one batch."""
        step, call = batch.place.step, batch.place.call
        rows = [row.id for row in batch.rows]
        _append(self._batches, [{"step": step, "call": call, "rows": rows}])
        _append(self._samples, [self._sample(batch, n) for n in self._chosen(batch)])

    def _chosen(self, batch: Batch) -> list[int]:
        """Rollouts spread over the batch, so that they are of several groups."""
        count = min(self._kept, len(batch.rows))
        return [n * len(batch.rows) // count for n in range(count)] if count else []

    def _sample(self, batch: Batch, n: int) -> dict[str, object]:
        row, made = batch.rows[n], batch.trajectories[n]
        parts = reward_parts(made, row.target, self._reward)
        return {
            "step": batch.place.step,
            "row": row.id,
            "reward": parts.reward,
            "correct": parts.correct,
            "target": row.target.model_dump(),
            "trajectory": made.without_tokens().model_dump(mode="json"),
        }


def _append(path: Path, rows: list[dict[str, object]]) -> None:
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    with path.open("a", encoding="utf-8", errors="replace") as file:
        file.write(text)
