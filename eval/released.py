"""Predictions in files: our own, and what other people released with their benchmarks.

JudgeBench's decision files, Auto-J's output pairs and PandaLM's results become `Prediction` rows,
so that one scorer reads them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from openreward.eval.auto_j import row_id
from openreward.eval.benchmark import Benchmark, Prediction
from openreward.eval.orders import FORWARD, SWAPPED
from openreward.eval.reading import FormatRow, ZeroToTwo
from openreward.records import Row, RowError, read_rows

EXCHANGED = "_exchange_"
Predictions = Iterator[Row[Prediction] | RowError]


class DecisionsRow(FormatRow):
    """JudgeBench: what a judge decided in the pair's order, then with the answers swapped."""

    pair_id: str
    decisions: list[str | None] = Field(min_length=1, max_length=2)

    def predictions(self) -> list[Prediction]:
        """The second decision speaks of the places shown, so it is turned back."""
        both = zip((FORWARD, SWAPPED), self.decisions, strict=False)
        return [_decided(self.pair_id, order, decision) for order, decision in both]


class PandaLMResult(FormatRow):
    """PandaLM: its verdict on a row, 0 a tie."""

    idx: int | str
    pandalm_result: ZeroToTwo
    pandalm_reason: str = ""

    def prediction(self) -> Prediction:
        """The answers were shown as the row has them."""
        return _prediction("pandalm", str(self.idx), FORWARD, self.pandalm_result - 1)


class AutoJOutput(FormatRow):
    """Auto-J: its verdict in places shown, 2 a tie; the row's number is all that says on what."""

    output: ZeroToTwo

    def prediction(self, number: int, order: tuple[int, int]) -> Prediction:
        """The verdict on the row of that number."""
        winner = -1 if self.output == 2 else order[self.output]
        return _prediction("auto-j", row_id(number), order, winner)


class _Any(BaseModel):
    model_config = ConfigDict(extra="allow")


class _Others(NamedTuple):
    """A format of other people, known by a field it has."""

    benchmark: str
    field: str
    read: Callable[[Path], Predictions]


def read_predictions(benchmark: Benchmark, path: Path) -> Predictions:
    """The predictions of a file: ours, or released ones for this benchmark."""
    fields = _first_fields(path)
    for others in _OTHERS:
        if others.field in fields and others.benchmark == benchmark.name:
            return others.read(path)
    return read_rows(path, Prediction)


def _read_decisions(path: Path) -> Predictions:
    for row in read_rows(path, DecisionsRow):
        if isinstance(row, RowError):
            yield row
        else:
            yield from (Row(row.line, each, row.place) for each in row.record.predictions())


def _read_pandalm(path: Path) -> Predictions:
    for row in read_rows(path, PandaLMResult):
        yield (
            row if isinstance(row, RowError) else Row(row.line, row.record.prediction(), row.place)
        )


def _read_auto_j(path: Path) -> Predictions:
    """An output file, and the one of the other order where it lies beside it."""
    for file, order in _auto_j_files(path):
        for row in read_rows(file, AutoJOutput):
            if isinstance(row, RowError):
                yield row
            else:
                yield Row(row.line, row.record.prediction(row.line, order), row.place)


def _auto_j_files(path: Path) -> list[tuple[Path, tuple[int, int]]]:
    """`pairwise_x.jsonl` and `pairwise_exchange_x.jsonl`; a name says which order it is of."""
    if EXCHANGED in path.name:
        exchanged, main = path, path.with_name(path.name.replace(EXCHANGED, "_", 1))
    else:
        main, exchanged = path, path.with_name(path.name.replace("_", EXCHANGED, 1))
    files = [(main, FORWARD), (exchanged, SWAPPED)] if main != exchanged else [(path, FORWARD)]
    return [(file, order) for file, order in files if file == path or file.is_file()]


def _decided(id: str, order: tuple[int, int], decision: str | None) -> Prediction:
    if decision in ("A>B", "B>A"):
        return _prediction("judgebench", id, order, order[0 if decision == "A>B" else 1])
    return _prediction("judgebench", id, order, -1 if decision == "A=B" else None)


def _prediction(benchmark: str, id: str, order: tuple[int, int], winner: int | None) -> Prediction:
    """-1 is a tie, None no verdict."""
    status: Literal["ok", "tie", "unparsed"] = "ok"
    if winner is None or winner < 0:
        status, winner = ("unparsed" if winner is None else "tie"), None
    return Prediction(benchmark=benchmark, id=id, order=order, status=status, winner=winner)


def _first_fields(path: Path) -> frozenset[str]:
    """The fields of the first row that can be read."""
    for row in read_rows(path, _Any):
        if isinstance(row, Row):
            return frozenset(row.record.model_extra or {})
    return frozenset()


_OTHERS = (
    _Others("judgebench", "decisions", _read_decisions),
    _Others("pandalm", "pandalm_result", _read_pandalm),
    _Others("auto-j", "output", _read_auto_j),
)
