"""A report as tables of words."""

from __future__ import annotations

import pytest

from openreward.eval.benchmark import GroupScore, Number, Score
from openreward.eval.report import Bias, Costs, JudgeReport, Report
from openreward.eval.run import Plan
from openreward.eval.tables import DASH, Table, percent, tables
from openreward.records import DataFile, RowError
from openreward.types import Usage

NONE = Number(name="", value=None, n=0)
BIAS = Bias(flip_rate=NONE, first_position=NONE, longer_right=NONE, shorter_right=NONE)


def number(value: float | None, *, n: int = 10, name: str = "accuracy") -> Number:
    return Number(name=name, value=value, n=n, low=value, high=value, rule="a rule")


def judge(name: str, groups: tuple[GroupScore, ...] = (), **fields: object) -> JudgeReport:
    given = {
        "name": name,
        "kind": "pairs",
        "config": {},
        "score": Score(headline=number(0.5), strict=None, groups=groups),
        "statuses": {"ok": 3, "unparsed": 1},
        "missing": 2,
        "bias": BIAS,
        "costs": Costs(),
        "predictions": "p.jsonl",
        **fields,
    }
    return JudgeReport.model_validate(given)


def report(*judges: JudgeReport, **fields: object) -> Report:
    given = {
        "benchmark": "rmb",
        "data": DataFile(path="data", sha256="0", bytes=1),
        "plan": Plan(),
        "examples": 10,
        "judges": judges,
        "versions": {},
        **fields,
    }
    return Report.model_validate(given)


def table(title: str, made: Report) -> Table:
    return next(each for each in tables(made) if each.title == title)


def group(name: str, value: float, n: int = 10) -> GroupScore:
    return GroupScore(level="class", name=name, score=number(value, n=n))


@pytest.mark.parametrize(
    ("given", "interval", "text"),
    [
        (None, True, DASH),
        (Number(name="", value=None, n=0), True, DASH),
        (Number(name="", value=0.61234, n=9), True, "61.23"),
        (Number(name="", value=0.5, n=9, low=0.25, high=0.75), True, "50.00 [25.0, 75.0]"),
        (Number(name="", value=0.5, n=9, low=0.25, high=0.75), False, "50.00"),
        (Number(name="", value=-0.25, n=9), True, "-25.00"),
        (Number(name="", value=2.25, n=9, low=1, high=3, share=False), True, "2.25 [1.00, 3.00]"),
    ],
)
def test_a_share_is_written_in_percent(given: Number | None, interval: bool, text: str) -> None:
    assert percent(given, interval) == text


def test_every_status_is_counted_and_what_is_missing_too() -> None:
    made = table("Verdicts", report(judge("a", rejected={"unknown_id": 4})))
    assert made.head == (
        "judge", "ok", "tie", "unparsed", "refused", "error", "missing", "not scored",
    )  # fmt: skip
    assert made.rows == (("a", "3", "0", "1", "0", "0", "2", "4 unknown_id"),)


def test_judges_stand_beside_each_other_where_groups_meet() -> None:
    one = judge("a", (group("x", 0.25), group("y", 0.5)))
    other = judge("b", (group("y", 0.75), group("z", 1.0, n=3)))
    made = table("By class", report(one, other))
    assert made.head == ("class", "n", "a", "b")
    assert made.rows == (
        ("x", "10", "25.00 [25.0, 25.0]", DASH),
        ("y", "10", "50.00 [50.0, 50.0]", "75.00 [75.0, 75.0]"),
        ("z", "3", DASH, "100.00 [100.0, 100.0]"),
    )


def test_judges_that_answered_unlike_numbers_of_items_are_told_apart() -> None:
    one, other = judge("a", (group("x", 0.25),)), judge("b", (group("x", 0.5, n=4),))
    assert table("By class", report(one, other)).rows[0][:2] == ("x", "10 / 4")


def test_what_each_judge_was_is_said() -> None:
    config = {"model": "m", "judge": {"calls": 4}}
    made = table("The judges' settings", report(judge("a", config=config), judge("b")))
    assert made.rows == (("a", "model", "m"), ("a", "judge", '{"calls": 4}'))


def test_costs_are_for_each_judgement() -> None:
    usage = Usage(prompt_tokens=300, completion_tokens=50)
    costs = Costs(judgements=4, calls={"ok": 5, "timeout": 1}, usage=usage, seconds=10)
    made = table("What it took", report(judge("a", costs=costs), judge("b")))
    assert made.rows == (
        ("a", "4", "1.50 (5 ok, 1 timeout)", "75", "12", "2.50"),
        ("b", "0", "none", DASH, DASH, DASH),
    )


def test_rows_that_could_not_be_used_are_named() -> None:
    broken = RowError(line=3, fault="wrong_fields", message="line 3: expected an id")
    unknown = RowError(line=9, fault="unknown_id", message="line 9: expected the id of an example")
    made = table("Rows left out", report(judge("a", errors=(unknown,)), errors=(broken,)))
    assert made.rows == (
        ("data", "line 3: expected an id"),
        ("a", "line 9: expected the id of an example"),
    )


def test_tables_without_rows_are_not_there() -> None:
    titles = [each.title for each in tables(report(judge("a")))]
    assert titles == [
        "Result",
        "Verdicts",
        "What moves the judge besides worth",
        "What it took",
        "Data and settings",
    ]


def test_a_report_without_judges_still_says_what_was_asked() -> None:
    assert [each.title for each in tables(report())] == ["Data and settings"]


def test_the_data_say_that_they_are_a_sample() -> None:
    made = dict(table("Data and settings", report(plan=Plan(limit=10, principle="Be kind."))).rows)
    assert made["examples"] == "10 (a sample)"
    assert made["principle"] == "Be kind."
    assert made["left out"] == "none"
