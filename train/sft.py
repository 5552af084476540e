"""Warm start: supervised training on trajectories, on TRL; the loss is on the model's turns.

    accelerate launch train/sft.py --config train/configs/sft-small-cpu.yaml
    accelerate launch train/sft.py --config FILE --dry-run
    accelerate launch train/sft.py --config FILE --resume trainer.num_train_epochs=2

The rows are those of `openreward synth trajectories`. Spans that they mark, such as an oracle's
verdict letter, are left out of the loss: the form is learned, not the judgement.
"""

from __future__ import annotations

import sys

if __name__ == "__main__":  # else this folder, first on the path, could hide libraries
    sys.path.pop(0)

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openreward.train.sft_preparation import PreparedSft


def main(words: Sequence[str]) -> int:
    """Run it."""
    from openreward.train.program import run
    from openreward.train.sft_preparation import SftSettings, prepare

    return run(words, SftSettings, prepare, train)


def train(prepared: PreparedSft, resume: bool) -> None:
    """Load the model, train it, leave it in `final`."""
    from datasets import Dataset
    from trl import SFTConfig, SFTTrainer

    from openreward.train.model_loading import adapter_settings, load_model
    from openreward.train.program import keep_settings, last_checkpoint
    from openreward.train.trainer_arguments import common_arguments, made

    settings = prepared.settings
    checkpoint = last_checkpoint(settings, settings.output, resume)
    longest = max(len(each.input_ids) for each in prepared.examples)
    arguments = {
        **common_arguments(settings.model.dtype),
        **settings.trainer,
        "output_dir": str(settings.output),
        "seed": settings.seed,
        "use_cpu": settings.device == "cpu",
        "max_length": longest,
        "packing": False,
        "dataset_kwargs": {"skip_prepare_dataset": True},
        "remove_unused_columns": False,
    }
    trainer = SFTTrainer(
        model=load_model(settings.model),
        args=made(SFTConfig, arguments),
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
