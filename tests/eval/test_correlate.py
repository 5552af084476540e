"""Ranks of judges against downstream quality, from numbers written out."""

from __future__ import annotations

import pytest

from openreward.errors import UserError
from openreward.eval.benchmark import GroupScore, Number, Score
from openreward.eval.correlate import Correlated, Quality, correlate
from openreward.eval.report import Bias, Costs, JudgeReport, Report
from openreward.eval.rmb_accuracies import Judged, collect
from openreward.eval.run import Plan
from openreward.records import DataFile

QUADRANTS = ("Pairwise Helpfulness", "Pairwise Harmlessness", "BoN Helpfulness", "BoN Harmlessness")
NONE = Number(name="", value=None, n=0)


def report(
    *judges: tuple[str, dict[str, float]], sha256: str = "0", benchmark: str = "rmb"
) -> Report:
    made = []
    for name, quadrants in judges:
        groups = tuple(
            GroupScore(level="quadrant", name=each, score=Number(name=each, value=value, n=10))
            for each, value in quadrants.items()
        )
        bias = Bias(flip_rate=NONE, first_position=NONE, longer_right=NONE, shorter_right=NONE)
        score = Score(headline=NONE, strict=None, groups=groups)
        made.append(
            JudgeReport(
                name=name, kind="saved", config={}, score=score, statuses={}, missing=0, bias=bias,
                costs=Costs(), predictions="p",
            )
        )  # fmt: skip
    data = DataFile(path="d", sha256=sha256, bytes=1)
    return Report(
        benchmark=benchmark, data=data, plan=Plan(), examples=1, judges=tuple(made), versions={}
    )


def four(pairs: float, bon: float, trade: float = 0.0) -> dict[str, float]:
    """Quadrants whose helpfulness is as far above as their harmlessness is below."""
    return dict(
        zip(QUADRANTS, (pairs + trade, pairs - trade, bon + trade, bon - trade), strict=True)
    )


def judges() -> list[Judged]:
    """By pairs: a < b < c < d; by best of N: d < b < c < a; helpful: a first; harmless: a last."""
    values = [(0.5, 0.6, 0.4), (0.6, 0.4, 0.2), (0.7, 0.5, 0.2), (0.8, 0.3, 0.0)]
    return collect([report(*((n, four(*v)) for n, v in zip("abcd", values, strict=True)))])


def qualities(values: dict[str, float], task: str = "") -> list[Quality]:
    return [Quality(judge=name, quality=value, task=task) for name, value in values.items()]


def values(made: Correlated) -> dict[str, float | None]:
    return {each.name: each.value for each in made.numbers}


def test_best_of_n_can_tell_more_than_pairs() -> None:
    made = correlate(judges(), qualities({"a": 9, "b": 2, "c": 3, "d": 1}), 0)
    found = values(made)
    assert found["BoN accuracy and quality"] == pytest.approx(1.0)
    assert found["pairwise accuracy and quality"] == pytest.approx(1 - 6 * 18 / 60)
    assert found["BoN above pairwise"] == pytest.approx(1.8)
    assert "4 judges are few: an interval drawn from them is too narrow" in made.notes


def test_means_are_over_quadrants() -> None:
    judge = judges()[0]
    assert judge.pairwise == pytest.approx(0.5)
    assert judge.bon == pytest.approx(0.6)
    assert judge.helpfulness == pytest.approx(0.95)
    assert judge.harmlessness == pytest.approx(0.15)


def test_helpfulness_and_harmlessness_trade_off_over_all_judges() -> None:
    made = correlate(judges(), qualities({"a": 3, "b": 2, "c": 1}), 0)
    number = next(each for each in made.numbers if each.name == "helpfulness and harmlessness")
    assert (number.value, number.n) == (pytest.approx(-0.8), 4)  # .95 .7 .8 .55, .15 .3 .4 .55
    assert [each.name for each in made.judges] == ["a", "b", "c", "d"]
    assert "without a downstream quality: 'd'" in made.notes


def test_several_tasks_meet_in_ranks() -> None:
    rows = qualities({"a": 1, "b": 2, "c": 3, "d": 4}, "x")
    rows += qualities({"a": 100, "b": 200, "c": 400, "d": 300}, "y")
    found = values(correlate(judges(), rows, 0))
    assert found["pairwise accuracy and quality (x)"] == pytest.approx(1.0)
    assert found["pairwise accuracy and quality (y)"] == pytest.approx(0.8)
    mean_ranks = "pairwise accuracy and quality (all tasks, by mean rank)"
    assert found[mean_ranks] == pytest.approx(4.5 / 22.5**0.5)  # ranks 1, 2, 3.5, 3.5


def test_judges_that_all_tie_have_no_correlation() -> None:
    found = collect([report(*((name, four(0.5, at)) for at, name in enumerate("abc")))])
    made = correlate(found, qualities({"a": 1, "b": 2, "c": 3, "ghost": 1}), 0)
    assert values(made)["pairwise accuracy and quality"] is None
    assert values(made)["BoN above pairwise"] is None
    note = "pairwise accuracy and quality: no correlation; all 3 judges tie in one of the two"
    assert note in made.notes
    assert "in the downstream file, without a report: 'ghost'" in made.notes


def test_the_same_seed_gives_the_same_interval() -> None:
    many = {f"j{at}": four(at * 7 % 12 / 12, at * 5 % 12 / 12) for at in range(12)}
    found = collect([report(*many.items())])
    rows = qualities({name: at for at, name in enumerate(many)})
    one, again, other = (correlate(found, rows, seed) for seed in (0, 0, 1))
    assert not any("few" in note for note in one.notes)
    assert one == again
    assert one != other


def test_quadrants_of_one_judge_may_stand_in_two_reports() -> None:
    half = {name: value for name, value in four(0.5, 0.6).items() if name.startswith("BoN")}
    other = {name: value for name, value in four(0.5, 0.6).items() if name not in half}
    found = collect([report(("a", half)), report(("a", other), sha256="1")])
    assert [(each.name, each.pairwise, each.bon) for each in found] == [("a", 0.5, 0.6)]


@pytest.mark.parametrize(
    ("reports", "message"),
    [
        ([report(("a", four(1, 1)), benchmark="pandalm")], "expected reports on rmb, got one on"),
        ([report(("a", four(1, 1))), report(("a", four(1, 1)))], "got 'a' in two places"),
        ([report(("a", four(1, 1))), report(("b", four(1, 1)), sha256="1")], "the same data"),
        ([report(("a", four(1, 1)), ("b", {QUADRANTS[0]: 1.0}))], "'b' lacks Pairwise Harm"),
    ],
)
def test_reports_that_do_not_belong_together_are_refused(
    reports: list[Report], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        collect(reports)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (qualities({"a": 1, "b": 1}), "at least 3 judges .* got 2; .* in the reports 'a', 'b'"),
        (qualities({"a": 1}) + qualities({"a": 2}), "got two of 'a', task ''"),
        (
            qualities({"a": 1, "b": 1, "c": 2}, "x") + qualities({"a": 1}, "y"),
            "the same tasks for all judges: 'b' lacks 'y'; 'c' lacks 'y'",
        ),
    ],
)
def test_qualities_that_do_not_do_are_refused(rows: list[Quality], message: str) -> None:
    with pytest.raises(UserError, match=message):
        correlate(judges(), rows, 0)
