"""`openreward eval`: measure judges on a benchmark; compare reports.

    openreward eval pandalm --data testset-v1.json -o runs/pandalm --limit 100
    openreward eval judgebench --data judgebench/ -o runs/jb --baseline no-tools --baseline longer
    openreward eval rmb --data rmb/ -o runs/rmb --predictions saved.jsonl

The folder -o gets report.json, report.md, report.html and one file of predictions a judge. The same
command with --resume asks only what is missing. --max-tokens and --max-minutes end a run with a
report that says it is partial.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from openreward.cli import options as o
from openreward.cli.engine import open_policy
from openreward.cli.eval_compare import compare_command
from openreward.cli.eval_correlate import correlate_command
from openreward.cli.eval_inputs import check_folder, read_principle
from openreward.cli.eval_longbench import longbench_command
from openreward.cli.eval_report import show_report, show_rows, write_report
from openreward.cli.eval_run import (
    NO_TOOLS,
    Contender,
    Run,
    ask,
    control_contender,
    pair_contender,
    plugin_contender,
    read_data,
    report,
    saved_contender,
    score_contender,
    told_apart,
)
from openreward.cli.flags import EngineFlags, TrajectoryFlags, takes
from openreward.cli.result_files import make_folder
from openreward.cli.score_flags import Drop, kept_dimensions
from openreward.cli.tools import ToolFlags, read_tape
from openreward.errors import SOME_ROWS_FAILED, Interrupted, UserError
from openreward.eval.benchmark import Orders
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.judges import CONTROLS
from openreward.eval.report import Report
from openreward.eval.run import Allowance, Plan
from openreward.loose_json import clean_text
from openreward.scoring.records import ScoreSettings

app = typer.Typer(add_completion=False, no_args_is_help=True, rich_markup_mode=None)
MEASURE, RUN = "What is measured", "How the run goes"
SCORE = "score"  # as --judge: the four-dimension score


@app.callback()
def _eval() -> None:
    """Measure judges on benchmarks, and compare reports."""


class Who(NamedTuple):
    """Which judges the flags name."""

    engine: EngineFlags
    tools: ToolFlags
    trajectory: TrajectoryFlags
    predictions: Path | None
    plugin: str | None
    scalar: str | None
    baselines: tuple[str, ...]
    tape: str | None
    name: str | None
    concurrency: int | None
    seed: int
    drop: tuple[str, ...] = ()


@takes
def benchmark_command(
    context: typer.Context,
    data: Annotated[
        str, typer.Option(metavar="PATH|HUB_ID", help="The benchmark's own file or folder.")
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="DIR", help="Folder of report and predictions."),
    ],
    engine: EngineFlags,
    tools: ToolFlags,
    trajectory: TrajectoryFlags,
    predictions: Annotated[
        Path | None,
        typer.Option(metavar="FILE", rich_help_panel=MEASURE, help="Score saved predictions."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            metavar="score|MODULE:FACTORY",
            rich_help_panel=MEASURE,
            help="score: each answer's reward in four dimensions, by the item's context; or your "
            "own judge: of pairs, listwise or pointwise.",
        ),
    ] = None,
    drop: Drop = None,
    scalar: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", rich_help_panel=MEASURE, help="A scalar reward model, by transformers."
        ),
    ] = None,
    baseline: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME|FILE",
            rich_help_panel=MEASURE,
            help=f"Beside it: {NO_TOOLS}, {', '.join(CONTROLS)}, or predictions; repeatable.",
        ),
    ] = None,
    orders: Annotated[
        Orders, typer.Option(rich_help_panel=MEASURE, help="In which orders answers are shown.")
    ] = "both",
    principle: Annotated[
        str | None,
        typer.Option(
            metavar="TEXT|FILE", rich_help_panel=MEASURE, help="A principle to judge by, in words."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, rich_help_panel=RUN, help="A sample of N examples, drawn by the seed."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, rich_help_panel=RUN, help="Of all that is drawn.")
    ] = 0,
    tape: o.Tape = None,
    name: Annotated[
        str | None,
        typer.Option(rich_help_panel=MEASURE, help="What the judge is called in the report."),
    ] = None,
    resume: o.Resume = False,
    concurrency: o.Concurrency = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, rich_help_panel=RUN, help="Stop after so many tokens.")
    ] = None,
    max_minutes: Annotated[
        float | None, typer.Option(min=0, rich_help_panel=RUN, help="Stop after so many minutes.")
    ] = None,
    as_json: o.AsJson = False,
) -> None:
    """Measure a judge on this benchmark; the folder -o gets the report and the predictions."""
    benchmark = BENCHMARKS[str(context.info_name)]
    if name is not None and not name.strip():
        raise UserError("--name: expected a name, got none")
    if drop and judge != SCORE:
        raise UserError("--drop goes with --judge score, got another judge; leave it out")
    if principle is not None and judge == SCORE:
        raise UserError("--judge score knows four dimensions, and no principle; leave one out")
    kept_dimensions(drop)
    by = read_principle(principle)
    plan = Plan(orders=orders, seed=seed, limit=limit, principle=by and clean_text(by))
    source = Path(data) if os.path.exists(data) else data
    check_folder(output, source, resume)
    chosen = read_data(benchmark, source, plan)
    if not as_json:  # the object holds them
        show_rows("left out", chosen.errors, sum(chosen.left_out.values()))
    allowance = Allowance(max_tokens, max_minutes)
    make_folder(output)
    run = Run(benchmark, chosen, plan, output, resume, allowance, as_json)
    baselines = tuple(dict.fromkeys(baseline or ()))
    who = Who(
        engine,
        tools,
        trajectory,
        predictions,
        judge,
        scalar,
        baselines,
        tape,
        name,
        concurrency,
        seed,
        tuple(drop or ()),
    )
    try:
        made = asyncio.run(_measure(run, who))
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; what is answered is in {output}; the same command with --resume goes on"
        ) from None
    write_report(made, output)
    show_report(made, output, as_json)
    failed = any(each.statuses.get("error") for each in made.judges)
    raise typer.Exit(SOME_ROWS_FAILED if made.left_out or made.partial or failed else 0)


app.command("compare")(compare_command)
app.command("correlate")(correlate_command)
app.command("longbench-chat")(longbench_command)
for _name, _benchmark in BENCHMARKS.items():
    app.command(_name, help=f"Measure a judge on {_benchmark.title}.")(benchmark_command)


async def _measure(run: Run, who: Who) -> Report:
    async with AsyncExitStack() as stack:
        measured = await _contenders(run, who, stack)
        for contender in measured:
            await ask(run, contender)
        return report(run, measured)


async def _contenders(run: Run, who: Who, stack: AsyncExitStack) -> list[Contender]:
    """The judge, then the baselines; an engine is opened only where one is asked."""
    mains = {"--predictions": who.predictions, "--judge": who.plugin, "--scalar": who.scalar}
    given = [flag for flag, value in mains.items() if value is not None]
    if len(given) > 1:
        raise UserError(f"expected one judge, got {' and '.join(given)}; drop one")
    found: list[Contender] = []
    if who.plugin == SCORE:
        found.append(await _score_contender(run, who, stack))
    if not given or NO_TOOLS in who.baselines:
        found += await _engine_contenders(run, who, stack, with_main=not given)
    if who.predictions is not None:
        found.insert(0, saved_contender(who.predictions))
    if who.plugin is not None and who.plugin != SCORE:
        found.insert(0, plugin_contender(who.plugin, who.concurrency or 16))
    if who.scalar is not None:
        from openreward.eval.scalar import ScalarJudge

        scalar = Contender("judge", ScalarJudge(who.scalar), {"scalar": who.scalar}, concurrency=1)
        found.insert(0, scalar)
    for name in who.baselines:
        if name in CONTROLS:
            found.append(control_contender(name))
        elif name != NO_TOOLS:
            found.append(saved_contender(Path(name)))
    return told_apart([found[0]._replace(called=who.name), *found[1:]])


async def _engine_contenders(
    run: Run, who: Who, stack: AsyncExitStack, with_main: bool
) -> list[Contender]:
    """The judge over the engine, with tools if it has any, and without them if asked for."""
    choice = who.engine.choice()
    concurrency = who.concurrency or 2 * choice.rows_at_once()  # a question is one trajectory
    opened = None
    if with_main:
        opening = who.tools.open(read_tape(who.tape), resume=run.resume)
        opened = await stack.enter_async_context(opening)
    policy = await stack.enter_async_context(open_policy(choice, concurrency))
    settings = who.trajectory.settings(seed=who.seed, tie=run.benchmark.ties)
    made = [pair_contender("judge", policy, opened, settings, concurrency)] if with_main else []
    if NO_TOOLS in who.baselines:
        made.append(pair_contender(NO_TOOLS, policy, None, settings, concurrency))
    return made


async def _score_contender(run: Run, who: Who, stack: AsyncExitStack) -> Contender:
    """The four-dimension score; with the tools that the flags name, for items without a context."""
    choice = who.engine.choice()
    opened = None
    if who.tools.index or who.tools.live or who.tools.tools or who.tape:
        opening = who.tools.open(read_tape(who.tape), resume=run.resume)
        opened = await stack.enter_async_context(opening)
    settings = ScoreSettings(
        dimensions=kept_dimensions(who.drop), seed=who.seed, in_flight=choice.rows_at_once()
    )
    policy = await stack.enter_async_context(open_policy(choice, settings.in_flight))
    return score_contender(policy, opened, settings, who.concurrency or choice.rows_at_once())
