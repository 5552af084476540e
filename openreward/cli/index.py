"""`openreward index`: build, search and list local indexes, and fetch the text of the demo.

    openreward index fetch wikipedia-introductions
    openreward index build abstracts.jsonl --format arxiv
    openreward index search wikipedia "Ada Lovelace" -k 3

An index lies in <home>/indexes/<source> unless -o names a folder. Exit code 4: built, but some rows
of the input were broken and left out.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from openreward.cli.home import home, index_folders
from openreward.errors import SOME_ROWS_FAILED, IndexMismatch, ToolError, UserError, shorten
from openreward.printable import one_line, visible
from openreward.synth.reading import DocumentFormat

if TYPE_CHECKING:
    from openreward.synth.reading import Skipped
    from openreward.tools.index_meta import IndexMeta
    from openreward.types import Document, Passage

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)

AsJson = Annotated[bool, typer.Option("--json", help="For machines: JSON on stdout.")]
Folder = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="DIR", help="Folder of the index.")
]
SECONDS = 10.0  # between lines of progress where there is no terminal


@app.callback()
def _index() -> None:
    """Build and search local indexes."""


@app.command()
def build(
    inputs: Annotated[list[Path], typer.Argument(metavar="INPUT...", help="Files of documents.")],
    format: Annotated[
        DocumentFormat | None, typer.Option(help="Their format; told from the file if left out.")
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Their source, also of rows that name none; told from the format or the first.",
        ),
    ] = None,
    output: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Build an index from files; an index that was there is replaced when the new one is whole."""
    from openreward.synth.documents import SOURCE_OF, guess_format, read_documents
    from openreward.synth.reading import Skipped

    forms: list[DocumentFormat] = [format or guess_format(path) for path in inputs]
    skipped = Skipped()
    named = source or SOURCE_OF.get(forms[0]) or _first_source(inputs[0])
    folder = output or _home_folder(named)
    documents = (
        document
        for path, form in zip(inputs, forms, strict=True)
        for document in read_documents(path, form, skipped, source)
    )
    meta = _build(documents, named, folder)
    _report(meta, skipped, folder, as_json)
    if any(reason.startswith("broken") for reason in skipped.counts):
        raise typer.Exit(SOME_ROWS_FAILED)


@app.command()
def fetch(
    name: Annotated[
        Literal["wikipedia-introductions"], typer.Argument(metavar="wikipedia-introductions")
    ] = "wikipedia-introductions",
    output: Folder = None,
    as_json: AsJson = False,
) -> None:
    """Download 10,033 introductions of Wikipedia articles, and build their index."""
    from openreward.synth.documents import read_documents
    from openreward.synth.introductions import fetch_introductions
    from openreward.synth.reading import Skipped

    skipped = Skipped()
    path = fetch_introductions(home() / "documents", lambda line: typer.echo(line, err=True))
    folder = output or home() / "indexes" / "wikipedia"
    meta = _build(read_documents(path, name, skipped), "wikipedia", folder)
    _report(meta, skipped, folder, as_json)


@app.command()
def search(
    index: Annotated[str, typer.Argument(metavar="DIR_OR_SOURCE", help="Where to look.")],
    query: Annotated[str, typer.Argument(help="What to look for.")],
    k: Annotated[int, typer.Option("-k", min=1, help="Passages at most.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Search an index as the model's tool does."""
    from openreward.tools.index import LocalIndex

    opened = LocalIndex(_folder(index))
    started = time.perf_counter()
    try:
        found = opened.lookup(query, k).passages
    except ToolError as error:
        if error.status != "bad_query":
            raise
        raise UserError(str(error)) from None
    seconds = time.perf_counter() - started
    if as_json:
        rows = [passage.model_dump(mode="json") for passage in found]
        typer.echo(json.dumps({"version": opened.version, "seconds": seconds, "passages": rows}))
        return
    for number, passage in enumerate(found, 1):
        typer.echo(_shown(number, passage))
    typer.echo(
        f"{len(found)} of {opened.meta.passages:,} passages, {1000 * seconds:.2f} ms", err=True
    )


@app.command("list")
def list_indexes(as_json: AsJson = False) -> None:
    """List the indexes in the OpenReward home."""
    from openreward.tools.index_meta import read_meta

    rows: list[dict[str, object]] = []
    for source, folder in index_folders().items():
        try:
            meta = read_meta(folder, source)
        except IndexMismatch as error:
            rows.append({"source": source, "folder": str(folder), "error": str(error)})
            continue
        rows.append({"folder": str(folder), **meta.model_dump(mode="json", exclude={"files"})})
        if not as_json:
            line = f"{source}: {_counts(meta)}, version {meta.version[:12]}, {folder}"
            typer.echo(one_line(line))
    if as_json:
        typer.echo(json.dumps(rows))
        return
    for row in rows:
        if "error" in row:
            typer.echo(one_line(f"{row['source']}: {row['error']}"))
    if not rows:
        typer.echo(
            f"no index in {home() / 'indexes'}; `openreward index fetch wikipedia-introductions` "
            "brings one, `openreward index build` makes one",
            err=True,
        )


def _home_folder(source: str) -> Path:
    """Where an index of this source lies; a document may name any source, `../..` too."""
    if not re.fullmatch(r"\w[\w.-]{0,99}", source):
        raise UserError(
            f"expected a source of letters, digits, - and _ to name its folder, got "
            f"{shorten(source)}; name the folder with -o"
        )
    return home() / "indexes" / source


def _first_source(path: Path) -> str:
    from openreward.synth.documents import read_documents
    from openreward.synth.reading import Skipped

    skipped = Skipped()
    for document in read_documents(path, "documents", skipped):
        return document.source
    found = "; ".join(f"{count} of {reason}" for reason, count in skipped.counts.items())
    raise UserError(f"{path}: expected documents, got {found or 'an empty file'}")


def _folder(named: str) -> Path:
    """An index by its folder, or by its source in the OpenReward home."""
    known = index_folders()
    return known[named] if named in known and not Path(named).is_dir() else Path(named)


def _build(documents: Iterator[Document], source: str, folder: Path) -> IndexMeta:
    from openreward.tools.index_builder import build

    with _progress() as progress:
        return build(documents, folder, source, progress=progress)


@contextmanager
def _progress() -> Iterator[Callable[[int], None]]:
    """Rows so far, on stderr: a moving line on a terminal, else a line every ten seconds."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    if sys.stderr.isatty():
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("indexing")
            yield lambda rows: bar.update(task, description=f"indexing: {rows:,} documents")
        return
    last = time.monotonic()

    def tell(rows: int) -> None:
        nonlocal last
        if time.monotonic() - last >= SECONDS:
            last = time.monotonic()
            typer.echo(f"indexing: {rows:,} documents", err=True)

    yield tell


def _report(meta: IndexMeta, skipped: Skipped, folder: Path, as_json: bool) -> None:
    if as_json:
        shown = meta.model_dump(mode="json", exclude={"files"})
        typer.echo(json.dumps({**shown, "folder": str(folder), "skipped": skipped.counts}))
        return
    for reason, count in skipped.counts.items():
        typer.echo(
            f"left out {count:,}: {reason} (first: {one_line(skipped.first[reason])})", err=True
        )
    typer.echo(one_line(f"{folder}: {_counts(meta)}, version {meta.version[:12]}"))


def _counts(meta: IndexMeta) -> str:
    parts = [f"{meta.documents:,} documents of {meta.source} in {meta.passages:,} passages"]
    parts += [f"{meta.duplicates:,} repeated rows"] if meta.duplicates else []
    parts += [f"{meta.blank:,} without text"] if meta.blank else []
    return ", ".join(parts)


def _shown(number: int, passage: Passage) -> str:
    score = "title" if passage.score is None else f"{passage.score:.1f}"
    revision = f", {passage.revision}" if passage.revision else ""
    head = f"[{number}] {passage.title} ({passage.document_id}{revision}; {score})"
    return f"{one_line(head)}\n{visible(passage.text)}\n"
