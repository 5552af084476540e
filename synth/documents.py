"""Documents from the files that sources come in: one stream of `Document`, whatever the format.

A row that is no document is skipped and counted by reason; only a file that cannot be read at all
raises. All streams but JSON that is one value (a list, the introductions, PubMedQA's file), which
is read whole.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from openreward.errors import RecordError, shorten
from openreward.records import RowError, open_bytes, read_rows
from openreward.synth.pubmed import read_medline, read_pubmed_xml
from openreward.synth.pubmed_qa import read_pubmed_qa
from openreward.synth.reading import FORMATS, DocumentFormat, Skipped, read_members, unreadable
from openreward.synth.wikipedia_dump import read_wikipedia_dump
from openreward.tools.arxiv_records import make_document, split_name
from openreward.types import Document

SOURCE_OF: Mapping[DocumentFormat, str] = {
    "wikipedia-dump": "wikipedia",
    "wikipedia-introductions": "wikipedia",
    "arxiv": "arxiv",
    "pubmed-xml": "pubmed",
    "medline": "pubmed",
    "pubmed-qa": "pubmed",
}
"""The source of the formats that have but one."""

_MEMBER = re.compile(r'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*\{')


class _OwnRow(BaseModel):
    """A row of the user's own, a `Document` for one: only its text must be there."""

    model_config = ConfigDict(extra="ignore")

    id: str | int | None = None
    source: str | None = None
    title: str | None = None
    text: str = Field(min_length=1)
    url: str | None = None
    revision: str | int | None = None


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
    path: Path,
    format: DocumentFormat | None = None,
    skipped: Skipped | None = None,
    source: str | None = None,
) -> Iterator[Document]:
    """The documents of a file; without a format it is told from the name and the first bytes.

    `source` is that of rows of the user's own that name none.
    """
    readers: dict[DocumentFormat, Callable[[Path, Skipped], Iterator[Document]]] = {
        "documents": partial(_read_own, source=source),
        "wikipedia-dump": read_wikipedia_dump,
        "wikipedia-introductions": _read_introductions,
        "arxiv": _read_arxiv,
        "pubmed-xml": read_pubmed_xml,
        "medline": read_medline,
        "pubmed-qa": read_pubmed_qa,
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
    if "<mediawiki" in head:
        return "wikipedia-dump"
    if re.match(r"\s*PMID- ", head):
        return "medline"
    if _MEMBER.match(head) and '"extract"' in head:
        return "wikipedia-introductions"
    if _MEMBER.match(head) and '"CONTEXTS"' in head:
        return "pubmed-qa"
    is_json = head.lstrip()[:1] in ("{", "[")
    if is_json and '"text"' in head:
        return "documents"
    if is_json and '"abstract"' in head and '"source"' not in head:
        return "arxiv"
    raise RecordError(
        f"{path}: expected one of {', '.join(FORMATS)}, got a file that begins with "
        f"{shorten(head[:60])}; name its format with --format"
    )


def _read_own(path: Path, skipped: Skipped, source: str | None) -> Iterator[Document]:
    """JSONL, JSON or Parquet of documents, or of rows with a `text` and any of their fields.

    Without an id a row gets a hash of its text: the same text has the same id in any file.
    """
    for row in read_rows(path, _OwnRow):
        if isinstance(row, RowError):
            skipped.add(f"broken row ({row.fault})", f"{path.name}, {row.message}")
            continue
        own, where = row.record, f"{path.name}, {row.place} {row.line}"
        named = own.source or source
        if not named:
            skipped.add("broken row (no source; --source names one)", where)
        elif not own.text.strip():
            skipped.add("no text", where)
        else:
            made = f"{named}:{sha256(own.text.encode()).hexdigest()[:16]}"
            yield Document(
                id=made if own.id in (None, "") else str(own.id),
                source=named,
                title=own.title or "",
                text=own.text,
                url=own.url,
                revision=None if own.revision is None else str(own.revision),
            )


def _read_introductions(path: Path, skipped: Skipped) -> Iterator[Document]:
    """The file of Wikipedia introductions: title -> title, extract, description, topic."""
    for key, value in read_members(path):
        where = f"{path.name}, {shorten(key)}"
        try:
            row = _Introduction.model_validate(value)
        except ValidationError:
            skipped.add("broken row (wrong_fields)", where)
            continue
        if not row.extract.strip():
            skipped.add("no text", where)
        else:
            yield Document(
                id=f"wikipedia:{row.title}",
                source="wikipedia",
                title=row.title,
                text=row.extract,
                url=f"https://en.wikipedia.org/wiki/{quote(row.title.replace(' ', '_'))}",
            )


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
