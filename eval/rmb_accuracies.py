"""Judges' accuracies on RMB by quadrant, from reports: which must be of the same items for all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from openreward.errors import UserError, shorten
from openreward.eval.report import JudgeReport, Report
from openreward.eval.stats import mean
from openreward.types import Record

PAIRWISE, BON = "Pairwise", "BoN"
HELPFULNESS, HARMLESSNESS = "Helpfulness", "Harmlessness"


class Judged(Record):
    """A judge's accuracies, plain means of the quadrants, and the quality of its selections."""

    name: str
    quadrants: dict[str, float]
    pairwise: float | None
    bon: float | None
    helpfulness: float | None
    harmlessness: float | None
    quality: dict[str, float] = {}  # by task
    missing: int = 0  # questions without an answer


class Source(NamedTuple):
    """A judge of a report, and the data it answered."""

    judge: JudgeReport
    report: Report


def collect(reports: Sequence[Report]) -> list[Judged]:
    """The judges of reports on RMB; a judge may have its quadrants in several."""
    found: dict[str, dict[str, Source]] = {}
    for report in reports:
        if report.benchmark != "rmb":
            raise UserError(f"expected reports on rmb, got one on {shorten(report.benchmark)}")
        for judge in report.judges:
            for quadrant in _quadrants(judge):
                at = found.setdefault(judge.name, {})
                if quadrant in at:
                    raise UserError(
                        f"expected each judge once, got {shorten(judge.name)} in two places with "
                        f"{quadrant}; give one another name (openreward eval --name)"
                    )
                at[quadrant] = Source(judge, report)
    _check_same_data(found)
    return [_judged(name, sources) for name, sources in found.items()]


def _quadrants(judge: JudgeReport) -> dict[str, float]:
    return {
        group.name: group.score.value
        for group in judge.score.groups
        if group.level == "quadrant" and group.score.value is not None
    }


def _check_same_data(found: Mapping[str, Mapping[str, Source]]) -> None:
    """Each quadrant must be of the same items, put the same way, for all judges who have it."""
    first: dict[str, tuple[object, str]] = {}
    for name, sources in found.items():
        for quadrant, (_, report) in sources.items():
            put = (report.data.sha256, report.plan.limit, report.plan.seed, report.plan.orders)
            there, other = first.setdefault(quadrant, (put, name))
            if put != there:
                raise UserError(
                    f"{quadrant}: expected the same data, limit, seed and orders for all judges, "
                    f"got {there} for {shorten(other)} and {put} for {shorten(name)}"
                )
    missing = [
        f"{shorten(name)} lacks {quadrant}"
        for name, sources in found.items()
        for quadrant in first
        if quadrant not in sources
    ]
    if missing:
        raise UserError(f"expected the same quadrants for all judges: {'; '.join(missing[:5])}")


def _judged(name: str, sources: Mapping[str, Source]) -> Judged:
    quadrants = {
        quadrant: _quadrants(source.judge)[quadrant] for quadrant, source in sources.items()
    }

    def over(word: str) -> float | None:
        return mean([value for quadrant, value in quadrants.items() if word in quadrant.split()])

    reports = {id(source.judge): source.judge.missing for source in sources.values()}
    return Judged(
        name=name,
        quadrants=quadrants,
        pairwise=over(PAIRWISE),
        bon=over(BON),
        helpfulness=over(HELPFULNESS),
        harmlessness=over(HARMLESSNESS),
        missing=sum(reports.values()),
    )
