"""Rows of records read from files: JSONL, a JSON list, Parquet; the first two also gzipped.

Reading streams, and a row that cannot be read is a value, not an exception: the rest goes on, and
who reads decides. Only a file that cannot be read at all raises `RecordError`. Rows count from 1.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import os
import stat
import zlib
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Generic, Literal, TypeVar, cast

import pydantic_core
from pydantic import BaseModel, ValidationError

from openreward.errors import RecordError, shorten
from openreward.loose_json import clean_text
from openreward.types import Record

M = TypeVar("M", bound=BaseModel)
BOM = b"\xef\xbb\xbf"

RowFault = Literal[
    "not_utf8", "not_json", "wrong_fields", "duplicate_id", "unknown_id", "not_done"
]  # fmt: skip
"""Why a row was dropped; manifests count by these words. `not_done`: a resumed run tries again."""


@dataclass(frozen=True, slots=True)
class Row(Generic[M]):
    """A record and the number of its line; `place` where a file has rows or items, not lines."""

    line: int
    record: M
    place: str = "line"


class RowError(Record):
    """A row that is not a record; `message` begins with its place."""

    line: int
    fault: RowFault
    message: str


class DataFile(Record):
    """What a file held when it was read; `lines` only for a plain text file."""

    path: str
    sha256: str
    bytes: int
    lines: int | None = None


def read_rows(path: Path, model: type[M]) -> Iterator[Row[M] | RowError]:
    """The rows of a file, by its suffix: .jsonl .ndjson .json, each also with .gz, and .parquet."""
    suffix = Path(path.stem).suffix if path.suffix == ".gz" else path.suffix
    if path.suffix == ".parquet":
        from openreward.parquet import read_parquet

        return read_parquet(path, model)
    if suffix in (".jsonl", ".ndjson"):
        return read_jsonl(path, model)
    if suffix == ".json":
        return _read_json(path, model)
    raise RecordError(
        f"{path}: expected a file that ends in .jsonl, .ndjson, .json (each also with .gz) or "
        f".parquet, got {path.suffix or 'no suffix'!r}; rename or convert it"
    )


def read_jsonl(path: Path, model: type[M]) -> Iterator[Row[M] | RowError]:
    """One record a line. A byte order mark, CRLF and blank lines are taken; nothing is kept."""
    for line, raw in _lines(path):
        yield parse_line(line, raw, model)


def parse_line(line: int, raw: bytes, model: type[M]) -> Row[M] | RowError:
    """One line as a record, or what is wrong with it."""
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"byte {raw[error.start]:#04x} at column {error.start + 1}"
        message = f"line {line}: expected UTF-8, got {byte}; save the file as UTF-8"
        return RowError(line=line, fault="not_utf8", message=message)
    try:
        return Row(line, model.model_validate_json(raw))
    except ValidationError as error:
        return _row_error("line", line, error, raw)


def check_value(place: str, number: int, value: object, model: type[M]) -> Row[M] | RowError:
    """A value that was parsed before, as a record; `place` is what the file calls its rows."""
    try:
        return Row(number, model.model_validate(value), place)
    except ValidationError as error:
        return _row_error(place, number, error, value)


def explain(error: ValidationError) -> str:
    """What pydantic found, as this project's messages say it: field, expected, got."""
    found = cast("list[dict[str, Any]]", error.errors(include_url=False))
    more = f"; and {len(found) - 3} more" if len(found) > 3 else ""
    return "; ".join(map(_explain_one, found[:3])) + more


def describe_file(path: Path) -> DataFile:
    """Size, sum and lines of a file, read once from beginning to end."""
    check_readable_twice(path)
    digest, size, lines, block = hashlib.sha256(), 0, 0, b""
    try:
        with path.open("rb") as file:
            while more := file.read(1 << 20):
                block = more
                digest.update(block)
                size += len(block)
                lines += block.count(b"\n")
    except OSError as error:
        raise _unreadable(path, error) from None
    if block and not block.endswith(b"\n"):
        lines += 1
    text = path.suffix in (".jsonl", ".ndjson")
    return DataFile(
        path=clean_text(str(path)),
        sha256=digest.hexdigest(),
        bytes=size,
        lines=lines if text else None,
    )


def check_readable_twice(path: Path) -> None:
    """Refuse a device or a pipe, before anything is read from it. What is not there passes."""
    if not os.path.isfile(path) and os.path.exists(path) and not os.path.isdir(path):
        raise RecordError(
            f"{path}: expected a file, got a device or a pipe, which cannot be read twice; "
            "save what it gives as a file"
        )


def open_bytes(path: Path) -> BinaryIO:
    """A file as bytes, unpacked when its name ends in .gz or .bz2; raises `OSError`.

    A pipe may be read, once; a device is refused, since one such as /dev/zero never ends a line.
    """
    kind = path.stat().st_mode
    if stat.S_ISCHR(kind) or stat.S_ISBLK(kind):
        raise OSError(errno.EINVAL, "expected a file, got a device")
    if path.suffix == ".bz2":
        return cast(BinaryIO, bz2.open(path))
    return cast(BinaryIO, gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _lines(path: Path) -> Generator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers."""
    line = 0
    try:
        with open_bytes(path) as file:
            for line, raw in enumerate(file, 1):
                text = (raw.removeprefix(BOM) if line == 1 else raw).strip(b" \t\r\n")
                if text:
                    yield line, text
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise RecordError(
            f"{path}: expected a whole gzip file, got {error} after line {line}; fetch it again"
        ) from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _read_json(path: Path, model: type[M]) -> Iterator[Row[M] | RowError]:
    """A `.json` file: a list (read whole, as JSON lists must be), or in truth lines of records."""
    with closing(_lines(path)) as lines:
        first = next(lines, None)
    if first is None or first[1].startswith(b"{"):
        yield from read_jsonl(path, model)
        return
    try:
        items = pydantic_core.from_json(b"\n".join(text for _, text in _lines(path)))
    except ValueError as error:
        raise RecordError(f"{path}: expected a JSON list of records: {error}") from None
    if not isinstance(items, list):
        raise RecordError(f"{path}: expected a JSON list of records, got {shorten(items)}")
    for number, item in enumerate(cast(Iterable[object], items), 1):
        yield check_value("item", number, item, model)


def _unreadable(path: Path, error: OSError) -> RecordError:
    reason = error.strerror or str(error)
    return RecordError(f"{path}: cannot be read: {reason}; check the path and its permissions")


def _row_error(place: str, number: int, error: ValidationError, value: object) -> RowError:
    if error.errors(include_url=False)[0]["type"] == "json_invalid":
        wrong = error.errors(include_url=False)[0]["msg"].removeprefix("Invalid JSON: ")
        text = value.decode("utf-8") if isinstance(value, bytes) else value
        message = (
            f"{place} {number}: expected one JSON object, got {shorten(text)}: "
            + wrong.replace(" at line 1 column ", " at column ")
        )
        return RowError(line=number, fault="not_json", message=message)
    message = f"{place} {number}: {explain(error)}"
    return RowError(line=number, fault="wrong_fields", message=message)


def _explain_one(found: dict[str, Any]) -> str:
    field = ".".join(map(str, found["loc"]))
    where = f"field {field}: " if field else ""
    got, kind, message = found["input"], found["type"], str(found["msg"])
    if kind == "missing":
        has = ", ".join(map(str, got)) if isinstance(got, dict) else shorten(got)
        return f"{where}expected, but missing; there is {has or 'nothing'}"
    if kind == "extra_forbidden":
        return f"{where}no such field; take it out or correct its name"
    if kind == "value_error":
        return f"{where}{message.removeprefix('Value error, ')}"
    if message.startswith("Input should be "):
        message = f"expected {message.removeprefix('Input should be ')}"
    return f"{where}{message}, got {shorten(got)}"
