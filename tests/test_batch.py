"""The row runner: each row once, as many at once as asked, stopped cleanly, totals of the rows."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from openreward.batch import Measure, NotDone, Output, run_rows
from openreward.errors import PolicyError, RecordError
from openreward.records import DataFile, Row, RowError, read_jsonl
from openreward.resume import Manifest, Totals, read_manifest
from openreward.types import Record, Usage


class Number(Record):
    id: str
    value: int


class Square(Record):
    id: str
    value: int
    seconds: float = 0.5


class Told:
    """Remembers what it was told."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.dropped: list[str] = []

    def advance(self, totals: Totals) -> None:
        self.rows.append(totals.rows)

    def drop(self, error: RowError) -> None:
        self.dropped.append(error.message)


MANIFEST = Manifest(
    program="square",
    state="running",
    config={},
    setup={},
    seed=0,
    versions={},
    data=DataFile(path="in.jsonl", sha256="aa", bytes=3),
)


def measure(square: Square) -> Measure:
    usage = Usage(prompt_tokens=square.value, completion_tokens=1)
    marks = ("even",) if square.value % 2 == 0 else ()
    return Measure(square.id, "ok", usage, square.seconds, marks)


def numbers(count: int) -> Iterator[Row[Number] | RowError]:
    return (Row(i, Number(id=f"n{i}", value=i)) for i in range(1, count + 1))


async def square(number: Number) -> Square:
    await asyncio.sleep(0.001 * (number.value % 3))
    return Square(id=number.id, value=number.value**2)


def run(
    path: Path,
    rows: Iterator[Row[Number] | RowError],
    work: object = square,
    *,
    resume: bool = False,
    concurrency: int = 4,
    limit: int | None = None,
) -> Told:
    told = Told()

    async def go() -> None:
        with Output(path, Square, measure, MANIFEST, resume=resume) as output:
            await run_rows(
                rows,
                lambda number: number.id,
                work,  # type: ignore[arg-type]
                output,
                progress=told,
                concurrency=concurrency,
                limit=limit,
            )

    asyncio.run(go())
    return told


def values(path: Path) -> list[int]:
    return sorted(r.record.value for r in read_jsonl(path, Square) if isinstance(r, Row))


@pytest.mark.parametrize("concurrency", [1, 3, 50])
def test_every_row_is_done_once_and_counted(tmp_path: Path, concurrency: int) -> None:
    path = tmp_path / "out.jsonl"
    told = run(path, numbers(10), concurrency=concurrency)
    assert values(path) == [1, 4, 9, 16, 25, 36, 49, 64, 81, 100]
    assert told.rows == list(range(1, 11))
    manifest = read_manifest(path)
    assert manifest is not None
    assert (manifest.state, manifest.runs) == ("finished", 1)
    assert manifest.totals == Totals(
        rows=10,
        status={"ok": 10},
        marks={"even": 5},
        usage=Usage(prompt_tokens=385, completion_tokens=10),
        seconds=5.0,
    )


def test_no_more_rows_are_in_flight_than_asked(tmp_path: Path) -> None:
    now, most = 0, 0

    async def work(number: Number) -> Square:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0.002)
        now -= 1
        return Square(id=number.id, value=0)

    run(tmp_path / "out.jsonl", numbers(20), work, concurrency=5)
    assert most == 5


def test_a_run_that_fails_keeps_what_was_done_and_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    ended = []

    async def work(number: Number) -> Square:
        try:
            if number.value == 5:
                raise PolicyError("unreachable", "nothing answers")
            await asyncio.sleep(0 if number.value < 5 else 60)
        finally:
            ended.append(number.value)
        return Square(id=number.id, value=number.value)

    with pytest.raises(PolicyError, match="nothing answers"):
        run(path, numbers(100), work, concurrency=4)
    assert sorted(ended) == [1, 2, 3, 4, 5, 6, 7, 8]  # the rows in flight were cancelled
    assert values(path) == [1, 2, 3, 4]
    manifest = read_manifest(path)
    assert manifest is not None
    assert (manifest.state, manifest.totals.rows) == ("stopped", 4)
    asked = []

    async def again(number: Number) -> Square:
        asked.append(number.value)
        return Square(id=number.id, value=number.value)

    told = run(path, numbers(6), again, resume=True)
    assert (asked, told.rows) == ([5, 6], [5, 6])
    manifest = read_manifest(path)
    assert manifest is not None
    assert (manifest.runs, manifest.totals.rows, manifest.totals.seconds) == (2, 6, 3.0)
    assert manifest.totals.usage == Usage(prompt_tokens=21, completion_tokens=6)


def test_cancelling_the_run_cancels_its_rows_and_writes_the_manifest(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    cancelled = []

    async def work(number: Number) -> Square:
        if number.value > 2:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                cancelled.append(number.value)
                raise
        return Square(id=number.id, value=number.value)

    async def go() -> int:
        async def inner() -> None:
            with Output(path, Square, measure, MANIFEST) as output:
                await run_rows(
                    numbers(9), lambda n: n.id, work, output, progress=Told(), concurrency=3
                )

        task = asyncio.create_task(inner())
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(asyncio.all_tasks())

    assert asyncio.run(go()) == 1
    assert sorted(cancelled) == [3, 4, 5]
    manifest = read_manifest(path)
    assert manifest is not None
    assert (manifest.state, manifest.totals.rows) == ("stopped", 2)


def test_a_second_row_of_an_id_is_named_and_a_broken_one_is_kept_out(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    broken = RowError(line=2, fault="not_json", message="line 2: broken")

    def rows() -> Iterator[Row[Number] | RowError]:
        yield Row(1, Number(id="a", value=1))
        yield broken
        yield Row(3, Number(id="a", value=3))
        yield Row(4, Number(id="b", value=4), "row")
        yield Row(5, Number(id="b", value=5), "row")

    for resume in (False, True):
        told = run(path, rows(), resume=resume)
        expected = [
            "line 2: broken",
            "line 3: expected a new id, got 'a' again",
            "row 5: expected a new id, got 'b' again",
        ]
        assert told.dropped == expected
        assert values(path) == [1, 16]
        manifest = read_manifest(path)
        assert manifest is not None
        assert manifest.dropped == {"not_json": 1, "duplicate_id": 2}
        assert [error.message for error in manifest.errors] == expected


def test_a_limit_counts_usable_rows_done_or_not(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    run(path, numbers(10), limit=3)
    assert values(path) == [1, 4, 9]
    run(path, numbers(10), limit=5, resume=True)
    assert values(path) == [1, 4, 9, 16, 25]


def test_an_output_with_a_line_that_is_no_result_is_named(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    run(path, numbers(2))
    with path.open("a") as file:
        file.write("garbage\n")
    with pytest.raises(RecordError) as caught:
        run(path, numbers(3), resume=True)
    assert str(caught.value) == (
        f"{path}: line 3: expected one JSON object, got 'garbage': expected value at column 1; "
        "expected a result of this program; take the line out, and its row is done again"
    )
    with pytest.raises(RecordError, match="garbage"):  # and not "another run is writing"
        run(path, numbers(3), resume=True)


def test_resuming_what_was_never_begun_begins(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    run(path, numbers(2), resume=True)
    assert values(path) == [1, 4]
    manifest = read_manifest(path)
    assert manifest is not None
    assert manifest.runs == 1


def test_a_row_that_is_not_done_is_named_and_a_resumed_run_does_it_again(tmp_path: Path) -> None:
    async def busy(number: Number) -> Square:
        if number.value == 2:
            raise NotDone("the engine is busy")
        return await square(number)

    path = tmp_path / "out.jsonl"
    told = run(path, numbers(3), busy)
    assert told.dropped == ["line 2 ('n2'): the engine is busy"]
    manifest = read_manifest(path)
    assert manifest is not None
    assert (manifest.state, manifest.totals.rows, manifest.dropped) == (
        "finished", 2, {"not_done": 1},
    )  # fmt: skip
    assert run(path, numbers(3), resume=True).dropped == []
    found = [row.record.id for row in read_jsonl(path, Square) if isinstance(row, Row)]
    assert sorted(found) == ["n1", "n2", "n3"]
    assert found[-1] == "n2"
