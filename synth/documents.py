"""Documents from the files that sources come in: one stream of `Document`, whatever the format.

A row that is no document is skipped and counted by reason; only a file that cannot be read at all
raises. All streams but JSON that is one value (a list, the introductions), which is read whole.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import cast
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, ValidationError

from openreward.errors import RecordError, shorten
from openreward.loose_json import clean
from openreward.records import RowError, open_bytes, read_rows
from openreward.synth.pubmed import read_medline, read_pubmed_xml
from openreward.synth.reading import FORMATS, DocumentFormat, Skipped, unreadable
from openreward.tools.arxiv_records import make_document, split_name
from openreward.types import Document

SOURCE_OF: Mapping[DocumentFormat, str] = {
    "wikipedia-introductions": "wikipedia",
    "arxiv": "arxiv",
    "pubmed-xml": "pubmed",
    "medline": "pubmed",
}
"""The source of the formats that have but one."""

_MEMBER = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')


class _Introduction(BaseModel):
    title: str
    extract: str


class _Version(BaseModel):
    version: str


class _ArxivRow(BaseModel):
    """A row of arXiv metadata; the public snapshot has more fields, and names its last change."""

    model_config = ConfigDict(extra="ignore")

    id: str
    title: str
    abstract: str | None = None
    versions: list[_Version] = []
    update_date: str | None = None


def read_documents(
    path: Path, format: DocumentFormat | None = None, skipped: Skipped | None = None
) -> Iterator[Document]:
    """The documents of a file; without a format it is told from the name and the first bytes."""
    readers: dict[DocumentFormat, Callable[[Path, Skipped], Iterator[Document]]] = {
        "documents": _read_records,
        "wikipedia-introductions": _read_introductions,
        "arxiv": _read_arxiv,
        "pubmed-xml": read_pubmed_xml,
        "medline": read_medline,
    }
    return readers[format or guess_format(path)](path, Skipped() if skipped is None else skipped)


def guess_format(path: Path) -> DocumentFormat:
    """The format of a file; raises `RecordError` when several would do."""
    if path.suffix == ".parquet":
        return "documents"
    try:
        with open_bytes(path) as file:
            head = file.read(1 << 16).decode("utf-8-sig", "replace")
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None
    if "<Pubmed" in head:
        return "pubmed-xml"
    if re.match(r"\s*PMID- ", head):
        return "medline"
    if _MEMBER.match(head) and '"extract"' in head:
        return "wikipedia-introductions"
    is_json = head.lstrip()[:1] in ("{", "[")
    if is_json and '"abstract"' in head and '"source"' not in head:
        return "arxiv"
    if is_json and '"source"' in head and '"text"' in head:
        return "documents"
    raise RecordError(
        f"{path}: expected one of {', '.join(FORMATS)}, got a file that begins with "
        f"{shorten(head[:60])}; name its format with --format"
    )


def _read_records(path: Path, skipped: Skipped) -> Iterator[Document]:
    for row in read_rows(path, Document):
        if isinstance(row, RowError):
            skipped.add(f"broken row ({row.fault})", f"{path.name}, {row.message}")
        else:
            yield row.record


def _read_introductions(path: Path, skipped: Skipped) -> Iterator[Document]:
    """The file of Wikipedia introductions: title -> title, extract, description, topic."""
    for key, row in _introduction_rows(path):
        if row is None:
            skipped.add("broken row (wrong_fields)", f"{path.name}, {shorten(key)}")
        elif not row.extract.strip():
            skipped.add("no text", f"{path.name}, {shorten(key)}")
        else:
            yield Document(
                id=f"wikipedia:{row.title}",
                source="wikipedia",
                title=row.title,
                text=row.extract,
                url=f"https://en.wikipedia.org/wiki/{quote(row.title.replace(' ', '_'))}",
            )


def _introduction_rows(path: Path) -> Iterable[tuple[str, _Introduction | None]]:
    try:
        with open_bytes(path) as file:
            rows = clean(json.load(file))  # a lone surrogate has no UTF-8 form
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path}: expected one JSON object: {error}; fetch it again") from None
    if not isinstance(rows, dict):
        raise RecordError(f"{path}: expected an object of title -> introduction, got a list")
    for key, row in cast(dict[str, object], rows).items():
        try:
            yield key, _Introduction.model_validate(row)
        except ValidationError:
            yield key, None


def _read_arxiv(path: Path, skipped: Skipped) -> Iterator[Document]:
    """ArXiv metadata, JSON lines or a list: the public snapshot's form, or one with less."""
    for row in read_rows(path, _ArxivRow):
        if isinstance(row, RowError):
            skipped.add(f"broken row ({row.fault})", f"{path.name}, {row.message}")
            continue
        paper = row.record
        name = split_name(paper.id)
        if name is None:
            skipped.add("no arXiv id", f"{path.name}, {row.place} {row.line}")
            continue
        published = paper.versions[-1].version if paper.versions else None
        revision = published or name[1] or paper.update_date
        document = make_document(name[0], paper.title, paper.abstract or "", revision)
        if document is None:
            skipped.add("no abstract", f"{path.name}, {row.place} {row.line}")
        else:
            yield document
