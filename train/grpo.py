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

import argparse
import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from openreward.errors import OpenRewardError, UserError

if TYPE_CHECKING:
    from openreward.train.preparation import Prepared
    from openreward.train.settings import GrpoSettings

SETTINGS_FILE = "settings.yaml"


def main(words: Sequence[str]) -> int:
    """Run, and say an error in one line; the exit codes are those of `openreward`."""
    from openreward.train.config_files import read_settings
    from openreward.train.preparation import prepare
    from openreward.train.settings import GrpoSettings

    asked = _parser().parse_intermixed_args(words)
    try:
        settings = read_settings(asked.config, asked.settings, GrpoSettings)
        prepared = prepare(settings, os.environ)
        if _is_main():
            sys.stderr.write("\n".join(prepared.lines()) + "\n")
        if not asked.dry_run:
            train(prepared, asked.resume)
    except OpenRewardError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; --resume goes on from the last checkpoint\n")
        return 130
    return 0


def train(prepared: Prepared, resume: bool) -> None:
    """Load the model, train it, leave it in `final`."""
    from datasets import Dataset

    from openreward.train.model_loading import adapter_settings, load_model
    from openreward.train.reward_trl import OpenReward
    from openreward.train.rollout import Rollouts
    from openreward.train.samples import Samples
    from openreward.train.trainer import RolloutTrainer
    from openreward.train.trainer_arguments import trainer_arguments
    from openreward.train.watch import Watch

    settings = prepared.settings
    checkpoint = last_checkpoint(settings, resume)
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
            model=load_model(settings),
            args=trainer_arguments(settings, prepared.context),
            reward_funcs=[OpenReward(reward)],
            train_dataset=Dataset.from_list(prepared.rows.table()),
            processing_class=prepared.tokenizer,
            peft_config=adapter_settings(settings),
            callbacks=[watch],
        )
        watch.trainer = trainer
        _write_settings(settings)
        trainer.train(resume_from_checkpoint=checkpoint)
        trainer.save_model(str(settings.output / "final"))
        if trainer.is_world_process_zero():
            prepared.tokenizer.save_pretrained(settings.output / "final")
    finally:
        rollouts.close()


def last_checkpoint(settings: GrpoSettings, resume: bool) -> str | None:
    """The checkpoint to go on from; raises `UserError` for an output that is not this run's."""
    from openreward.train.config_files import read_settings
    from openreward.train.settings import GrpoSettings

    former = settings.output / SETTINGS_FILE
    if not former.exists():
        return None
    if not resume:
        raise UserError(
            f"{settings.output}: expected a new folder, got one that holds a run; --resume goes on "
            "with it, or name another output"
        )
    changed = _changed(read_settings(former, [], GrpoSettings), settings)
    if changed:
        raise UserError(
            f"{settings.output}: expected the settings of the run to go on with, got another "
            f"{', '.join(changed)}; take those of {former}, or name another output"
        )
    found: list[tuple[int, str]] = [
        (int(path.name.rpartition("-")[2]), str(path))
        for path in settings.output.glob("checkpoint-*")
        if (path / "trainer_state.json").exists()  # which is written last
    ]
    return max(found)[1] if found else None


MAY_CHANGE = {"max_steps", "num_train_epochs", "save_steps", "logging_steps", "report_to"}


def _changed(former: GrpoSettings, now: GrpoSettings) -> list[str]:
    one, other = former.model_dump(mode="json"), now.model_dump(mode="json")
    found = [key for key in one if key != "trainer" and one[key] != other[key]]
    for key in sorted({*one["trainer"], *other["trainer"]} - MAY_CHANGE):
        if one["trainer"].get(key) != other["trainer"].get(key):
            found.append(f"trainer.{key}")
    return found


def _write_settings(settings: GrpoSettings) -> None:
    from openreward.train.config_files import write_settings

    if _is_main():
        write_settings(settings, settings.output / SETTINGS_FILE)


def _is_main() -> bool:
    return os.environ.get("RANK", "0") == "0"


def _rank_folder() -> str:
    return f"rank-{os.environ.get('RANK', '0')}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="grpo.py", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="a YAML file")
    parser.add_argument("--dry-run", action="store_true", help="check everything, load no model")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="laid over the file")
    return parser


if __name__ == "__main__":
    logging.getLogger("openreward").addHandler(logging.NullHandler())
    sys.exit(main(sys.argv[1:]))
