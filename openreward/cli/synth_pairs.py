r"""`openreward synth pairs`: documents in, grounded-versus-ungrounded pairs out.

    openreward synth pairs wikipedia.json arxiv.jsonl -o pairs --sample wikipedia=300
    openreward synth pairs documents.jsonl -o pairs --writer big=https://host/v1,model=NAME,key=VAR

The folder gets rows.jsonl (all that was written and found), train.jsonl, dev.jsonl and test.jsonl,
dropped.jsonl and summary.json. Several machines take `--shard K/N` each, and `openreward synth
merge` makes one set of their folders; a Ray cluster does the same with `--ray`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from openreward.cli import options as o
from openreward.cli.flags import EngineFlags, takes
from openreward.cli.pair_flags import (
    CHECKS,
    DOCUMENTS,
    WRITING,
    ClusterFlags,
    PairFlags,
    read_samples,
    read_shard,
)
from openreward.cli.pair_run import PairRun, Writers, write_rows
from openreward.cli.pair_summary import ROWS, finish_pairs, read_price, set_files, show_pairs
from openreward.cli.result_files import make_folder
from openreward.cli.writers import FORM, read_writers
from openreward.errors import SOME_ROWS_FAILED, Interrupted, RecordError
from openreward.records import describe_file
from openreward.synth.reading import DocumentFormat


@takes
def pairs(
    documents: Annotated[
        list[Path],
        typer.Argument(
            metavar="DOCUMENTS...",
            help="Files of documents: Wikipedia (dump, introductions), arXiv metadata, PubMed "
            "(XML, MEDLINE, PubMedQA), or JSONL and Parquet of your own.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the set goes.")
    ],
    engine: EngineFlags,
    flags: PairFlags,
    cluster: ClusterFlags,
    writer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TARGET",
            rich_help_panel=WRITING,
            help=f"A model that writes, repeatable: {FORM}. TARGET: engine (of the flags), local, "
            "a URL, MODULE:FACTORY. Each document is written by one. Default: writer=engine.",
        ),
    ] = None,
    verifier: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=TARGET",
            rich_help_panel=CHECKS,
            help="A model that says how far the document supports each answer; as --writer.",
        ),
    ] = None,
    avoid: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=CHECKS,
            help="An evaluation file that nothing may overlap with; repeatable.",
        ),
    ] = None,
    format: Annotated[
        DocumentFormat | None,
        typer.Option(rich_help_panel=DOCUMENTS, help="Of the files; else told from each."),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", rich_help_panel=DOCUMENTS, help="Of documents that name none."
        ),
    ] = None,
    sample: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE=N",
            rich_help_panel=DOCUMENTS,
            help="Draw N documents of a source, and none of sources not named; repeatable.",
        ),
    ] = None,
    shard: Annotated[
        str,
        typer.Option(
            metavar="K/N", rich_help_panel=DOCUMENTS, help="Do part K of N on this machine."
        ),
    ] = "1/1",
    patience: Annotated[
        float,
        typer.Option(
            min=0.0, rich_help_panel=WRITING, help="Seconds to wait for a writer that is down."
        ),
    ] = 300.0,
    price: Annotated[
        str | None,
        typer.Option(metavar="IN,OUT", help="Price of a million tokens read, and written."),
    ] = None,
    resume: o.Resume = False,
    concurrency: o.Concurrency = None,
    limit: o.Limit = None,
    as_json: o.AsJson = False,
) -> None:
    """Make pairs for training a judge; Ctrl-C stops it, --resume goes on.

    Each document: a query aimed at it; an answer written with it and one without it; checks. Then
    over all: near-duplicate queries, lengths matched, split by document, labels balanced.
    """
    settings, prices, main = flags.settings(), read_price(price), engine.choice()
    given = read_writers([*(writer or ["writer=engine"]), *([verifier] if verifier else [])])
    at_once = concurrency or main.rows_at_once()
    run = PairRun(
        documents={
            "paths": documents,
            "format": format,
            "source": source,
            "sample": read_samples(sample or ()),
            "shard": read_shard(shard),
            "seed": settings.seed,
        },
        output=output / ROWS,
        writers=Writers(
            main=main,
            policy=engine.policy,
            choices=given[:-1] if verifier else given,
            verifier=given[-1] if verifier else None,
            avoid=tuple(avoid or ()),
            patience=patience,
            at_once=at_once,
        ),
        settings=settings,
        config={
            "format": format,
            "source": source,
            "sample": [*sorted(sample or ())],
            "shard": shard,
            "avoid": [describe_file(path).sha256 for path in avoid or ()],
        },
        cluster=cluster.cluster(at_once, shard, limit),
        resume=resume,
        limit=limit,
        as_json=as_json,
    )
    _refuse_foreign(output)
    make_folder(output)
    try:
        written = write_rows(run)
        summary = finish_pairs(
            output,
            [run.output],
            settings,
            [written.manifest],
            prices,
            pace=written.pace,
            notes=written.notes,
        )
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; what is done is in {run.output}; the same command with --resume goes on"
        ) from None
    show_pairs(summary, as_json)
    raise typer.Exit(SOME_ROWS_FAILED if written.manifest.dropped else 0)


def _refuse_foreign(output: Path) -> None:
    """Files of a set without the rows they were made of are not this run's to write over."""
    if os.path.lexists(output / ROWS):
        return
    for path in set_files(output):
        if os.path.lexists(path):
            raise RecordError(
                f"{path}: exists already, without {ROWS} beside it, which it would be made from; "
                "name another output"
            )
