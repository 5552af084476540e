r"""`openreward synth preferences`: pairs for DPO from scored answers, in TRL's preference format.

    openreward synth preferences answers.jsonl --scores scores.jsonl -o pairs.jsonl
    openreward synth preferences scored.jsonl -o pairs.jsonl --rule best-of-n --conversational
    openreward synth preferences answers.jsonl -o pairs.jsonl --by longreward

Beside the pairs: pairs.dropped.jsonl (rows without a pair, and why) and pairs.summary.json; with
--by also pairs.scores.jsonl.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from openreward.cli import options as o
from openreward.cli.flags import EngineFlags, TrajectoryFlags, checked, takes
from openreward.cli.preference_scores import ByFlags, ScorePlan, write_scores
from openreward.cli.progress import RunProgress
from openreward.cli.result_files import LeftOut, ResultFiles, beside
from openreward.cli.score_flags import ScoreFlags
from openreward.cli.tools import ToolFlags
from openreward.errors import SOME_ROWS_FAILED, UserError, shorten
from openreward.loose_json import clean_text
from openreward.printable import one_line
from openreward.records import Row, RowError, read_rows
from openreward.resume import Ids
from openreward.synth.preferences import (
    NoPair,
    Preference,
    PreferenceSettings,
    Rejected,
    Rule,
    ScoredAnswers,
    prefer,
    preference_row,
)
from openreward.synth.scored import Scores, check_used, read_scores
from openreward.synth.scored_answers import ScoredRow, scored_answers
from openreward.types import Record

_D = PreferenceSettings()


class PreferencesSummary(Record):
    """What a run came to; `words` and `margin` are means. Longer chosen answers may be a tell."""

    output: str
    settings: PreferenceSettings
    rows: int
    pairs: int
    no_pair: dict[str, int]
    drawn: int  # pairs of which an answer was drawn from several with its score
    margin: float | None
    words_chosen: float | None
    words_rejected: float | None
    chosen_longer: float | None  # share of pairs, by words; as long: half
    left_out: dict[str, int]
    notes: tuple[str, ...]
    errors: tuple[str, ...]


@takes
def preferences(
    by: ByFlags,
    engine: EngineFlags,
    tools: ToolFlags,
    trajectory: TrajectoryFlags,
    scoring: ScoreFlags,
    input: Annotated[
        Path,
        typer.Argument(
            metavar="SCORED",
            help="Rows with a prompt, answers, and scores in their order (or a ranking).",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The pairs.")],
    scores: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rows of id and scores, in place of the rows' own."),
    ] = None,
    rule: Annotated[
        Rule,
        typer.Option(
            help="best-worst; best-of-n: the best against another; threshold: one that reaches "
            "--threshold against one that does not."
        ),
    ] = _D.rule,
    rejected: Annotated[
        Rejected, typer.Option(help="best-of-n: drawn of those below, or the first sample.")
    ] = _D.rejected,
    threshold: Annotated[
        float | None, typer.Option(help="A score, for the rule threshold.")
    ] = None,
    fewest: Annotated[
        int | None,
        typer.Option(
            min=2,
            help="Scored answers; a row with fewer gives no pair. "
            f"Default: {_D.fewest}, with --by contrast 2.",
        ),
    ] = None,
    margin: Annotated[
        float, typer.Option(min=0.0, help="Least difference of scores; equal ones are no pair.")
    ] = _D.margin,
    conversational: Annotated[
        bool, typer.Option("--conversational", help="Lists of messages in place of texts.")
    ] = False,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn, ties too.")] = _D.seed,
    resume: o.Resume = False,
    concurrency: o.Concurrency = None,
    as_json: o.AsJson = False,
) -> None:
    """Make preference pairs from scored answers, at most one of each row.

    With --by the answers are scored first; --resume goes on with that.
    """
    if by.by is None and resume:
        raise UserError("--resume goes on with the scoring of --by, got no --by; leave it out")
    if by.by is not None and scores is not None:
        raise UserError("expected --by or --scores, got both; drop one")
    settings = checked(
        PreferenceSettings,
        rule=rule,
        rejected=rejected,
        threshold=threshold,
        fewest=fewest or (2 if by.by == "contrast" else _D.fewest),
        margin=margin,
        seed=seed,
    )
    dropped, told = beside(output, "dropped.jsonl"), beside(output, "summary.json")
    undone = 0
    if by.by is not None:
        scores = beside(output, "scores.jsonl")
        ResultFiles.check(output, dropped, told, replace=resume)
        groups = (by, engine, tools, trajectory, scoring)
        plan = ScorePlan(input, scores, *groups, seed, resume, concurrency, as_json)
        undone = write_scores(plan).dropped.get("not_done", 0)
    with RunProgress(None, as_json) as progress:
        rows = _ScoredRows(input, scores, LeftOut(progress))
        tally = _Tally()
        with ResultFiles(output, dropped, told, replace=resume) as files:
            for row in rows.read():
                pair = prefer(row, settings)
                tally.add(row, pair)
                if isinstance(pair, NoPair):
                    files.write(dropped, pair)
                else:
                    files.write(output, preference_row(row, pair, conversational=conversational))
            summary = tally.summary(output, settings, rows, undone)
            files.write(told, summary, indent=2)
    if as_json:
        typer.echo(json.dumps(summary.model_dump(mode="json")))
    else:
        typer.echo("\n".join(one_line(line) for line in _lines(summary)))
    raise typer.Exit(SOME_ROWS_FAILED if summary.left_out or undone else 0)


class _ScoredRows:
    """The rows of a file, with their own scores or another file's."""

    def __init__(self, path: Path, scores: Path | None, left_out: LeftOut) -> None:
        self.left_out, self._path, self._scores, self._used = left_out, path, scores, 0
        self._given: dict[str, Scores] | None = None
        if scores is not None:
            found = read_scores(scores)
            self._given = found.scores
            for error in found.errors:
                left_out.drop(error)

    def read(self) -> Iterator[ScoredAnswers]:
        """The rows that can be used."""
        ids = Ids()
        for row in read_rows(self._path, ScoredRow):
            found = row if isinstance(row, RowError) else self._scored(row, ids)
            if isinstance(found, ScoredAnswers):
                yield found
            else:
                self.left_out.drop(found)

    def note(self) -> str | None:
        """What to say of scores of no row; raises `UserError` where all of them are such."""
        if self._scores is None or self._given is None:
            return None
        return check_used(self._scores, self._given, self._used)

    def _scored(self, row: Row[ScoredRow], ids: Ids) -> ScoredAnswers | RowError:
        id, given = row.record.key(), row.record.scores
        if not ids.is_new(id):
            message = f"{row.place} {row.line}: expected a new id, got {shorten(id)} again"
            return RowError(line=row.line, fault="duplicate_id", message=message)
        if self._given is not None:
            given = self._given.get(id)
            self._used += given is not None
        try:
            return scored_answers(row.record, given, ranked=self._given is None)
        except ValueError as error:
            message = f"{row.place} {row.line}: {error}"
            return RowError(line=row.line, fault="wrong_fields", message=clean_text(message))


class _Tally:
    """Counts that grow row by row."""

    def __init__(self) -> None:
        self._rows = self._drawn = self._chosen = self._rejected = 0
        self._margin, self._longer = 0.0, 0.0
        self._no_pair = Counter[str]()

    def add(self, row: ScoredAnswers, pair: Preference | NoPair) -> None:
        """Count a row."""
        self._rows += 1
        if isinstance(pair, NoPair):
            self._no_pair[pair.reason] += 1
            return
        self._drawn += max(pair.tied_chosen, pair.tied_rejected) > 1
        one, other = (len(row.answers[at].split()) for at in (pair.chosen, pair.rejected))
        self._chosen += one
        self._rejected += other
        self._longer += (one > other) + (one == other) / 2
        self._margin += (row.scores[pair.chosen] or 0.0) - (row.scores[pair.rejected] or 0.0)

    def summary(
        self, output: Path, settings: PreferenceSettings, rows: _ScoredRows, undone: int
    ) -> PreferencesSummary:
        """All of it; `undone` rows could not be scored."""
        pairs = self._rows - self._no_pair.total()
        more = (
            f"rows that could not be scored: {undone}; --resume does them again" if undone else None
        )
        notes = [note for note in (rows.note(), more) if note is not None]
        return PreferencesSummary(
            output=clean_text(str(output)),
            settings=settings,
            rows=self._rows,
            pairs=pairs,
            no_pair=dict(sorted(self._no_pair.items())),
            drawn=self._drawn,
            margin=_mean(self._margin, pairs),
            words_chosen=_mean(self._chosen, pairs),
            words_rejected=_mean(self._rejected, pairs),
            chosen_longer=_mean(self._longer, pairs),
            left_out=rows.left_out.counts,
            notes=tuple(map(clean_text, notes)),
            errors=tuple(rows.left_out.errors),
        )


def _mean(total: float, count: int) -> float | None:
    return round(total / count, 4) if count else None


def _lines(summary: PreferencesSummary) -> Iterator[str]:
    yield f"{summary.output}: {summary.pairs} pairs of {summary.rows} rows"
    if summary.no_pair:
        listed = ", ".join(f"{count} {reason}" for reason, count in summary.no_pair.items())
        yield f"no pair: {listed}; in {beside(Path(summary.output), 'dropped.jsonl').name}"
    if summary.drawn:
        yield f"an answer was drawn from several with the same score in {summary.drawn}"
    if summary.pairs:
        yield (
            f"mean margin {summary.margin:g}; words: {summary.words_chosen:g} chosen, "
            f"{summary.words_rejected:g} rejected; the chosen is the longer in "
            f"{summary.chosen_longer:.1%}"
        )
    yield from summary.notes
    if summary.left_out:
        listed = ", ".join(f"{count} {fault}" for fault, count in summary.left_out.items())
        yield f"rows that cannot be used: {listed}"
