"""Records in Parquet files: read by batches, written whole or not at all.

A column holds a field. Text, numbers, truth values and lists of these are plain columns; whatever
else a record has (nested records, mappings, fields of several types) is a column of JSON text,
marked in the schema, so that any record comes back as it was. Files of others, with nested columns,
are read too.
"""

from __future__ import annotations

import json
import os
import types
import typing
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

import pydantic_core
from pydantic import BaseModel

from openreward.errors import RecordError
from openreward.records import Row, RowError, check_value

M = TypeVar("M", bound=BaseModel)
BATCH = 1000
MARK = {b"openreward": b"json"}
PLAIN = (str, int, float, bool)


def read_parquet(path: Path, model: type[M]) -> Iterator[Row[M] | RowError]:
    """The rows of a Parquet file, a thousand at a time in memory."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            fields = file.schema_arrow
            encoded = [f.name for f in fields if (f.metadata or {}).get(b"openreward") == b"json"]
            number = 0
            for batch in file.iter_batches(batch_size=BATCH):
                for row in batch.to_pylist():
                    number += 1
                    yield _decode(number, row, encoded, model)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:  # dates, broken text
        raise RecordError(
            f"{path}: cannot be read as Parquet: {error}; check the path, or fetch it again"
        ) from None


def write_parquet(path: Path, rows: Iterable[M], model: type[M]) -> int:
    """Write records to a file that appears only when it is whole; the number of them."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([_column(name, f.annotation) for name, f in model.model_fields.items()])
    encoded = [field.name for field in schema if field.metadata]
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    count, records = 0, iter(rows)
    try:
        with pq.ParquetWriter(unfinished, schema) as writer:
            while batch := [_encode(record, encoded) for record in islice(records, BATCH)]:
                writer.write_table(pa.Table.from_pylist(batch, schema))
                count += len(batch)
        unfinished.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise RecordError(
            f"{path}: cannot be written: {reason}; make room, or name another place"
        ) from None
    finally:
        unfinished.unlink(missing_ok=True)
    return count


def _decode(
    number: int, row: dict[str, Any], encoded: list[str], model: type[M]
) -> Row[M] | RowError:
    for name in encoded:
        text = row[name]
        try:
            row[name] = None if text is None else pydantic_core.from_json(text)
        except (ValueError, TypeError) as error:
            message = f"row {number}: field {name}: expected JSON text: {error}"
            return RowError(line=number, fault="not_json", message=message)
    return check_value("row", number, row, model)


def _encode(record: BaseModel, encoded: list[str]) -> dict[str, Any]:
    row = record.model_dump(mode="json")
    for name in encoded:
        row[name] = json.dumps(row[name], ensure_ascii=False)
    return row


def _column(name: str, annotation: object) -> Any:
    """The Arrow field of a record's field."""
    import pyarrow as pa

    simple = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    one = _plain(annotation)
    if one is not None:
        return pa.field(name, simple[one])
    if typing.get_origin(annotation) in (tuple, list):
        items = {_plain(item) for item in typing.get_args(annotation) if item is not Ellipsis}
        if len(items) == 1 and (item := items.pop()) is not None:
            return pa.field(name, pa.list_(simple[item]))
    return pa.field(name, pa.string(), metadata=MARK)


def _plain(annotation: object) -> type | None:
    """The one plain type of an annotation (`None` besides is fine), or None if it is not plain."""
    if annotation in PLAIN:
        return cast(type, annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Literal:
        kinds = {type(value) for value in arguments}
    elif origin in (typing.Union, types.UnionType):
        kinds = {_plain(a) or object for a in arguments if a is not type(None)}
    else:
        return None
    return kinds.pop() if len(kinds) == 1 and kinds <= set(PLAIN) else None
