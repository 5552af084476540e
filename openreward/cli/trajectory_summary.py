"""What a run of `openreward synth trajectories` came to: its files, written from the rows, a table.

The rows hold everything, pair by pair as they were done. The data itself is written from them when
the run has ended, in the order of the ids: so it does not depend on workers or on kills.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import typer

from openreward.batch import Measure
from openreward.cli.result_files import rows_by_id, write_lines
from openreward.cli.wording import listed, share_of, work_done
from openreward.loose_json import clean_text
from openreward.printable import one_line
from openreward.records import RowError
from openreward.resume import Manifest
from openreward.synth.trajectory_records import DroppedTrajectory, PairTrajectories
from openreward.types import Record, Usage

_KEPT, _DROP, _OWN, _LETTER = "kept:", "drop:", "own:", "label:"
_NO_TOOL = "(no tool)"


class Files:
    """Where a run writes: the data, and beside it rows, what was dropped, and a summary."""

    def __init__(self, output: Path) -> None:
        self.data = output
        self.rows = output.with_name(f"{output.stem}.rows.jsonl")
        self.dropped = output.with_name(f"{output.stem}.dropped.jsonl")
        self.summary = output.with_name(f"{output.stem}.summary.json")


class DroppedInput(Record):
    """A line of the dropped file for an input row that gave nothing; `reason` is why."""

    line: int
    reason: str
    detail: str


class SourceCount(Record):
    """The trajectories of one source; `own_found` of `own_known` searches brought their document.

    `own_known` counts trajectories that searched, of pairs that name the document they are about.
    """

    source: str
    trajectories: int
    kept: int
    dropped: dict[str, int]
    own_found: int
    own_known: int


class TrajectorySummary(Record):
    """Counts over all rows; `labels` are of the kept, `seconds` those of the rows added up."""

    output: str
    teacher: str
    pairs: int
    pairs_kept: int
    trajectories: int
    kept: int
    labels: dict[Literal["A", "B"], int]
    sources: tuple[SourceCount, ...]
    left_out: dict[str, int]
    usage: Usage
    seconds: float
    runs: int


def measure(row: PairTrajectories) -> Measure:
    """What a row adds to the totals; pairs that no open tool can search are counted together."""
    no_tool = any(each.reason == "no_tool" for each in row.dropped)
    source = _NO_TOOL if no_tool or row.source is None else row.source
    marks = [f"{_KEPT}{source}" for _ in row.kept]
    marks += [f"{_DROP}{each.reason}:{source}" for each in row.dropped]
    marks += [f"{_LETTER}{each.label}" for each in row.kept]
    searched = [*(each.own_document for each in row.kept), *(d.own_document for d in row.dropped)]
    named = {True: "found", False: "missed"}
    marks += [f"{_OWN}{named[own]}:{source}" for own in searched if own is not None]
    status = "kept" if row.kept else "dropped"
    return Measure(row.id, status, row.usage, row.seconds, tuple(marks))


def finish_trajectories(
    files: Files, manifest: Manifest, errors: Iterable[RowError]
) -> TrajectorySummary:
    """Write the data, what was dropped, and the summary."""
    write_lines(
        files.data,
        (
            each.model_dump_json()
            for row in rows_by_id(files.rows, PairTrajectories)
            for each in row.kept
        ),
    )
    write_lines(files.dropped, _dropped_lines(files.rows, errors))
    summary = summarize(files.data, manifest)
    write_lines(files.summary, [summary.model_dump_json(indent=2)])
    return summary


def summarize(output: Path, manifest: Manifest) -> TrajectorySummary:
    """The counts behind the totals of a run."""
    totals = manifest.totals
    sources = _sources(totals.marks)
    return TrajectorySummary(
        output=clean_text(str(output)),
        teacher=str(manifest.config["model"]),
        pairs=totals.rows,
        pairs_kept=totals.status.get("kept", 0),
        trajectories=sum(each.trajectories for each in sources),
        kept=sum(each.kept for each in sources),
        labels={"A": totals.marks.get("label:A", 0), "B": totals.marks.get("label:B", 0)},
        sources=sources,
        left_out=manifest.dropped,
        usage=totals.usage,
        seconds=round(totals.seconds, 3),
        runs=manifest.runs,
    )


def _sources(marks: Mapping[str, int]) -> tuple[SourceCount, ...]:
    kept, own, dropped = Counter[str](), Counter[tuple[str, str]](), dict[str, Counter[str]]()
    for mark, count in marks.items():
        if mark.startswith(_KEPT):
            kept[mark.removeprefix(_KEPT)] += count
        elif mark.startswith((_DROP, _OWN)):
            head, what, source = mark.split(":", 2)
            if f"{head}:" == _OWN:
                own[source, what] += count
            else:
                dropped.setdefault(source, Counter())[what] += count
    return tuple(
        SourceCount(
            source=source,
            trajectories=kept[source] + sum(reasons.values()),
            kept=kept[source],
            dropped=dict(sorted(reasons.items())),
            own_found=own[source, "found"],
            own_known=own[source, "found"] + own[source, "missed"],
        )
        for source in sorted({*kept, *dropped})
        for reasons in (dropped.get(source, Counter()),)
    )


def _dropped_lines(rows: Path, errors: Iterable[RowError]) -> Iterator[str]:
    for error in errors:
        line = DroppedInput(line=error.line, reason=error.fault, detail=error.message)
        yield line.model_dump_json()
    for row in rows_by_id(rows, PairTrajectories):
        dropped: tuple[DroppedTrajectory, ...] = row.dropped
        yield from (each.model_dump_json() for each in dropped)


def show_trajectories(summary: TrajectorySummary, as_json: bool) -> None:
    """Print the summary: for machines, or as a table and some lines."""
    if as_json:
        typer.echo(json.dumps(summary.model_dump()))
        return
    typer.echo("\n".join(one_line(line) for line in _lines(summary)))


def _lines(summary: TrajectorySummary) -> Iterator[str]:
    yield f"{'source':<12}{'made':>7}{'kept':>7}  {'own document found':<20}why dropped"
    for each in summary.sources:
        own = share_of(each.own_found, each.own_known) if each.own_known else "-"
        why = listed(each.dropped) if each.dropped else ""
        yield f"{each.source:<12}{each.trajectories:>7}{each.kept:>7}  {own:<20}{why}".rstrip()
    yield (
        f"{summary.output}: {summary.kept} trajectories of {summary.pairs_kept} of "
        f"{summary.pairs} pairs by {summary.teacher}; better shown as A in "
        f"{summary.labels['A']}, as B in {summary.labels['B']}"
    )
    if summary.left_out:
        yield f"rows that gave nothing: {listed(summary.left_out)}; named in the dropped file"
    yield work_done(summary.usage, summary.seconds, summary.runs)
