"""`openreward budget serve|status`: one rate for live services over several machines.

    openreward budget serve --host 10.0.0.1 --token-env BUDGET_TOKEN
    openreward budget status
    openreward budget status --endpoint http://10.0.0.1:7077 --token-env BUDGET_TOKEN

The lines lie in <home>/budget. All machines name the endpoint as `budget` in their settings files.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from openreward.cli.home import home
from openreward.errors import UserError, shorten
from openreward.printable import one_line

if TYPE_CHECKING:
    import socket

    from starlette.applications import Starlette

    from openreward.tools.budget_line import Line
    from openreward.tools.budget_wire import Status

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)

TokenEnv = Annotated[
    str | None, typer.Option(metavar="VAR", help="Variable that holds the endpoint's token.")
]


@app.callback()
def _budget() -> None:
    """One rate for live services over several machines."""


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")] = 7077,
    token_env: TokenEnv = None,
) -> None:
    """Keep the budget for all machines, until Ctrl-C or SIGTERM."""
    from openreward.tools.budget_files import LineFiles
    from openreward.tools.budget_server import listening, make_app

    token = read_token(token_env)
    if token is None and not _is_loopback(host):
        raise UserError(
            f"--host {shorten(host)}: other machines can reach this, so a token is needed; put one "
            "into a variable, of all machines, and name it: --token-env VAR"
        )
    app = make_app(LineFiles(home() / "budget", time.monotonic), token)
    with listening(host, port) as bound:
        asyncio.run(_serve(app, bound))


async def _serve(app: Starlette, bound: socket.socket) -> None:
    from openreward.tools.budget_server import serving

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    host, port = bound.getsockname()[:2]
    async with serving(app, bound):
        shown = f"[{host}]" if ":" in host else host
        typer.echo(f"budget endpoint at http://{shown}:{port}")
        await stop.wait()


@app.command()
def status(
    endpoint: Annotated[
        str | None, typer.Option(metavar="URL", help="An endpoint; this machine's if left out.")
    ] = None,
    token_env: TokenEnv = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Say who waits for which service, and when it may be asked next."""
    token = read_token(token_env)
    found = _here(home() / "budget") if endpoint is None else asyncio.run(_there(endpoint, token))
    if as_json:
        typer.echo(found.model_dump_json())
        return
    if not found.lines:
        typer.echo("no service was asked since this machine started")
    for name, line in sorted(found.lines.items()):
        typer.echo("\n".join(describe(name, line, found.now)))


def _here(folder: Path) -> Status:
    from openreward.tools.budget_files import LineFiles
    from openreward.tools.budget_wire import Status

    if not folder.is_dir():
        return Status(now=time.monotonic(), lines={})
    files = LineFiles(folder, time.monotonic)
    return Status(now=files.now(), lines=files.lines())


async def _there(endpoint: str, token: str | None) -> Status:
    from openreward.tools.budget_client import EndpointBudget

    async with EndpointBudget(endpoint, token) as budget:
        return await budget.status()


def describe(name: str, line: Line, now: float) -> list[str]:
    """A service's line in words: one line of text, and one for each who runs or waits."""
    free = max(0.0, line.free_at() - now)
    when = f"free in {free:.1f} s" if free else "free now"
    if len(line.running) >= line.at_once:
        when = "busy" if not free else f"busy, {when} at the earliest"
    paused = f", paused for {line.paused - now:.0f} s" if line.paused > now else ""
    counts = f"{len(line.running)} under way, {len(line.waiting)} waiting"
    limit = f"{line.interval:g} s apart, {line.at_once} at once"
    rows = [f"{name}: {when}{paused}; {counts}; {limit}"]
    for state, places in (("runs", line.running), ("waits", line.waiting)):
        rows += [f"  {state}: {one_line(place.who) or 'somebody'}" for place in places]
    return rows


def read_token(variable: str | None) -> str | None:
    """The token in a variable that a flag names."""
    if variable is None:
        return None
    token = os.environ.get(variable, "").strip()
    if not token:
        raise UserError(f"expected a token in the variable {shorten(variable)}, got nothing")
    return token


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
