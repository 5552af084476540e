"""`openreward synth preferences --by`: sampled answers get scores first, resumable, in a file.

The file (pairs.scores.jsonl beside pairs.jsonl) holds rows that `--scores` takes as well, so pairs
by another rule need no judge again.
"""

from __future__ import annotations

import asyncio
import platform
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import JsonValue

from openreward import __version__
from openreward.batch import Output, run_rows
from openreward.cli.engine import EngineChoice, open_policy
from openreward.cli.flags import EngineFlags, TrajectoryFlags, in_panel
from openreward.cli.progress import RunProgress
from openreward.cli.score_flags import ScoreFlags
from openreward.cli.tools import OpenedTools, ToolFlags
from openreward.errors import Interrupted, UserError
from openreward.judge import Judge
from openreward.loose_json import clean
from openreward.prompts import PROMPTS_VERSION
from openreward.records import RowError, describe_file, read_rows
from openreward.resume import Manifest
from openreward.scoring.prompts import SCORING_VERSION
from openreward.scoring.scorer import Scorer
from openreward.synth.answer_scores import (
    AnswerJudge,
    AnswerScores,
    By,
    Contrast,
    Games,
    LongRewards,
    PointScores,
    measured,
    score_answers,
)
from openreward.synth.scored_answers import ScoredRow

_by = in_panel("Who scores")


@dataclass(frozen=True)
class ByFlags:
    """Who scores the answers, where they have no scores yet."""

    by: Annotated[
        By | None,
        _by(
            "longreward: four dimensions by the row's context; scalar: a reward model; judge: "
            "games of a judge of pairs; contrast: a strong writer's answers are the better ones."
        ),
    ] = None
    scalar: Annotated[str | None, _by("The reward model of scalar, by transformers.")] = None
    strong: Annotated[str | None, _by("The writer whose answers contrast takes as better.")] = None
    rounds: Annotated[
        int | None, _by("Games of each answer, for judge. Default: one against every other.")
    ] = None

    def __post_init__(self) -> None:
        given = {"scalar": self.scalar, "strong": self.strong, "rounds": self.rounds}
        wanted = {"scalar": "scalar", "strong": "contrast", "rounds": "judge"}
        for flag, value in given.items():
            if value is not None and self.by != wanted[flag]:
                raise UserError(f"--{flag} goes with --by {wanted[flag]}, got {self.by}")
        if self.by == "scalar" and not self.scalar:
            raise UserError("--by scalar: expected --scalar MODEL beside it, got none")
        if self.by == "contrast" and not self.strong:
            raise UserError("--by contrast: expected --strong NAME, a writer, got none")
        if self.rounds is not None and self.rounds < 1:
            raise UserError(f"--rounds: expected at least 1, got {self.rounds}")


class ScorePlan(NamedTuple):
    """What a run is to do."""

    input: Path
    output: Path  # of the scores
    flags: ByFlags
    engine: EngineFlags
    tools: ToolFlags
    trajectory: TrajectoryFlags
    scoring: ScoreFlags
    seed: int
    resume: bool
    concurrency: int | None
    as_json: bool


class _Open(NamedTuple):
    judge: AnswerJudge
    config: dict[str, JsonValue]
    at_once: int


def write_scores(plan: ScorePlan) -> Manifest:
    """Score all rows that have no scores yet."""
    try:
        return asyncio.run(_score(plan))
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; the scores so far are in {plan.output}; the same command with --resume "
            "goes on"
        ) from None


async def _score(plan: ScorePlan) -> Manifest:
    data = describe_file(plan.input)
    async with _opened(plan) as opened:
        manifest = Manifest(
            program="synth preferences",
            state="running",
            config={key: clean(value) for key, value in opened.config.items()},
            setup={"concurrency": opened.at_once},
            seed=plan.seed,
            versions={"openreward": __version__, "python": platform.python_version()},
            data=data,
        )
        opening = Output(plan.output, AnswerScores, measured, manifest, resume=plan.resume)
        with opening as output, _Quiet(data.lines, plan.as_json, "scoring", pace=True) as progress:
            await run_rows(
                read_rows(plan.input, ScoredRow),
                lambda row: row.key(),
                lambda row: score_answers(opened.judge, row),
                output,
                progress=progress,
                concurrency=opened.at_once,
            )
    return output.manifest("finished")


class _Quiet(RunProgress):
    def drop(self, error: RowError) -> None:
        """A row that cannot be used is told when pairs are made; one not done is told here."""
        if error.fault == "not_done":
            super().drop(error)


@asynccontextmanager
async def _opened(plan: ScorePlan) -> AsyncIterator[_Open]:
    """Who scores, and what it depends on."""
    flags = plan.flags
    if flags.strong is not None:
        yield _Open(Contrast(flags.strong), {"by": flags.by, "strong": flags.strong}, 16)
        return
    if flags.scalar is not None:
        from openreward.eval.scalar import ScalarJudge

        judge = PointScores(ScalarJudge(flags.scalar))
        yield _Open(judge, {"by": flags.by, "scalar": flags.scalar}, 1)
        return
    choice = plan.engine.choice()
    at_once = plan.concurrency or choice.rows_at_once()
    async with AsyncExitStack() as stack:
        opening = _longreward if flags.by == "longreward" else _games
        judged, config = await opening(plan, choice, at_once, stack)
        yield _Open(judged, {"by": flags.by, "policy": choice.plugin, **config}, at_once)


async def _longreward(
    plan: ScorePlan, choice: EngineChoice, at_once: int, stack: AsyncExitStack
) -> tuple[AnswerJudge, dict[str, JsonValue]]:
    tools = None
    if plan.tools.index or plan.tools.live or plan.tools.tools:
        tools = await stack.enter_async_context(plan.tools.open())
    settings = plan.scoring.settings(choice.rows_at_once(), plan.seed)
    retriever = await stack.enter_async_context(plan.scoring.retriever())
    policy = await stack.enter_async_context(open_policy(choice, settings.in_flight))
    scorer = Scorer(policy, tools.tools if tools else (), settings, retriever)
    config: dict[str, JsonValue] = {
        "model": policy.model,
        "path": policy.path,
        "prompts": SCORING_VERSION,
        "retriever": retriever.name,
        "tools": tools.config() if tools else None,
        "score": settings.model_dump(mode="json", exclude={"seed", "in_flight"}),
    }
    return LongRewards(scorer), config


async def _games(
    plan: ScorePlan, choice: EngineChoice, at_once: int, stack: AsyncExitStack
) -> tuple[AnswerJudge, dict[str, JsonValue]]:
    opened: OpenedTools = await stack.enter_async_context(plan.tools.open())
    settings = plan.trajectory.settings(seed=plan.seed, tie=True)
    policy = await stack.enter_async_context(open_policy(choice, settings.trajectories * at_once))
    config: dict[str, JsonValue] = {
        "model": policy.model,
        "path": policy.path,
        "prompts": PROMPTS_VERSION,
        "tools": opened.config(),
        "judge": settings.model_dump(mode="json", exclude={"seed"}),
        "rounds": plan.flags.rounds,
    }
    return Games(Judge(policy, opened.tools, settings), plan.flags.rounds), config
