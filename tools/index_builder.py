"""Build a local index from a stream of documents: killable, memory flat, each bad row named."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import tantivy

from openreward.errors import RecordError, UserError, shorten
from openreward.tools.analysis import analyzer, fold, title_keys
from openreward.tools.index_meta import (
    CHAIN,
    FORMAT,
    META,
    TITLE_LIMIT,
    IndexMeta,
    IndexSettings,
    schema,
    sum_file,
)
from openreward.tools.passages import passages_of
from openreward.types import Document

_TELL_EVERY = 200  # rows


def build(
    documents: Iterable[Document],
    directory: Path,
    source: str,
    settings: IndexSettings | None = None,
    progress: Callable[[int], None] | None = None,
) -> IndexMeta:
    """Index documents into `directory`, replacing the index there; `progress` gets the row count.

    Raises `RecordError` for a row of another source or a second text under one id, `UserError` when
    the directory cannot be used; the index that was there before then stays.
    """
    with _locked(directory):
        data = directory / f"data-{secrets.token_hex(6)}"
        data.mkdir()
        try:
            meta = _fill(data, documents, source, settings or IndexSettings(), progress)
            _write_meta(directory, meta)
        except (OSError, sqlite3.Error) as error:
            shutil.rmtree(data, ignore_errors=True)
            raise UserError(_unwritable(directory, error)) from None
        except BaseException:
            shutil.rmtree(data, ignore_errors=True)
            raise
        for folder in directory.glob("data-*"):  # the last index, and what killed builds left
            if folder.name != meta.data:
                shutil.rmtree(folder, ignore_errors=True)
    return meta


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        _refuse_strangers(directory)
        lock = (directory / ".lock").open("w")
    except OSError as error:
        raise UserError(_unwritable(directory, error)) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise UserError(
                f"another build is writing to {directory}; wait for it, or name another folder"
            ) from None
        yield


def _refuse_strangers(directory: Path) -> None:
    for entry in directory.iterdir():
        if entry.name not in (META, ".lock") and not entry.name.startswith("data-"):
            raise UserError(
                f"expected an empty folder or an index at {directory}, which holds "
                f"{shorten(entry.name)}; name another folder with -o"
            )


def _unwritable(directory: Path, error: Exception) -> str:
    return (
        f"cannot write an index to {directory}: {error}; free space or name another folder with -o"
    )


def _fill(
    data: Path,
    documents: Iterable[Document],
    source: str,
    settings: IndexSettings,
    progress: Callable[[int], None] | None,
) -> IndexMeta:
    counts = _Counts()
    digest = hashlib.blake2b(
        f"{FORMAT} {source} {settings.model_dump_json()}\n".encode(), digest_size=16
    )
    with _seen_texts(data / "seen") as is_new, _writer(data) as writer:
        for document in documents:
            counts.rows += 1
            _check_source(document, source, counts.rows)
            if progress and counts.rows % _TELL_EVERY == 0:
                progress(counts.rows)
            if not is_new(document, counts.rows):
                counts.duplicates += 1
                continue
            digest.update(document.model_dump_json().encode() + b"\n")
            added = _add(writer, document, counts.rows, settings, data.parent)
            counts.passages += added
            counts.blank += not added
        if not counts.passages:
            raise UserError(
                f"expected documents of {source!r}, got none with text in {counts.rows} rows"
            )
        _commit(writer, data.parent)
    if progress:
        progress(counts.rows)
    return _describe(data, source, settings, counts, digest.hexdigest())


@dataclass
class _Counts:
    rows: int = 0
    passages: int = 0
    duplicates: int = 0
    blank: int = 0


def _describe(
    data: Path, source: str, settings: IndexSettings, counts: _Counts, digest: str
) -> IndexMeta:
    """What the finished data folder holds; its files become readable as the folder is."""
    for path in data.iterdir():  # tantivy keeps some to their owner; an index may be shared
        path.chmod(data.stat().st_mode & 0o666)
    files = [path for path in sorted(data.iterdir()) if not path.name.endswith(".lock")]
    return IndexMeta(
        format=FORMAT,
        tantivy=version("tantivy"),
        source=source,
        version=digest,
        settings=settings,
        documents=counts.rows - counts.duplicates - counts.blank,
        passages=counts.passages,
        duplicates=counts.duplicates,
        blank=counts.blank,
        data=data.name,
        files={path.name: sum_file(path) for path in files},
    )


def _check_source(document: Document, source: str, row: int) -> None:
    if document.source != source:
        raise RecordError(
            f"row {row} ({shorten(document.id)}): expected source {source!r}, got "
            f"{shorten(document.source)}; build one index for each source"
        )


@contextlib.contextmanager
def _writer(data: Path) -> Iterator[tantivy.IndexWriter]:
    """A writer of one thread, so that passages lie in one order; its threads end with it."""
    index = tantivy.Index(schema(), path=str(data))
    index.register_tokenizer(CHAIN, analyzer())
    writer = index.writer(heap_size=64_000_000, num_threads=1)
    try:
        yield writer
    finally:
        with contextlib.suppress(ValueError):  # a failed writer was reported where it failed
            writer.wait_merging_threads()


@contextlib.contextmanager
def _seen_texts(path: Path) -> Iterator[Callable[[Document, int], bool]]:
    """A check whether a document's id is new; ids met before are kept on disk."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("PRAGMA journal_mode=OFF")
        store.execute("PRAGMA synchronous=OFF")
        store.execute("CREATE TABLE seen (id TEXT PRIMARY KEY, text BLOB, row INT) WITHOUT ROWID")
        store.execute("BEGIN")

        def is_new(document: Document, row: int) -> bool:
            text = hashlib.blake2b(document.text.encode(), digest_size=16).digest()
            added = store.execute(
                "INSERT OR IGNORE INTO seen VALUES (?, ?, ?)", (document.id, text, row)
            )
            if added.rowcount:
                return True
            found = store.execute("SELECT text, row FROM seen WHERE id = ?", (document.id,))
            known, first = found.fetchone()
            if known != text:
                raise RecordError(
                    f"row {row}: id {shorten(document.id)} has another text than in row {first}; "
                    "give each document its own id"
                )
            return False

        yield is_new
    path.unlink()


def _add(
    writer: tantivy.IndexWriter,
    document: Document,
    number: int,
    settings: IndexSettings,
    directory: Path,
) -> int:
    title = fold(document.title)
    passages = passages_of(document, settings)
    for passage in passages:
        row = tantivy.Document(
            document=number,
            text="\n".join([*[title] * settings.title_weight, fold(passage.text)]),
            passage=passage.model_dump_json(exclude_none=True).encode(),
        )
        for key in title_keys(title) if passage is passages[0] else ():
            row.add_text("title", key[:TITLE_LIMIT])
        try:
            writer.add_document(row)
        except ValueError as error:  # tantivy's form of a failed write
            raise UserError(_unwritable(directory, error)) from None
    return len(passages)


def _commit(writer: tantivy.IndexWriter, directory: Path) -> None:
    try:
        writer.commit()
    except ValueError as error:
        raise UserError(_unwritable(directory, error)) from None


def _write_meta(directory: Path, meta: IndexMeta) -> None:
    path = directory / meta.data / META
    with path.open("w", encoding="utf-8") as file:
        file.write(meta.model_dump_json(indent=1))
        file.flush()
        os.fsync(file.fileno())
    path.replace(directory / META)
