"""Progress without a terminal."""

from __future__ import annotations

import pytest

from openreward.cli.progress import RunProgress
from openreward.records import RowError
from openreward.resume import Totals


def test_without_a_terminal_a_line_comes_every_ten_seconds(
    capsys: pytest.CaptureFixture[str],
) -> None:
    now = 0.0
    with RunProgress(50, False, clock=lambda: now) as progress:
        for row in range(1, 26):
            now = float(row)
            progress.advance(Totals(rows=row))
    assert capsys.readouterr().err == "10 of 50 rows done\n20 of 50 rows done\n"


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
