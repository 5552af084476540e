"""The command `openreward`: finds the module of a subcommand, and turns errors into exit codes.

A single command's module has a function `command`, a group's has a `typer.Typer` called `app`; the
module is imported when the subcommand is used, and its one-line help stands in `COMMANDS`. So a new
command is one line here, and `openreward --help` imports none of them.

Exit codes: 0 done; 1 unexpected, a bug; 2 the user's input or a setting; 3 an engine or a service;
4 done, but some rows failed; 130 interrupted (SIGINT or SIGTERM). Commands raise `OpenRewardError`,
which is shown as one line on stderr, or with --json as one object {"error", "kind", "exit_code"}.
"""

from __future__ import annotations

import importlib
import json
import logging
import signal
import sys
from types import FrameType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from openreward.cli.stdout import guarded_stdout

COMMANDS = {
    "judge": "Judge pairs of answers, one or a file of them, with evidence.",
    "score": "Score answers about long documents in four dimensions.",
    "eval": "Measure judges on a benchmark; compare and correlate reports.",
    "search": "Try a tool by hand: a source's, or an MCP server's.",
    "show": "Show one judgment: turns, searches, passages, verdict.",
    "doctor": "Say what is installed, reachable and clashing.",
    "demo": "Judge ten shipped pairs on the embedded default.",
    "index": "Build and search local indexes.",
    "documents": "Fetch documents from live services.",
    "model": "Fetch and list local models.",
    "synth": "Make data for judges, such as a test set from your own prompts.",
    "budget": "Keep one rate for live services over several machines.",
}
EPILOG = (
    "Exit codes: 0 done; 1 unexpected, a bug; 2 your input or a setting; 3 an engine or a service; "
    "4 done, but some rows failed; 130 interrupted."
)


class LazyGroup(TyperGroup):
    """A group that lists its commands from a table and imports the one that is used."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, line in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=line)

    # The contexts are typer's, whose class is private in some versions and click's in others.
    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Put the real command in the place of its line of help, then go on as usual."""
        if args and args[0] in COMMANDS:
            self.commands[args[0]] = load_command(args[0])
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an error that a user can cause or cure becomes a line and a code."""
        from openreward.errors import Interrupted, OpenRewardError

        as_json = "--json" in ctx.args
        try:
            return super().invoke(ctx)
        except OpenRewardError as error:
            show_error(error, as_json)
            raise typer.Exit(error.exit_code) from None
        except KeyboardInterrupt:
            raise typer.Exit(Interrupted.exit_code) from None


def load_command(name: str) -> Any:
    """The command of a module, as `command` or `app` gives it."""
    module = importlib.import_module(f"openreward.cli.{name}")
    found: typer.Typer | None = getattr(module, "app", None)
    if found is None:
        found = typer.Typer(add_completion=False)
        found.command(name)(module.command)
    command = typer.main.get_command(found)
    command.name = name
    return command


def show_error(error: Exception, as_json: bool) -> None:
    """One line, or one object, on stderr."""
    text = " ".join(str(error).split())  # may quote anybody: a server, a page, a file
    if as_json:
        code = getattr(error, "exit_code", 1)
        text = json.dumps({"error": text, "kind": type(error).__name__, "exit_code": code})
    else:
        from openreward.printable import one_line

        text = f"error: {one_line(text)}"
    typer.echo(text, err=True)


app = typer.Typer(
    cls=LazyGroup, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from openreward import __version__

        typer.echo(f"openreward {__version__}")
        raise typer.Exit


@app.callback(epilog=EPILOG, no_args_is_help=True)
def _openreward(
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version."
    ),
) -> None:
    """Judge answers with reward models that look things up before they judge."""


def _as_interrupt(number: int, frame: FrameType | None) -> None:
    """SIGTERM stops a run as Ctrl-C does: through the handler asyncio set, where it set one."""
    handler = signal.getsignal(signal.SIGINT)
    if callable(handler):
        handler(signal.SIGINT, frame)
    else:
        raise KeyboardInterrupt


def main() -> None:
    """What the installed command and `python -m openreward.cli.main` run."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background; it stays so, but
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # asyncio sets its handler, so
        signal.signal(signal.SIGINT, signal.default_int_handler)  # that SIGTERM can call it
    signal.signal(signal.SIGTERM, _as_interrupt)
    # What a stranger's server breaks becomes a typed error; the client's log would show it raw.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    try:
        with guarded_stdout():
            app()
    except Exception as error:
        code = getattr(error, "exit_code", None)  # of standard output, full outside of a command
        if code is None:
            raise
        show_error(error, "--json" in sys.argv)
        sys.exit(code)


if __name__ == "__main__":
    main()
