"""report.html: one page that needs nothing else, for a browser, an attachment, an archive.

No script and nothing loaded from anywhere (a content policy in the page says so); every text of a
model, a file or a user is escaped. Light and dark follow the reader's setting; it prints.
"""

from __future__ import annotations

from collections.abc import Sequence

from openreward.eval.benchmark import Number
from openreward.eval.escaping import in_html
from openreward.eval.plots import Line, Mark, bars, forest, legend, stacked
from openreward.eval.published import Published
from openreward.eval.report import JudgeReport, Report
from openreward.eval.tables import STATUSES, Table, percent, tables

MOST_LINES = 80  # of one plot; the tables hold all
LONGEST_NUMBER = 24  # characters: a share with its interval
FOLDED = 12  # lines of a plot and rows of a table beyond which it is closed at first

_STYLE = """
:root { color-scheme: light dark; --paper: #fbfaf8; --card: #fff; --ink: #1d2129; --soft: #5d6675;
  --line: #dfe2e8; --c0: #2563a8; --c1: #c2571a; --c2: #2f8a5b; --c3: #8a4fa3; --c4: #a8892a;
  --c5: #6b7280; --warn: #9a3412; }
@media (prefers-color-scheme: dark) { :root { --paper: #15181d; --card: #1d2128; --ink: #e8eaee;
  --soft: #a2abb9; --line: #333a45; --c0: #6aa7e8; --c1: #ee9156; --c2: #62c492; --c3: #c08fd8;
  --c4: #d8ba5c; --c5: #9aa3b1; --warn: #fdba74; } }
* { box-sizing: border-box; }
body { margin: 0; overflow-wrap: anywhere; background: var(--paper); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; }
main { max-width: 980px; margin: 0 auto; padding: 28px 18px 60px; }
h1 { font-size: 26px; margin: 0 0 4px; } h2 { font-size: 17px; margin: 34px 0 10px; }
summary { cursor: pointer; margin: 26px 0 0; color: var(--soft); }
p { margin: 6px 0; } .soft, .note { color: var(--soft); } .note { font-size: 13px; }
.partial { border-left: 4px solid var(--warn); padding: 8px 12px; color: var(--warn); }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: 12px; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 14px 16px; overflow-wrap: anywhere; }
.card b { display: block; font-size: 30px; line-height: 1.2; font-variant-numeric: tabular-nums; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: 14px; overflow-x: auto; } svg { width: 100%; min-width: 520px; height: auto; }
svg text { fill: var(--ink); font-size: 12px; dominant-baseline: middle; }
svg .label { text-anchor: end; } svg .tick { text-anchor: middle; fill: var(--soft); }
svg .grid { stroke: var(--line); } svg .own { fill: var(--c1); } svg .other { fill: var(--c5); }
svg .reference { stroke: var(--soft); stroke-dasharray: 4 3; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 0 0 8px;
  padding: 0; } .dot { display: inline-block; width: 10px; height: 10px; border-radius: 5px;
  margin-right: 6px; }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: 13.5px;
  font-variant-numeric: tabular-nums; } th, td { padding: 5px 10px 5px 0; text-align: right;
  border-bottom: 1px solid var(--line); vertical-align: top; overflow-wrap: normal; }
td { white-space: nowrap; } .text { white-space: normal; overflow-wrap: anywhere; min-width: 9em; }
td.text, th:first-child, td:first-child { text-align: left; }
th { color: var(--soft); font-weight: 600; }
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def render_html(report: Report, title: str, published: Sequence[Published] = ()) -> str:
    """The whole page."""
    parts = [_head(report, title), _cards(report.judges)]
    parts += [_statuses(report.judges), _bias(report.judges)]
    parts += [_published(report.judges, published), _groups(report.judges)]
    parts += [_table(table) for table in tables(report)]
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{in_html(title)}</title><style>{_STYLE}</style></head>"
        f"<body><main>{''.join(parts)}</main></body></html>\n"
    )


def _head(report: Report, title: str) -> str:
    sample = ", a sample" if report.plan.limit else ""
    said = f"{report.examples} examples{sample}; orders: {report.plan.orders}"
    if report.plan.principle:
        said += f"; by the principle: {report.plan.principle}"
    partial = f'<p class="partial">Partial: {in_html(report.partial)}</p>' if report.partial else ""
    return f'<h1>{in_html(title)}</h1><p class="soft">{in_html(said)}</p>{partial}'


def _cards(judges: Sequence[JudgeReport]) -> str:
    cards = []
    for judge in judges:
        headline, strict = judge.score.headline, judge.score.strict
        interval = _interval(headline)
        both = f"<br>{percent(strict)} right in both orders" if strict else ""
        cards.append(
            f'<div class="card">{in_html(judge.name)}<b>{percent(headline, interval=False)}</b>'
            f'<span class="soft">{interval}{headline.n} items{both}</span></div>'
        )
    return f'<div class="cards">{"".join(cards)}</div>'


def _interval(number: Number) -> str:
    if number.low is None or number.high is None:
        return ""
    return f"{100 * number.low:.1f} to {100 * number.high:.1f}, "


def _groups(judges: Sequence[JudgeReport]) -> str:
    names = [judge.name for judge in judges]
    levels = dict.fromkeys(group.level for judge in judges for group in judge.score.groups)
    made = []
    for level in levels:
        scores = [{g.name: g.score for g in j.score.groups if g.level == level} for j in judges]
        rows = list(dict.fromkeys(name for by_name in scores for name in by_name))
        if len(rows) < 2:
            continue  # the whole again
        lines = [Line(name, tuple(_mark(s.get(name)) for s in scores)) for name in rows]
        shown = forest(lines[:MOST_LINES], names, reference=0.5)
        more = len(lines) - MOST_LINES
        note = f"{more} more in the table" if more > 0 else ""
        figure = _figure(f"Score by {level}, in percent", legend(names) + shown, note)
        made.append(_folded(f"By {level}: {len(rows)}", figure) if len(rows) > FOLDED else figure)
    return "".join(made)


def _statuses(judges: Sequence[JudgeReport]) -> str:
    series = [*STATUSES, "missing"]
    lines = [
        (judge.name, [*(judge.statuses.get(s, 0) for s in STATUSES), judge.missing])
        for judge in judges
    ]
    return _figure("How verdicts ended", legend(series) + stacked(lines, series))


def _bias(judges: Sequence[JudgeReport]) -> str:
    names = [judge.name for judge in judges]
    kinds = {
        "flips with the order": "flip_rate",
        "names the answer shown first": "first_position",
        "right where the longer answer is": "longer_right",
        "right where the shorter answer is": "shorter_right",
    }
    lines = [
        Line(label, tuple(_mark(getattr(judge.bias, field)) for judge in judges))
        for label, field in kinds.items()
    ]
    return _figure("What moves the judge besides worth", legend(names) + forest(lines, names, 0.5))


def _published(judges: Sequence[JudgeReport], published: Sequence[Published]) -> str:
    if not published:
        return ""
    ours: list[tuple[str, float | None, bool]] = [
        (judge.name, judge.score.headline.value, True) for judge in judges
    ]
    others: list[tuple[str, float | None, bool]] = [
        (each.system, each.value, False) for each in published
    ]
    every = sorted(ours + others, key=lambda row: -(row[1] if row[1] is not None else -1.0))
    lines = [Line(name, (Mark(value),)) for name, value, _ in every]
    own = frozenset(place for place, row in enumerate(every) if row[2])
    sources = "; ".join(dict.fromkeys(each.source for each in published))
    note = f"Others as published: {sources}. Ours (set apart) may be of a sample or a part."
    return _figure("Beside published scores", bars(lines, own), note)


def _mark(number: Number | None) -> Mark:
    return Mark(None) if number is None else Mark(number.value, number.low, number.high)


def _figure(title: str, inner: str, note: str = "") -> str:
    said = f'<p class="note">{in_html(note)}</p>' if note else ""
    return f"<h2>{in_html(title)}</h2><figure>{inner}</figure>{said}"


def _folded(summary: str, inner: str) -> str:
    return f"<details><summary>{in_html(summary)}</summary>{inner}</details>"


def _table(table: Table) -> str:
    head = "".join(_cell("th", cell) for cell in table.head)
    rows = "".join(
        "<tr>" + "".join(_cell("td", cell) for cell in row) + "</tr>" for row in table.rows
    )
    note = f'<p class="note">{in_html(table.note)}</p>' if table.note else ""
    shown = (
        f'<h2>{in_html(table.title)}</h2><div class="wide"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{note}"
    )
    folded = len(table.rows) > FOLDED
    return _folded(f"{table.title}: {len(table.rows)} rows", shown) if folded else shown


def _cell(tag: str, text: str) -> str:
    """A cell; what is too long for a number may be broken anywhere."""
    kind = ' class="text"' if len(text) > LONGEST_NUMBER else ""
    return f"<{tag}{kind}>{in_html(text)}</{tag}>"
