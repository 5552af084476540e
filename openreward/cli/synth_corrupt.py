r"""`openreward synth corrupt`: hard pairs with exact labels, without a model.

    openreward synth corrupt pairs/train.jsonl -o hard.jsonl
    openreward synth corrupt pairs/rows.jsonl -o hard.jsonl --documents documents.jsonl --kind date

A row of the output is a `Pair` of a grounded answer and the same answer with one fact made wrong,
which `meta.corruption` names. Make them from one split of a set, so that its documents stay apart.
No model is asked and an answer takes milliseconds: so there is no --resume, the file takes its
place when it is whole. Beside it: OUT.summary.json.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from openreward.cli import options as o
from openreward.cli.progress import RunProgress
from openreward.cli.result_files import ResultFiles, beside
from openreward.errors import SOME_ROWS_FAILED, UserError, shorten
from openreward.loose_json import clean_text
from openreward.printable import one_line
from openreward.records import Row, RowError, describe_file, read_rows
from openreward.resume import Ids
from openreward.synth.corrupt import CORRUPTION_KINDS, CorruptionKind
from openreward.synth.corrupt_pairs import Made, Origin, Pools, Texts, corrupted_pairs
from openreward.synth.documents import read_documents
from openreward.synth.reading import Skipped
from openreward.types import Record

_KEPT_ERRORS = 100


class KindCount(Record):
    """Pairs of one kind, by form; and the answers that offered no place for it."""

    kind: CorruptionKind
    pairs: int
    no_place: int
    forms: dict[str, int]


class CorruptSummary(Record):
    """What a run came to. `without_document` counts answers whose document is not known.

    `left_out` counts rows that gave no answer: without a label, dropped by a check, broken.
    """

    output: str
    seed: int
    per_answer: int
    answers: int
    pairs: int
    kinds: tuple[KindCount, ...]
    left_out: dict[str, int]
    without_document: int | None
    skipped_documents: dict[str, int]
    errors: tuple[str, ...]


def corrupt(
    input: Annotated[
        Path,
        typer.Argument(
            metavar="INPUT",
            help="Labelled pairs, rows.jsonl of `synth pairs`, or rows of query and answer.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT.jsonl", help="Where pairs go.")
    ],
    kind: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND",
            help="A kind of wrong fact, repeatable: number, date, entity, negation, omission. "
            "Default: all.",
        ),
    ] = None,
    per_answer: Annotated[
        int, typer.Option(min=1, max=100, help="Pairs of one answer, at most; kinds take turns.")
    ] = 5,
    documents: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="What the answers were written from, repeatable: then only facts that the "
            "document has are changed, and never into one that it has.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is drawn.")] = 0,
    as_json: o.AsJson = False,
) -> None:
    """Make pairs of an answer and the same answer with one fact made wrong.

    An omission makes the answer incomplete, not wrong. Names come from the other answers, and the
    documents, of the same source. The rules are those of English.
    """
    describe_file(input)  # it is read twice: a pipe is refused
    kinds = _kinds(kind or ())
    told = beside(output, "summary.json")
    with (
        Texts() as texts,
        RunProgress(None, as_json) as progress,
        ResultFiles(output, told) as files,
    ):
        corrupting = _Corrupting(input, kinds, per_answer, seed, texts, progress)
        skipped = corrupting.gather(documents or ())
        for made in corrupting.made():
            for pair in made.pairs:
                files.write(output, pair)
        summary = corrupting.summary(output, skipped, bool(documents))
        files.write(told, summary, indent=2)
    if as_json:
        typer.echo(json.dumps(summary.model_dump(mode="json")))
    else:
        typer.echo("\n".join(one_line(line) for line in _lines(summary)))
    failed = set(summary.left_out) - {"dropped"} or skipped.counts
    raise typer.Exit(SOME_ROWS_FAILED if failed else 0)


def _kinds(given: Sequence[str]) -> Sequence[CorruptionKind]:
    """The kinds by name, in their own order; all where none is named."""
    unknown = set(given) - set(CORRUPTION_KINDS)
    if unknown:
        known = ", ".join(CORRUPTION_KINDS)
        raise UserError(f"--kind: expected one of {known}, got {shorten(min(unknown))}")
    return [kind for kind in CORRUPTION_KINDS if kind in given or not given]


class _Corrupting:
    """One run: a pass over the rows for the names in them, a second for the pairs."""

    def __init__(
        self,
        input: Path,
        kinds: Sequence[CorruptionKind],
        most: int,
        seed: int,
        texts: Texts,
        progress: RunProgress,
    ) -> None:
        self._input, self._kinds, self._most, self._seed = input, kinds, most, seed
        self._texts, self._pools, self._progress = texts, Pools(), progress
        self._answers, self._unread, self._no_place = 0, 0, Counter[str]()
        self._forms = {kind: Counter[str]() for kind in kinds}
        self._left_out, self._errors = Counter[str](), list[str]()

    def gather(self, documents: Sequence[Path]) -> Skipped:
        """Take the names of all answers and documents, and the texts that answers refer to."""
        wanted = set[str]()
        for row in read_rows(self._input, Origin):
            if isinstance(row, Row):
                self._pools.of(row.record.source).add(row.record.answer)
                wanted.add(row.record.document or "")
        skipped = Skipped()
        for path in documents:
            for document in read_documents(path, None, skipped):
                self._pools.of(document.source).add(document.text)
                if document.id in wanted:
                    self._texts.add(document)
        return skipped

    def made(self) -> Iterator[Made]:
        """What each answer gives."""
        ids = Ids()
        for row in read_rows(self._input, Origin):
            origin = row if isinstance(row, RowError) else self._usable(row, ids)
            if isinstance(origin, RowError):
                self._leave_out(origin)
            elif origin is not None:
                yield self._corrupted(origin)

    def _usable(self, row: Row[Origin], ids: Ids) -> Origin | RowError | None:
        origin, place = row.record, f"{row.place} {row.line}"
        if not ids.is_new(origin.id):
            message = f"{place}: expected a new id, got {shorten(origin.id)} again"
            return RowError(line=row.line, fault="duplicate_id", message=message)
        if origin.left_out == "no_label":
            self._left_out["no_label"] += 1
            said = (
                f"{place} ({shorten(origin.id)}): expected a label, 0 or 1: the grounded response"
            )
            self._progress.drop(RowError(line=row.line, fault="wrong_fields", message=said))
            self._keep(said)
            return None
        if origin.left_out == "dropped":
            self._left_out["dropped"] += 1
            return None
        return origin

    def _corrupted(self, origin: Origin) -> Made:
        document = self._texts.find(origin.document)
        pool = self._pools.of(origin.source)
        made = corrupted_pairs(
            origin, self._kinds, self._most, seed=self._seed, pool=pool, document=document
        )
        self._answers += 1
        self._unread += not document
        self._no_place.update(made.no_place)
        for each in made.chosen:
            self._forms[each.kind][each.form] += 1
        return made

    def _leave_out(self, error: RowError) -> None:
        self._left_out[error.fault] += 1
        self._keep(error.message)
        self._progress.drop(error)

    def _keep(self, message: str) -> None:
        if len(self._errors) < _KEPT_ERRORS:
            self._errors.append(clean_text(message))

    def summary(self, output: Path, skipped: Skipped, with_documents: bool) -> CorruptSummary:
        """Of the whole run."""
        kinds = tuple(
            KindCount(
                kind=kind,
                pairs=forms.total(),
                no_place=self._no_place[kind],
                forms=dict(sorted(forms.items())),
            )
            for kind, forms in self._forms.items()
        )
        return CorruptSummary(
            output=clean_text(str(output)),
            seed=self._seed,
            per_answer=self._most,
            answers=self._answers,
            pairs=sum(each.pairs for each in kinds),
            kinds=kinds,
            left_out=dict(sorted(self._left_out.items())),
            without_document=self._unread if with_documents else None,
            skipped_documents=skipped.counts,
            errors=tuple(self._errors),
        )


def _lines(summary: CorruptSummary) -> Iterator[str]:
    yield f"{'kind':<10}{'pairs':>8}{'no place':>10}  forms"
    for each in summary.kinds:
        forms = ", ".join(f"{count} {form}" for form, count in each.forms.items()) or "none"
        yield f"{each.kind:<10}{each.pairs:>8}{each.no_place:>10}  {forms}"
    yield f"{summary.output}: {summary.pairs} pairs of {summary.answers} answers"
    if summary.without_document:
        yield f"{summary.without_document} answers of documents that were not found in --documents"
    for what, counts in (
        ("rows left out", summary.left_out),
        ("documents left out", summary.skipped_documents),
    ):
        if counts:
            yield f"{what}: {', '.join(f'{count} {why}' for why, count in counts.items())}"
