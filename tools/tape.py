"""Calls on tape, outermost of all layers: a run that was recorded can be had again, word for word.

One JSONL file: a header (the tools as the model was told of them, and what their answers depend
on), then a line a call, known by its trajectory and its number there. A call that was made twice,
as in a row done again, is on it twice; the later counts. `record` runs and writes; `replay` answers
from the tape and runs what is not on it; `replay-strict` runs nothing: it needs no network, index
or server, and what is not on the tape, or was asked otherwise, raises `TapeMiss`.

Limits in seconds are not on tape: a trajectory that ended by one may end otherwise when replayed.
"""

from __future__ import annotations

import hashlib
import json
import os
from array import array
from bisect import bisect_right
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Literal, NamedTuple, Self, get_args

from pydantic import Field, JsonValue

from openreward.errors import RecordError, UserError, shorten
from openreward.loose_json import clean_text
from openreward.records import Row, parse_line
from openreward.resume import JsonlWriter
from openreward.tools.base import Found, Tool
from openreward.types import Record, ToolCall, ToolResult, ToolSpec

Mode = Literal["record", "replay", "replay-strict"]
MODES: tuple[Mode, ...] = get_args(Mode)


class Place(NamedTuple):
    """Where a call stands: in which trajectory, and its number there, from 1."""

    trajectory: str
    number: int


class TapeHeader(Record):
    """The first line: tools as told to the model, and what answers depend on (versions)."""

    format: Literal["openreward-tape/1"] = "openreward-tape/1"
    tools: tuple[ToolSpec, ...]
    config: dict[str, JsonValue] = {}

    def digest(self) -> str:
        """A short hash, by which a manifest names the tape's tools."""
        return hashlib.sha256(_canonical(self.model_dump(mode="json")).encode()).hexdigest()[:16]


class TapeEntry(Record):
    """One call and what it brought. `arguments` is JSON with sorted keys, in ASCII."""

    trajectory: str
    number: int = Field(ge=1)
    tool: str
    arguments: str
    result: ToolResult


class TapeMiss(UserError):
    """A strict replay was asked for a call that the tape does not hold."""


class Tape:
    """A tape open for one run; close it by `with`. Raises `RecordError` where it cannot be used.

    In the replays under 30 bytes an entry stay in memory: a digest of its place, its offset.
    """

    def __init__(
        self, path: Path, mode: Mode, header: TapeHeader | None = None, *, resume: bool = False
    ) -> None:
        """`header` describes the tools of this run; a strict replay takes the tape's own.

        `record` wants a new file, or `resume` to go on with one.
        """
        self.path, self.mode = path, mode
        self._offsets = _Offsets()
        self._empty = True  # nothing was taped by this run
        if mode != "record" and not os.path.isfile(path):
            raise RecordError(f"{path}: expected a tape, got no such file; record one first")
        if mode != "replay-strict" and header is None:
            raise UserError(f"tape {path}: {mode} needs the header of this run's tools")
        with ExitStack() as undo:
            self._writer: JsonlWriter | None = None
            if mode != "replay-strict":
                self._writer = JsonlWriter(path, resume=mode == "replay" or resume)
                undo.callback(self._writer.close)
            self._file = undo.enter_context(_open(path))
            self._new = mode == "record" and path.stat().st_size == 0
            self.header = self._begin(header)
            if mode != "record":
                self._index()
            self._closing = undo.pop_all()

    async def answer(
        self, place: Place, call: ToolCall, live: Callable[[], Awaitable[ToolResult]]
    ) -> ToolResult:
        """The result of a call: from the tape, or what `live` gives, by mode."""
        place = Place(clean_text(place.trajectory), place.number)
        tool, arguments = clean_text(call.name), _canonical(call.arguments)
        if self.mode != "record":
            taped = self._find(place)
            if taped is not None and (taped.tool, taped.arguments) == (tool, arguments):
                return taped.result.model_copy(update={"call_id": call.id})
            if self.mode == "replay-strict":
                raise TapeMiss(self._miss(place, tool, arguments, taped))
        result = await live()
        self._append(
            TapeEntry(
                trajectory=place.trajectory,
                number=place.number,
                tool=tool,
                arguments=arguments,
                result=result,
            )
        )
        return result

    def tools(self) -> list[Tool]:
        """The tools as they were told to the model; they answer from this tape only."""
        return [Tool(spec, _not_there) for spec in self.header.tools]

    def close(self) -> None:
        """Put the lines on disk and let the file go."""
        self._closing.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
        if error is not None and self._new and self._empty:
            self.path.unlink(missing_ok=True)  # of a run that came to nothing nothing stays

    def _begin(self, header: TapeHeader | None) -> TapeHeader:
        """Write the header of a new tape; of another, check that it is this run's."""
        if self._new and header is not None and self._writer is not None:
            self._writer.append(header)
            return header
        line = self._file.readline()
        row = parse_line(1, line, TapeHeader)
        if not isinstance(row, Row) or not line.endswith(b"\n"):
            why = "an unfinished line" if isinstance(row, Row) else row.message
            raise RecordError(f"{self.path}: expected the header of a tape, got {why}")
        other = header is not None and header.digest() != row.record.digest()
        if header is not None and other and self.mode != "replay-strict":
            raise RecordError(
                f"{self.path}: recorded with other tools: {_differing(row.record, header)}; open "
                "the same tools, name another tape, or replay it alone with replay-strict"
            )
        return row.record

    def _index(self) -> None:
        number, offset = 1, self._file.tell()
        digests, offsets = array("Q"), array("Q")
        for line in self._file:
            number += 1
            if not line.endswith(b"\n"):  # being written, or torn; a writer has cut it
                break
            row = parse_line(number, line, TapeEntry)
            if not isinstance(row, Row):
                raise RecordError(
                    f"{self.path}: {row.message}; expected a call on tape; take the line out"
                )
            digests.append(_digest(Place(row.record.trajectory, row.record.number)))
            offsets.append(offset)
            offset += len(line)
        self._offsets = _Offsets(digests, offsets)

    def _find(self, place: Place) -> TapeEntry | None:
        offset = self._offsets.find(_digest(place))
        if offset is None:
            return None
        self._file.seek(offset)
        entry = TapeEntry.model_validate_json(self._file.readline())
        return entry if Place(entry.trajectory, entry.number) == place else None

    def _append(self, entry: TapeEntry) -> None:
        if self._writer is None:
            return
        offset = self._writer.append(entry)
        self._empty = False
        if self.mode != "record":
            self._offsets.later[_digest(Place(entry.trajectory, entry.number))] = offset

    def _miss(self, place: Place, tool: str, arguments: str, taped: TapeEntry | None) -> str:
        there = "no call there"
        if taped is not None:
            there = f"{taped.tool} {shorten(taped.arguments, 240)}"
        return (
            f"{self.path}: trajectory {shorten(place.trajectory)}, call {place.number}: asked "
            f"{tool} {shorten(arguments, 240)}, on tape {there}; replay with the engine, settings "
            "and data of the recording, or with replay, which runs what is missing"
        )


class _Offsets:
    """Where the entry of a digest begins; of several the last one."""

    def __init__(self, digests: Sequence[int] = (), offsets: Sequence[int] = ()) -> None:
        order = sorted(range(len(digests)), key=digests.__getitem__)
        self._digests = array("Q", (digests[index] for index in order))
        self._offsets = array("Q", (offsets[index] for index in order))
        self.later: dict[int, int] = {}  # of what came since

    def find(self, digest: int) -> int | None:
        if digest in self.later:
            return self.later[digest]
        place = bisect_right(self._digests, digest) - 1
        if place < 0 or self._digests[place] != digest:
            return None
        return self._offsets[place]


def _open(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}; check the path") from None


async def _not_there(**arguments: JsonValue) -> Found:
    raise UserError("a tool of a strict replay answers from its tape only; hand the tape on too")


def _canonical(value: Mapping[str, JsonValue]) -> str:
    return json.dumps(value, sort_keys=True, separators=(", ", ": "))


def _digest(place: Place) -> int:
    data = f"{place.number}/{place.trajectory}".encode()
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest())


def _differing(then: TapeHeader, now: TapeHeader) -> str:
    told, here = _names(then.tools), _names(now.tools)
    if told != here:
        return f"{', '.join(told) or 'none'} then, {', '.join(here) or 'none'} now"
    if then.tools != now.tools:
        wrong = [a.name for a, b in zip(then.tools, now.tools, strict=True) if a != b]
        return f"{', '.join(wrong)} was described otherwise"
    return f"{shorten(then.config, 160)} then, {shorten(now.config, 160)} now"


def _names(tools: Sequence[ToolSpec]) -> list[str]:
    return [spec.name for spec in tools]
