"""Progress without a terminal."""

from __future__ import annotations

import pytest

from openreward.cli.progress import RunProgress
from openreward.records import RowError
from openreward.resume import Totals
from openreward.types import Usage


def test_without_a_terminal_a_line_every_ten_seconds_says_how_long_it_may_take(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 0.0
    with RunProgress(150, False, clock=lambda: now) as progress:
        for row in range(1, 26):
            now = float(row)
            progress.advance(Totals(rows=100 + row))  # a hundred were done by a former run
    assert capsys.readouterr().err.splitlines() == [
        "judging: 110 of 150 rows done, under a minute left",
        "judging: 120 of 150 rows done, under a minute left",
    ]


def test_a_long_run_says_its_minutes(capsys: pytest.CaptureFixture[str]) -> None:
    now = 0.0
    with RunProgress(100, False, "a coin", clock=lambda: now) as progress:
        for row in (1, 2):
            now = row * 30.0
            progress.advance(Totals(rows=row))
    assert capsys.readouterr().err.splitlines()[-1] == (
        "a coin: 2 of 100 rows done, about 49 min left"
    )


def test_twenty_dropped_rows_are_named_and_the_rest_counted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with RunProgress(None, False) as progress:
        for line in range(1, 24):
            message = f"line {line}: \x1b[2J"
            progress.drop(RowError(line=line, fault="not_json", message=message))
    shown = capsys.readouterr().err.splitlines()
    assert shown[0] == "left out: line 1: \\x1b[2J"
    assert (len(shown), shown[20]) == (21, "and 3 more rows left out")


def test_the_pace_of_this_run_is_told_where_it_is_asked_for(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 0.0
    with RunProgress(40, False, "writing", clock=lambda: now, pace=True) as progress:
        for row in range(1, 21):
            now = float(row)
            usage = Usage(prompt_tokens=900 * (10 + row), completion_tokens=100 * (10 + row))
            progress.advance(Totals(rows=10 + row, usage=usage))  # ten were done before
    assert capsys.readouterr().err.splitlines() == [
        "writing: 20 of 40 rows done, 1 rows/s, 900 tokens/s, under a minute left",
        "writing: 30 of 40 rows done, 1 rows/s, 950 tokens/s, under a minute left",
    ]
