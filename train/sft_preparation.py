"""The settings of a warm start, and everything of it that is checked before a model is loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field, JsonValue

from openreward.errors import UserError
from openreward.policy.token_path import find_traits
from openreward.records import RowError, read_rows
from openreward.train.engines.in_process import ModelEngine
from openreward.train.model_loading import check_device, load_tokenizer
from openreward.train.settings import File, ModelSettings
from openreward.train.supervised import Example, example_of
from openreward.train.trainer_arguments import check_keys_of
from openreward.training_rows import TrainingTrajectory
from openreward.types import Record

_SHOWN = 10
OURS = {
    "output_dir": "output",
    "seed": "seed",
    "max_length": "data.max_tokens",
    "packing": "nothing: a row is a conversation",
    "dataset_kwargs": "nothing: rows are tokenised here",
    "assistant_only_loss": "nothing: it always is",
    "completion_only_loss": "nothing: the loss is on the model's turns",
    "remove_unused_columns": "nothing",
}


class SftData(Record):
    """Rows of `openreward synth trajectories`."""

    files: tuple[File, ...] = Field(min_length=1)
    max_tokens: int = Field(default=8192, ge=64)  # of a row; longer ones are left out, and named
    unusable_share: float = Field(default=0.0, ge=0, le=1)  # of the rows; more stop the run


class SftSettings(Record):
    """Everything of a run."""

    output: File
    seed: int = Field(default=0, ge=0)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    data: SftData
    model: ModelSettings
    trainer: dict[str, JsonValue] = {}


class PreparedSft(NamedTuple):
    """A run that is ready to load its model."""

    settings: SftSettings
    tokenizer: Any
    examples: tuple[Example, ...]
    unusable: tuple[str, ...]

    def table(self) -> list[dict[str, list[int]]]:
        """The rows as TRL's dataset has them."""
        return [{"input_ids": e.input_ids, "labels": e.labels} for e in self.examples]

    def lines(self) -> list[str]:
        """What a dry run says."""
        tokens = sum(len(each.input_ids) for each in self.examples)
        learned = sum(each.learned for each in self.examples)
        return [
            f"data: {len(self.examples)} rows, {len(self.unusable)} unusable",
            *(f"  {each}" for each in self.unusable[:_SHOWN]),
            f"tokens: {tokens:,}, of which {learned:,} are learned; the longest row has "
            f"{max(len(each.input_ids) for each in self.examples):,}",
        ]


def prepare(settings: SftSettings) -> PreparedSft:
    """Check a run; raises `UserError`."""
    check_device(settings.device)
    check_keys_of("SFTConfig", settings.trainer, OURS)
    tokenizer, config = load_tokenizer(settings.model.path)
    context = int(getattr(config, "max_position_embeddings", 0) or 1 << 20)
    most = min(settings.data.max_tokens, context)
    examples, unusable = _read(settings.data.files, tokenizer, most)
    names = ", ".join(map(str, settings.data.files))
    if not examples:
        why = f": {unusable[0]}" if unusable else "; it has no row"
        raise UserError(f"{names}: expected trajectories to train on, got none to use{why}")
    if len(unusable) > settings.data.unusable_share * (len(unusable) + len(examples)):
        raise UserError(
            f"{names}: expected at most {settings.data.unusable_share:.0%} of the rows unusable, "
            f"got {len(unusable)} of {len(unusable) + len(examples)}: {'; '.join(unusable[:3])}; "
            "mend the file, or allow more (data.unusable_share)"
        )
    return PreparedSft(settings, tokenizer, tuple(examples), tuple(unusable))


def _read(files: Sequence[Path], tokenizer: Any, most: int) -> tuple[list[Example], list[str]]:
    traits = asyncio.run(find_traits(ModelEngine(tokenizer, most)))
    examples: list[Example] = []
    unusable: list[str] = []
    for file in files:
        for found in read_rows(file, TrainingTrajectory):
            if isinstance(found, RowError):
                unusable.append(f"{file.name}, {found.message}")
                continue
            place = f"{file.name}, {found.place} {found.line}"
            try:
                made = example_of(found.record, tokenizer, traits)
            except UserError as error:
                unusable.append(f"{place}: {error}")
                continue
            if len(made.input_ids) > most:
                unusable.append(
                    f"{place}: expected at most {most} tokens (data.max_tokens, and the model's "
                    f"context), got {len(made.input_ids)}"
                )
                continue
            examples.append(made)
    return examples, unusable
