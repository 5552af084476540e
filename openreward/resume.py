"""Output that survives: lines appended whole, one writer a file, and a manifest beside it.

The rows are the truth. What a killed run had done is read back from them, totals included, so no
moment of death can lose a row or count it twice; the manifest says how the rows came to be
(settings, data) and keeps rows made otherwise out. `runs` alone is known to the manifest only.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple, Self

from pydantic import BaseModel, JsonValue, ValidationError

from openreward.errors import RecordError, shorten
from openreward.records import DataFile, RowError, explain
from openreward.types import Record, Usage

BLOCK = 1 << 16


class JsonlWriter:
    """Appends records to a file by whole lines; no second writer can open it meanwhile.

    `resume` opens an existing file and cuts a torn last line off; without it the file must be new.
    """

    def __init__(self, path: Path, *, resume: bool = False) -> None:
        self.path = path
        new = 0 if resume else os.O_EXCL
        try:
            self._file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | new, 0o666)
        except FileExistsError:
            raise RecordError(
                f"{path}: exists already; continue it with --resume, or name another output"
            ) from None
        except OSError as error:
            raise _unwritable(path, error) from None
        if not stat.S_ISREG(os.fstat(self._file).st_mode):
            os.close(self._file)
            raise RecordError(f"{path}: expected a file, got a device or a pipe; name a file")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._size = _cut_torn_line(self._file)
        except OSError as error:
            os.close(self._file)
            if isinstance(error, BlockingIOError):
                raise RecordError(
                    f"{path}: another run is writing to it; wait for it, or name another output"
                ) from None
            raise _unwritable(path, error) from None

    def append(self, record: BaseModel) -> int:
        """Write one line, whole or not at all; returns the offset at which it begins."""
        line = record.model_dump_json().encode() + b"\n"
        left, whole = memoryview(line), False
        try:
            while left:
                left = left[os.write(self._file, left) :]
            whole = True
        except OSError as error:
            raise _unwritable(self.path, error) from None
        finally:
            if not whole:
                os.ftruncate(self._file, self._size)
        self._size += len(line)
        return self._size - len(line)

    def close(self) -> None:
        """Put the lines on disk and let the file go."""
        os.fsync(self._file)
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class Ids:
    """The ids done before and those seen in this pass, in at most about 95 bytes an id.

    Kept as 60-bit digests: that two of ten million ids are taken for one has a chance of 0.005 %.
    """

    def __init__(self, done: Iterable[str] = ()) -> None:
        self._done = array("Q", sorted(array("Q", map(_digest, done))))
        self._seen: set[int] = set()

    def __len__(self) -> int:
        return len(self._done)

    def is_new(self, id: str) -> bool:
        """Whether this pass sees the id for the first time; it is seen from now on."""
        before = len(self._seen)
        self._seen.add(_digest(id))
        return len(self._seen) > before

    def is_done(self, id: str) -> bool:
        """Whether the output held the id when it was opened."""
        wanted = _digest(id)
        place = bisect_left(self._done, wanted)
        return place < len(self._done) and self._done[place] == wanted


class Totals(Record):
    """What the rows of an output add up to; `marks` counts what a program wants counted besides."""

    rows: int = 0
    status: dict[str, int] = {}
    marks: dict[str, int] = {}
    usage: Usage = Usage()
    seconds: float = 0.0


class Manifest(Record):
    """How an output came to be. Resuming asks for the same program, config, seed and data.

    `setup` holds what may differ from run to run (workers, limit, address of the engine). `dropped`
    and `errors` (the first hundred) are of the input rows that the last run could not use.
    """

    program: str
    state: Literal["running", "stopped", "finished"]
    config: dict[str, JsonValue]
    setup: dict[str, JsonValue]
    seed: int
    versions: dict[str, str]
    data: DataFile
    runs: int = 1
    totals: Totals = Totals()
    dropped: dict[str, int] = {}
    errors: tuple[RowError, ...] = ()


def manifest_path(output: Path) -> Path:
    """Where the manifest of an output lies."""
    return output.with_name(f"{output.name}.manifest.json")


def read_manifest(output: Path) -> Manifest | None:
    """The manifest of an output; None if there is none."""
    path = manifest_path(output)
    try:
        return Manifest.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise RecordError(
            f"{path}: expected a manifest, {explain(error)}; name another output"
        ) from None
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from None


def write_manifest(output: Path, manifest: Manifest) -> None:
    """Replace the manifest of an output, at once and on disk."""
    path = manifest_path(output)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("wb") as file:
            file.write(manifest.model_dump_json(indent=2).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise _unwritable(path, error) from None


def check_resumable(output: Path, now: Manifest) -> None:
    """Refuse to add rows to an output that other settings, or other data, have made."""
    if os.path.isdir(output):  # a Path's own questions raise when its name is too long
        raise RecordError(f"{output}: expected a file, got a folder; name a file")
    if not os.path.exists(output) or output.stat().st_size == 0:
        return
    then = read_manifest(output)
    if then is None:
        raise RecordError(
            f"{output}: expected {manifest_path(output).name} beside it, which says how its rows "
            "were made; without it the run cannot be continued; name another output"
        )
    differing = [
        f"{key}: {shorten(old)} then, {shorten(new)} now"
        for key, old, new in differences(then, now)
    ]
    if differing:
        raise RecordError(
            f"{output}: cannot be continued with other settings or data ({'; '.join(differing)}); "
            "take the same, or name another output"
        )


class Difference(NamedTuple):
    """A setting, or the data, that two outputs do not share; None where one has no such setting."""

    key: str
    one: JsonValue
    other: JsonValue


def differences(one: Manifest, other: Manifest) -> list[Difference]:
    """In what two outputs were made otherwise: program, seed, data, config."""
    old, new = dict(_compared(one)), dict(_compared(other))
    return [
        Difference(key, old.get(key), new.get(key))
        for key in sorted(old.keys() | new.keys())
        if old.get(key) != new.get(key)
    ]


def _compared(manifest: Manifest) -> Iterator[tuple[str, JsonValue]]:
    yield "program", manifest.program
    yield "seed", manifest.seed
    yield "data.sha256", manifest.data.sha256
    yield from _flat("config", manifest.config)


def _flat(key: str, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}", inner)
    else:
        yield key, value


def _cut_torn_line(file: int) -> int:
    """Cut what follows the last line end; the size that is left."""
    size = end = os.fstat(file).st_size
    while end:
        start = max(0, end - BLOCK)
        found = os.pread(file, end - start, start).rfind(b"\n")
        if found >= 0:
            end = start + found + 1
            break
        end = start
    if end < size:
        os.ftruncate(file, end)
    return end


def _digest(id: str) -> int:
    """60 bits, the most that fit an int of two digits (32 bytes)."""
    return int.from_bytes(blake2b(id.encode(), digest_size=8).digest()) >> 4


def _unwritable(path: Path, error: OSError) -> RecordError:
    reason = error.strerror or str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        remedy = "its lines are whole; make room, then continue with --resume"
    else:
        remedy = "check the folder and its permissions, or name another output"
    return RecordError(f"{path}: cannot be written: {reason}; {remedy}")
