"""TRL's GRPOTrainer with rollouts in any engine of ours; in flat groups advantages are exactly 0.

TRL (read at 1.16) uses the sampling logprobs only with `use_vllm`, for then it knows that another
engine sampled. Any engine of ours is one: so `use_vllm` is set behind its constructor, and in the
place of its vLLM stands what gives our engine the weights. TRL then corrects by the ratio of its
own logprobs to ours, whatever `vllm_importance_sampling_mode` says. With `use_vllm` in its
arguments TRL moves full weights to a vLLM itself, and only the rollouts are ours.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from accelerate.utils import gather_object
from transformers import Trainer
from trl import GRPOTrainer

from openreward.errors import OpenRewardError
from openreward.train.advantages import is_flat
from openreward.train.rollout import Batch, Observer, Place, Rollouts
from openreward.train.rollout_metrics import PREFIX, batch_metrics

T = TypeVar("T")


class RolloutTrainer(GRPOTrainer):  # type: ignore[misc]  # TRL has no types
    """`rollouts` must be open; `observe` is shown every batch of this process."""

    def __init__(
        self, *, rollouts: Rollouts, observe: Observer | None = None, **given: Any
    ) -> None:
        with warnings.catch_warnings():  # that it is experimental: tests hold the seam
            warnings.filterwarnings("ignore", message=".*'rollout_func'", category=UserWarning)
            super().__init__(rollout_func=_roll, **given)
        self.rollouts = rollouts
        self._observe = observe
        self._calls: Counter[int] = Counter()  # generations of a step
        self._rewards: torch.Tensor | None = None
        self._batch: Batch | None = None
        if not self.args.use_vllm:
            self.use_vllm = True
            self.vllm_generation = _Weights(self)
            self._last_loaded_step = -1

    def roll(self, prompts: Sequence[str]) -> dict[str, list[object]]:
        """TRL's rollout function: a rollout for each prompt of this process."""
        step, rank = self.state.global_step, self.accelerator.process_index
        total = len(prompts) * self.accelerator.num_processes
        place = Place(step, self._calls[step], rank * len(prompts), total)
        self._calls[step] += 1
        group = self.num_generations
        batch = self.on_all_ranks(lambda: self.rollouts.run(prompts, place, group))
        self._batch = batch
        if self._observe is not None:
            self._observe(batch)
        return self.on_all_ranks(lambda: self.rollouts.fields(batch))

    def on_all_ranks(self, work: Callable[[], T]) -> T:
        """What `work` gives, once it went well on every rank; else all raise, and none waits."""
        error: Exception | None = None
        made: T | None = None
        try:
            made = work()
        except Exception as raised:  # to be raised again, after the others know
            error = raised
        said = gather_object([None if error is None else f"{type(error).__name__}: {error}"])
        if error is not None:
            raise error
        failed = [f"rank {rank}: {text}" for rank, text in enumerate(said) if text is not None]
        if failed:
            raise OpenRewardError("; ".join(failed))
        return made  # type: ignore[return-value]  # there was no error

    def log_beside(self, numbers: dict[str, float]) -> None:
        """Log numbers of no step, on this rank alone; `log` would flush those of the step."""
        Trainer.log(self, numbers)

    def _calculate_rewards(self, *given: Any, **named: Any) -> torch.Tensor:
        self._rewards = super()._calculate_rewards(*given, **named)  # (B of all ranks, functions)
        return self._rewards

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        made: dict[str, Any] = super()._generate_and_score_completions(inputs)
        mode = "train" if self.model.training else "eval"
        size = self.num_generations if mode == "train" else self.num_generations_eval
        flat = self._flat_groups(size)  # (B of all ranks,)
        first = self.accelerator.process_index * len(inputs)
        mine = flat[first : first + len(inputs)].to(made["advantages"].device)
        made["advantages"] = made["advantages"].masked_fill(mine, 0.0)  # (B,)
        self._log_batch(mode, float(flat.float().mean()))
        return made

    def _flat_groups(self, size: int) -> torch.Tensor:
        """Which rollouts are of a group whose rewards are all the same but for float noise."""
        assert self._rewards is not None
        rewards = self._rewards.cpu().double()
        known = ~rewards.isnan().all(dim=1)
        total = (rewards * self.reward_weights.cpu().double()).nansum(dim=1)
        groups = zip(total.view(-1, size).tolist(), known.view(-1, size).tolist(), strict=True)
        flat = [is_flat([r for r, k in zip(*group, strict=True) if k]) for group in groups]
        return torch.tensor(flat).repeat_interleave(size)

    def _log_batch(self, mode: str, flat: float) -> None:
        assert self._batch is not None
        found = batch_metrics(self._batch)
        values = torch.tensor([list(found.values())], device=self.accelerator.device)
        means = self.accelerator.gather(values).nanmean(dim=0).tolist()  # over ranks
        for name, mean in zip(found, means, strict=True):
            self._metrics[mode][name].append(mean)
        self._metrics[mode][f"{PREFIX}flat_groups"].append(flat)


class _Weights:
    """What stands in the place of TRL's vLLM: it gives our engine the weights of a step."""

    def __init__(self, trainer: RolloutTrainer) -> None:
        self._trainer = trainer

    def sync_weights(self) -> None:
        """Called by TRL before the first generation of a step, on all ranks."""
        trainer = self._trainer
        rollouts, step = trainer.rollouts, trainer.state.global_step
        sharded = trainer.is_fsdp_enabled or _zero_stage(trainer) >= 3
        state = trainer.accelerator.get_state_dict(trainer.model) if sharded else None
        model = trainer.accelerator.unwrap_model(trainer.model)

        def update() -> None:
            if rollouts.engine.in_process or trainer.accelerator.is_main_process:
                rollouts.update(model, step, state)

        trainer.on_all_ranks(update)
        rollouts.engine.use(step)


def _roll(prompts: Sequence[str], trainer: RolloutTrainer) -> dict[str, list[object]]:
    return trainer.roll(prompts)


def _zero_stage(trainer: RolloutTrainer) -> int:
    plugin = trainer.accelerator.state.deepspeed_plugin
    return int(plugin.zero_stage) if plugin is not None else 0
