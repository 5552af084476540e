"""`openreward model fetch|list`: local models in the OpenReward home.

openreward model fetch                      the small default model
openreward model fetch ./my-model.gguf      a file of your own, linked
openreward model fetch owner/name:file.gguf from the hub (HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE)
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from openreward.cli.home import home

if TYPE_CHECKING:
    from openreward.policy.hub import Hub, Report
    from openreward.policy.models import ModelRecord

app = typer.Typer(help="Fetch and list local models.", no_args_is_help=True)


class From(StrEnum):
    """Where the default model may come from."""

    auto = "auto"
    hub = "hub"
    parts = "parts"


@app.command()
def fetch(
    name: Annotated[
        str | None, typer.Argument(help="A GGUF file's path, or a hub id owner/name[:file].")
    ] = None,
    source: Annotated[
        From, typer.Option("--from", help="Where the default model comes from.")
    ] = From.auto,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Bring a model into the OpenReward home; without a name, the small default model.

    What is there and right is not fetched again, and a broken fetch goes on where it stopped.
    """
    from openreward.policy.models import Store

    with _progress() as report:
        store = Store(home() / "models", _hub(), report)
        fetched = store.fetch(name, source.value)
    if as_json:
        shown = {**fetched.record.model_dump(), "path": str(fetched.path), "fresh": fetched.fresh}
        typer.echo(json.dumps(shown))
        return
    typer.echo("ready" if fetched.fresh else "already there and right")
    typer.echo(f"  file    {fetched.path}")
    typer.echo(f"  source  {fetched.record.source}")
    typer.echo(f"  size    {fetched.record.size} bytes")
    typer.echo(f"  sha256  {fetched.record.sha256}")


@app.command("list")
def list_command(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a line.")] = False,
) -> None:
    """List the models in the OpenReward home."""
    from openreward.policy.models import list_models

    records = list_models(home() / "models")
    for record in records:
        typer.echo(record.model_dump_json() if as_json else _line(record))
    if not records and not as_json:
        typer.echo(f"no models in {home() / 'models'}; run: openreward model fetch")


def _line(record: ModelRecord) -> str:
    return f"{record.name}  {record.size / 1e6:.0f} MB  {record.source}  {record.sha256[:12]}"


def _hub() -> Hub:
    """The hub as its own environment variables describe it."""
    from openreward.policy.hub import Hub

    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    endpoint = os.environ.get("HF_ENDPOINT") or "https://huggingface.co"
    return Hub(endpoint, token=os.environ.get("HF_TOKEN"), offline=offline)


@contextmanager
def _progress() -> Iterator[Report]:
    """Tell how far it is on stderr: a bar on a terminal, else a line for each step."""
    if not sys.stderr.isatty():
        yield _lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn())
    console = Console(stderr=True)
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task("starting", total=None)

        def report(what: str, done: int, total: int) -> None:
            bar.update(task, description=what, completed=done, total=total or None)

        yield report


def _lines() -> Report:
    last = ""

    def report(what: str, done: int, total: int) -> None:
        nonlocal last
        if what != last:
            last = what
            typer.echo(what, err=True)

    return report
