"""`openreward eval longbench-chat`: grades of answers to LongBench-Chat, and their total of 100.

    openreward eval longbench-chat --data cases.json --few-shots few_shots.json -o grades.jsonl

The answers stand as `prediction` in the cases, or in a file of their own (--answers).
"""

from __future__ import annotations

import asyncio
import json
import platform
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import JsonValue

from openreward import __version__
from openreward.batch import Output, run_rows
from openreward.cli import options as o
from openreward.cli.engine import EngineChoice, open_policy
from openreward.cli.flags import EngineFlags, takes
from openreward.cli.progress import RunProgress
from openreward.cli.wording import listed, work_done
from openreward.errors import SOME_ROWS_FAILED, Interrupted, RecordError
from openreward.eval.longbench_chat import (
    AnswerRow,
    CaseRow,
    Grade,
    cases,
    grade,
    measured,
    read_examples,
    total_of,
)
from openreward.loose_json import clean, clean_text
from openreward.printable import one_line
from openreward.records import Row, describe_file, read_jsonl, read_rows
from openreward.resume import Manifest
from openreward.scoring.asking import Asking
from openreward.scoring.prompts import SCORING_VERSION
from openreward.scoring.records import ScoreSettings
from openreward.types import Record, Usage


class GradesSummary(Record):
    """Counts over all cases; `total` is of 100 and there only when every case has a grade."""

    output: str
    cases: int
    outcomes: dict[str, int]
    mean: float | None  # of the grades there are
    total: float | None
    left_out: dict[str, int]
    usage: Usage
    seconds: float
    runs: int


class Plan(NamedTuple):
    """What a run is to do."""

    data: Path
    output: Path
    few_shots: Path | None
    answers: Path | None
    choice: EngineChoice
    seed: int
    resume: bool
    concurrency: int
    as_json: bool


@takes
def longbench_command(
    data: Annotated[
        Path, typer.Option(metavar="FILE", help="Cases: idx, query, answer (the reference).")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="The grades.")],
    engine: EngineFlags,
    few_shots: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Three graded answers a case, a list by idx from 1 on."),
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Rows of idx (id) and answer; else `prediction` of --data."
        ),
    ] = None,
    seed: o.Seed = 0,
    resume: o.Resume = False,
    concurrency: o.Concurrency = None,
    as_json: o.AsJson = False,
) -> None:
    """Grade answers to LongBench-Chat from 1 to 10, beside the reference and graded examples."""
    choice = engine.choice()
    at_once = concurrency or choice.rows_at_once()
    plan = Plan(data, output, few_shots, answers, choice, seed, resume, at_once, as_json)
    try:
        manifest = asyncio.run(_grade(plan))
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; what is done is in {output}; the same command with --resume goes on"
        ) from None
    summary = _summarize(manifest, output)
    if as_json:
        typer.echo(json.dumps(summary.model_dump(mode="json")))
    else:
        typer.echo("\n".join(one_line(line) for line in _lines(summary)))
    raise typer.Exit(SOME_ROWS_FAILED if summary.left_out or summary.outcomes.get("error") else 0)


async def _grade(plan: Plan) -> Manifest:
    data = describe_file(plan.data)
    examples = read_examples(plan.few_shots) if plan.few_shots else []
    answers = _answers(plan.answers) if plan.answers else None
    settings = ScoreSettings(seed=plan.seed, in_flight=plan.concurrency)
    async with open_policy(plan.choice, plan.concurrency) as policy:
        asking = Asking(policy, settings, asyncio.Semaphore(plan.concurrency))
        files = {"few_shots": plan.few_shots, "answers": plan.answers}
        config: dict[str, JsonValue] = {
            "model": policy.model,
            "path": policy.path,
            "policy": plan.choice.plugin,
            "prompts": SCORING_VERSION,
            **{key: describe_file(path).sha256 if path else None for key, path in files.items()},
        }
        manifest = Manifest(
            program="eval longbench-chat",
            state="running",
            config={key: clean(value) for key, value in config.items()},
            setup={"endpoint": plan.choice.address(), "concurrency": plan.concurrency},
            seed=plan.seed,
            versions={"openreward": __version__, "python": platform.python_version()},
            data=data,
        )
        opening = Output(plan.output, Grade, measured, manifest, resume=plan.resume)
        with opening as output, RunProgress(None, plan.as_json, "grading") as progress:
            await run_rows(
                cases(read_rows(plan.data, CaseRow), examples, answers),
                lambda case: case.id,
                lambda case: grade(asking, case),
                output,
                progress=progress,
                concurrency=plan.concurrency,
            )
    return output.manifest("finished")


def _answers(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in read_rows(path, AnswerRow):
        key = row.record.key() if isinstance(row, Row) else None
        text = row.record.text() if isinstance(row, Row) else None
        if key is None or text is None or key in found:
            raise RecordError(
                f"{path}: line {row.line}: expected idx or id, not one again, and answer, got "
                f"{'none of one' if isinstance(row, Row) else row.message}; mend that row"
            )
        found[key] = text
    return found


def _summarize(manifest: Manifest, output: Path) -> GradesSummary:
    rows = [row.record for row in read_jsonl(output, Grade) if isinstance(row, Row)]
    grades = [each.grade for each in rows if each.grade is not None]
    left_out = sum(manifest.dropped.values())
    return GradesSummary(
        output=clean_text(str(output)),
        cases=len(rows) + left_out,
        outcomes=manifest.totals.status,
        mean=round(sum(grades) / len(grades), 4) if grades else None,
        total=total_of(grades, len(rows) + left_out),
        left_out=manifest.dropped,
        usage=manifest.totals.usage,
        seconds=round(manifest.totals.seconds, 3),
        runs=manifest.runs,
    )


def _lines(summary: GradesSummary) -> list[str]:
    total = "none: not every case has a grade" if summary.total is None else f"{summary.total:.1f}"
    mean = "none" if summary.mean is None else f"{summary.mean:.2f}"
    lines = [
        f"{summary.output}: {summary.cases} cases: {listed(summary.outcomes)}",
        f"total of 100: {total}; mean grade {mean}",
        work_done(summary.usage, summary.seconds, summary.runs),
    ]
    if summary.left_out:
        lines.append(f"left out: {listed(summary.left_out)}")
    return lines
