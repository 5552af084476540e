"""Plots as SVG text, drawn by hand: no script, no font, no colour that the page does not set.

Colours are CSS variables of the page (--c0 .. --c5, --ink, --line), so that light and dark follow
it. Values are shares in [0, 1]. Labels are any text, and are escaped here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from openreward.eval.escaping import in_html

WIDTH, LABEL, RIGHT = 760, 250, 66
ROW, GAP, TOP, FOOT = 15, 9, 8, 26
COLOURS = 6


class Mark(NamedTuple):
    """A value with its interval; None where it could not be computed."""

    value: float | None
    low: float | None = None
    high: float | None = None


class Line(NamedTuple):
    """A labelled line of a plot, one mark a series."""

    label: str
    marks: tuple[Mark, ...]


def forest(lines: Sequence[Line], series: Sequence[str], reference: float | None = None) -> str:
    """Points with their 95 % intervals, a line each; `reference` draws an upright."""
    each = ROW * max(1, len(series)) + GAP
    height = TOP + each * len(lines) + FOOT
    parts = [_axis(height)]
    if reference is not None:
        x = _x(reference)
        parts.append(
            f'<line class="reference" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - FOOT}"/>'
        )
    for row, line in enumerate(lines):
        top = TOP + row * each
        parts.append(_label(line.label, top + (each - GAP) / 2))
        for place, mark in enumerate(line.marks):
            parts.append(_point(mark, top + ROW * place + ROW / 2, place, line.label, series))
    return _svg(parts, height, f"{len(lines)} values with intervals")


def bars(lines: Sequence[Line], ours: frozenset[int] = frozenset()) -> str:
    """One bar a line, its value at the end; `ours` are the lines to set apart."""
    each = ROW + GAP
    height = TOP + each * len(lines) + FOOT
    parts = [_axis(height)]
    for row, line in enumerate(lines):
        top = TOP + row * each
        parts.append(_label(line.label, top + ROW / 2))
        value = line.marks[0].value
        if value is None:
            continue
        kind = "own" if row in ours else "other"
        parts.append(
            f'<rect class="{kind}" x="{LABEL}" y="{top}" width="{_x(value) - LABEL:.1f}" '
            f'height="{ROW}"><title>{in_html(line.label)}: {100 * value:.2f} %</title></rect>'
            f'<text x="{_x(value) + 5:.1f}" y="{top + ROW / 2:.1f}">{100 * value:.1f}</text>'
        )
    return _svg(parts, height, f"{len(lines)} bars")


def stacked(lines: Sequence[tuple[str, Sequence[int]]], series: Sequence[str]) -> str:
    """Counts as shares of a whole bar, a line each."""
    each = ROW + GAP
    height = TOP + each * len(lines) + FOOT
    parts = [_axis(height)]
    for row, (label, counts) in enumerate(lines):
        top, whole, left = TOP + row * each, sum(counts), float(LABEL)
        parts.append(_label(label, top + ROW / 2))
        for place, count in enumerate(counts):
            if not count:
                continue
            width = (WIDTH - LABEL - RIGHT) * count / whole
            parts.append(
                f'<rect style="fill:var(--c{place % COLOURS})" x="{left:.1f}" y="{top}" '
                f'width="{width:.1f}" height="{ROW}">'
                f"<title>{in_html(label)}: {count} {in_html(series[place])}</title></rect>"
            )
            left += width
    return _svg(parts, height, "shares of verdicts")


def legend(series: Sequence[str]) -> str:
    """Which colour is which, as HTML."""
    items = "".join(
        f'<li><span class="dot" style="background:var(--c{place % COLOURS})"></span>'
        f"{in_html(name)}</li>"
        for place, name in enumerate(series)
    )
    return f'<ul class="legend">{items}</ul>'


def _x(share: float) -> float:
    return LABEL + (WIDTH - LABEL - RIGHT) * min(1.0, max(0.0, share))


def _axis(height: int) -> str:
    parts = []
    for tenth in range(0, 11, 2):
        x = _x(tenth / 10)
        parts.append(
            f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP}" y2="{height - FOOT}"/>'
            f'<text class="tick" x="{x:.1f}" y="{height - FOOT + 15}">{tenth * 10}</text>'
        )
    return "".join(parts)


def _label(label: str, y: float) -> str:
    shown = label if len(label) <= 34 else f"{label[:33]}…"
    return (
        f'<text class="label" x="{LABEL - 10}" y="{y:.1f}">{in_html(shown)}'
        f"<title>{in_html(label)}</title></text>"
    )


def _point(mark: Mark, y: float, place: int, label: str, series: Sequence[str]) -> str:
    if mark.value is None:
        return ""
    colour = f"var(--c{place % COLOURS})"
    bar = ""
    if mark.low is not None and mark.high is not None:
        bar = (
            f'<line style="stroke:{colour}" stroke-width="2" x1="{_x(mark.low):.1f}" '
            f'x2="{_x(mark.high):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
        )
    said = f"{label}, {series[place]}: {100 * mark.value:.2f} %"
    return (
        f'<g>{bar}<circle style="fill:{colour}" r="4.5" cx="{_x(mark.value):.1f}" cy="{y:.1f}"/>'
        f'<text class="value" x="{WIDTH - RIGHT + 10}" y="{y:.1f}">{100 * mark.value:.1f}</text>'
        f"<title>{in_html(said)}</title></g>"
    )


def _svg(parts: Sequence[str], height: int, alternative: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{in_html(alternative)}">'
        f"{''.join(parts)}</svg>"
    )
