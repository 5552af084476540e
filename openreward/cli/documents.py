"""`openreward documents fetch`: documents of a live service into a file, politely.

    openreward documents fetch --source arxiv --query "reward models" --n 200 -o documents.jsonl

Each query gives at most `--n` documents that are not there yet, whole, as `Document` rows, which
`openreward index build` reads. Exit codes: 0 also when there were fewer, which is said; 2 when
there was none; 3 the service failed; 4 a query could not be asked.
"""

from __future__ import annotations

import asyncio
import json
import math
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer
from pydantic import JsonValue

from openreward import __version__
from openreward.cli import options as o
from openreward.cli.live import LiveChoice, open_service
from openreward.cli.progress import RunProgress
from openreward.errors import SOME_ROWS_FAILED, Interrupted, ToolError, UserError, shorten
from openreward.loose_json import clean_text
from openreward.printable import one_line
from openreward.records import DataFile
from openreward.resume import Manifest

if TYPE_CHECKING:
    from openreward.synth.gathering import Gathering

PATIENCE = 3600.0  # seconds that a request may wait in line: nobody waits for this program
_NCBI_MOST = 100  # requests of a job that may be made at any hour

app = typer.Typer(
    help="Fetch documents from live services.", no_args_is_help=True, add_completion=False
)


@app.callback()
def _documents() -> None:
    """Fetch documents from live services."""


class Wanted(NamedTuple):
    """What to fetch, and where it goes."""

    source: Literal["wikipedia", "arxiv", "pubmed"]
    queries: tuple[str, ...]
    number: int
    output: Path
    resume: bool
    as_json: bool


@app.command()
def fetch(
    source: Annotated[
        Literal["wikipedia", "arxiv", "pubmed"], typer.Option(help="The service to ask.")
    ],
    query: Annotated[list[str], typer.Option(metavar="TEXT", help="What to look for; repeatable.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where the documents go.")
    ],
    n: Annotated[int, typer.Option("--n", "-n", min=1, help="Documents of each query.")] = 100,
    resume: o.Resume = False,
    contact: o.Contact = None,
    tools: o.ToolsFile = None,
    as_json: o.AsJson = False,
) -> None:
    """Fetch the documents that queries find, whole, at the rate that the service allows.

    Ctrl-C stops cleanly; --resume goes on.
    """
    queries = tuple(dict.fromkeys(clean_text(each) for each in query))
    wanted = Wanted(source, queries, n, output, resume, as_json)
    try:
        done = asyncio.run(_fetch(wanted, LiveChoice(contact, tools)))
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; what is done is in {output}; the same command with --resume goes on"
        ) from None
    _show(wanted, done)


async def _fetch(wanted: Wanted, choice: LiveChoice) -> Gathering:
    from openreward.synth.gathering import Gathering, gather

    async with open_service(wanted.source, choice, patience=PATIENCE) as service:
        manifest = _manifest(wanted, service.version)
        total = wanted.number * len(wanted.queries)
        with Gathering(wanted.output, wanted.queries, manifest, resume=wanted.resume) as output:
            _warn(wanted, output)
            with RunProgress(total, wanted.as_json, "fetching") as progress:
                try:
                    await gather(service, output, wanted.number, progress.advance)
                except ToolError as error:
                    raise ToolError(
                        error.status,
                        f"{error}; {output.rows} documents are in {wanted.output}; go on with "
                        "--resume",
                    ) from None
    return output


def _manifest(wanted: Wanted, version: str) -> Manifest:
    config: dict[str, JsonValue] = {
        "source": wanted.source,
        "service": version,
        "queries": list(wanted.queries),
        "n": wanted.number,
    }
    return Manifest(
        program="documents fetch",
        state="running",
        config=config,
        setup={},
        seed=0,
        versions={"openreward": __version__, "python": platform.python_version()},
        data=DataFile(path=version, sha256="", bytes=0),  # a service, which is not the same twice
    )


def _warn(wanted: Wanted, output: Gathering) -> None:
    """Say NCBI's rule on large jobs, before one begins."""
    left = [wanted.number - state.rows for state in output.states if not state.done]
    requests = sum(math.ceil(number / 1000) + math.ceil(number / 100) for number in left)
    if wanted.source == "pubmed" and requests > _NCBI_MOST:
        typer.echo(f"warning: {ncbi_rule(requests, datetime.now(UTC))}", err=True)


def ncbi_rule(requests: int, now: datetime) -> str:
    """What NCBI asks of large jobs, and whether this is the time for one."""
    rule = (
        f"this takes about {requests} requests; NCBI asks that jobs of more than {_NCBI_MOST} run "
        "on weekends, or from 9 pm to 5 am US Eastern time"
    )
    try:
        there = now.astimezone(ZoneInfo("America/New_York"))
    except ZoneInfoNotFoundError:
        return rule
    fits = there.weekday() >= 5 or not 5 <= there.hour < 21
    when = "as it is" if fits else "it is not: stop with Ctrl-C, and go on then with --resume"
    return f"{rule}; there it is {there:%A %H:%M}: {when}"


def _show(wanted: Wanted, done: Gathering) -> None:
    """What was fetched; too few is said."""
    if not wanted.as_json:
        _tell_shortfalls(wanted, done)
    if not done.rows:
        notes = "; ".join(dict.fromkeys(state.note for state in done.states if state.note))
        raise UserError(f"{wanted.source} gave no document: {notes or 'none has text'}")
    if wanted.as_json:
        shown = {
            "output": str(wanted.output),
            "documents": done.rows,
            "queries": [state.model_dump(mode="json") for state in done.states],
            "left_out": dict(done.left_out),
        }
        typer.echo(json.dumps(shown))
    else:
        typer.echo(one_line(f"{wanted.output}: {done.rows:,} documents of {wanted.source}"))
    if any(state.unasked for state in done.states):
        raise typer.Exit(SOME_ROWS_FAILED)


def _tell_shortfalls(wanted: Wanted, done: Gathering) -> None:
    for state in done.states:
        if state.rows < wanted.number:
            why = state.note or "the service has no more"
            said = f"{shorten(state.query)}: {state.rows:,} of {wanted.number:,} documents: {why}"
            typer.echo(one_line(said), err=True)
    for reason, count in done.left_out.items():
        typer.echo(f"left out {count:,}: {reason}", err=True)
