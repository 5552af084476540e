r"""`openreward synth answers`: several answers to each prompt, to be scored and paired.

    openreward synth answers prompts.jsonl -o answers.jsonl --number 10 \
        --writer policy=https://host/v1,model=NAME,key=VAR

Then a judge's scores, and `openreward synth preferences` makes pairs of them.
"""

from __future__ import annotations

import asyncio
import json
import platform
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import JsonValue

from openreward import __version__
from openreward.batch import Output, run_rows
from openreward.cli import options as o
from openreward.cli.engine import EngineChoice
from openreward.cli.flags import EngineFlags, checked, takes
from openreward.cli.progress import RunProgress
from openreward.cli.writers import FORM, OpenWriter, WriterChoice, open_writers, read_writers
from openreward.errors import SOME_ROWS_FAILED, Interrupted
from openreward.loose_json import clean
from openreward.printable import one_line
from openreward.records import describe_file, read_rows
from openreward.resume import Manifest
from openreward.synth.answer_sampling import (
    AnswerRow,
    AnswerSampling,
    SamplingSettings,
    asked_prompts,
    measured,
)
from openreward.synth.scenario_sift import PromptRow
from openreward.types import Record, Usage

_D = SamplingSettings()
_MOST_SLOTS = 16  # requests at once on the embedded engine


class Plan(NamedTuple):
    """What a run is to do."""

    input: Path
    output: Path
    main: EngineChoice
    writers: tuple[WriterChoice, ...]
    settings: SamplingSettings
    patience: float
    resume: bool
    concurrency: int | None
    limit: int | None
    as_json: bool


class AnswersSummary(Record):
    """Counts over all rows of an output; `seconds` are those of the rows added up."""

    output: str
    prompts: int
    answered: int  # with at least one answer that is ok
    answers: dict[str, int]
    repeated: int  # ok, but word for word another answer to the same prompt
    left_out: dict[str, int]
    usage: Usage
    seconds: float
    runs: int


@takes
def answers(
    input: Annotated[
        Path,
        typer.Argument(
            metavar="PROMPTS",
            help="JSONL, JSON list or Parquet: prompt or query, messages, conversation_input.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where answers go.")
    ],
    engine: EngineFlags,
    writer: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=TARGET",
            help=f"A model that answers, repeatable: {FORM}. TARGET: engine (of the flags), local, "
            "a URL, MODULE:FACTORY. Default: writer=engine.",
        ),
    ] = None,
    number: Annotated[int, typer.Option(min=1, help="Answers of each writer.")] = _D.number,
    temperature: Annotated[
        float, typer.Option(min=0.0, help="For writers that name none.")
    ] = _D.temperature,
    tokens: Annotated[
        int, typer.Option(min=1, help="Tokens of an answer; a longer one is cut, and marked so.")
    ] = _D.tokens,
    instruction: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A system message for the writers.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the sampling.")] = _D.seed,
    patience: Annotated[
        float, typer.Option(min=0.0, help="Seconds to wait for a writer that is down or busy.")
    ] = 300.0,
    resume: o.Resume = False,
    concurrency: o.Concurrency = None,
    limit: o.Limit = None,
    as_json: o.AsJson = False,
) -> None:
    """Sample answers to prompts; Ctrl-C stops it, --resume goes on.

    All answers to a prompt are asked for at once, so --concurrency times --number times the writers
    are in flight.
    """
    settings = checked(
        SamplingSettings,
        seed=seed,
        number=number,
        temperature=temperature,
        tokens=tokens,
        instruction=instruction,
    )
    plan = Plan(
        input=input,
        output=output,
        main=engine.choice(),
        writers=read_writers(writer or ["writer=engine"]),
        settings=settings,
        patience=patience,
        resume=resume,
        concurrency=concurrency,
        limit=limit,
        as_json=as_json,
    )
    try:
        manifest = asyncio.run(_sample(plan))
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; what is done is in {output}; the same command with --resume goes on"
        ) from None
    summary = _summarize(manifest, output)
    if as_json:
        typer.echo(json.dumps(summary.model_dump(mode="json")))
    else:
        typer.echo("\n".join(one_line(line) for line in _lines(summary)))
    failed = summary.answers.get("error") or summary.left_out
    raise typer.Exit(SOME_ROWS_FAILED if failed else 0)


async def _sample(plan: Plan) -> Manifest:
    data = describe_file(plan.input)
    at_once = plan.concurrency or plan.main.rows_at_once()
    async with AsyncExitStack() as stack:
        opened = await open_writers(
            plan.writers,
            plan.main,
            stack,
            slots=min(_MOST_SLOTS, at_once * plan.settings.number),
            temperature=plan.settings.temperature,
            max_tokens=plan.settings.tokens,
        )
        writers = [replace(each.writer, patience=plan.patience) for each in opened]
        manifest = Manifest(
            program="synth answers",
            state="running",
            config=_config(plan, opened),
            setup={
                "endpoint": plan.main.address(),
                "writers": [each.engine(plan.main).address() for each in plan.writers],
                "concurrency": at_once,
                "limit": plan.limit,
            },
            seed=plan.settings.seed,
            versions={"openreward": __version__, "python": platform.python_version()},
            data=data,
        )
        output = stack.enter_context(
            Output(plan.output, AnswerRow, measured, manifest, resume=plan.resume)
        )
        total = min((n for n in (data.lines, plan.limit) if n is not None), default=None)
        progress = stack.enter_context(RunProgress(total, plan.as_json, "answering", pace=True))
        await run_rows(
            asked_prompts(read_rows(plan.input, PromptRow)),
            lambda asked: asked.id,
            AnswerSampling(writers, plan.settings).sample,
            output,
            progress=progress,
            concurrency=at_once,
            limit=plan.limit,
        )
    return output.manifest("finished")


def _config(plan: Plan, opened: list[OpenWriter]) -> dict[str, JsonValue]:
    config: dict[str, JsonValue] = {
        "writers": [each.config for each in opened],
        "settings": plan.settings.model_dump(mode="json", exclude={"seed"}),
    }
    return {key: clean(value) for key, value in config.items()}


def _summarize(manifest: Manifest, output: Path) -> AnswersSummary:
    totals = manifest.totals
    marks = dict(totals.marks)
    repeated = marks.pop("repeated", 0)
    return AnswersSummary(
        output=str(clean(str(output))),
        prompts=totals.rows,
        answered=totals.status.get("answered", 0),
        answers=marks,
        repeated=repeated,
        left_out=manifest.dropped,
        usage=totals.usage,
        seconds=round(totals.seconds, 3),
        runs=manifest.runs,
    )


def _lines(summary: AnswersSummary) -> Iterator[str]:
    listed = ", ".join(f"{count} {status}" for status, count in summary.answers.items())
    yield f"{summary.output}: {summary.answered} of {summary.prompts} prompts have answers"
    yield f"answers: {listed or 'none'}"
    if summary.repeated:
        yield f"{summary.repeated} are word for word another answer to the same prompt"
    if summary.left_out:
        dropped = ", ".join(f"{count} {fault}" for fault, count in summary.left_out.items())
        yield f"rows not done: {dropped}"
    usage = summary.usage
    yield (
        f"{usage.prompt_tokens} tokens read, {usage.completion_tokens} written, "
        f"{summary.seconds:.1f} s of work in {summary.runs} run" + "s" * (summary.runs != 1)
    )
