r"""`openreward synth scenarios`: a test set like RMB from a user's own prompts.

    openreward synth scenarios prompts.jsonl -o set --endpoint URL --model JUDGE \
        --writer small=local --writer big=https://host/v1,model=NAME,key=VAR --writer ...

The folder gets rows.jsonl (all that was asked and answered), dropped.jsonl, summary.json, and rmb/
with the items in RMB's format, which `openreward eval rmb --data set/rmb` reads.
"""

from __future__ import annotations

import asyncio
import platform
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import JsonValue

from openreward import __version__
from openreward.batch import Output, run_rows
from openreward.cli import options as o
from openreward.cli.engine import open_policy
from openreward.cli.flags import EngineFlags, takes
from openreward.cli.progress import RunProgress
from openreward.cli.result_files import make_folder
from openreward.cli.scenario_flags import ITEMS, SIFTING, WRITING, ScenarioFlags
from openreward.cli.scenario_summary import ROWS, finish_set, show_scenarios
from openreward.cli.writers import (
    FORM,
    OpenWriter,
    WriterChoice,
    name_samples,
    open_writers,
    read_writers,
)
from openreward.errors import SOME_ROWS_FAILED, Interrupted, UserError
from openreward.loose_json import clean
from openreward.records import DataFile, RowError, describe_file, read_rows
from openreward.resume import Manifest
from openreward.synth.near_duplicates import NearDuplicates
from openreward.synth.scenario_agreement import check_human
from openreward.synth.scenario_counts import measurer
from openreward.synth.scenario_labels import Label, read_labels
from openreward.synth.scenario_prompts import SCENARIO_PROMPTS_VERSION
from openreward.synth.scenario_records import ScenarioRow, ScenarioSettings
from openreward.synth.scenario_sift import PromptRow, sift
from openreward.synth.scenarios import Construction
from openreward.synth.writer import Writer

_MOST_SLOTS = 16  # requests at once on the embedded engine


class Plan(NamedTuple):
    """What a run is to do."""

    input: Path
    folder: Path
    engine: EngineFlags
    writers: tuple[WriterChoice, ...]
    weak: WriterChoice
    temperature: float
    labels: tuple[Label, ...]
    settings: ScenarioSettings
    resume: bool
    concurrency: int | None
    limit: int | None
    as_json: bool

    @property
    def rows(self) -> Path:
        """Where rows go."""
        return self.folder / ROWS


@takes
def scenarios(
    input: Annotated[
        Path,
        typer.Argument(
            metavar="PROMPTS",
            help="JSONL, JSON list or Parquet: prompt or query, messages, conversation_input.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where the set goes.")
    ],
    engine: EngineFlags,
    flags: ScenarioFlags,
    writer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TARGET",
            rich_help_panel=WRITING,
            help=f"A model that answers, repeatable: {FORM}. TARGET: engine (of the flags), local, "
            "a URL, MODULE:FACTORY. Several of one engine are named as samples of one.",
        ),
    ] = None,
    writer_temperature: Annotated[
        float, typer.Option(min=0.0, rich_help_panel=WRITING, help="For writers that name none.")
    ] = 0.2,
    weak: Annotated[
        str,
        typer.Option(
            metavar="NAME=TARGET",
            rich_help_panel=SIFTING,
            help="The weak model, whose good answer makes a prompt too easy; as --writer.",
        ),
    ] = "weak=engine,temperature=0",
    labels: Annotated[
        str,
        typer.Option(
            metavar="classes|leaves|FILE",
            rich_help_panel=SIFTING,
            help="RMB's 12 classes or 37 leaves, or rows of your own with label, description.",
        ),
    ] = "classes",
    human: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            rich_help_panel=ITEMS,
            help="What people say of pairs: pair_uid and label (0: chosen, 1: reject, tie) or "
            "winner. May be given later, with --resume.",
        ),
    ] = None,
    resume: o.Resume = False,
    concurrency: o.Concurrency = None,
    limit: o.Limit = None,
    as_json: o.AsJson = False,
) -> None:
    """Build a test set in RMB's format from your own prompts; Ctrl-C stops it, --resume goes on.

    Each prompt: length and language; no duplicate; one scenario in three ballots; not answered
    well by a weak model; answers of several models; five features; scores; pairs.
    """
    writers = read_writers(writer or ())
    if len(writers) < 2:
        raise UserError(
            f"expected at least two --writer (three for best-of-N items), got {len(writers)}; for "
            "samples of one engine: --writer a=engine --writer b=engine,temperature=0.9"
        )
    plan = Plan(
        input=input,
        folder=output,
        engine=engine,
        writers=writers,
        weak=read_writers([weak])[0],
        temperature=writer_temperature,
        labels=read_labels(labels),
        settings=flags.settings(),
        resume=resume,
        concurrency=concurrency,
        limit=limit,
        as_json=as_json,
    )
    if human is not None:
        check_human(human)
    make_folder(output)
    try:
        manifest, errors = asyncio.run(_build(plan))
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; what is done is in {plan.rows}; the same command with --resume goes on"
        ) from None
    summary = finish_set(output, manifest, plan.settings, errors, human)
    show_scenarios(summary, as_json)
    failed = manifest.totals.status.get("error") or manifest.dropped
    raise typer.Exit(SOME_ROWS_FAILED if failed else 0)


async def _build(plan: Plan) -> tuple[Manifest, list[RowError]]:
    rows, data = read_rows(plan.input, PromptRow), describe_file(plan.input)
    choice = plan.engine.choice()
    at_once = plan.concurrency or choice.rows_at_once()
    slots = min(_MOST_SLOTS, at_once * max(3, len(plan.writers)))
    async with AsyncExitStack() as stack:
        policy = await stack.enter_async_context(open_policy(choice, slots))
        tokens = plan.settings.writer_tokens
        weak, *others = await open_writers(
            (plan.weak, *plan.writers),
            choice,
            stack,
            policy=policy,
            slots=slots,
            temperature=plan.temperature,
            max_tokens=tokens,
        )
        writers = name_samples(others)
        construction = Construction(
            judge=Writer(
                policy,
                "judge",
                plan.settings.judge_temperature,
                max_tokens=plan.settings.judge_tokens,
            ),
            weak=weak.writer,
            writers=[each.writer for each in writers],
            labels=plan.labels,
            settings=plan.settings,
        )
        manifest = _manifest(plan, weak, writers, construction, data, at_once)
        kept = stack.enter_context(NearDuplicates(plan.settings.near))
        output = stack.enter_context(
            Output(
                plan.rows,
                ScenarioRow,
                measurer(plan.settings),
                manifest,
                resume=plan.resume,
            )
        )
        progress = stack.enter_context(_Progress(_total(data, plan.limit), plan.as_json))
        await run_rows(
            sift(rows, plan.settings, kept),
            lambda prompt: prompt.id,
            construction.build,
            output,
            progress=progress,
            concurrency=at_once,
            limit=plan.limit,
        )
    return output.manifest("finished"), progress.errors


class _Progress(RunProgress):
    """Keeps what is wrong with input rows, for the list of what was dropped."""

    def __init__(self, total: int | None, as_json: bool) -> None:
        super().__init__(total, as_json, "building")
        self.errors: list[RowError] = []

    def drop(self, error: RowError) -> None:
        """An input row cannot be used."""
        self.errors.append(error)
        super().drop(error)


def _manifest(
    plan: Plan,
    weak: OpenWriter,
    writers: list[OpenWriter],
    construction: Construction,
    data: DataFile,
    at_once: int,
) -> Manifest:
    policy = construction.judge.policy
    config: dict[str, JsonValue] = {
        "model": policy.model,
        "path": policy.path,
        "policy": plan.engine.policy,
        "prompts": SCENARIO_PROMPTS_VERSION,
        "labels": [label.model_dump() for label in plan.labels],
        "weak": weak.config,
        "writers": [each.config for each in writers],
        "settings": plan.settings.model_dump(mode="json", exclude={"seed"}),
    }
    choice = plan.engine.choice()
    addresses = [each.engine(choice).address() for each in (plan.weak, *plan.writers)]
    return Manifest(
        program="synth scenarios",
        state="running",
        config={key: clean(value) for key, value in config.items()},
        setup={
            "endpoint": choice.address(),
            "writers": [*addresses],
            "concurrency": at_once,
            "limit": plan.limit,
        },
        seed=plan.settings.seed,
        versions={"openreward": __version__, "python": platform.python_version()},
        data=data,
    )


def _total(data: DataFile, limit: int | None) -> int | None:
    known = [number for number in (data.lines, limit) if number is not None]
    return min(known, default=None)
