"""`openreward doctor`: can the main job run here, and if not, which command comes next.

The network is used only for an `--endpoint` that is named. Exit code 0 when pairs can be judged (a
sound installation, an engine, an index), else 2.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Annotated

import typer

from openreward.cli import checks
from openreward.cli.checks import Check
from openreward.cli.home import home, index_folders
from openreward.errors import UserError
from openreward.printable import one_line

MARKS = {"ok": "ok", "absent": "--", "wrong": "!!"}


@dataclasses.dataclass(frozen=True)
class Report:
    """All checks, in the order in which what is wrong would have to be put right."""

    checks: tuple[Check, ...]

    @property
    def next(self) -> str | None:
        """What to do about the first that stands in the way; None when pairs can be judged."""
        return next((c.remedy for c in self.checks if c.needed and c.status != "ok"), None)


def command(
    endpoint: Annotated[str | None, typer.Option(help="Also ask this server.")] = None,
    model: Annotated[str | None, typer.Option(help="Its model, where it serves several.")] = None,
    api_key_env: Annotated[str | None, typer.Option(help="The variable with its key.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
) -> None:
    """Say what is installed, what clashes, what is missing, and the next command to type."""
    report = Report(tuple(run_checks(all_checks(endpoint, model, api_key_env))))
    if as_json:
        found = [dataclasses.asdict(check) for check in report.checks]
        typer.echo(json.dumps({"ready": report.next is None, "next": report.next, "checks": found}))
    else:
        typer.echo("\n".join(report_lines(report)))
    if report.next is not None:
        raise typer.Exit(UserError.exit_code)


def all_checks(
    endpoint: str | None, model: str | None, api_key_env: str | None
) -> Iterator[Callable[[], Check]]:
    """What is checked; what needs the core is left out where the core is not whole."""
    needs = checks.requirements()
    core = needs.pop("")
    yield checks.check_python
    yield checks.check_owner
    yield partial(checks.check_packages, "", core, needed=True)
    for extra, names in needs.items():
        needed = extra == "local" and endpoint is None
        yield partial(checks.check_packages, extra, names, needed=needed)
    yield partial(checks.check_machine, home())
    if checks.check_packages("", core, needed=True).status != "ok":
        return
    if endpoint is None:
        yield partial(checks.check_model, model)
    else:
        yield partial(checks.check_endpoint, endpoint, model, api_key_env)
    folders = index_folders()
    if not folders:
        yield partial(checks.check_no_index, home())
    for source, folder in folders.items():
        yield partial(checks.check_index, source, folder)


def run_checks(functions: Iterable[Callable[[], Check]]) -> Iterator[Check]:
    """Each check with the seconds it took."""
    for check in functions:
        started = time.perf_counter()
        found = check()
        yield dataclasses.replace(found, seconds=round(time.perf_counter() - started, 3))


def report_lines(report: Report) -> Iterator[str]:
    """The report as a person reads it, safe to print."""
    width = max(len(check.name) for check in report.checks)
    for check in report.checks:
        detail = one_line(check.detail)
        yield f"{MARKS[check.status]}  {check.name:{width}}  {detail} ({check.seconds:.2f} s)"
        if check.status != "ok" and check.remedy:
            yield f"    {'':{width}}  -> {one_line(check.remedy)}"
    yield "ready: pairs can be judged" if report.next is None else f"next: {one_line(report.next)}"
