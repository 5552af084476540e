r"""`openreward synth consensus`: the order that several judges agree on, as labels for rankings.

    openreward synth consensus judged.jsonl -o rankings.jsonl
    openreward synth consensus answers.jsonl -o rankings.jsonl --support 2 \
        --judge small=small.jsonl --judge big=big.jsonl --judge other=other.jsonl

`openreward eval rankings --data rankings.jsonl` reads the output. Beside it: rankings.train.jsonl
(only answers that have a label), rankings.dropped.jsonl (rows without an agreed pair, whole) and
rankings.summary.json.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

import typer

from openreward.cli import options as o
from openreward.cli.judged_rows import JoinedRows
from openreward.cli.progress import RunProgress
from openreward.cli.result_files import LeftOut, ResultFiles, beside
from openreward.cli.wording import listed
from openreward.errors import SOME_ROWS_FAILED
from openreward.loose_json import clean_text
from openreward.printable import one_line
from openreward.synth.consensus_counts import ConsensusCounts, ConsensusTally
from openreward.synth.consensus_rows import rank, training_row
from openreward.types import Record


class ConsensusSummary(Record):
    """What a run came to. `left_out` counts input rows and scores that cannot be used."""

    output: str
    support: int
    tail: Literal["agreed", "source"]
    seed: int
    counts: ConsensusCounts
    left_out: dict[str, int]
    notes: tuple[str, ...]
    errors: tuple[str, ...]


def consensus(
    rows: Annotated[
        list[Path],
        typer.Argument(
            metavar="JUDGED...",
            help="Rows with principle, prompt, responses and judges: {NAME: scores}; the scores "
            "by the responses' names, or a list. Also: id, human (people's ranking), source.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where rankings go.")
    ],
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=FILE", help="A judge's rows of id and scores; repeatable. By the id."
        ),
    ] = None,
    support: Annotated[
        int, typer.Option(min=1, help="Judges who must prefer the same answer, for every pair.")
    ] = 3,
    tail: Annotated[
        Literal["agreed", "source"],
        typer.Option(help="agreed: that order alone. source: then one judge's other answers."),
    ] = "agreed",
    principle: Annotated[
        str | None, typer.Option(metavar="TEXT", help="For rows that have none.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn between equals.")] = 0,
    as_json: o.AsJson = False,
) -> None:
    """Make reference rankings from several judges' scores.

    The longest order of answers in which at least --support judges prefer every one to every one
    below it; an equal score supports neither.
    """
    with RunProgress(None, as_json) as progress:
        left_out = LeftOut(progress)
        joined = JoinedRows(rows, judge or (), principle, left_out)
        tally = ConsensusTally()
        train, dropped = beside(output, "train.jsonl"), beside(output, "dropped.jsonl")
        told = beside(output, "summary.json")
        with ResultFiles(output, train, dropped, told) as files:
            for judged in joined.rows():
                ranked = rank(judged, support, tail, seed)
                tally.add(ranked)
                files.write(dropped if ranked.row.drop else output, ranked.row)
                if ranked.row.drop is None:
                    files.write(train, training_row(ranked))
            summary = ConsensusSummary(
                output=clean_text(str(output)),
                support=support,
                tail=tail,
                seed=seed,
                counts=tally.counts(),
                left_out=left_out.counts,
                notes=tuple(joined.notes()),
                errors=tuple(left_out.errors),
            )
            files.write(told, summary, indent=2)
    if as_json:
        typer.echo(json.dumps(summary.model_dump(mode="json")))
    else:
        typer.echo("\n".join(one_line(line) for line in _lines(summary)))
    raise typer.Exit(SOME_ROWS_FAILED if summary.left_out else 0)


def _lines(summary: ConsensusSummary) -> Iterator[str]:
    counts = summary.counts
    if counts.judges:
        heads = f"{'rows':>7}{'source':>8}{'same':>8}{'tie':>7}{'opposite':>10}{'share':>8}"
        yield f"{'judge':<20}{heads}"
    for each in counts.judges:
        numbers = f"{each.rows:>7}{each.source:>8}{each.same:>8}{each.tied:>7}{each.opposite:>10}"
        people = "" if each.human_tau is None else f"  people: tau-b {each.human_tau:.2f}"
        yield f"{each.judge[:19]:<20}{numbers}{_percent(each.share):>8}{people}"
    dropped = ", ".join(f"{count} {reason}" for reason, count in counts.dropped.items())
    yield (
        f"{summary.output}: {counts.ranked} of {counts.rows} rows have an agreed order"
        + (f" ({dropped}: in {beside(Path(summary.output), 'dropped.jsonl').name})" * bool(dropped))
    )
    if counts.answers is not None and counts.length is not None:
        of = f"{counts.length:.2f}, of {counts.answers:.2f} answers"
        yield f"mean length of an agreed order: {of}"
    if counts.pairs:
        too_few = f"; {counts.too_few} with too few judges" if counts.too_few else ""
        share = _percent(counts.supported / counts.pairs)
        yield f"supported pairs: {counts.supported} of {counts.pairs} ({share}){too_few}"
    if counts.human_tau is not None:
        rows = f"{counts.human_rows} row" + "s" * (counts.human_rows != 1)
        yield f"people: tau-b {counts.human_tau:.2f} with the agreed order, mean of {rows}"
    else:
        yield "people: no rankings given; judges alone made these labels"
    yield from summary.notes
    if summary.left_out:
        yield f"rows that cannot be used: {listed(summary.left_out)}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
