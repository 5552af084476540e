"""`openreward synth trajectories`: labelled pairs in, warm-start trajectories for training out.

    openreward synth trajectories pairs/train.jsonl -o warm.jsonl --teacher oracle
    openreward synth trajectories pairs/train.jsonl -o warm.jsonl --teacher engine \
        --endpoint URL --model NAME --samples 4 --temperature 0.8

A row of the output is a `TrainingTrajectory`: messages and tools as a chat template takes them. The
data is written when all is done; on the way everything is in OUT.rows.jsonl, which --resume goes on
with. OUT.dropped.jsonl names what was dropped and why, OUT.summary.json counts it.
"""

from __future__ import annotations

import asyncio
import os
import platform
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import typer
from pydantic import JsonValue

from openreward import __version__
from openreward.batch import Output, run_rows
from openreward.cli import options as o
from openreward.cli.engine import EngineChoice, open_policy
from openreward.cli.flags import EngineFlags, TrajectoryFlags, takes
from openreward.cli.progress import RunProgress
from openreward.cli.tools import OpenedTools, TapeChoice, ToolFlags, read_tape
from openreward.cli.trajectory_summary import (
    Files,
    finish_trajectories,
    measure,
    show_trajectories,
)
from openreward.errors import SOME_ROWS_FAILED, Interrupted, RecordError, UserError
from openreward.inputs import PairRow
from openreward.loose_json import clean
from openreward.policy.base import Policy, ToolStyle
from openreward.prompts import PROMPTS_VERSION
from openreward.records import DataFile, RowError, describe_file, read_rows
from openreward.resume import Manifest
from openreward.synth.oracle import ORACLE_VERSION
from openreward.synth.trajectories import Teaching, TeachingSettings
from openreward.synth.trajectory_records import PairTrajectories
from openreward.types import Pair

_AT_ONCE = 8  # pairs of the oracle, which waits for nothing but searches
_MOST_SLOTS = 16  # requests at once on the embedded engine


class Plan(NamedTuple):
    """What a run is to do; `choice` is None for the oracle."""

    input: Path
    files: Files
    choice: EngineChoice | None
    tools: ToolFlags
    tape: TapeChoice | None
    settings: TeachingSettings
    resume: bool
    concurrency: int
    limit: int | None
    as_json: bool


@takes
def trajectories(
    input: Annotated[
        Path,
        typer.Argument(metavar="PAIRS", help="Labelled pairs: JSONL, JSON list, Parquet."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT.jsonl", help="Where the data goes.")
    ],
    teacher: Annotated[
        Literal["oracle", "engine"],
        typer.Option(
            help="oracle: no model; searches in the question's words and is told the verdict. "
            "engine: the model of the flags; kept is what it gets right with a search."
        ),
    ],
    engine: EngineFlags,
    tools: ToolFlags,
    trajectory: TrajectoryFlags,
    samples: Annotated[
        int, typer.Option(min=1, max=1000, help="Trajectories a pair, of each order shown.")
    ] = 1,
    orders: o.Orders = "one",
    source: Annotated[
        str | None, typer.Option(metavar="NAME", help="Of pairs that name none.")
    ] = None,
    tool_style: Annotated[
        Literal["template", "prompt"] | None,
        typer.Option(
            help="The oracle's: template, for chat templates that take tools (default), or "
            "prompt, for those that do not."
        ),
    ] = None,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Write the engine's token ids and their mask, too.")
    ] = False,
    tie: o.Tie = False,
    seed: o.Seed = 0,
    tape: o.Tape = None,
    resume: o.Resume = False,
    concurrency: o.Concurrency = None,
    limit: o.Limit = None,
    as_json: o.AsJson = False,
) -> None:
    """Make trajectories for a warm start; Ctrl-C stops it, --resume goes on.

    A teacher judges each pair with the search tools. Kept is what ends in the pair's label and
    found passages with the tool of the pair's source; the rest is counted by reason.
    """
    judge = trajectory.settings(orders=orders, tie=tie, seed=seed)
    files = _files(output)
    if tools.no_tools:
        raise UserError("--no-tools: expected tools, for searches are what is taught; leave it out")
    choice = _choice(teacher, engine, tool_style, tokens)
    style: ToolStyle = tool_style or "template"
    plan = Plan(
        input=input,
        files=files,
        choice=choice,
        tools=tools,
        tape=read_tape(tape),
        settings=TeachingSettings(
            teacher=teacher,
            samples=samples,
            source=source,
            tool_style=style,
            tokens=tokens,
            judge=judge,
        ),
        resume=resume,
        concurrency=concurrency or (choice.rows_at_once() if choice else _AT_ONCE),
        limit=limit,
        as_json=as_json,
    )
    try:
        manifest, errors = asyncio.run(_teach(plan))
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; what is done is in {files.rows}; the same command with --resume goes on"
        ) from None
    show_trajectories(finish_trajectories(files, manifest, errors), as_json)
    raise typer.Exit(SOME_ROWS_FAILED if manifest.dropped else 0)


def _files(output: Path) -> Files:
    """Where things go; data that is not this program's is not written over."""
    if output.suffix != ".jsonl":
        raise UserError(f"-o {output}: expected a name that ends in .jsonl, got another")
    files = Files(output)
    if os.path.lexists(files.rows):
        return files
    for path in (files.data, files.dropped, files.summary):
        if os.path.lexists(path):
            raise RecordError(
                f"{path}: exists already, without {files.rows.name} beside it, which it would be "
                "made from; name another output"
            )
    return files


def _choice(
    teacher: str, engine: EngineFlags, tool_style: str | None, tokens: bool
) -> EngineChoice | None:
    """The engine, if it teaches; flags that would do nothing are refused."""
    if teacher == "engine":
        if tool_style is not None:
            raise UserError("--tool-style is the oracle's, an engine has its own; leave it out")
        return engine.choice()
    if engine != EngineFlags():
        raise UserError(
            "--teacher oracle asks no model, got a flag of an engine; leave that out, or take "
            "--teacher engine"
        )
    if tokens:
        raise UserError("--tokens: the oracle has no token ids; leave it out")
    return None


async def _teach(plan: Plan) -> tuple[Manifest, list[RowError]]:
    rows, data = read_rows(plan.input, PairRow), describe_file(plan.input)
    async with AsyncExitStack() as stack:
        tools = await stack.enter_async_context(plan.tools.open(plan.tape, resume=plan.resume))
        policy = None
        if plan.choice is not None:
            slots = min(_MOST_SLOTS, plan.concurrency * plan.settings.samples)
            policy = await stack.enter_async_context(open_policy(plan.choice, slots))
            if plan.settings.tokens and policy.path == "chat":
                raise UserError("--tokens: expected the token path, got --chat or a chat engine")
        teaching = Teaching(policy, tools.tools, plan.settings, tools.tape)
        manifest = _manifest(plan, policy, tools, data)
        opened = Output(plan.files.rows, PairTrajectories, measure, manifest, resume=plan.resume)
        output = stack.enter_context(opened)
        progress = stack.enter_context(_Progress(_total(data, plan.limit), plan.as_json))
        await run_rows(
            rows,
            _id_of,
            teaching.teach,
            output,
            progress=progress,
            concurrency=plan.concurrency,
            limit=plan.limit,
        )
    return output.manifest("finished"), progress.errors


class _Progress(RunProgress):
    """Keeps what is wrong with input rows, for the list of what was dropped."""

    def __init__(self, total: int | None, as_json: bool) -> None:
        super().__init__(total, as_json, "teaching", pace=True)
        self.errors: list[RowError] = []

    def drop(self, error: RowError) -> None:
        """An input row gave nothing."""
        self.errors.append(error)
        super().drop(error)


def _id_of(pair: Pair) -> str:
    return pair.id


def _manifest(plan: Plan, policy: Policy | None, tools: OpenedTools, data: DataFile) -> Manifest:
    settings = plan.settings.model_dump(mode="json", exclude={"judge": {"seed"}})
    config: dict[str, JsonValue] = {
        "model": policy.model if policy else "oracle",
        "path": policy.path if policy else "token",
        "policy": plan.choice.plugin if plan.choice else None,
        "prompts": PROMPTS_VERSION,
        "oracle": None if policy else ORACLE_VERSION,
        **tools.config(),
        "settings": settings,
    }
    return Manifest(
        program="synth trajectories",
        state="running",
        config={key: clean(value) for key, value in config.items()},
        setup={
            "endpoint": plan.choice.address() if plan.choice else None,
            "concurrency": plan.concurrency,
            "limit": plan.limit,
        },
        seed=plan.settings.judge.seed,
        versions={"openreward": __version__, "python": platform.python_version()},
        data=data,
    )


def _total(data: DataFile, limit: int | None) -> int | None:
    known = [number for number in (data.lines, limit) if number is not None]
    return min(known, default=None)
