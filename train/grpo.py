"""GRPO with the outcome-gated tool reward, on TRL, with rollouts of the one agent loop.

    accelerate launch train/grpo.py --config train/configs/small-cpu.yaml
    accelerate launch train/grpo.py --config FILE --dry-run
    accelerate launch train/grpo.py --config FILE --resume trainer.max_steps=200

Words like `key.sub=value` are laid over the file. What is wrong with a setting, the data, the
tools, the tokenizer or the engine is told before a model is loaded. A run is killed and resumed
with the same data order; the resolved settings lie beside its output.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":  # else this folder, first on the path, could hide libraries
    sys.path.pop(0)

import logging
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openreward.train.preparation import Prepared


def main(words: Sequence[str]) -> int:
    """Run it."""
    from openreward.train.preparation import prepare
    from openreward.train.program import run
    from openreward.train.settings import GrpoSettings

    return run(words, GrpoSettings, lambda settings: prepare(settings, os.environ), train)


def train(prepared: Prepared, resume: bool) -> None:
    """Load the model, train it, leave it in `final`."""
    from datasets import Dataset

    from openreward.train.model_loading import adapter_settings, load_model
    from openreward.train.program import keep_settings, last_checkpoint
    from openreward.train.reward_trl import OpenReward
    from openreward.train.rollout import Rollouts
    from openreward.train.samples import Samples
    from openreward.train.trainer import RolloutTrainer
    from openreward.train.trainer_arguments import trainer_arguments
    from openreward.train.watch import Watch

    settings = prepared.settings
    checkpoint = last_checkpoint(settings, settings.output, resume)
    reward = settings.reward.model_copy(update={"call_limit": settings.rollout.limits.calls or 1})
    wanted = settings.evaluation
    watch = Watch(settings.output, prepared.held_out, wanted.every, wanted.at_start)
    rollouts = Rollouts(
        prepared.rows.by_id(),
        prepared.engine,
        prepared.tools,
        reward,
        settings.rollout.model_copy(update={"seed": settings.seed}),
        blank=prepared.tokenizer.pad_token_id,
    )
    rollouts.open()
    try:
        trainer = RolloutTrainer(
            rollouts=rollouts,
            observe=Samples(settings.output / _rank_folder(), reward, settings.samples),
            model=load_model(settings.model),
            args=trainer_arguments(settings, prepared.context),
            reward_funcs=[OpenReward(reward)],
            train_dataset=Dataset.from_list(prepared.rows.table()),
            processing_class=prepared.tokenizer,
            peft_config=adapter_settings(settings.model),
            callbacks=[watch],
        )
        watch.trainer = trainer
        keep_settings(settings, settings.output)
        trainer.train(resume_from_checkpoint=checkpoint)
        trainer.save_model(str(settings.output / "final"))
        if trainer.is_world_process_zero():
            prepared.tokenizer.save_pretrained(settings.output / "final")
    finally:
        rollouts.close()


def _rank_folder() -> str:
    return f"rank-{os.environ.get('RANK', '0')}"


if __name__ == "__main__":
    logging.getLogger("openreward").addHandler(logging.NullHandler())
    sys.exit(main(sys.argv[1:]))
