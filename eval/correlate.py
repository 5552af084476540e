"""Whether a judge's accuracy on RMB says how good the answers are that it selects (best of n).

Ranks of judges, by pairwise and by best-of-N accuracy, against the downstream quality of their
selections: RMB's authors found the second to tell more (arXiv 2410.09893). Beside it, whether
judges that are good at helpfulness are good at harmlessness. Intervals draw judges anew; with a
handful of judges they are wide, as they should be.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from pydantic import Field, field_validator

from openreward.errors import UserError, shorten
from openreward.eval.benchmark import Number
from openreward.eval.rmb_accuracies import Judged
from openreward.eval.stats import bootstrap, ranks, spearman
from openreward.types import Record

CORRELATED_FORMAT = 1
FEWEST = 3  # judges
TOP = 10
RULE = "Spearman over judges (-1 to 1); judges drawn anew for the interval"


class Quality(Record):
    """A row of the downstream file: how good the answers are that a judge selected."""

    judge: str = Field(min_length=1)
    quality: float = Field(strict=True)  # no text, no truth value
    task: str = ""

    @field_validator("quality")
    @classmethod
    def _finite(cls, quality: float) -> float:
        if not math.isfinite(quality):
            raise ValueError(f"expected a finite number, got {quality}")
        return quality


class Correlated(Record):
    """What the ranks of judges say."""

    format: int = CORRELATED_FORMAT
    judges: tuple[Judged, ...]
    numbers: tuple[Number, ...]
    notes: tuple[str, ...]  # who was left out, what could not be computed


def correlate(judges: Sequence[Judged], qualities: Sequence[Quality], seed: int) -> Correlated:
    """Every correlation, over the judges that have both a report and a quality."""
    by_judge = _by_judge(qualities)
    both = [
        judge.model_copy(update={"quality": by_judge[judge.name]})
        for judge in judges
        if judge.name in by_judge
    ]
    if len(both) < FEWEST:
        raise UserError(
            f"expected at least {FEWEST} judges with a report and a downstream quality, got "
            f"{len(both)}; judges are matched by name: in the reports "
            f"{_names([judge.name for judge in judges])}; in the file {_names([*by_judge])}"
        )
    numbers: list[Number] = []
    for task, values in _by_task(both, _tasks(both)).items():
        numbers += _against(both, values, task, seed)
    numbers += _trade_off(judges, seed)
    left = [judge for judge in judges if judge.name not in by_judge]
    few = f"{len(both)} judges are few: an interval drawn from them is too narrow"
    notes = [*_notes(judges, [*by_judge]), *_undefined(numbers)]
    notes += [few] if len(both) < TOP else []
    return Correlated(judges=(*both, *left), numbers=tuple(numbers), notes=tuple(notes))


def _notes(judges: Sequence[Judged], named: Sequence[str]) -> Iterator[str]:
    """Who is left out, and whose numbers are of a part only."""
    known = [judge.name for judge in judges]
    for name in named:
        if name not in known:
            yield f"in the downstream file, without a report: {shorten(name)}"
    for judge in judges:
        if judge.name not in named:
            yield f"without a downstream quality: {shorten(judge.name)}"
        if judge.missing:
            yield f"{shorten(judge.name)}: {judge.missing} questions have no answer"


def _undefined(numbers: Sequence[Number]) -> Iterator[str]:
    for number in numbers:
        if number.value is None:
            yield f"{number.name}: no correlation; all {number.n} judges tie in one of the two"


def _names(names: Sequence[str]) -> str:
    return ", ".join(map(shorten, names)) or "none"


def _by_judge(qualities: Sequence[Quality]) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in qualities:
        tasks = found.setdefault(row.judge, {})
        if row.task in tasks:
            raise UserError(
                f"expected one quality a judge and task, got two of {shorten(row.judge)}, task "
                f"{shorten(row.task)}"
            )
        tasks[row.task] = row.quality
    return found


def _tasks(judges: Sequence[Judged]) -> list[str]:
    tasks = list(dict.fromkeys(task for judge in judges for task in judge.quality))
    lacking = [
        f"{shorten(judge.name)} lacks {shorten(task)}"
        for judge in judges
        for task in tasks
        if task not in judge.quality
    ]
    if lacking:
        raise UserError(f"expected the same tasks for all judges: {'; '.join(lacking[:5])}")
    return tasks


def _by_task(judges: Sequence[Judged], tasks: Sequence[str]) -> dict[str, list[float]]:
    """Qualities by task; of several tasks also the mean rank, since their scales may differ."""
    of = {task: [judge.quality[task] for judge in judges] for task in tasks}
    if len(tasks) == 1:
        return of
    each = [ranks(values) for values in of.values()]
    return {
        "all tasks, by mean rank": [sum(column) / len(tasks) for column in zip(*each, strict=True)]
    } | of


def _against(
    judges: Sequence[Judged], quality: Sequence[float], task: str, seed: int
) -> list[Number]:
    named = f" ({task})" if task else ""
    pairwise = [judge.pairwise for judge in judges if judge.pairwise is not None]
    bon = [judge.bon for judge in judges if judge.bon is not None]
    found = []
    if pairwise:
        found.append(_spearman(f"pairwise accuracy and quality{named}", pairwise, quality, seed))
    if bon:
        found.append(_spearman(f"BoN accuracy and quality{named}", bon, quality, seed))
    if pairwise and bon:

        def more(drawn: Sequence[int]) -> float | None:
            one, other = _of(bon, quality, drawn), _of(pairwise, quality, drawn)
            return None if one is None or other is None else one - other

        found.append(
            _number(
                f"BoN above pairwise{named}", more, len(judges), "the difference of the two", seed
            )
        )
    return found


def _trade_off(judges: Sequence[Judged], seed: int) -> list[Number]:
    """Over all judges, and over the best, where what one side gains the other may lose."""
    both = [
        (judge.helpfulness, judge.harmlessness)
        for judge in judges
        if judge.helpfulness is not None and judge.harmlessness is not None
    ]
    if len(both) < FEWEST:
        return []
    best = sorted(both, key=lambda pair: -sum(pair))[:TOP]
    name = "helpfulness and harmlessness"
    found = [_of_sides(name, both, seed)]
    if len(both) > TOP:
        found.append(_of_sides(f"{name}, best {TOP}", best, seed))
    return found


def _of_sides(name: str, sides: Sequence[tuple[float, float]], seed: int) -> Number:
    one, other = zip(*sides, strict=True)
    return _spearman(name, one, other, seed)


def _spearman(name: str, x: Sequence[float], y: Sequence[float], seed: int) -> Number:
    return _number(name, lambda drawn: _of(x, y, drawn), len(x), RULE, seed)


def _of(x: Sequence[float], y: Sequence[float], drawn: Sequence[int]) -> float | None:
    return spearman([x[at] for at in drawn], [y[at] for at in drawn])


def _number(
    name: str, statistic: Callable[[Sequence[int]], float | None], n: int, rule: str, seed: int
) -> Number:
    def of(drawn: Sequence[float]) -> float | None:
        return statistic([int(at) for at in drawn])

    value = statistic(range(n))
    low, high = (bootstrap(range(n), seed, of) if value is not None else None) or (None, None)
    return Number(name=name, value=value, n=n, low=low, high=high, rule=rule)
