"""What a run came to: lines for people, one object for machines, and the exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import get_args

import typer

from openreward.cli.measure import UNSERVED, UNSERVED_TRAJECTORY, search_lines, searches
from openreward.cli.wording import listed, share_of, work_done
from openreward.errors import SOME_ROWS_FAILED
from openreward.loose_json import clean_text
from openreward.resume import Manifest, Totals, manifest_path
from openreward.types import Record, Usage, VerdictStatus

STATUSES: tuple[VerdictStatus, ...] = get_args(VerdictStatus)


class Summary(Record):
    """Counts over all rows of an output; `seconds` are those of the rows added up, not of a clock.

    `left_out` counts input rows that could not be used, by why. `right` are the labelled rows whose
    winner is the label. `searches` counts calls by status (`cached` are among `ok`); `unserved` are
    the rows, and `unserved_trajectories` the trajectories, in which services failed every call.
    """

    output: str
    manifest: str
    rows: int
    ok: int
    tie: int
    unparsed: int
    refused: int
    error: int
    left_out: dict[str, int]
    searched: int
    searched_share: float | None
    searches: dict[str, int]
    unserved: int
    unserved_trajectories: int
    labelled: int
    right: int
    usage: Usage
    seconds: float
    runs: int


def summarize(manifest: Manifest, output: Path) -> Summary:
    """The summary of a finished run."""
    totals = manifest.totals
    searched = totals.marks.get("searched", 0)
    return Summary(
        output=clean_text(str(output)),
        manifest=clean_text(str(manifest_path(output))),
        rows=totals.rows,
        **{status: totals.status.get(status, 0) for status in STATUSES},
        left_out=manifest.dropped,
        searched=searched,
        searched_share=round(searched / totals.rows, 4) if totals.rows else None,
        searches=searches(totals.marks),
        unserved=totals.marks.get(UNSERVED, 0),
        unserved_trajectories=totals.marks.get(UNSERVED_TRAJECTORY, 0),
        labelled=totals.marks.get("labelled", 0),
        right=totals.marks.get("right", 0),
        usage=totals.usage,
        seconds=round(totals.seconds, 3),
        runs=manifest.runs,
    )


def show_summary(manifest: Manifest, output: Path, as_json: bool) -> int:
    """Print the summary; the exit code, 4 when a row failed or was left out."""
    summary = summarize(manifest, output)
    typer.echo(
        json.dumps(summary.model_dump()) if as_json else "\n".join(_lines(summary, manifest.totals))
    )
    return SOME_ROWS_FAILED if summary.error or summary.left_out else 0


def _lines(summary: Summary, totals: Totals) -> list[str]:
    counts = ", ".join(f"{totals.status.get(name, 0)} {name}" for name in STATUSES)
    lines = [
        f"{summary.output}: {summary.rows} rows: {counts}",
        f"with a real search: {share_of(summary.searched, summary.rows)}",
        *search_lines(totals.marks, summary.rows),
        work_done(summary.usage, summary.seconds, summary.runs),
    ]
    if summary.labelled:
        lines.append(f"as labelled: {share_of(summary.right, summary.labelled)}")
    if summary.left_out:
        lines.append(f"left out: {listed(summary.left_out)}; named in {summary.manifest}")
    return lines
