"""`openreward judge`: one pair from flags, or a file of pairs to a file of judgments.

    openreward judge --query "Who was Ada Lovelace?" --a "A mathematician." --b "A singer."
    openreward judge pairs.jsonl -o judgments.jsonl --resume

The shapes of input rows are in openreward/inputs.py. A row of the output is a `Judgment`; its `id`
is the input's, or a hash of the pair where the input has none. A fault that every row would share
(server not reachable, key or model name wrong) stops the run and is not written, so that --resume
does those rows again; any other is a row with status `error`.
"""

from __future__ import annotations

import asyncio
import platform
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import JsonValue

from openreward import __version__
from openreward.batch import Output, run_rows
from openreward.cli import options as o
from openreward.cli.engine import EngineChoice, open_policy
from openreward.cli.flags import EngineFlags, TrajectoryFlags, takes
from openreward.cli.measure import measure
from openreward.cli.pair import PairFlags, read_pair, show_judgment
from openreward.cli.progress import RunProgress
from openreward.cli.summary import show_summary
from openreward.cli.tools import OpenedTools, TapeChoice, ToolFlags, read_tape
from openreward.errors import SOME_ROWS_FAILED, Interrupted, PolicyError, UserError
from openreward.inputs import PairRow
from openreward.judge import Judge, JudgeSettings
from openreward.loose_json import clean
from openreward.policy.base import Policy
from openreward.prompts import PROMPTS_VERSION
from openreward.records import DataFile, describe_file, read_rows
from openreward.resume import JsonlWriter, Manifest
from openreward.types import Judgment, Pair

STOPPING = ("unreachable", "unauthorized", "unknown_model")
DEFAULTS = JudgeSettings()


@takes
def command(
    engine: EngineFlags,
    tools: ToolFlags,
    trajectory: TrajectoryFlags,
    input: Annotated[
        Path | None, typer.Argument(metavar="[INPUT]", help="Pairs: JSONL, JSON list, Parquet.")
    ] = None,
    output: o.Output = None,
    query: Annotated[str | None, typer.Option(help="The question of one pair.")] = None,
    a: Annotated[str | None, typer.Option(help="Its first answer.")] = None,
    b: Annotated[str | None, typer.Option(help="Its second answer.")] = None,
    query_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="The same from a file; - is stdin.")
    ] = None,
    a_file: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    b_file: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    resume: o.Resume = False,
    concurrency: o.Concurrency = None,
    limit: o.Limit = None,
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Keep token ids and logprobs in the trajectories.")
    ] = False,
    as_json: o.AsJson = False,
    tape: o.Tape = None,
    orders: o.Orders = DEFAULTS.orders,
    votes: o.Votes = DEFAULTS.votes,
    tie: o.Tie = DEFAULTS.tie,
    seed: o.Seed = DEFAULTS.seed,
    principle: o.Principle = None,
) -> None:
    """Judge which of two answers is better, with evidence looked up.

    Give one pair by flags, or INPUT and -o. Ctrl-C stops cleanly; --resume goes on.
    """
    settings = trajectory.settings(
        orders=orders, votes=votes, tie=tie, seed=seed, principle=principle
    )
    given = PairFlags((query, query_file), (a, a_file), (b, b_file))
    choice = engine.choice()
    setup = Setup(choice, tools, read_tape(tape), settings, tokens)
    if input is None:
        if resume or limit is not None:
            raise UserError("--resume and --limit are for a file of pairs; leave them out")
        _judge_one(setup, read_pair(given), output, as_json)
        return
    if output is None or given.any():
        if output is None:
            raise UserError("expected -o FILE beside INPUT, got none; say where judgments go")
        raise UserError("expected INPUT or a pair, got both; drop INPUT, or --query, --a and --b")
    files = Files(input, output, resume, concurrency or choice.rows_at_once(), limit, as_json)
    try:
        manifest = asyncio.run(_judge_file(setup, files))
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; what is done is in {output}; the same command with --resume goes on"
        ) from None
    raise typer.Exit(show_summary(manifest, output, as_json))


class Setup(NamedTuple):
    """What judges, and how."""

    choice: EngineChoice
    tools: ToolFlags
    tape: TapeChoice | None
    settings: JudgeSettings
    tokens: bool

    def judge(self, policy: Policy, opened: OpenedTools) -> Judge:
        """The judge over an engine and tools that are open."""
        return Judge(policy, opened.tools, self.settings, tape=opened.tape)

    def manifest(
        self, policy: Policy, opened: OpenedTools, data: DataFile, files: Files
    ) -> Manifest:
        """The manifest of a run about to begin. What may change between runs is in its `setup`."""
        config: dict[str, JsonValue] = {
            "model": policy.model,
            "path": policy.path,
            "policy": self.choice.plugin,
            "prompts": PROMPTS_VERSION,
            **opened.config(),
            "tokens": self.tokens,
            "judge": self.settings.model_dump(mode="json", exclude={"seed"}),
        }
        return Manifest(
            program="judge",
            state="running",
            config={key: clean(value) for key, value in config.items()},
            setup={
                "endpoint": self.choice.address(),
                "concurrency": files.concurrency,
                "limit": files.limit,
            },
            seed=self.settings.seed,
            versions={"openreward": __version__, "python": platform.python_version()},
            data=data,
        )


class Files(NamedTuple):
    """From where to where, and how a run goes about it."""

    input: Path
    output: Path
    resume: bool
    concurrency: int
    limit: int | None
    as_json: bool


def _judge_one(setup: Setup, pair: Pair, output: Path | None, as_json: bool) -> None:
    with ExitStack() as undo, JsonlWriter(output) if output else nullcontext() as writer:
        if output is not None:
            undo.callback(output.unlink)  # of a run that came to nothing nothing stays
        judgment = asyncio.run(_judge_pair(setup, pair))
        if judgment.fault in STOPPING:
            raise PolicyError(judgment.fault, judgment.reason)
        undo.pop_all()
        if writer is not None:
            writer.append(judgment)
    if judgment.fault is not None:
        raise PolicyError(judgment.fault, judgment.reason)
    show_judgment(judgment, as_json)
    if judgment.status == "error":
        raise typer.Exit(SOME_ROWS_FAILED)


async def _judge_pair(setup: Setup, pair: Pair) -> Judgment:
    async with (
        setup.tools.open(setup.tape) as opened,
        open_policy(setup.choice, setup.settings.trajectories) as policy,
    ):
        judgment = await setup.judge(policy, opened).judge(pair)
    return judgment if setup.tokens else without_tokens(judgment)


async def _judge_file(setup: Setup, files: Files) -> Manifest:
    rows, data = read_rows(files.input, PairRow), describe_file(files.input)
    at_once = setup.settings.trajectories * files.concurrency
    async with (
        setup.tools.open(setup.tape, resume=files.resume) as tools,
        open_policy(setup.choice, at_once) as policy,
    ):
        judge = setup.judge(policy, tools)

        async def work(pair: Pair) -> Judgment:
            judgment = await judge.judge(pair)
            if judgment.fault in STOPPING:
                raise PolicyError(judgment.fault, f"{judgment.reason}; then go on with --resume")
            return judgment if setup.tokens else without_tokens(judgment)

        manifest = setup.manifest(policy, tools, data, files)
        opened = Output(files.output, Judgment, measure, manifest, resume=files.resume)
        with opened as output, RunProgress(_total(data, files.limit), files.as_json) as progress:
            await run_rows(
                rows,
                lambda pair: pair.id,
                work,
                output,
                progress=progress,
                concurrency=files.concurrency,
                limit=files.limit,
            )
    return output.manifest("finished")


def _total(data: DataFile, limit: int | None) -> int | None:
    known = [number for number in (data.lines, limit) if number is not None]
    return min(known, default=None)


def without_tokens(judgment: Judgment) -> Judgment:
    """The same judgment, its trajectories without ids and logprobs."""
    votes = tuple(
        vote.model_copy(update={"trajectory": vote.trajectory.without_tokens()})
        for vote in judgment.votes
    )
    return judgment.model_copy(update={"votes": votes})
