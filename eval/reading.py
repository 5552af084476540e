"""Examples from files in a benchmark's own format, a folder of them, or a data set on the hub.

Every format is a strict model of its rows, with a way from one to an `Example`. A row that cannot
be one, and a row whose id came before, is a `RowError` with its place: none goes without a word.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from openreward.errors import MissingExtra, RecordError, UserError, shorten
from openreward.eval.benchmark import Example
from openreward.eval.digests import Digests
from openreward.records import Row, RowError, check_value, explain, read_rows

SUFFIXES = (".json", ".jsonl", ".ndjson", ".parquet", ".json.gz", ".jsonl.gz", ".ndjson.gz")
HUB_ID = re.compile(r"(?P<name>[\w.-]+/[\w.-]+)(:(?P<split>[\w.+-]+))?")


class At(NamedTuple):
    """Where a row stands: its number from 1, and the whole path of its file, if it has one."""

    number: int
    file: str = ""


class FormatRow(BaseModel):
    """Base of the formats: types as written, no text for a number; other fields are passed over."""

    model_config = ConfigDict(extra="ignore", strict=True, frozen=True)


def _is_number(value: object) -> object:
    if type(value) is not int:
        raise ValueError(f"expected a whole number, got {shorten(value)}")
    return value


NUMBER = BeforeValidator(_is_number)
"""Before a Literal of numbers, which alone would take true for 1."""

ZeroToTwo = Annotated[Literal[0, 1, 2], NUMBER]
OneOrTwo = Annotated[Literal[1, 2], NUMBER]

R = TypeVar("R", bound=BaseModel)
ToExample = Callable[[R, At], Example]
"""A row as an example; raises ValueError with what is wrong."""


def read_examples(
    source: Path | str,
    row: type[R],
    to_example: ToExample[R],
    *,
    pattern: str = "*",
    split: str = "test",
) -> Iterator[Row[Example] | RowError]:
    """The examples of a source. `pattern`: which files of a folder; `split`: which of a hub id."""
    ids = Digests()
    above = f"{_whole(Path(source)).parent.as_posix()}/" if Path(source).is_dir() else None
    for read, file in _rows(source, row, pattern, split):
        found = read if isinstance(read, RowError) else _example(read, file, to_example)
        if isinstance(found, Row) and not ids.add(found.record.id):
            again = f"expected unique ids, got {shorten(found.record.id)} again; take one row out"
            message = f"{found.place} {found.line}: {again}"
            found = RowError(line=found.line, fault="duplicate_id", message=message)
        if isinstance(found, RowError) and above:
            message = f"{file.removeprefix(above)}: {found.message}"
            found = found.model_copy(update={"message": message})
        yield found


def _example(row: Row[R], file: str, to_example: ToExample[R]) -> Row[Example] | RowError:
    try:
        return Row(row.line, to_example(row.record, At(row.line, file)), row.place)
    except ValidationError as error:
        wrong = explain(error)
    except ValueError as error:
        wrong = str(error)
    message = f"{row.place} {row.line}: {wrong}"
    return RowError(line=row.line, fault="wrong_fields", message=message)


def _rows(
    source: Path | str, row: type[R], pattern: str, split: str
) -> Iterator[tuple[Row[R] | RowError, str]]:
    path = Path(source)
    if not path.exists() and is_hub_id(source):
        yield from ((read, "") for read in read_hub(str(source), row, split))
        return
    for file in _files(path, pattern) if path.is_dir() else [path]:
        name = _whole(file).as_posix()
        yield from ((read, name) for read in read_rows(file, row))


def _whole(path: Path) -> Path:
    """The absolute path; links stay, since their names count (the hub's own folders hold links)."""
    return Path(os.path.abspath(path))


def is_hub_id(source: Path | str) -> bool:
    """Whether a source is written like `owner/name` or `owner/name:split` of the hub."""
    return HUB_ID.fullmatch(str(source)) is not None and not str(source).endswith(SUFFIXES)


def _files(folder: Path, pattern: str) -> list[Path]:
    found = [
        path
        for path in folder.glob(pattern)
        if path.is_file() and path.name.endswith(SUFFIXES) and not path.name.startswith(".")
    ]
    if not found:
        raise RecordError(
            f"{folder}: expected files {pattern} that end in {', '.join(SUFFIXES)}, got none"
        )
    return sorted(found)


def read_hub(source: str, row: type[R], split: str) -> Iterator[Row[R] | RowError]:
    """The rows of a data set of the hub (or of a folder that `datasets` can read)."""
    try:
        import datasets
    except ImportError:
        raise MissingExtra(
            f"{source}: reading from the hub needs the package datasets, which is not installed; "
            "pip install 'openreward-rm[hub]', or download the file and name it"
        ) from None
    named = HUB_ID.fullmatch(source)
    name, of = (named["name"], named["split"] or split) if named else (source, split)
    try:
        rows = datasets.load_dataset(name, split=of)
    except (OSError, ValueError) as error:
        raise UserError(
            f"{source}: cannot be loaded with split {of}: {shorten(str(error), 300)}; check the "
            "name, the split (owner/name:split) and the connection"
        ) from None
    for number, value in enumerate(rows, 1):
        yield check_value("row", number, cast(object, value), row)
