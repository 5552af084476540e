"""What a set of pairs came to, as a record and as lines for a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from openreward.cli.wording import listed, work_done
from openreward.printable import one_line
from openreward.synth.pair_set import DropCount, SourceCounts, order_of_drops
from openreward.synth.tell_records import FEWEST, Sign, TellName, Tells, Told
from openreward.types import Record, Usage

_MOST_SOURCES, _WIDTH = 6, 12  # columns of the table
_SHOWN_SIGNS = 6
_RULES: dict[TellName, str] = {
    "longer_words": "longer in words",
    "longer_characters": "longer in characters",
    "form": "length and form",
    "style": "style words",
    "overlap": "words of the document",
}


class Pace(Record):
    """How fast a run went, by the clock."""

    rows_per_second: float
    tokens_per_second: float


class PairSummary(Record):
    """A set: what became of the documents, and what tells its answers apart.

    `seconds` are those of the rows added up, not of a clock. `left_out` counts what was no usable
    document. `cost` is in the unit of the prices given. `notes` say what is missing.
    """

    output: str
    rows: tuple[str, ...]
    sources: tuple[SourceCounts, ...]
    left_out: dict[str, int]
    notes: tuple[str, ...]
    tells: Tells
    usage: Usage
    cost: float | None
    seconds: float
    runs: int
    pace: Pace | None


def summary_lines(summary: PairSummary) -> Iterator[str]:
    """The summary for people; texts from elsewhere are made safe to print."""
    yield from _table(summary.sources)
    if summary.left_out:
        yield f"left out: {listed(summary.left_out)}; named in the manifest beside the rows"
    yield ""
    yield from _tell_lines(summary.tells)
    yield ""
    all = _sum(summary.sources)
    yield one_line(
        f"{summary.output}: {all.pairs} pairs of {all.documents} documents: "
        f"{all.train} train, {all.dev} dev, {all.test} test"
    )
    yield _work_line(summary)
    yield from (one_line(note) for note in summary.notes)


def _table(sources: Sequence[SourceCounts]) -> Iterator[str]:
    """A column for each source, the largest ones where there are many, and one for all."""
    all = _sum(sources)
    largest = sorted(sources, key=lambda each: (-each.documents, each.source))[:_MOST_SOURCES]
    shown = [*(each for each in sources if each in largest), *([all] if len(sources) > 1 else [])]
    yield _row("", [_short(each.source) for each in shown])
    yield _row("documents", [each.documents for each in shown])
    for drop in all.dropped:
        counts = [_count(each, drop) for each in shown]
        yield _row(f"  {drop.step}: {drop.reason}", counts)
    names: dict[str, Callable[[SourceCounts], int]] = {
        "pairs": lambda each: each.pairs,
        "  train": lambda each: each.train,
        "  dev": lambda each: each.dev,
        "  test": lambda each: each.test,
    }
    for name, count in names.items():
        yield _row(name, [count(each) for each in shown])
    if len(sources) > len(largest):
        yield f"{len(sources) - len(largest)} more sources are in summary.json"


def _row(name: str, cells: Sequence[object]) -> str:
    return f"{name:<32}" + "".join(f"{cell!s:>{_WIDTH}}" for cell in cells)


def _short(name: str) -> str:
    safe = one_line(name[:_WIDTH])
    return safe if len(safe) < _WIDTH else f"{safe[: _WIDTH - 4]}..."


def _count(counts: SourceCounts, drop: DropCount) -> int:
    return sum(
        each.documents
        for each in counts.dropped
        if (each.step, each.reason) == (drop.step, drop.reason)
    )


def _sum(sources: Sequence[SourceCounts]) -> SourceCounts:
    """All sources as one."""
    kinds = {(each.step, each.reason): each for counts in sources for each in counts.dropped}
    dropped = [
        drop.model_copy(update={"documents": sum(_count(each, drop) for each in sources)})
        for drop in kinds.values()
    ]
    return SourceCounts(
        source="all",
        documents=sum(each.documents for each in sources),
        dropped=tuple(sorted(dropped, key=order_of_drops)),
        pairs=sum(each.pairs for each in sources),
        train=sum(each.train for each in sources),
        dev=sum(each.dev for each in sources),
        test=sum(each.test for each in sources),
    )


def _tell_lines(found: Tells) -> Iterator[str]:
    if not found.tells:
        yield f"what tells the grounded answer: {found.pairs} pairs are too few, {FEWEST} needed"
        return
    yield f"what tells the grounded answer, of {found.pairs} pairs (0.5 is chance):"
    for tell in found.tells:
        sources = ", ".join(
            f"{_short(source)} {told.accuracy:.3f}" for source, told in _few(tell.sources) if told
        )
        yield f"  {_RULES[tell.name]:<24}{_interval(tell.all)}  {sources}".rstrip()
    yield from _sign_line("form", found.form)
    yield from _sign_line("style", found.style)


def _few(sources: dict[str, Told | None]) -> list[tuple[str, Told | None]]:
    return list(sources.items())[:_MOST_SOURCES] if len(sources) > 1 else []


def _interval(told: Told | None) -> str:
    if told is None:
        return "too few to say"
    return f"{told.accuracy:.3f} ({told.low:.3f} to {told.high:.3f})"


def _sign_line(kind: str, signs: Sequence[Sign]) -> Iterator[str]:
    """The strongest signs, with their means in grounded and other answers."""
    if signs:
        told = ", ".join(
            f"{one_line(sign.feature)} {sign.positive:g}/{sign.negative:g}"
            for sign in signs[:_SHOWN_SIGNS]
        )
        yield f"  strongest in {kind} (grounded/other): {told}"


def _work_line(summary: PairSummary) -> str:
    told = work_done(summary.usage, summary.seconds, summary.runs)
    if summary.cost is not None:
        told += f", cost {summary.cost:.4f}"
    if summary.pace is not None:
        pace = summary.pace
        told += f"; {pace.rows_per_second:.2f} rows/s, {pace.tokens_per_second:.0f} tokens/s"
    return told
