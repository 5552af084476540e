"""What happens beside the steps of a run: metrics to a file, evaluation on held-out pairs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from transformers import TrainerCallback

from openreward.train.evaluation import HeldOut
from openreward.train.trainer import RolloutTrainer


class Watch(TrainerCallback):  # type: ignore[misc]  # transformers has no types
    """Writes `metrics.jsonl`, and evaluates every so many steps; `trainer` is set before a run."""

    trainer: RolloutTrainer

    def __init__(self, folder: Path, held_out: HeldOut | None, every: int, at_start: bool) -> None:
        self._file = folder / "metrics.jsonl"
        self._held_out = held_out
        self._every = every
        self._at_start = at_start
        self._done: set[int] = set()  # steps that were evaluated

    def on_train_begin(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Where the model stands before the first step."""
        if self._at_start and state.global_step == 0:
            self._evaluate(state)

    def on_step_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Every `every` steps."""
        if state.global_step % self._every == 0:
            self._evaluate(state)

    def on_train_end(self, args: Any, state: Any, control: Any, **given: Any) -> None:
        """Where it stands at the end."""
        self._evaluate(state)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **given: Any) -> None:
        """A line of numbers."""
        if state.is_world_process_zero and logs:
            self._write({"step": state.global_step, **logs})

    def _evaluate(self, state: Any) -> None:
        """On all ranks: the weights go to the engine, then the main process asks."""
        if self._held_out is None or state.global_step in self._done:
            return
        self._done.add(state.global_step)
        trainer, held_out = self.trainer, self._held_out
        trainer.vllm_generation.sync_weights()

        def ask() -> dict[str, float]:
            if not trainer.accelerator.is_main_process:
                return {}
            rollouts = trainer.rollouts
            return rollouts.loop.run(held_out.run(rollouts.policy, state.global_step))

        found = trainer.on_all_ranks(ask)
        if found:
            trainer.log_beside(found)
            said = ", ".join(f"{name} {value:.3f}" for name, value in found.items())
            sys.stderr.write(f"step {state.global_step}: {said}\n")

    def _write(self, row: dict[str, Any]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._file.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
