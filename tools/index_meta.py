"""What an index directory says of itself, and the schema that builder and reader share.

A directory holds `openreward-index.json` and the data folder that it names. The file is replaced
last and in one step, so a build that is killed leaves the index that was there before.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Annotated

import tantivy
from pydantic import BaseModel, Field, ValidationError

from openreward.errors import IndexMismatch
from openreward.tools.passages import CutSettings
from openreward.types import Record

FORMAT = 1
META = "openreward-index.json"
CHAIN = "openreward"  # the analyzer's name inside tantivy
SUMMED_BYTES = 1 << 28  # of a larger index only the sizes are checked
TITLE_LIMIT = 300  # characters of a title key


class IndexSettings(CutSettings):
    """How documents become passages; a passage counts its title's words `title_weight` times."""

    title_weight: int = Field(default=2, ge=0)


class FileSum(Record):
    """Size and checksum of a file."""

    bytes: int
    crc32: int


class IndexMeta(Record):
    """What an index holds, and the sums of the files in its data folder `data`."""

    format: int
    tantivy: str
    source: str
    version: str  # digest of documents, settings and format
    settings: IndexSettings
    documents: int
    passages: int
    duplicates: int  # rows with the id and text of an earlier one
    blank: int  # rows whose text is only spaces
    data: str = Field(pattern=r"^data-\w+$")
    files: dict[Annotated[str, Field(pattern=r"^[\w.-]*\w$")], FileSum]  # of no other folder


class _Stamp(BaseModel):
    format: int


def schema() -> tantivy.Schema:
    """Title and text as terms, title keys (first passages only), document number, passage JSON."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name=CHAIN, index_option="position")
    builder.add_text_field("title", tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("document", fast=True)
    builder.add_bytes_field("passage", stored=True, indexed=False)
    return builder.build()


def read_meta(directory: Path, source: str | None = None) -> IndexMeta:
    """The description of a finished index, checked; raises `IndexMismatch`, naming the remedy."""
    path = directory / META
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        half = directory.is_dir() and any(directory.glob("data-*"))
        what = "an index whose build did not finish" if half else "no index"
        raise IndexMismatch(f"{directory} holds {what}; {remedy(directory, source)}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise IndexMismatch(f"cannot read {path}: {error}; {remedy(directory, source)}") from None
    meta = _parse(text, path, remedy(directory, source))
    if source is not None and meta.source != source:
        raise IndexMismatch(
            f"{directory}: expected an index of source {source!r}, got one of {meta.source!r}; "
            f"name its own folder, or {remedy(directory, source)}"
        )
    _check_files(directory, meta)
    return meta


def sum_file(path: Path) -> FileSum:
    """The sum of a file, read once."""
    size = crc32 = 0
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            size += len(block)
            crc32 = zlib.crc32(block, crc32)
    return FileSum(bytes=size, crc32=crc32)


def _check_files(directory: Path, meta: IndexMeta) -> None:
    """Sizes always, contents where that takes less than about a quarter of a second."""
    whole = sum(expected.bytes for expected in meta.files.values()) <= SUMMED_BYTES
    for name, expected in meta.files.items():
        path = directory / meta.data / name
        try:
            size = path.stat().st_size
            problem = (
                f"expected {expected.bytes} bytes, got {size}" if size != expected.bytes else ""
            )
            if whole and not problem and sum_file(path) != expected:
                problem = "its content was changed"
        except OSError as error:
            problem = str(error.strerror)
        if problem:
            cure = remedy(directory, meta.source)
            raise IndexMismatch(f"{path} is broken: {problem}; {cure}")


def _parse(text: str, path: Path, cure: str) -> IndexMeta:
    try:
        stamp = _Stamp.model_validate_json(text)  # first: another format has other fields
        if stamp.format != FORMAT:
            raise IndexMismatch(
                f"{path.parent}: expected index format {FORMAT}, got {stamp.format}; {cure}"
            )
        return IndexMeta.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        problem = f"{'.'.join(map(str, first['loc'])) or 'file'}: {first['msg']}"
    raise IndexMismatch(f"{path} is broken ({problem}); {cure}")


def remedy(directory: Path, source: str | None) -> str:
    """The command that makes the index anew."""
    return (
        f"build it with `openreward index build INPUT --source {source or 'SOURCE'} -o {directory}`"
    )
