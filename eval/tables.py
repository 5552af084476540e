"""A report as tables of words, which the terminal, report.md and report.html share.

A share is written in percent with two decimals, as the benchmarks' authors do, with its 95 %
interval; a number that could not be computed is a dash. `cells` are plain text of any origin: who
renders them escapes them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple, get_args

from openreward.eval.benchmark import Number
from openreward.eval.report import JudgeReport, Report
from openreward.types import ToolStatus, VerdictStatus

DASH = "–"
STATUSES: tuple[VerdictStatus, ...] = get_args(VerdictStatus)


class Table(NamedTuple):
    """Rows under a head; the first column names, the others hold numbers."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


def percent(number: Number | None, interval: bool = True) -> str:
    """A share as percent, another number as it is; its interval, where it has one."""
    if number is None or number.value is None:
        return DASH
    scale, digits = (100, 1) if number.share else (1, 2)
    text = f"{scale * number.value:.2f}"
    if interval and number.low is not None and number.high is not None:
        text += f" [{scale * number.low:.{digits}f}, {scale * number.high:.{digits}f}]"
    return text


def tables(report: Report) -> list[Table]:
    """Everything a report holds, most important first."""
    made = [_results(report), _statuses(report)]
    made += _groups(report)
    made += [_numbers(report), _bias(report), _costs(report)]
    made += [_left_out(report), _settings(report), _data(report)]
    return [table for table in made if table.rows]


def _results(report: Report) -> Table:
    rows = tuple(
        (
            judge.name,
            percent(judge.score.headline),
            percent(judge.score.strict),
            str(judge.score.headline.n),
        )
        for judge in report.judges
    )
    rules = dict.fromkeys(judge.score.headline.rule for judge in report.judges)
    head = ("judge", "score, by the benchmark's protocol", "right in both orders", "n")
    return Table("Result", head, rows, "; ".join(rule for rule in rules if rule))


def _statuses(report: Report) -> Table:
    rows = tuple(
        (
            judge.name,
            *(str(judge.statuses.get(status, 0)) for status in STATUSES),
            str(judge.missing),
            _counts(judge.rejected),
        )
        for judge in report.judges
    )
    note = "each order of each question is counted; nothing here was scored as something else"
    return Table("Verdicts", ("judge", *STATUSES, "missing", "not scored"), rows, note)


def _groups(report: Report) -> list[Table]:
    """A table for each level of groups, with a column for each judge."""
    levels = dict.fromkeys(group.level for judge in report.judges for group in judge.score.groups)
    return [_level(report.judges, level) for level in levels]


def _level(judges: Sequence[JudgeReport], level: str) -> Table:
    scores = [{g.name: g for g in judge.score.groups if g.level == level} for judge in judges]
    names = dict.fromkeys(name for by_name in scores for name in by_name)
    rows = []
    for name in names:
        found = [by_name.get(name) for by_name in scores]
        n = " / ".join(dict.fromkeys(str(group.score.n) for group in found if group is not None))
        rows.append((name, n, *(percent(g.score if g else None) for g in found)))
    return Table(f"By {level}", (level, "n", *(judge.name for judge in judges)), tuple(rows))


def _numbers(report: Report) -> Table:
    rows = tuple(
        (judge.name, number.name, percent(number), str(number.n), number.rule)
        for judge in report.judges
        for number in judge.score.numbers
    )
    return Table("The benchmark's other numbers", ("judge", "number", "value", "n", "rule"), rows)


def _bias(report: Report) -> Table:
    rows = tuple(
        (
            judge.name,
            percent(judge.bias.flip_rate),
            percent(judge.bias.first_position),
            percent(judge.bias.longer_right),
            percent(judge.bias.shorter_right),
        )
        for judge in report.judges
    )
    head = (
        "judge",
        "flips with the order",
        "names the first shown",
        "right, the longer is right",
        "right, the shorter is right",
    )
    note = (
        "an unbiased judge names the first shown in half of all; flips are of pairs decided twice"
    )
    return Table("What moves the judge besides worth", head, rows, note)


def _costs(report: Report) -> Table:
    rows = []
    for judge in report.judges:
        costs = judge.costs
        calls = sum(costs.calls.values())
        rows.append(
            (
                judge.name,
                str(costs.judgements),
                f"{_each(costs.each(calls))} ({_counts(costs.calls)})" if calls else "none",
                _each(costs.each(costs.usage.prompt_tokens), 0),
                _each(costs.each(costs.usage.completion_tokens), 0),
                _each(costs.each(costs.seconds)),
            )
        )
    head = ("judge", "judgements", "searches each", "tokens read each", "written each", "s each")
    return Table("What it took", head, tuple(rows))


def _left_out(report: Report) -> Table:
    """Rows that could not be used: of the data, and of predictions."""
    rows = [("data", error.message) for error in report.errors]
    rows += [(judge.name, error.message) for judge in report.judges for error in judge.errors]
    note = "not scored as anything; the first hundred of each"
    return Table("Rows left out", ("of", "which, and why"), tuple(rows), note)


def _settings(report: Report) -> Table:
    """What each judge was: model, prompts, tools, or the file it was read from."""
    rows = tuple(
        (judge.name, setting, value if isinstance(value, str) else json.dumps(value))
        for judge in report.judges
        for setting, value in judge.config.items()
    )
    return Table("The judges' settings", ("judge", "setting", ""), rows)


def _data(report: Report) -> Table:
    plan = report.plan
    rows = [
        ("data", report.data.path),
        ("sha256", report.data.sha256),
        ("examples", f"{report.examples}" + (" (a sample)" if plan.limit else "")),
        ("left out", _counts(report.left_out) or "none"),
        ("orders", plan.orders),
        ("seed", str(plan.seed)),
        ("principle", plan.principle or "none"),
        *((name, version) for name, version in report.versions.items()),
    ]
    return Table("Data and settings", ("", ""), tuple(rows))


def _each(amount: float | None, digits: int = 2) -> str:
    return DASH if amount is None else f"{amount:.{digits}f}"


def _counts(counts: Mapping[ToolStatus, int] | Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items())
