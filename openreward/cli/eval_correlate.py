"""`openreward eval correlate`: whether judges that do well on RMB select good answers.

    openreward eval correlate runs/rmb-* --downstream selected.jsonl

A row of the file is {"judge": "name in the report", "quality": 0.61, "task": "optional"}.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from openreward.cli import options as o
from openreward.cli.eval_report import check_new, draw, replace_text
from openreward.errors import RecordError
from openreward.eval.benchmark import Number
from openreward.eval.correlate import Correlated, Quality, correlate
from openreward.eval.rmb_accuracies import Judged, collect
from openreward.eval.saved_reports import read_report
from openreward.eval.tables import DASH, Table
from openreward.printable import one_line
from openreward.records import RowError, read_rows


def correlate_command(
    reports: Annotated[
        list[Path], typer.Argument(metavar="REPORTS...", help="Reports on rmb, or their folders.")
    ],
    downstream: Annotated[
        Path, typer.Option(metavar="FILE", help="Rows of judge, quality and, if several, task.")
    ],
    seed: Annotated[int, typer.Option(min=0, help="Of the intervals.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write everything there, as JSON."),
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Correlate judges' accuracy on RMB with the quality of the answers they select."""
    if output is not None:
        check_new(output)
    judges = collect([read_report(path).report for path in reports])
    made = correlate(judges, read_qualities(downstream), seed)
    if output is not None:
        replace_text(output, made.model_dump_json(indent=1) + "\n")
    if as_json:
        typer.echo(json.dumps(made.model_dump(mode="json")))
        return
    for line in lines(made):
        typer.echo(line)
    if output is not None:
        typer.echo(one_line(f"all of it: {output}"))


def read_qualities(path: Path) -> list[Quality]:
    """The rows of the downstream file, all of which must be read: each is a judge."""
    found = []
    for row in read_rows(path, Quality):
        if isinstance(row, RowError):
            raise RecordError(f"{path}: {row.message}; expected judge, quality and, if any, task")
        found.append(row.record)
    return found


def lines(made: Correlated) -> Iterator[str]:
    """What the terminal shows."""
    yield from draw(_judges(made.judges))
    yield ""
    yield from draw(_numbers(made.numbers))
    if made.notes:
        yield ""
    yield from (one_line(note) for note in made.notes)


def _judges(judges: tuple[Judged, ...]) -> Table:
    tasks = list(dict.fromkeys(task for judge in judges for task in judge.quality))
    head = ("judge", "pairwise", "BoN", "helpful", "harmless", *(t or "quality" for t in tasks))
    rows = [
        (
            judge.name,
            *map(_percent, (judge.pairwise, judge.bon, judge.helpfulness, judge.harmlessness)),
            *(f"{judge.quality[task]:g}" if task in judge.quality else DASH for task in tasks),
        )
        for judge in judges
    ]
    return Table("Judges", head, tuple(rows))


def _percent(value: float | None) -> str:
    return DASH if value is None else f"{100 * value:.2f}"


def _numbers(numbers: tuple[Number, ...]) -> Table:
    rows = [(number.name, str(number.n), _correlation(number)) for number in numbers]
    return Table("Spearman's correlation over judges", ("", "n", "rho [95 %]"), tuple(rows))


def _correlation(number: Number) -> str:
    if number.value is None:
        return DASH
    if number.low is None or number.high is None:
        return f"{number.value:+.3f}"
    return f"{number.value:+.3f} [{number.low:+.2f}, {number.high:+.2f}]"
