"""report.md: the tables of a report in Markdown, with text of any origin escaped."""

from __future__ import annotations

from openreward.eval.escaping import in_markdown
from openreward.eval.report import Report
from openreward.eval.tables import Table, tables


def render_markdown(report: Report, title: str) -> str:
    """The whole report."""
    parts = [f"# {in_markdown(title)}"]
    if report.partial:
        parts.append(f"**Partial:** {in_markdown(report.partial)}")
    parts += [_table(table) for table in tables(report)]
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    head = "| " + " | ".join(map(in_markdown, table.head)) + " |"
    line = "| --- " + "| ---: " * (len(table.head) - 1) + "|"
    rows = ["| " + " | ".join(map(in_markdown, row)) + " |" for row in table.rows]
    parts = [f"## {in_markdown(table.title)}", "\n".join([head, line, *rows])]
    return "\n\n".join([*parts, in_markdown(table.note)] if table.note else parts)
