"""The files of a set of pairs, written from the rows of one run or of several shards.

Called at the end of every run of `openreward synth pairs` and by `openreward synth merge`. Files
come into their place together, when all are written; the rows stay what they are.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import typer

from openreward.cli.pair_report import Pace, PairSummary, summary_lines
from openreward.cli.result_files import ResultFiles
from openreward.errors import UserError, shorten
from openreward.loose_json import clean_text
from openreward.resume import Manifest
from openreward.synth.pair_records import PairSettings
from openreward.synth.pair_set import make_set
from openreward.synth.pair_table import SPLITS
from openreward.types import Usage

ROWS = "rows.jsonl"
MOST_TOLD = 5000  # pairs that the tell report looks at, drawn by their ids

_MILLION = 1_000_000


class Price(NamedTuple):
    """What a million tokens cost, read and written."""

    read: float
    written: float

    def cost(self, usage: Usage) -> float:
        """What a usage costs; tokens read from a cache cost what others do."""
        spent = usage.prompt_tokens * self.read + usage.completion_tokens * self.written
        return round(spent / _MILLION, 6)


def read_price(text: str | None) -> Price | None:
    """`IN,OUT`: prices of a million tokens read, and written. Raises `UserError`."""
    if text is None:
        return None
    try:
        read, written = (float(part) for part in text.split(","))
    except ValueError:
        read = written = math.nan
    if not all(math.isfinite(part) and part >= 0 for part in (read, written)):
        raise UserError(
            f"--price: expected IN,OUT, the prices of a million tokens read and written, such as "
            f"0.15,0.6; got {shorten(text)}"
        )
    return Price(read, written)


def set_files(folder: Path) -> list[Path]:
    """The files of a set: its splits, what was dropped, the summary."""
    return [
        *(folder / f"{split}.jsonl" for split in SPLITS),
        folder / "dropped.jsonl",
        folder / "summary.json",
    ]


def finish_pairs(
    folder: Path,
    rows: Sequence[Path],
    settings: PairSettings,
    manifests: Sequence[Manifest],
    price: Price | None = None,
    *,
    pace: Pace | None = None,
    notes: Sequence[str] = (),
    replace: bool = True,
) -> PairSummary:
    """Write train.jsonl, dev.jsonl, test.jsonl, dropped.jsonl and summary.json from the rows.

    `replace` overwrites those of an earlier run; without it none may exist.
    """
    from openreward.synth.tells import tells  # imports numpy

    paths = set_files(folder)
    *splits, dropped, summed = paths
    with (
        make_set(rows, settings) as made,
        ResultFiles(*paths, replace=replace) as files,
    ):
        for split, path in zip(SPLITS, splits, strict=True):
            for pair in made.pairs(split):
                files.write(path, pair)
        for each in made.dropped():
            files.write(dropped, each)
        summary = PairSummary(
            output=clean_text(str(folder)),
            rows=tuple(clean_text(str(path)) for path in rows),
            sources=made.counts(),
            left_out=_left_out(manifests),
            notes=tuple(map(clean_text, notes)),
            tells=tells(made.drawn(MOST_TOLD), settings.seed),
            usage=made.usage,
            cost=price.cost(made.usage) if price is not None else None,
            seconds=round(made.seconds, 1),
            runs=sum(manifest.runs for manifest in manifests),
            pace=pace,
        )
        files.write(summed, summary, indent=2)
    return summary


def show_pairs(summary: PairSummary, as_json: bool) -> None:
    """Print the summary: for machines, or as a table and some lines."""
    if as_json:
        typer.echo(json.dumps(summary.model_dump()))
    else:
        typer.echo("\n".join(summary_lines(summary)))


def _left_out(manifests: Sequence[Manifest]) -> dict[str, int]:
    """What could not be used; every shard reads all documents, and so counts the broken ones."""
    found = Counter[str]()
    for manifest in manifests:
        for fault, count in manifest.dropped.items():
            found[fault] = found[fault] + count if fault == "not_done" else max(found[fault], count)
    return dict(sorted(found.items()))
