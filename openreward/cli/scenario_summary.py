"""What a scenario set came to: its files written from the rows, and a table of the steps."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

import typer

from openreward.cli.result_files import rows_by_id, write_lines
from openreward.cli.wording import listed, work_done
from openreward.loose_json import clean_text
from openreward.printable import one_line
from openreward.records import RowError
from openreward.resume import Manifest
from openreward.synth.scenario_agreement import Agreement, agreement
from openreward.synth.scenario_counts import (
    Dropped,
    ScenarioCounts,
    counts_of,
    dropped_input,
    dropped_of,
)
from openreward.synth.scenario_items import pair_items, write_items
from openreward.synth.scenario_records import ScenarioRow, ScenarioSettings
from openreward.types import Record, Usage

ROWS = "rows.jsonl"


class ScenarioSummary(Record):
    """Counts over all rows of a set; `seconds` are those of the rows added up, not of a clock.

    `samples` names the writers that are samples of one engine, not models of their own.
    """

    output: str
    counts: ScenarioCounts
    left_out: dict[str, int]
    samples: tuple[str, ...]
    agreement: Agreement | None
    usage: Usage
    seconds: float
    runs: int


def finish_set(
    folder: Path,
    manifest: Manifest,
    settings: ScenarioSettings,
    errors: Iterable[RowError],
    human: Path | None,
) -> ScenarioSummary:
    """Write dropped.jsonl, rmb/ and summary.json from the rows."""
    _write_dropped(folder, errors)
    write_items(folder / "rmb", rows_by_id(folder / ROWS, ScenarioRow), settings)
    pairs = (
        item for row in rows_by_id(folder / ROWS, ScenarioRow) for item in pair_items(row, settings)
    )
    summary = ScenarioSummary(
        output=clean_text(str(folder)),
        counts=counts_of(manifest.totals),
        left_out=manifest.dropped,
        samples=_samples(folder),
        agreement=agreement(human, pairs) if human is not None else None,
        usage=manifest.totals.usage,
        seconds=round(manifest.totals.seconds, 3),
        runs=manifest.runs,
    )
    write_lines(folder / "summary.json", [summary.model_dump_json(indent=2)])
    return summary


def _samples(folder: Path) -> tuple[str, ...]:
    """Writers whose names say so; any row with answers has all of them."""
    answers = (row.answers for row in rows_by_id(folder / ROWS, ScenarioRow) if row.answers)
    return tuple(a.llm_name for a in next(answers, ()) if "(a sample of " in a.llm_name)


def _write_dropped(folder: Path, errors: Iterable[RowError]) -> None:
    def lines() -> Iterator[str]:
        yield from (dropped_input(error).model_dump_json() for error in errors)
        for row in rows_by_id(folder / ROWS, ScenarioRow):
            dropped: Iterator[Dropped] = dropped_of(row)
            yield from (each.model_dump_json() for each in dropped)

    write_lines(folder / "dropped.jsonl", lines())


def show_scenarios(summary: ScenarioSummary, as_json: bool) -> None:
    """Print the summary: for machines, or as a table and some lines."""
    if as_json:
        typer.echo(json.dumps(summary.model_dump()))
        return
    typer.echo("\n".join(one_line(line) for line in _lines(summary)))


def _lines(summary: ScenarioSummary) -> Iterator[str]:
    counts = summary.counts
    yield f"{'step':<12}{'came':>8}{'dropped':>9}{'left':>8}  why"
    for step in counts.steps:
        why = listed(step.reasons)
        yield f"{step.step:<12}{step.came:>8}{step.dropped:>9}{step.left:>8}  {why}".rstrip()
    yield f"answers: {listed(counts.answers)}; scores: {listed(counts.scores)}"
    yield (
        f"{summary.output}: {counts.kept} of {counts.prompts} prompts, {counts.pairs} pairs, "
        f"{counts.best_of} best-of-N items"
    )
    if counts.labels:
        yield f"scenarios: {listed(counts.labels)}"
    if summary.samples:
        yield f"{len(summary.samples)} writers are samples of one engine, not models of their own"
    if summary.left_out:
        yield f"rows that cannot be used: {listed(summary.left_out)}; named in dropped.jsonl"
    if summary.agreement is not None:
        yield _agreement_line(summary.agreement)
    yield work_done(summary.usage, summary.seconds, summary.runs)


def _agreement_line(found: Agreement) -> str:
    said = f"{found.agree} agree, {found.disagree} disagree, {found.tie} ties"
    if found.unknown or found.unreadable:
        said += f", {found.unknown} of no pair or answer here, {found.unreadable} unreadable"
    if found.share is None or found.low is None or found.high is None:
        return f"people: {said}"
    return f"people: {found.share:.1%} ({found.low:.1%} to {found.high:.1%}): {said}"
