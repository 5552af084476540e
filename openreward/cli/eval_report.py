"""The files of a report, and what the terminal shows of it."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import typer

from openreward.cli.progress import SHOWN_ERRORS
from openreward.errors import RecordError
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.published import PUBLISHED
from openreward.eval.render_html import render_html
from openreward.eval.render_markdown import render_markdown
from openreward.eval.report import Report
from openreward.eval.tables import Table, tables
from openreward.printable import one_line
from openreward.records import RowError

_SHOWN = ("Result", "Verdicts", "What moves the judge besides worth", "What it took")
_WIDEST = 44
REPORT = "report.json"


def write_report(report: Report, folder: Path) -> None:
    """report.json, report.md and report.html, each replaced at once."""
    title = title_of(report)
    files = {
        REPORT: report.model_dump_json(indent=1) + "\n",
        "report.md": render_markdown(report, title),
        "report.html": render_html(report, title, PUBLISHED.get(report.benchmark, ())),
    }
    for name, text in files.items():
        replace_text(folder / name, text)


def check_new(path: Path, hint: str = "move it out of the way") -> None:
    """Refuse to write over what is there."""
    if os.path.lexists(path):
        raise RecordError(f"{path}: exists already; name another output, or {hint}")


def replace_text(path: Path, text: str) -> None:
    """Put a text in the place of a file at once, or leave the file as it is."""
    part = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        part.write_text(text, "utf-8", "backslashreplace")
        part.replace(path)
    except OSError as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        raise RecordError(f"{path}: cannot be written: {error.strerror}") from None


def show_report(report: Report, folder: Path, as_json: bool) -> None:
    """The tables that matter at once; the rest stands in the files."""
    if as_json:
        typer.echo(json.dumps(report.model_dump(mode="json")))
        return
    typer.echo(one_line(title_of(report)))
    if report.partial:
        typer.echo(one_line(f"PARTIAL: {report.partial}"))
    for table in tables(report):
        if table.title in _SHOWN or (table.title.startswith("By ") and len(table.rows) <= 12):
            typer.echo("\n" + "\n".join(draw(table)))
    for judge in report.judges:
        show_rows(f"not scored, {judge.name}", judge.errors, sum(judge.rejected.values()))
    typer.echo("\n" + one_line(f"report: {folder / 'report.html'} (also .md, .json)"))


def show_rows(what: str, errors: Sequence[RowError], count: int) -> None:
    """The first of some rows that could not be used, on stderr."""
    for error in errors[:SHOWN_ERRORS]:
        typer.echo(one_line(f"{what}: {error.message}"), err=True)
    if count > SHOWN_ERRORS:
        typer.echo(one_line(f"{what}: {count - SHOWN_ERRORS} more"), err=True)


def title_of(report: Report) -> str:
    """What the report is called: the benchmark, and the judge it is about."""
    first, *others = (judge.name for judge in report.judges)
    beside = f", beside {len(others)} more" if others else ""
    return f"{BENCHMARKS[report.benchmark].title}: {first}{beside}"


def draw(table: Table) -> list[str]:
    """A table as lines of one width a column; long cells are cut."""
    rows = [tuple(map(_cell, row)) for row in (table.head, *table.rows)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(table.head))]
    lines = [table.title]
    for row in rows:
        cells = [
            cell.ljust(widths[0]) if not place else cell.rjust(widths[place])
            for place, cell in enumerate(row)
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return lines


def _cell(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 3]}..."
