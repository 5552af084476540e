"""The table of live faults at the end of a run that had them."""

from __future__ import annotations

import pytest

SERVICES = ("wikipedia", "arxiv", "pubmed")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """`live search faults`: what each fault of each service came to, as the tests recorded it."""
    table: dict[str, dict[str, str]] = {}
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            cell = dict(report.user_properties).get("live fault")
            if isinstance(cell, (list, tuple)):
                row, service, result = map(str, cell)
                wrong = "" if outcome == "passed" else " (WRONG)"
                table.setdefault(row, {})[service] = result + wrong
    if not table:
        return
    width = max(map(len, table)) + 2
    terminalreporter.section("live search faults")
    terminalreporter.line("".ljust(width) + "".join(name.ljust(15) for name in SERVICES).rstrip())
    for row, cells in table.items():
        line = "".join(cells.get(name, "-").ljust(15) for name in SERVICES)
        terminalreporter.line(row.ljust(width) + line.rstrip())
