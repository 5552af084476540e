"""Held-out pairs while a model is trained: the benchmark `pairs`, through the evaluation's code.

Greedy, in both orders, and without a grammar on the last turn: what cannot be read counts as wrong,
so that the numbers show the form as well. Predictions and report of a step lie in a folder of its.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from openreward import __version__
from openreward.batch import Output
from openreward.errors import UserError
from openreward.eval.benchmark import Number, Prediction
from openreward.eval.build import judge_report, read_sheet
from openreward.eval.judges import PairJudge
from openreward.eval.pairs import Pairs
from openreward.eval.report import JudgeReport, Report
from openreward.eval.run import (
    Allowance,
    Plan,
    Rows,
    measure,
    put,
    questions,
    select,
    take_sample,
)
from openreward.judge import Judge, JudgeSettings
from openreward.policy.base import Policy
from openreward.prompts import PROMPTS_VERSION
from openreward.records import DataFile, RowError, describe_file
from openreward.resume import Manifest, Totals
from openreward.tools.base import Tool

PREFIX = "heldout/"


class HeldOut:
    """Held-out pairs of some files; `settings` are those of the rollouts' judge."""

    def __init__(
        self,
        files: Sequence[Path],
        tools: Sequence[Tool],
        settings: JudgeSettings,
        folder: Path,
        *,
        limit: int | None = None,
        concurrency: int = 64,
    ) -> None:
        """Reads the files; raises `RecordError` or `UserError` where no pair can be read."""
        self._files = tuple(files)
        self._tools = tuple(tools)
        self._settings = settings.model_copy(update={"temperature": 0.0, "orders": "both"})
        self._folder = folder
        self._plan = Plan(orders="both", seed=settings.seed, limit=limit)
        self._concurrency = concurrency
        self._benchmark = Pairs()
        self._sample = take_sample(self._rows(), self._plan)
        self._data = _describe(self._files)
        if not self._sample.examples:
            names = ", ".join(map(str, files))
            raise UserError(f"{names}: expected labelled pairs to evaluate on, got none to read")

    async def run(self, policy: Policy, step: int) -> dict[str, float]:
        """Judge them all; metrics by name. Ends early only by a fault that all rows share."""
        folder = self._folder / f"step-{step}"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "predictions.jsonl"
        judge = PairJudge(Judge(policy, self._tools, self._settings), policy.model)
        manifest = self._manifest(policy)
        path.unlink(missing_ok=True)  # of a run that was killed within it
        with Output(path, Prediction, measure, manifest) as output:
            await put(
                questions(self._chosen(), self._benchmark, judge.kind, self._plan),
                self._benchmark,
                judge,
                self._plan,
                output,
                Allowance(),
                progress=_Quiet(),
                concurrency=self._concurrency,
            )
        report = self._report(path, judge.name, manifest)
        (folder / "report.json").write_text(report.model_dump_json(indent=1), encoding="utf-8")
        return metrics_of(report.judges[0])

    def _rows(self) -> Rows:
        for file in self._files:
            yield from self._benchmark.load(file)

    def _chosen(self) -> Rows:
        return select(self._rows(), self._sample)

    def _report(self, path: Path, name: str, manifest: Manifest) -> Report:
        judged = read_sheet(self._benchmark, self._chosen(), path, self._plan)
        config = dict(manifest.config)
        args = (self._benchmark, self._plan, name, "pairs", config, path.name)
        return Report(
            benchmark=self._benchmark.name,
            data=self._data,
            plan=self._plan,
            examples=self._sample.examples,
            judges=(judge_report(judged, *args),),
            versions=manifest.versions,
        )

    def _manifest(self, policy: Policy) -> Manifest:
        return Manifest(
            program="train evaluation",
            state="running",
            config={
                "model": policy.model,
                "prompts": PROMPTS_VERSION,
                "judge": self._settings.model_dump(mode="json"),
            },
            setup={"concurrency": self._concurrency},
            seed=self._plan.seed,
            versions={"openreward": __version__},
            data=self._data,
        )


def metrics_of(judge: JudgeReport) -> dict[str, float]:
    """The numbers of a report that a curve is drawn from; one that is not known is left out."""
    asked = sum(judge.statuses.values())
    read = judge.statuses.get("ok", 0) + judge.statuses.get("tie", 0)
    numbers: dict[str, Number | None] = {
        "accuracy": judge.score.headline,
        "strict_accuracy": judge.score.strict,
        "flip_rate": judge.bias.flip_rate,
        "first_position": judge.bias.first_position,
    }
    for group in judge.score.groups:
        numbers[f"accuracy_{group.name}"] = group.score
    found = {name: each.value for name, each in numbers.items() if each is not None}
    known = {PREFIX + name: value for name, value in found.items() if value is not None}
    calls = sum(judge.costs.calls.values())
    return known | {
        PREFIX + "readable": read / asked if asked else 0.0,
        PREFIX + "calls": calls / asked if asked else 0.0,
        PREFIX + "judgements": float(asked),
    }


class _Quiet:
    """Nobody watches."""

    def advance(self, totals: Totals) -> None: ...

    def drop(self, error: RowError) -> None: ...


def _describe(files: Sequence[Path]) -> DataFile:
    """The files as one: the sum is over their sums."""
    found = [describe_file(file) for file in files]
    if len(found) == 1:
        return found[0]
    digest = hashlib.sha256("".join(each.sha256 for each in found).encode()).hexdigest()
    names = ", ".join(each.path for each in found)
    return DataFile(path=names, sha256=digest, bytes=sum(each.bytes for each in found))
