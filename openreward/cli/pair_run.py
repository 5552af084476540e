"""A run of `openreward synth pairs`: the writers, the rows, and the manifest beside them."""

from __future__ import annotations

import asyncio
import itertools
import os
import platform
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import JsonValue

from openreward import __version__
from openreward.batch import Measure, Output, run_rows
from openreward.cli.engine import EngineChoice
from openreward.cli.pair_report import Pace
from openreward.cli.progress import RunProgress, tokens_of
from openreward.cli.writers import WriterChoice, open_writers
from openreward.errors import UserError
from openreward.loose_json import clean
from openreward.records import RowError
from openreward.resume import Manifest
from openreward.synth.document_stream import DocumentStream
from openreward.synth.evaluation_overlap import EvaluationOverlap
from openreward.synth.on_ray import Cluster, RayRun, Work, rows_on_ray
from openreward.synth.pair_prompts import PAIR_PROMPTS_VERSION
from openreward.synth.pair_records import PairRow, PairSettings
from openreward.synth.pairs import PairWriting
from openreward.synth.reading import Skipped
from openreward.types import Document

_MOST_SLOTS = 16  # requests at once on the embedded engine


class Writers(NamedTuple):
    """Who writes and who checks, as flags name them; an actor of a cluster opens them anew."""

    main: EngineChoice
    policy: str | None
    choices: tuple[WriterChoice, ...]
    verifier: WriterChoice | None
    avoid: tuple[Path, ...]
    patience: float
    at_once: int


class PairRun(NamedTuple):
    """What a run is to do. `documents` are the keyword arguments of its `DocumentStream`."""

    documents: dict[str, Any]
    output: Path
    writers: Writers
    settings: PairSettings
    config: dict[str, JsonValue]
    cluster: Cluster | None
    resume: bool
    limit: int | None
    as_json: bool

    def stream(self, shard: tuple[int, int] | None = None) -> DocumentStream:
        """The documents, or another part of them."""
        return DocumentStream(**(self.documents | ({"shard": shard} if shard else {})))


class Writing(NamedTuple):
    """Writers that are open, and how they may be written down."""

    writing: PairWriting
    configs: list[dict[str, JsonValue]]


class Written(NamedTuple):
    """The manifest of all rows, how fast this run went, and what documents were left out."""

    manifest: Manifest
    pace: Pace
    notes: tuple[str, ...]


def write_rows(run: PairRun) -> Written:
    """Do what is not done yet, here or on the cluster."""
    return _write_on_cluster(run, run.cluster) if run.cluster else asyncio.run(_write_here(run))


def measure_row(row: PairRow) -> Measure:
    """What a row adds to the totals: where it ended, also by source."""
    ended = row.drop.reason if row.drop else "written"
    return Measure(row.id, ended, row.usage, row.seconds, (f"{row.source}: {ended}",))


@asynccontextmanager
async def open_writing(writers: Writers, settings: PairSettings) -> AsyncIterator[Writing]:
    """The writers, open within the block."""
    choices = [*writers.choices, *([writers.verifier] if writers.verifier else [])]
    async with AsyncExitStack() as stack:
        opened = await open_writers(
            choices,
            writers.main,
            stack,
            slots=min(_MOST_SLOTS, 2 * writers.at_once),
            temperature=settings.temperature,
            max_tokens=settings.answer_tokens,
        )
        patient = [replace(each.writer, patience=writers.patience) for each in opened]
        writing = PairWriting(
            writers=patient[: len(writers.choices)],
            settings=settings,
            verifier=patient[-1] if writers.verifier else None,
            evaluation=EvaluationOverlap(writers.avoid, settings.overlap)
            if writers.avoid
            else None,
        )
        yield Writing(writing, [each.config for each in opened])


async def _write_here(run: PairRun) -> Written:
    stream = run.stream()
    documents = stream.rows()
    first = next(documents, None)  # what is wrong with the files is told before an output is there
    if first is None and run.documents["shard"] == (1, 1):  # a part may well be empty
        left = "; ".join(_notes(stream.skipped)) or "no rows"
        raise UserError(f"expected documents, got none ({left}); check the files and --sample")
    async with AsyncExitStack() as stack:
        opened = await stack.enter_async_context(open_writing(run.writers, run.settings))
        output = stack.enter_context(_open_output(run, stream, opened.configs))
        done = _Done(output)
        await run_rows(
            itertools.chain([first] if first else [], documents),
            _id_of,
            opened.writing.write,
            output,
            progress=stack.enter_context(_progress(run, stream)),
            concurrency=run.writers.at_once,
            limit=run.limit,
        )
        pace = done.pace()
    return Written(output.manifest("finished"), pace, _notes(stream.skipped))


def _write_on_cluster(run: PairRun, cluster: Cluster) -> Written:
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # Ray tells its makers else
    stream, skipped = run.stream(), Skipped()
    configs = asyncio.run(_configs(run))
    with _open_output(run, stream, configs) as output, _progress(run, stream) as progress:
        done = _Done(output)
        work = partial(_open_work, run.writers, run.settings)
        for found in rows_on_ray(RayRun(run.stream, work, cluster, output.ids)):
            if isinstance(found, RowError):
                output.drop(found)
                progress.drop(found)
            elif isinstance(found, Skipped):
                skipped = found
            else:
                output.append(found)
                progress.advance(output.totals())
        pace = done.pace()
    return Written(output.manifest("finished"), pace, _notes(skipped))


class _Done:
    """What a run has done since it began."""

    def __init__(self, output: Output[PairRow]) -> None:
        self._output, self._before, self._begun = output, output.totals(), time.monotonic()

    def pace(self) -> Pace:
        """Rows and tokens a second."""
        seconds = max(time.monotonic() - self._begun, 1e-6)
        after, before = self._output.totals(), self._before
        tokens = tokens_of(after) - tokens_of(before)
        return Pace(
            rows_per_second=round((after.rows - before.rows) / seconds, 3),
            tokens_per_second=round(tokens / seconds, 1),
        )


def _progress(run: PairRun, stream: DocumentStream) -> RunProgress:
    return RunProgress(_smallest(stream.total(), run.limit), run.as_json, "writing", pace=True)


def _notes(skipped: Skipped) -> tuple[str, ...]:
    return tuple(
        f"documents left out: {count} {reason} (first: {skipped.first[reason]})"
        for reason, count in skipped.counts.items()
    )


async def _configs(run: PairRun) -> list[dict[str, JsonValue]]:
    """How the writers are written down; opened here, so that one that is not there is told."""
    async with open_writing(run.writers, run.settings) as opened:
        return opened.configs


@asynccontextmanager
async def _open_work(writers: Writers, settings: PairSettings) -> AsyncIterator[Work]:
    async with open_writing(writers, settings) as opened:
        yield opened.writing.write


def _open_output(
    run: PairRun, stream: DocumentStream, configs: list[dict[str, JsonValue]]
) -> Output[PairRow]:
    writers, many = run.writers, len(run.writers.choices)
    config: dict[str, JsonValue] = {
        **run.config,
        "policy": writers.policy,
        "prompts": PAIR_PROMPTS_VERSION,
        "writers": list(configs[:many]),
        "verifier": configs[many] if writers.verifier else None,
        "settings": run.settings.model_dump(mode="json", exclude={"seed"}),
    }
    manifest = Manifest(
        program="synth pairs",
        state="running",
        config={key: clean(value) for key, value in config.items()},
        setup={
            "endpoint": writers.main.address(),
            "writers": [each.engine(writers.main).address() for each in writers.choices],
            "concurrency": writers.at_once,
            "limit": run.limit,
            "cluster": run.cluster._asdict() if run.cluster else None,
        },
        seed=run.settings.seed,
        versions={"openreward": __version__, "python": platform.python_version()},
        data=stream.data,
    )
    return Output(run.output, PairRow, measure_row, manifest, resume=run.resume)


def _id_of(document: Document) -> str:
    return document.id


def _smallest(*numbers: int | None) -> int | None:
    return min((number for number in numbers if number is not None), default=None)
