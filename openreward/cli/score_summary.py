"""One score on the terminal, and what a file of scores came to."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

import typer

from openreward.batch import Measure
from openreward.cli.wording import listed, work_done
from openreward.errors import SOME_ROWS_FAILED
from openreward.loose_json import clean_text
from openreward.printable import one_line, visible
from openreward.records import Row, read_jsonl
from openreward.resume import Manifest, manifest_path
from openreward.scoring.records import DIMENSIONS, Score
from openreward.scoring.sources import CONTEXT
from openreward.types import Evidence, Record, Usage

_REQUEST = "request"


class DimensionSummary(Record):
    """One dimension over all rows: its mean score, over `scored` of them, and all outcomes."""

    mean: float | None
    scored: int
    outcomes: dict[str, int]


class ScoreSummary(Record):
    """Counts over all rows of an output; `reward` is the mean over rows that have one."""

    output: str
    manifest: str
    rows: int
    ok: int
    incomplete: int
    error: int
    reward: float | None
    dimensions: dict[str, DimensionSummary]
    statements: dict[str, int]  # by support, or by why they have none
    requests: int
    left_out: dict[str, int]
    usage: Usage
    seconds: float
    runs: int


def measured(score: Score) -> Measure:
    """What a score adds to the totals: outcomes, supports and requests are marks."""
    marks = [f"{each.name}:{each.status}" for each in score.dimensions]
    marks += [f"statement:{each.support or each.status}" for each in score.statements]
    marks += [_REQUEST] * score.calls
    return Measure(score.id, score.status, score.usage, score.times.total, tuple(marks))


def summarize(manifest: Manifest, output: Path) -> ScoreSummary:
    """The summary of a finished run; means are over the rows of the output, read once more."""
    totals, sums = manifest.totals, _Sums()
    for row in read_jsonl(output, Score):
        if isinstance(row, Row):
            sums.add(row.record)
    return ScoreSummary(
        output=clean_text(str(output)),
        manifest=clean_text(str(manifest_path(output))),
        rows=totals.rows,
        ok=totals.status.get("ok", 0),
        incomplete=totals.status.get("incomplete", 0),
        error=totals.status.get("error", 0),
        reward=sums.mean("reward"),
        dimensions={
            name: DimensionSummary(
                mean=sums.mean(name),
                scored=sums.counts.get(name, 0),
                outcomes=_of(name, totals.marks),
            )
            for name in DIMENSIONS
            if _of(name, totals.marks)
        },
        statements=_of("statement", totals.marks),
        requests=totals.marks.get(_REQUEST, 0),
        left_out=manifest.dropped,
        usage=totals.usage,
        seconds=round(totals.seconds, 3),
        runs=manifest.runs,
    )


class _Sums:
    def __init__(self) -> None:
        self.counts, self._totals = dict[str, int](), dict[str, float]()

    def add(self, score: Score) -> None:
        named: list[tuple[str, float | None]] = [("reward", score.reward)]
        named += [(each.name, each.score) for each in score.dimensions]
        for name, value in named:
            if value is not None:
                self.counts[name] = self.counts.get(name, 0) + 1
                self._totals[name] = self._totals.get(name, 0.0) + value

    def mean(self, name: str) -> float | None:
        count = self.counts.get(name, 0)
        return round(self._totals[name] / count, 4) if count else None


def _of(name: str, marks: Mapping[str, int]) -> dict[str, int]:
    start = f"{name}:"
    return {mark.removeprefix(start): n for mark, n in marks.items() if mark.startswith(start)}


def show_summary(manifest: Manifest, output: Path, as_json: bool) -> int:
    """Print the summary; the exit code, 4 when a row failed or was left out."""
    summary = summarize(manifest, output)
    if as_json:
        typer.echo(json.dumps(summary.model_dump(mode="json")))
    else:
        typer.echo("\n".join(one_line(line) for line in _lines(summary)))
    return SOME_ROWS_FAILED if summary.error or summary.left_out else 0


def _lines(summary: ScoreSummary) -> Iterator[str]:
    counts = f"{summary.ok} ok, {summary.incomplete} incomplete, {summary.error} error"
    yield f"{summary.output}: {summary.rows} answers: {counts}"
    if summary.reward is not None:
        yield f"mean reward {summary.reward:g}, over the {summary.ok} that have one"
    for name, each in summary.dimensions.items():
        mean = "none" if each.mean is None else f"mean {each.mean:g}"
        yield f"{name}: {mean} ({listed(each.outcomes)})"
    if summary.statements:
        yield f"statements: {listed(summary.statements)}"
    yield f"{summary.requests} requests; {work_done(summary.usage, summary.seconds, summary.runs)}"
    if summary.left_out:
        yield f"left out: {listed(summary.left_out)}; named in {summary.manifest}"


def show_score(score: Score, as_json: bool) -> None:
    """Reward, dimensions and statements with where their evidence stands; or the record as JSON."""
    if as_json:
        typer.echo(json.dumps(score.model_dump(mode="json")))  # ASCII: nothing in it can act
        return
    typer.echo(visible("\n".join(_score_lines(score))))


def _score_lines(score: Score) -> Iterator[str]:
    if score.reward is None:
        yield one_line(f"no reward: {score.reason}")
    else:
        yield f"reward {score.reward:g} of 10"
    for dimension in score.dimensions:
        value = dimension.status if dimension.score is None else f"{dimension.score:g}"
        yield f"  {dimension.name}: {value}"
    yield from (one_line(f"note: {note}") for note in score.notes)
    for number, each in enumerate(score.statements, 1):
        yield one_line(f"[{number}] {each.support or each.status}: {each.text}")
        if each.evidence:
            yield one_line(f"    evidence: {', '.join(map(_place, each.evidence))}")
    for dimension in score.dimensions:
        if dimension.text:
            yield from ("", one_line(f"{dimension.name}: {dimension.text}"))
    usage = score.usage
    yield (
        f"{score.calls} requests, {usage.prompt_tokens} tokens read, {usage.completion_tokens} "
        f"written, {score.times.total:.1f} s"
    )


def _place(item: Evidence) -> str:
    """Where a passage stands: its characters in the context, or in what document."""
    passage = item.passage
    document = "" if item.tool == CONTEXT else f"{passage.source} {passage.document_id} "
    return f"{document}{passage.start}-{passage.end}{' (cited)' if item.cited else ''}"
