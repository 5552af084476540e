r"""`openreward score`: answers about a long document, each in four dimensions and one reward.

    openreward score --query "Who built it?" --answer "The town." --context-file report.txt
    openreward score answers.jsonl -o scores.jsonl --drop completeness --resume

The shapes of input rows are in openreward/scoring/inputs.py; a row of the output is a `Score`. An
answer without a context is checked with the search tools that --index, --live or --tools name.
"""

from __future__ import annotations

import asyncio
import hashlib
import platform
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from pydantic import JsonValue

from openreward import __version__
from openreward.batch import Output, run_rows
from openreward.cli import options as o
from openreward.cli.engine import EngineChoice, open_policy
from openreward.cli.flags import EngineFlags, checked, takes
from openreward.cli.pair import read_text
from openreward.cli.progress import RunProgress
from openreward.cli.score_flags import ScoreFlags
from openreward.cli.score_summary import measured, show_score, show_summary
from openreward.cli.tools import OpenedTools, TapeChoice, ToolFlags, read_tape
from openreward.errors import SOME_ROWS_FAILED, Interrupted, PolicyError, UserError
from openreward.loose_json import clean, clean_text
from openreward.policy.base import Policy
from openreward.records import describe_file, read_rows
from openreward.resume import JsonlWriter, Manifest
from openreward.scoring.inputs import AnswersRow, AskedAnswer, asked_answers
from openreward.scoring.prompts import SCORING_VERSION
from openreward.scoring.records import Score, ScoreSettings
from openreward.scoring.retrieval import Retriever
from openreward.scoring.scorer import Scorer

STOPPING = ("unreachable", "unauthorized", "unknown_model")


@takes
def command(
    engine: EngineFlags,
    tools: ToolFlags,
    scoring: ScoreFlags,
    input: Annotated[
        Path | None,
        typer.Argument(metavar="[INPUT]", help="Answers: JSONL, JSON list, Parquet."),
    ] = None,
    output: o.Output = None,
    query: Annotated[str | None, typer.Option(help="The question of one answer.")] = None,
    answer: Annotated[str | None, typer.Option(help="The answer.")] = None,
    context: Annotated[
        str | None, typer.Option(help="The document; for rows, of those that have none.")
    ] = None,
    query_file: Annotated[
        str | None, typer.Option(metavar="FILE", help="The same from a file; - is stdin.")
    ] = None,
    answer_file: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    context_file: Annotated[str | None, typer.Option(metavar="FILE")] = None,
    context_field: Annotated[
        str, typer.Option(metavar="NAME", help="The field of a row that holds its document.")
    ] = "context",
    resume: o.Resume = False,
    concurrency: o.Concurrency = None,
    in_flight: Annotated[
        int | None,
        typer.Option(min=1, help="Requests at once. Default: 4 on the embedded engine, else 16."),
    ] = None,
    limit: o.Limit = None,
    as_json: o.AsJson = False,
    tape: o.Tape = None,
    seed: o.Seed = 0,
) -> None:
    """Score answers for helpfulness, logicality, faithfulness and completeness.

    Give one answer by flags, or INPUT and -o. Ctrl-C stops cleanly; --resume goes on.
    """
    choice = engine.choice()
    settings = scoring.settings(in_flight or choice.rows_at_once(), seed)
    document = _document(context, context_file)
    setup = Setup(choice, tools, read_tape(tape), scoring, settings, document)
    if input is None:
        if resume or limit is not None:
            raise UserError("--resume and --limit are for a file of answers; leave them out")
        asked = checked(
            AskedAnswer,
            id="answer",
            query=read_text("query", query, query_file),
            answer=read_text("answer", answer, answer_file),
            context=document,
        )
        _score_one(setup, asked, output, as_json)
        return
    one = (query, answer, query_file, answer_file)
    if output is None:
        raise UserError("expected -o FILE beside INPUT, got none; say where scores go")
    if any(given is not None for given in one):
        raise UserError("expected INPUT or one answer, got both; drop --query and --answer")
    at_once = concurrency or choice.rows_at_once()
    files = Files(input, output, resume, at_once, limit, as_json, context_field)
    try:
        manifest = asyncio.run(_score_file(setup, files))
    except KeyboardInterrupt:
        raise Interrupted(
            f"interrupted; what is done is in {output}; the same command with --resume goes on"
        ) from None
    raise typer.Exit(show_summary(manifest, output, as_json))


class Setup(NamedTuple):
    """What scores, and how."""

    choice: EngineChoice
    tools: ToolFlags
    tape: TapeChoice | None
    flags: ScoreFlags
    settings: ScoreSettings
    document: str | None

    @asynccontextmanager
    async def open(self, searching: bool, resume: bool = False) -> AsyncIterator[Opened]:
        """Engine, retriever, and the tools where they are asked for."""
        async with AsyncExitStack() as stack:
            tools = None
            if searching and not self.tools.no_tools:
                opening = self.tools.open(self.tape, resume=resume)
                tools = await stack.enter_async_context(opening)
            retriever = await stack.enter_async_context(self.flags.retriever())
            slots = self.settings.in_flight
            policy = await stack.enter_async_context(open_policy(self.choice, slots))
            yield Opened(policy, retriever, tools)

    def named_tools(self) -> bool:
        """Whether the flags name something to search."""
        given = (self.tools.index, self.tools.live, self.tools.tools, self.tape)
        return any(given)


class Opened(NamedTuple):
    """What is open."""

    policy: Policy
    retriever: Retriever
    tools: OpenedTools | None

    def scorer(self, settings: ScoreSettings) -> Scorer:
        """The scorer over it."""
        tools = self.tools.tools if self.tools else ()
        tape = self.tools.tape if self.tools else None
        return Scorer(self.policy, tools, settings, self.retriever, tape=tape)

    def config(self, settings: ScoreSettings) -> dict[str, JsonValue]:
        """What scores depend on."""
        return {
            "model": self.policy.model,
            "path": self.policy.path,
            "prompts": SCORING_VERSION,
            "retriever": self.retriever.name,
            "tools": self.tools.config() if self.tools else None,
            "score": settings.model_dump(mode="json", exclude={"seed", "in_flight"}),
        }


class Files(NamedTuple):
    """From where to where, and how a run goes about it."""

    input: Path
    output: Path
    resume: bool
    concurrency: int
    limit: int | None
    as_json: bool
    field: str


def _document(text: str | None, file: str | None) -> str | None:
    if text is None and file is None:
        return None
    document = read_text("context", text, file)
    if document != clean_text(document):
        raise UserError("--context: expected UTF-8, got bytes that are none; give it as a file")
    return document


def _score_one(setup: Setup, asked: AskedAnswer, output: Path | None, as_json: bool) -> None:
    async def run() -> Score:
        async with setup.open(asked.context is None) as opened:
            scorer = opened.scorer(setup.settings)
            return await scorer.score(asked.query, asked.answer, asked.context, id=asked.id)

    if output is not None and output.exists():
        raise UserError(f"{output}: exists already; name another output")
    score = asyncio.run(run())
    if score.fault in STOPPING:
        raise PolicyError(score.fault, score.reason)
    if output is not None:
        with JsonlWriter(output) as writer:
            writer.append(score)
    show_score(score, as_json)
    if score.status == "error":
        raise typer.Exit(SOME_ROWS_FAILED)


async def _score_file(setup: Setup, files: Files) -> Manifest:
    data = describe_file(files.input)
    rows = asked_answers(read_rows(files.input, AnswersRow), setup.document, files.field)
    async with setup.open(setup.named_tools(), files.resume) as opened:
        scorer = opened.scorer(setup.settings)

        async def work(asked: AskedAnswer) -> Score:
            score = await scorer.score(asked.query, asked.answer, asked.context, id=asked.id)
            if score.fault in STOPPING:
                raise PolicyError(score.fault, f"{score.reason}; then go on with --resume")
            return score

        document = None
        if setup.document is not None:
            document = hashlib.sha256(setup.document.encode("utf-8", "replace")).hexdigest()
        config: dict[str, JsonValue] = {
            **opened.config(setup.settings),
            "policy": setup.choice.plugin,
            "document": document,
            "field": files.field,
        }
        manifest = Manifest(
            program="score",
            state="running",
            config={key: clean(value) for key, value in config.items()},
            setup={
                "endpoint": setup.choice.address(),
                "concurrency": files.concurrency,
                "in_flight": setup.settings.in_flight,
                "limit": files.limit,
            },
            seed=setup.settings.seed,
            versions={"openreward": __version__, "python": platform.python_version()},
            data=data,
        )
        opening = Output(files.output, Score, measured, manifest, resume=files.resume)
        with opening as output, RunProgress(None, files.as_json, "scoring", pace=True) as progress:
            await run_rows(
                rows,
                lambda asked: asked.id,
                work,
                output,
                progress=progress,
                concurrency=files.concurrency,
                limit=files.limit,
            )
    return output.manifest("finished")
