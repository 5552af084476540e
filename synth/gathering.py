"""Documents from a live service into a file, query by query, safe to kill at any moment.

The rows are plain `Document`s. Whose they are follows from their order: those beyond what the
manifest counts belong to the query that was under way. So a killed run goes on where its rows end;
what it meets again there, or what two queries find, is known by its id and left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import Literal, Protocol, Self, cast

from pydantic import ValidationError

from openreward.errors import RecordError, ToolError, UserError
from openreward.records import RowError, read_jsonl
from openreward.resume import (
    Ids,
    JsonlWriter,
    Manifest,
    Totals,
    check_resumable,
    read_manifest,
    write_manifest,
)
from openreward.types import Document, Record

_EVERY = 50  # rows between two writings of the manifest
_ABOUT_THE_QUERY = ("no_result", "bad_query")


class Service(Protocol):
    """What is asked for documents: a live back end."""

    @property
    def skipped(self) -> Counter[str]:
        """What was left out, by reason."""
        ...

    def documents(self, query: str, skip: int) -> AsyncIterator[Document]:
        """What a query finds, from the `skip`-th on."""
        ...


class QueryState(Record):
    """How far a query is."""

    query: str
    rows: int = 0  # its documents in the output
    met: int = 0  # those it gave, repeated ones too; it can be gone on with from here
    done: bool = False
    note: str = ""  # why there are no more, where the service says
    unasked: bool = False  # it is nothing that can be asked


class Gathering:
    """The output of a run and its manifest, which says how far each query is. Close it by `with`.

    Raises `RecordError` when the file exists and `resume` is not asked for, when it was made with
    other settings, when another run writes to it, or when one of its lines is no document.
    """

    def __init__(
        self, path: Path, queries: Sequence[str], manifest: Manifest, *, resume: bool = False
    ) -> None:
        if resume:
            check_resumable(path, manifest)
        self.path, self.left_out = path, Counter[str]()
        self._writer = JsonlWriter(path, resume=resume)
        try:
            self._ids = Ids(_ids(path))
            former = read_manifest(path) if resume else None
            self.states = _reconciled(queries, former, len(self._ids))
            runs = former.runs + 1 if former else 1
            self._manifest = manifest.model_copy(update={"runs": runs})
            self.save("running")
        except BaseException:
            self._writer.close()
            raise

    @property
    def rows(self) -> int:
        """Documents in the output."""
        return sum(state.rows for state in self.states)

    def add(self, place: int, document: Document) -> bool:
        """Write a document that a query gave; False where it is in the output already."""
        state = self.states[place]
        new = self._ids.is_new(document.id) and not self._ids.is_done(document.id)
        if new:
            self._writer.append(document)
        else:
            self.left_out["met again"] += 1
        self.states[place] = state.model_copy(
            update={"met": state.met + 1, "rows": state.rows + new}
        )
        if new and self.rows % _EVERY == 0:
            self.save("running")
        return new

    def end(self, place: int, note: str = "", *, unasked: bool = False) -> None:
        """A query has what it needs, or has no more to give."""
        ended = {"done": True, "note": note, "unasked": unasked}
        self.states[place] = self.states[place].model_copy(update=ended)
        self.save("running")

    def save(self, state: Literal["running", "stopped", "finished"]) -> None:
        """Write the manifest as of now."""
        queries = [each.model_dump(mode="json") for each in self.states]
        now = {
            "state": state,
            "setup": {**self._manifest.setup, "queries": queries},
            "totals": Totals(rows=self.rows),
            "dropped": dict(self.left_out),
        }
        write_manifest(self.path, self._manifest.model_copy(update=now))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._writer.close()
        if error is None:
            self.save("finished")
            return
        with suppress(RecordError):  # the first error is the one to tell
            self.save("stopped")


async def gather(
    service: Service, output: Gathering, number: int, advance: Callable[[Totals], None]
) -> None:
    """At most `number` new documents of each query, one query after the other.

    A query that finds nothing, or cannot be asked, ends with a note; a service that fails raises
    `ToolError`, and what is done is kept.
    """
    for place, state in enumerate(output.states):
        if state.done:
            continue
        note, unasked = "", False
        try:
            await _gather_query(service, output, place, number, advance)
        except ToolError as error:
            if error.status not in _ABOUT_THE_QUERY:
                raise
            note, unasked = str(error), error.status == "bad_query"
        except RecordError:
            raise
        except UserError as error:  # behind the last that the service gives of a query
            note = str(error)
        output.end(place, note, unasked=unasked)


async def _gather_query(
    service: Service,
    output: Gathering,
    place: int,
    number: int,
    advance: Callable[[Totals], None],
) -> None:
    state = output.states[place]
    if state.rows >= number:
        return
    skipped = service.skipped.copy()
    stream = cast("AsyncGenerator[Document, None]", service.documents(state.query, state.met))
    async with aclosing(stream):
        async for document in stream:
            if output.add(place, document):
                advance(Totals(rows=output.rows))
            if output.states[place].rows >= number:
                break
    output.left_out.update(service.skipped - skipped)


def _ids(path: Path) -> Iterator[str]:
    for row in read_jsonl(path, Document):
        if isinstance(row, RowError):
            raise RecordError(
                f"{path}: {row.message}; expected a document; take the line out, and go on with "
                "--resume"
            )
        yield row.record.id


def _reconciled(queries: Sequence[str], former: Manifest | None, rows: int) -> list[QueryState]:
    """The states that a manifest tells, brought up to the rows that are there."""
    states = [QueryState(query=query) for query in queries]
    told = former.setup.get("queries") if former else None
    try:
        read = [QueryState.model_validate(each) for each in told] if isinstance(told, list) else []
    except ValidationError:
        read = []
    if [each.query for each in read] == list(queries):
        states = read
    more = rows - sum(state.rows for state in states)
    place = next((n for n, state in enumerate(states) if not state.done), len(states) - 1)
    while more:
        state = states[place]
        change = max(more, -state.rows)
        # Fewer rows than told: the last never reached the disk. Where they stood is not known.
        met = state.met + change if change > 0 else 0
        states[place] = QueryState(query=state.query, rows=state.rows + change, met=met)
        more -= change
        place -= 1
    return states
