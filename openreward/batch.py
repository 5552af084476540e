"""The one row runner: rows in, results out as they complete, safe to kill at any moment.

A row is known by its id: done ids are skipped, a second row of an id is dropped and named. Results
keep no order. `Output` is the file a run adds to; what it adds up to is counted row by row, those
of former runs first, which is why totals are right after any kill.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Generic, Literal, NamedTuple, Protocol, Self, TypeVar

from pydantic import BaseModel

from openreward.errors import RecordError, shorten
from openreward.records import Row, RowError, read_jsonl
from openreward.resume import (
    Ids,
    JsonlWriter,
    Manifest,
    Totals,
    check_resumable,
    read_manifest,
    write_manifest,
)
from openreward.types import Usage

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R", bound=BaseModel)
KEPT_ERRORS = 100


class NotDone(Exception):
    """Raised for a row by what does it: nothing is written, and a resumed run does it again."""


class Measure(NamedTuple):
    """What a result adds to the totals; `marks` are things to count, `searched` for one."""

    id: str
    status: str
    usage: Usage = Usage()
    seconds: float = 0.0
    marks: tuple[str, ...] = ()


class Progress(Protocol):
    """Who is told how a run goes."""

    def advance(self, totals: Totals) -> None:
        """A row was done; `totals` counts all of them, those of former runs too."""
        ...

    def drop(self, error: RowError) -> None:
        """An input row cannot be used."""
        ...


class Output(Generic[R]):
    """An output file and its manifest, open for one run. Close it by `with`.

    Raises `RecordError` when it exists and `resume` is not asked for, when it was made with other
    settings or data, when another run writes to it, or when one of its lines is not a result.
    """

    def __init__(
        self,
        path: Path,
        result: type[R],
        measure: Callable[[R], Measure],
        manifest: Manifest,
        *,
        resume: bool = False,
    ) -> None:
        if resume:
            check_resumable(path, manifest)
        self.path, self._measure = path, measure
        self._sum, self._dropped, self._errors = _Sum(), Counter[str](), list[RowError]()
        self._writer = JsonlWriter(path, resume=resume)
        with ExitStack() as undo:
            undo.callback(self._writer.close)
            self.ids = Ids(self._count(record).id for record in _results(path, result))
            former = read_manifest(path) if resume else None
            self._manifest = manifest.model_copy(update={"runs": former.runs + 1 if former else 1})
            write_manifest(path, self.manifest("running"))
            undo.pop_all()

    def append(self, record: R) -> None:
        """Write a result and count it."""
        self._writer.append(record)
        self._count(record)

    def drop(self, error: RowError) -> None:
        """Count an input row that cannot be used."""
        self._dropped[error.fault] += 1
        if len(self._errors) < KEPT_ERRORS:
            self._errors.append(error)

    def totals(self) -> Totals:
        """What all rows add up to so far."""
        return self._sum.totals()

    def manifest(self, state: Literal["running", "stopped", "finished"]) -> Manifest:
        """The manifest as of now."""
        now = {
            "state": state,
            "totals": self.totals(),
            "dropped": dict(self._dropped),
            "errors": tuple(self._errors),
        }
        return self._manifest.model_copy(update=now)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._writer.close()
        if error is None:
            write_manifest(self.path, self.manifest("finished"))
            return
        with suppress(RecordError):  # the first error is the one to tell; the rows hold the totals
            write_manifest(self.path, self.manifest("stopped"))

    def _count(self, record: R) -> Measure:
        measure = self._measure(record)
        self._sum.add(measure)
        return measure


async def run_rows(
    rows: Iterator[Row[T] | RowError],
    identify: Callable[[T], str],
    work: Callable[[T], Awaitable[R]],
    output: Output[R],
    *,
    progress: Progress,
    concurrency: int = 8,
    limit: int | None = None,
) -> None:
    """Do the rows not done yet, `concurrency` at once; `limit` counts usable rows, done or not.

    What `work` raises stops the run: the rows in flight are cancelled and not written. `NotDone`
    stops its row only, which is counted and named.
    """
    wanted = _wanted(rows, identify, output, progress, limit)

    async def worker() -> None:
        for row in wanted:  # one iterator for all workers: each row goes to one of them
            try:
                output.append(await work(row.record))
            except NotDone as error:
                place = f"{row.place} {row.line} ({shorten(identify(row.record))})"
                undone = RowError(line=row.line, fault="not_done", message=f"{place}: {error}")
                output.drop(undone)
                progress.drop(undone)
            progress.advance(output.totals())

    workers = [asyncio.create_task(worker()) for _ in range(concurrency)]
    try:
        done, _ = await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
    for task in done:
        task.result()


def _wanted(
    rows: Iterator[Row[T] | RowError],
    identify: Callable[[T], str],
    output: Output[R],
    progress: Progress,
    limit: int | None,
) -> Iterator[Row[T]]:
    taken = 0
    while limit is None or taken < limit:
        row = next(rows, None)
        if row is None:
            return
        if isinstance(row, Row):
            id = identify(row.record)
            if output.ids.is_new(id):
                taken += 1
                if not output.ids.is_done(id):
                    yield row
                continue
            message = f"{row.place} {row.line}: expected a new id, got {shorten(id)} again"
            row = RowError(line=row.line, fault="duplicate_id", message=message)
        output.drop(row)
        progress.drop(row)


def _results(path: Path, result: type[R]) -> Iterator[R]:
    for row in read_jsonl(path, result):
        if isinstance(row, RowError):
            raise RecordError(
                f"{path}: {row.message}; expected a result of this program; "
                "take the line out, and its row is done again"
            )
        yield row.record


class _Sum:
    """Totals that grow."""

    def __init__(self) -> None:
        self.rows, self.seconds, self.usage = 0, 0.0, Usage()
        self.status, self.marks = Counter[str](), Counter[str]()

    def add(self, measure: Measure) -> None:
        self.rows += 1
        self.seconds += measure.seconds
        self.usage += measure.usage
        self.status[measure.status] += 1
        self.marks.update(measure.marks)

    def totals(self) -> Totals:
        return Totals(
            rows=self.rows,
            status=dict(sorted(self.status.items())),
            marks=dict(sorted(self.marks.items())),
            usage=self.usage,
            seconds=self.seconds,
        )
