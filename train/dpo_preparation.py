"""The settings of DPO with cross-entropy on the winner, and what is checked before a model loads.

L = L_DPO + weight * L_CE (LongReward, arXiv 2410.21252): beta 0.15 and weight 0.1 as there. Rows
are TRL's preference format, plain or conversational. Files are mixed by shares: the rows of each
are drawn by the seed until the first of them is used up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any, Literal, NamedTuple

from pydantic import Field, JsonValue, model_validator

from openreward.errors import UserError, shorten
from openreward.inputs import PairRow
from openreward.records import RowError, read_rows
from openreward.train.model_loading import check_device, load_tokenizer
from openreward.train.settings import File, ModelSettings
from openreward.train.trainer_arguments import check_keys_of
from openreward.types import Record

_SHOWN = 10
OURS = {
    "output_dir": "output",
    "seed": "seed",
    "beta": "beta",
    "loss_type": "cross_entropy",
    "loss_weights": "cross_entropy",
    "max_length": "max_tokens",
}


class Part(Record):
    """One kind of data, such as the long one; `share` is of the rows, 0 takes all of them."""

    files: tuple[File, ...] = Field(min_length=1)
    share: float = Field(default=0, ge=0, le=1)


class DpoSettings(Record):
    """Everything of a run."""

    output: File
    seed: int = Field(default=0, ge=0)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    data: dict[str, Part] = Field(min_length=1)  # a name of your own -> its part
    max_tokens: int = Field(default=8192, ge=64)  # of prompt and answer; longer rows are left out
    unusable_share: float = Field(default=0.0, ge=0, le=1)  # of the rows; more stop the run
    model: ModelSettings
    beta: float = Field(default=0.15, gt=0)
    cross_entropy: float = Field(default=0.1, ge=0)  # weight of the loss on the winner
    trainer: dict[str, JsonValue] = {}

    @model_validator(mode="after")
    def _shares_fit(self) -> DpoSettings:
        shares = [part.share for part in self.data.values()]
        if any(shares) and (not all(shares) or abs(sum(shares) - 1) > 1e-6):
            raise ValueError(
                f"expected shares that add up to 1, or none, got {', '.join(map(str, shares))}"
            )
        return self


class Preference(NamedTuple):
    """One row: messages of the prompt, and the two answers."""

    prompt: str
    chosen: str
    rejected: str

    def row(self) -> dict[str, list[dict[str, str]]]:
        """As TRL's conversational format has it."""
        return {
            "prompt": [{"role": "user", "content": self.prompt}],
            "chosen": [{"role": "assistant", "content": self.chosen}],
            "rejected": [{"role": "assistant", "content": self.rejected}],
        }


class PreparedDpo(NamedTuple):
    """A run that is ready to load its model."""

    settings: DpoSettings
    tokenizer: Any
    rows: tuple[Preference, ...]
    counts: dict[str, int]  # rows taken of each part
    unusable: tuple[str, ...]

    def table(self) -> list[dict[str, list[dict[str, str]]]]:
        """The rows as TRL's dataset has them."""
        return [row.row() for row in self.rows]

    def lines(self) -> list[str]:
        """What a dry run says."""
        parts = ", ".join(f"{name} {count}" for name, count in self.counts.items())
        weight = self.settings.cross_entropy
        return [
            f"data: {len(self.rows)} rows ({parts}), {len(self.unusable)} unusable",
            *(f"  {each}" for each in self.unusable[:_SHOWN]),
            f"loss: DPO with beta {self.settings.beta:g}, and {weight:g} times cross-entropy",
        ]


def prepare(settings: DpoSettings) -> PreparedDpo:
    """Check a run; raises `UserError`."""
    check_device(settings.device)
    check_keys_of("DPOConfig", settings.trainer, OURS)
    tokenizer, config = load_tokenizer(settings.model.path)
    context = int(getattr(config, "max_position_embeddings", 0) or 1 << 20)
    most = min(settings.max_tokens, context)
    found: dict[str, list[Preference]] = {}
    unusable: list[str] = []
    for name, part in settings.data.items():
        found[name], bad = _read(part.files, tokenizer, most)
        unusable += bad
        if not found[name]:
            why = f": {bad[0]}" if bad else "; it has no row"
            raise UserError(f"data.{name}: expected preference rows, got none to use{why}")
    total = sum(map(len, found.values()))
    if len(unusable) > settings.unusable_share * (len(unusable) + total):
        raise UserError(
            f"expected at most {settings.unusable_share:.0%} of the rows unusable, got "
            f"{len(unusable)} of {len(unusable) + total}: {'; '.join(unusable[:3])}; mend the "
            "files, or allow more (unusable_share)"
        )
    taken = mixed(found, {n: p.share for n, p in settings.data.items()}, settings.seed)
    rows = [row for part in taken.values() for row in part]
    Random(f"{settings.seed} order").shuffle(rows)
    counts = {name: len(part) for name, part in taken.items()}
    return PreparedDpo(settings, tokenizer, tuple(rows), counts, tuple(unusable))


def mixed(
    parts: dict[str, list[Preference]], shares: dict[str, float], seed: int
) -> dict[str, list[Preference]]:
    """As many rows of each part as the shares allow, drawn by the seed."""
    if not any(shares.values()):
        return parts
    total = min(len(rows) / shares[name] for name, rows in parts.items())
    taken = {}
    for name, rows in parts.items():
        count = min(len(rows), max(1, math.floor(total * shares[name] + 1e-9)))
        drawn = Random(f"{seed} {name}").sample(range(len(rows)), count)
        taken[name] = [rows[n] for n in sorted(drawn)]
    return taken


def _read(files: Sequence[Path], tokenizer: Any, most: int) -> tuple[list[Preference], list[str]]:
    rows: list[Preference] = []
    unusable: list[str] = []
    for file in files:
        for found in read_rows(file, PairRow):
            if isinstance(found, RowError):
                unusable.append(f"{file.name}, {found.message}")
                continue
            place, pair = f"{file.name}, {found.place} {found.line}", found.record
            if pair.label not in (0, 1) or pair.responses[0] == pair.responses[1]:
                why = "a label of 0 or 1 and two different answers"
                unusable.append(f"{place}: expected {why}, got label {shorten(pair.label)}")
                continue
            chosen, rejected = pair.responses[pair.label], pair.responses[1 - pair.label]
            made = Preference(pair.query, chosen, rejected)
            tokens = _tokens(made, tokenizer)
            if tokens > most:
                unusable.append(
                    f"{place}: expected at most {most} tokens (max_tokens), got {tokens}"
                )
                continue
            rows.append(made)
    return rows, unusable


def _tokens(row: Preference, tokenizer: Any) -> int:
    """Of the prompt and the longer answer, and some for the template around them."""

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False))

    return 32 + count(row.prompt) + max(count(row.chosen), count(row.rejected))
