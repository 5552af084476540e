"""How a run goes, on stderr: a bar on a terminal, else a line every ten seconds."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from typing import Self

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from openreward.printable import one_line
from openreward.records import RowError
from openreward.resume import Totals

SHOWN_ERRORS = 20
SECONDS = 10.0


class RunProgress:
    """Tells of rows done and rows dropped; `total` is None where it is not known."""

    def __init__(
        self,
        total: int | None,
        as_json: bool,
        what: str = "judging",
        clock: Callable[[], float] = time.monotonic,
        pace: bool = False,
    ) -> None:
        self._total, self._as_json, self._what, self._clock = total, as_json, what, clock
        self._pace, self._tokens_before = pace, 0
        self._dropped, self._last = 0, clock()
        self._begun, self._before = self._last, -1  # rows of former runs, known at the first row
        self._bar: Progress | None = None
        if sys.stderr.isatty() and not as_json:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
            self._bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True))
            self._task = self._bar.add_task(what, total=total)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, *raised: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        if self._dropped > SHOWN_ERRORS and not self._as_json:
            typer.echo(f"and {self._dropped - SHOWN_ERRORS} more rows left out", err=True)

    def advance(self, totals: Totals) -> None:
        """One more row is done."""
        if self._before < 0:
            self._before, self._tokens_before = totals.rows - 1, tokens_of(totals)
        if self._bar is not None:
            counts = ", ".join(f"{count} {name}" for name, count in totals.status.items())
            told = f"{self._what}: {counts}{self._speed(totals)}"
            self._bar.update(self._task, completed=totals.rows, description=told)
        elif self._clock() - self._last >= SECONDS:
            self._last = self._clock()
            of = "" if self._total is None else f" of {self._total}"
            more = f"{self._speed(totals)}{self._left(totals)}"
            typer.echo(f"{self._what}: {totals.rows}{of} rows done{more}", err=True)

    def _speed(self, totals: Totals) -> str:
        """Rows and tokens a second of this run, where that is asked for."""
        passed = self._clock() - self._begun
        if not self._pace or passed <= 0:
            return ""
        rows, tokens = totals.rows - self._before, tokens_of(totals) - self._tokens_before
        return f", {rows / passed:.2g} rows/s, {tokens / passed:.0f} tokens/s"

    def _left(self, totals: Totals) -> str:
        """How long it may still take, at the pace so far."""
        done, passed = totals.rows - self._before, self._clock() - self._begun
        if self._total is None or self._total <= totals.rows or passed <= 0:
            return ""
        seconds = (self._total - totals.rows) * passed / done
        return f", about {seconds / 60:.0f} min left" if seconds >= 60 else ", under a minute left"

    def drop(self, error: RowError) -> None:
        """An input row cannot be used: say which, and why."""
        self._dropped += 1
        if self._as_json:
            typer.echo(json.dumps(error.model_dump()), err=True)
        elif self._dropped <= SHOWN_ERRORS:
            text = f"left out: {one_line(error.message)}"
            if self._bar is None:
                typer.echo(text, err=True)
            else:
                self._bar.console.print(text, markup=False, highlight=False)


def tokens_of(totals: Totals) -> int:
    """Tokens read and written."""
    return totals.usage.prompt_tokens + totals.usage.completion_tokens
