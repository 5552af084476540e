"""report.md: the tables of a report in Markdown, with text of any origin escaped."""

from __future__ import annotations

import re

from openreward.eval.report import Report
from openreward.eval.tables import Table, tables

_ACTIVE = re.compile(r"([\\`*_{}\[\]<>#|~!&])")


def render_markdown(report: Report, title: str) -> str:
    """The whole report."""
    parts = [f"# {escape(title)}"]
    if report.partial:
        parts.append(f"**Partial:** {escape(report.partial)}")
    parts += [_table(table) for table in tables(report)]
    return "\n\n".join(parts) + "\n"


def escape(text: str) -> str:
    """Text as one line that Markdown shows and does not obey."""
    return _ACTIVE.sub(r"\\\1", " ".join(text.split()))


def _table(table: Table) -> str:
    head = "| " + " | ".join(map(escape, table.head)) + " |"
    line = "| --- " + "| ---: " * (len(table.head) - 1) + "|"
    rows = ["| " + " | ".join(map(escape, row)) + " |" for row in table.rows]
    parts = [f"## {escape(table.title)}", "\n".join([head, line, *rows])]
    return "\n\n".join([*parts, escape(table.note)] if table.note else parts)
