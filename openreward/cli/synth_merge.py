r"""`openreward synth merge`: one set of pairs from the shards that several machines wrote.

    openreward synth merge shard1 shard2 shard3 -o pairs

Each folder is that of an `openreward synth pairs --shard K/N`. The set is made anew from all rows,
so it equals that of one run over all documents.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import ValidationError

from openreward.cli import options as o
from openreward.cli.pair_summary import ROWS, finish_pairs, read_price, show_pairs
from openreward.cli.result_files import make_folder
from openreward.errors import SOME_ROWS_FAILED, RecordError, UserError, shorten
from openreward.records import explain
from openreward.resume import Manifest, differences, manifest_path, read_manifest
from openreward.synth.pair_records import PairSettings

_PROGRAM, _SHARD = "synth pairs", "config.shard"
_MOST_NAMED = 10


class Shard(NamedTuple):
    """A folder, and how its rows came to be."""

    folder: Path
    manifest: Manifest
    part: str


def merge(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER...", help="Outputs of `openreward synth pairs --shard K/N`."
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the set goes.")
    ],
    price: Annotated[
        str | None,
        typer.Option(metavar="IN,OUT", help="Price of a million tokens read, and written."),
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Make one set of pairs from the shards of several machines."""
    prices = read_price(price)
    shards = sorted((read_shard_of(folder) for folder in folders), key=lambda each: each.part)
    check_alike(shards)
    settings = _settings(shards[0])
    if os.path.lexists(output / ROWS):
        raise RecordError(
            f"{output}: expected a folder for the set, got that of a run; name another"
        )
    make_folder(output)
    notes = missing(shards)
    summary = finish_pairs(
        output,
        [shard.folder / ROWS for shard in shards],
        settings,
        [shard.manifest for shard in shards],
        prices,
        notes=notes,
        replace=False,
    )
    show_pairs(summary, as_json)
    raise typer.Exit(SOME_ROWS_FAILED if notes or summary.left_out else 0)


def read_shard_of(folder: Path) -> Shard:
    """A folder of a run. Raises `RecordError` for one that is something else."""
    rows = folder / ROWS
    manifest = read_manifest(rows)
    if manifest is None or manifest.program != _PROGRAM:
        got = "none" if manifest is None else f"one of `openreward {manifest.program}`"
        raise RecordError(
            f"{folder}: expected the folder of a run of `openreward {_PROGRAM}`, with "
            f"{manifest_path(rows).name}, got {got}; name another folder"
        )
    part = manifest.config.get("shard")
    return Shard(folder, manifest, part if isinstance(part, str) else "1/1")


def check_alike(shards: Sequence[Shard]) -> None:
    """Refuse shards that were made otherwise, or that are not parts of one whole."""
    first = shards[0]
    for other in shards[1:]:
        differing = [
            f"{key}: {shorten(one)} there, {shorten(another)} here"
            for key, one, another in differences(first.manifest, other.manifest)
            if key != _SHARD
        ]
        if _whole(first) != _whole(other):
            differing.append(f"shard: {first.part} there, {other.part} here")
        if differing:
            raise RecordError(
                f"{other.folder}: cannot be merged with {first.folder}, which was made with other "
                f"settings or data ({'; '.join(differing)}); merge the shards of one run"
            )


def missing(shards: Sequence[Shard]) -> list[str]:
    """What the shards lack of a whole run, in words."""
    notes = [
        f"not finished: {shard.folder} ({shard.manifest.state}); go on with it by --resume"
        for shard in shards
        if shard.manifest.state != "finished"
    ]
    notes += [
        f"not whole: {shard.folder} (--limit {limit}); go on with it by --resume without a limit"
        for shard in shards
        if isinstance(limit := shard.manifest.setup.get("limit"), int)
        and shard.manifest.totals.rows >= limit
    ]
    parts, whole = {shard.part for shard in shards}, _whole(shards[0])
    absent = [part for n in range(1, whole + 1) if (part := f"{n}/{whole}") not in parts]
    if absent:
        more = f" and {len(absent) - _MOST_NAMED} more" if len(absent) > _MOST_NAMED else ""
        notes.append(f"shards not given: {', '.join(absent[:_MOST_NAMED])}{more}")
    return notes


def _whole(shard: Shard) -> int:
    """Of how many parts a shard is one."""
    number = shard.part.partition("/")[2]
    if not (number.isascii() and number.isdecimal() and 0 < len(number) < 7):
        raise UserError(
            f"{shard.folder}: expected a shard K/N in its manifest, got {shorten(shard.part)}"
        )
    return int(number)


def _settings(shard: Shard) -> PairSettings:
    given = shard.manifest.config.get("settings")
    fields = given if isinstance(given, dict) else {}
    try:
        return PairSettings.model_validate({**fields, "seed": shard.manifest.seed})
    except ValidationError as error:
        raise RecordError(f"{shard.folder}: settings of its manifest: {explain(error)}") from None
