"""A run of `openreward eval`: who is measured, the asking, and the files it leaves."""

from __future__ import annotations

import hashlib
import platform
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pydantic import JsonValue

from openreward import __version__
from openreward.batch import Output
from openreward.cli.eval_plugin import load_judge
from openreward.cli.progress import RunProgress
from openreward.cli.tools import OpenedTools
from openreward.errors import UserError, shorten
from openreward.eval.benchmark import Benchmark, Prediction
from openreward.eval.build import judge_report, read_sheet
from openreward.eval.judges import CONTROLS, Control, MeasuredJudge, PairJudge
from openreward.eval.report import JudgeReport, Report
from openreward.eval.run import (
    Allowance,
    Plan,
    Rows,
    Sample,
    describe_source,
    measure,
    put,
    questions,
    select,
    take_sample,
)
from openreward.eval.score_judge import ScoreJudge
from openreward.eval.sheet import KEPT_ERRORS
from openreward.judge import Judge, JudgeSettings
from openreward.loose_json import clean, clean_text
from openreward.policy.base import Policy
from openreward.prompts import PROMPTS_VERSION
from openreward.records import DataFile, Row, RowError, check_readable_twice
from openreward.resume import Manifest
from openreward.scoring.prompts import SCORING_VERSION
from openreward.scoring.records import DIMENSIONS, ScoreSettings
from openreward.scoring.scorer import Scorer

NO_TOOLS = "no-tools"


class Contender(NamedTuple):
    """Who is measured: a judge that is asked, or a file of predictions; `slug` names its file."""

    slug: str
    judge: MeasuredJudge | None
    config: Mapping[str, JsonValue]
    saved: Path | None = None
    concurrency: int = 64
    called: str | None = None  # in the report, instead of the judge's own name

    @property
    def name(self) -> str:
        """What it is called in the report."""
        if self.called is not None:
            return self.called
        return self.judge.name if self.judge else self.saved.stem if self.saved else self.slug


class Data(NamedTuple):
    """The benchmark's data as one run takes it."""

    source: Path | str
    file: DataFile
    sample: Sample
    left_out: dict[str, int]
    errors: tuple[RowError, ...]

    def rows(self, benchmark: Benchmark) -> Rows:
        """The examples of the sample, read anew."""
        return select(benchmark.load(self.source), self.sample)


class Run(NamedTuple):
    """What is put to every contender, and where it goes."""

    benchmark: Benchmark
    data: Data
    plan: Plan
    folder: Path
    resume: bool
    allowance: Allowance
    as_json: bool


def read_data(benchmark: Benchmark, source: Path | str, plan: Plan) -> Data:
    """Read the data once: which examples are asked about, and which rows cannot be used."""
    errors: list[RowError] = []
    left_out: dict[str, int] = {}
    digest = hashlib.sha256()
    if isinstance(source, Path):
        check_readable_twice(source)

    def rows() -> Rows:
        for row in benchmark.load(source):
            if isinstance(row, Row):
                digest.update(row.record.model_dump_json().encode("utf-8", "replace"))
            else:
                left_out[row.fault] = left_out.get(row.fault, 0) + 1
                if len(errors) < KEPT_ERRORS:
                    errors.append(row)
            yield row

    sample = take_sample(rows(), plan)
    if not sample.examples:
        first = f"; the first: {errors[0].message}" if errors else ""
        raise UserError(
            f"{source}: expected examples of {benchmark.name}, got none that can be read{first}"
        )
    if isinstance(source, Path):
        file = describe_source(source)
    else:  # of the hub: what was read is all there is to describe
        file = DataFile(path=clean_text(source), sha256=digest.hexdigest(), bytes=0)
    return Data(source, file, sample, left_out, tuple(errors))


def pair_contender(
    slug: str,
    policy: Policy,
    opened: OpenedTools | None,
    settings: JudgeSettings,
    concurrency: int,
) -> Contender:
    """The judge of pairs over an engine, with its tools or without."""
    tools = opened.tools if opened else []
    name = policy.model if tools else f"{policy.model}, no tools"
    config: dict[str, JsonValue] = {
        "model": policy.model,
        "path": policy.path,
        "prompts": PROMPTS_VERSION,
        "tools": opened.config() if opened else {},
        "judge": settings.model_dump(mode="json", exclude={"seed", "orders", "votes"}),
    }
    judge = PairJudge(Judge(policy, tools, settings, tape=opened.tape if opened else None), name)
    cleaned = {key: clean(value) for key, value in config.items()}
    return Contender(slug, judge, cleaned, concurrency=concurrency)


def score_contender(
    policy: Policy,
    opened: OpenedTools | None,
    settings: ScoreSettings,
    concurrency: int,
) -> Contender:
    """The four-dimension score over an engine; tools are for items without a context."""
    tools = opened.tools if opened else []
    kept = settings.dimensions
    dropped = [name for name in DIMENSIONS if name not in kept]
    name = f"{policy.model}, score" + (f" without {' and '.join(dropped)}" if dropped else "")
    config: dict[str, JsonValue] = {
        "model": policy.model,
        "path": policy.path,
        "prompts": SCORING_VERSION,
        "tools": opened.config() if opened else {},
        "score": settings.model_dump(mode="json", exclude={"seed", "in_flight"}),
    }
    tape = opened.tape if opened else None
    judge = ScoreJudge(Scorer(policy, tools, settings, tape=tape), name)
    cleaned = {key: clean(value) for key, value in config.items()}
    return Contender("judge", judge, cleaned, concurrency=concurrency)


def control_contender(name: str) -> Contender:
    """One of the judges that know nothing."""
    return Contender(name, CONTROLS[name], {"control": name})


def plugin_contender(spec: str, concurrency: int) -> Contender:
    """The user's own judge."""
    return Contender("judge", load_judge(spec), {"plugin": spec}, concurrency=concurrency)


def saved_contender(path: Path) -> Contender:
    """Predictions in a file, ours or as others released them."""
    if not path.is_file():
        names = ", ".join([NO_TOOLS, *CONTROLS])
        raise UserError(
            f"expected a file of predictions (or as a baseline one of {names}), got "
            f"{shorten(str(path))}, which is no file"
        )
    return Contender(path.stem, None, {"predictions": str(path)}, saved=path)


def told_apart(contenders: list[Contender]) -> list[Contender]:
    """Files of one name in two folders are called by their whole paths."""
    names = Counter(each.name for each in contenders)
    return [
        each._replace(called=str(each.saved))
        if each.saved is not None and each.called is None and names[each.name] > 1
        else each
        for each in contenders
    ]


class _Asking(RunProgress):
    def drop(self, error: RowError) -> None:
        """Rows left out are the same for every judge: they were told when the data was read."""


async def ask(run: Run, contender: Contender) -> None:
    """Put the benchmark's questions to a judge; its predictions go to a file of its own."""
    judge = contender.judge
    if judge is None:
        return
    output = predictions_path(run.folder, contender)
    opened = Output(output, Prediction, measure, _manifest(run, contender), resume=run.resume)
    asked = questions(run.data.rows(run.benchmark), run.benchmark, judge.kind, run.plan)
    total = sum(isinstance(row, Row) for row in asked)
    allowance = Allowance() if isinstance(judge, Control) else run.allowance  # that is free
    with opened as rows, _Asking(total, run.as_json, judge.name) as progress:
        await put(
            questions(run.data.rows(run.benchmark), run.benchmark, judge.kind, run.plan),
            run.benchmark,
            judge,
            run.plan,
            rows,
            allowance,
            progress=progress,
            concurrency=contender.concurrency,
        )


def report(run: Run, measured: list[Contender]) -> Report:
    """The report over what the files of predictions hold."""
    judges = tuple(_judge_report(run, contender) for contender in measured)
    missing = sum(judge.missing for judge in judges)
    if all(judge.kind == "saved" for judge in judges if judge.missing):
        why = "the saved predictions hold none"
    else:
        why = run.allowance.spent or "the run was stopped"
    return Report(
        benchmark=run.benchmark.name,
        data=run.data.file,
        plan=run.plan,
        examples=run.data.sample.examples,
        left_out=run.data.left_out,
        errors=run.data.errors,
        partial=f"{missing} questions have no answer: {why}" if missing else "",
        judges=judges,
        versions=_versions(),
    )


def predictions_path(folder: Path, contender: Contender) -> Path:
    """Where a contender's predictions lie."""
    return contender.saved or folder / f"{contender.slug}.predictions.jsonl"


def _judge_report(run: Run, contender: Contender) -> JudgeReport:
    path = predictions_path(run.folder, contender)
    judged = read_sheet(run.benchmark, run.data.rows(run.benchmark), path, run.plan)
    kind = contender.judge.kind if contender.judge else "saved"
    config = {key: clean(value) for key, value in contender.config.items()}
    return judge_report(
        judged,
        run.benchmark,
        run.plan,
        clean_text(contender.name),
        kind,
        config,
        clean_text(path.name),
    )


def _manifest(run: Run, contender: Contender) -> Manifest:
    plan = run.plan.model_dump(mode="json", exclude={"seed"})
    config = {key: clean(value) for key, value in contender.config.items()}
    return Manifest(
        program="eval",
        state="running",
        config={"benchmark": run.benchmark.name, "plan": plan, **config},
        setup={"concurrency": contender.concurrency},
        seed=run.plan.seed,
        versions=_versions(),
        data=run.data.file,
    )


def _versions() -> dict[str, str]:
    return {"openreward": __version__, "python": platform.python_version()}
