"""Reports read back from their folders, and one judge of a report by name."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from openreward.errors import RecordError, UserError, shorten
from openreward.eval.report import JudgeReport, Report
from openreward.records import explain


class Saved(NamedTuple):
    """A report and where it was read."""

    path: Path
    report: Report


def read_report(given: Path) -> Saved:
    """The report of a folder, or of a report.json."""
    path = given / "report.json" if given.is_dir() else given
    try:
        return Saved(path, Report.model_validate_json(path.read_bytes()))
    except OSError as error:
        raise RecordError(
            f"{path}: expected the report.json of `openreward eval`, or its folder: "
            f"{error.strerror}"
        ) from None
    except ValidationError as error:
        raise RecordError(
            f"{path}: expected the report.json of `openreward eval`, {explain(error)}"
        ) from None


def choose(saved: Saved, name: str | None) -> JudgeReport:
    """The judge of that name, or whose file of predictions is called so; None: the only one."""
    judges = saved.report.judges
    found = [judge for judge in judges if name in (None, judge.name)]
    found = found or [judge for judge in judges if judge.predictions == name]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"{shorten(j.name)} ({shorten(j.predictions)})" for j in judges)
    if name is None:
        raise UserError(f"{saved.path}: --judge must name one of its judges: {names}")
    what = "several are called" if found else "none is called"
    raise UserError(
        f"{saved.path}: {what} {shorten(name)}; --judge takes a name, or the file of predictions, "
        f"of {names}"
    )


def predictions_of(saved: Saved, judge: JudgeReport) -> Path:
    """Where a judge's predictions lie: beside the report, or where a saved file was read."""
    beside, named = saved.path.parent / judge.predictions, judge.config.get("predictions")
    tried = [Path(named), beside] if isinstance(named, str) else [beside]
    for path in tried:
        if path.is_file():
            return path
    raise UserError(
        f"{saved.path}: expected the predictions of {shorten(judge.name)} at "
        f"{' or '.join(map(str, tried))}, got no file there"
    )
