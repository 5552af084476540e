"""DPO with cross-entropy on the winner, on TRL: for preference data that a judge has chosen.

    accelerate launch train/dpo.py --config train/configs/dpo-longreward.yaml
    accelerate launch train/dpo.py --config FILE --dry-run
    accelerate launch train/dpo.py --config FILE --resume trainer.max_steps=800

Rows are those of `openreward synth preferences`, or any in TRL's preference format.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":  # else this folder, first on the path, could hide libraries
    sys.path.pop(0)

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openreward.train.dpo_preparation import PreparedDpo


def main(words: Sequence[str]) -> int:
    """Run it."""
    from openreward.train.dpo_preparation import DpoSettings, prepare
    from openreward.train.program import run

    return run(words, DpoSettings, prepare, train)


def train(prepared: PreparedDpo, resume: bool) -> None:
    """Load the model, train it, leave it in `final`."""
    from datasets import Dataset
    from trl import DPOConfig, DPOTrainer

    from openreward.train.model_loading import adapter_settings, load_model
    from openreward.train.program import keep_settings, last_checkpoint
    from openreward.train.trainer_arguments import common_arguments, made

    settings = prepared.settings
    checkpoint = last_checkpoint(settings, settings.output, resume)
    weight = settings.cross_entropy
    arguments = {
        **common_arguments(settings.model.dtype),
        **settings.trainer,
        "output_dir": str(settings.output),
        "seed": settings.seed,
        "use_cpu": settings.device == "cpu",
        "max_length": settings.max_tokens,
        "beta": settings.beta,
        "loss_type": ["sigmoid", "sft"] if weight else ["sigmoid"],
        "loss_weights": [1.0, weight] if weight else [1.0],
    }
    trainer = DPOTrainer(
        model=load_model(settings.model),
        args=made(DPOConfig, arguments),
        train_dataset=Dataset.from_list(prepared.table()),
        processing_class=prepared.tokenizer,
        peft_config=adapter_settings(settings.model),
    )
    keep_settings(settings, settings.output)
    trainer.train(resume_from_checkpoint=checkpoint)
    trainer.save_model(str(settings.output / "final"))
    if trainer.is_world_process_zero():
        prepared.tokenizer.save_pretrained(settings.output / "final")


if __name__ == "__main__":
    logging.getLogger("openreward").addHandler(logging.NullHandler())
    sys.exit(main(sys.argv[1:]))
