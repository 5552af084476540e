"""Parquet: any record comes back, others' files are read, a file appears whole or not at all."""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openreward.errors import RecordError
from openreward.parquet import read_parquet, write_parquet
from openreward.records import Row, RowError
from openreward.types import Evidence, Judgment, Pair, Passage, Trajectory, Verdict, Vote

TEXT = st.text(st.characters(exclude_categories=("Cs",)))
NAME = st.text(st.characters(exclude_categories=("Cs",)), min_size=1)
PAIRS = st.builds(
    Pair,
    id=NAME,
    query=NAME,
    responses=st.tuples(TEXT, TEXT),
    label=st.sampled_from([None, 0, 1, "tie"]),
    source=st.none() | TEXT,
    meta=st.dictionaries(TEXT, st.none() | st.booleans() | TEXT | st.integers(), max_size=3),
)


@settings(max_examples=30)
@given(st.lists(PAIRS, max_size=4))
def test_any_pair_comes_back(pairs: list[Pair]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.parquet"
        assert write_parquet(path, pairs, Pair) == len(pairs)
        assert list(read_parquet(path, Pair)) == [Row(i, p, "row") for i, p in enumerate(pairs, 1)]


def test_a_judgment_comes_back_with_its_trajectories(tmp_path: Path) -> None:
    passage = Passage(document_id="d", source="wikipedia", title="T", text="ab", start=3, end=5)
    trajectory = Trajectory(
        task="t",
        path="chat",
        model="m",
        prompt=(),
        turns=(),
        evidence=(Evidence(number=1, tool="wikipedia_search", query="q", passage=passage),),
        verdict=Verdict(status="ok", winner=1),
        stop_reason="verdict",
    )
    vote = Vote(order=(1, 0), vote=0, status="ok", winner=0, trajectory=trajectory)
    judgment = Judgment(id="a", status="ok", winner=0, votes=(vote,), notes=("cut",), label="tie")
    path = tmp_path / "judgments.parquet"
    write_parquet(path, [judgment] * 2500, Judgment)
    assert [row.record for row in read_parquet(path, Judgment) if isinstance(row, Row)] == (
        [judgment] * 2500
    )
    schema = pq.read_schema(path)
    assert [schema.field(n).type for n in ("id", "winner", "notes", "votes")] == [
        pa.string(),
        pa.int64(),
        pa.list_(pa.string()),
        pa.string(),
    ]


def test_a_file_of_others_is_read_and_its_wrong_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    rows = [
        {"id": "a", "query": "q", "responses": ["x", "y"], "meta": {"k": 1}},
        {"id": None, "query": "q", "responses": ["x", "y"], "meta": {"k": 1}},
    ]
    pq.write_table(pa.Table.from_pylist(rows), path)
    first, second = read_parquet(path, Pair)
    assert first == Row(1, Pair(id="a", query="q", responses=("x", "y"), meta={"k": 1}), "row")
    assert isinstance(second, RowError)
    assert second.message == "row 2: field id: expected a valid string, got None"


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    def broken() -> Iterator[Pair]:
        yield Pair(id="a", query="q", responses=("x", "y"))
        raise RecordError("line 2 is broken")

    with pytest.raises(RecordError, match="line 2 is broken"):
        write_parquet(tmp_path / "p.parquet", broken(), Pair)
    with pytest.raises(RecordError, match="cannot be written: .*; make room, or name another"):
        write_parquet(tmp_path / "none" / "p.parquet", [], Pair)
    assert list(tmp_path.iterdir()) == []


BROKEN_TEXT = pa.array([b"\xff\xfe"], pa.binary()).view(pa.string())


@pytest.mark.parametrize(
    "column",
    [
        pytest.param(BROKEN_TEXT, id="text"),
        pytest.param(pa.array([2**62], pa.timestamp("us")), id="year"),
        pytest.param(
            pa.array([1], pa.timestamp("ns")),
            id="nanoseconds",
            marks=pytest.mark.skipif(
                importlib.util.find_spec("pandas") is not None,
                reason="with pandas installed pyarrow gives nanoseconds a value",
            ),
        ),
    ],
)
def test_a_value_that_python_has_not_is_named_as_the_file_s_fault(
    tmp_path: Path, column: pa.Array
) -> None:
    path = tmp_path / "odd.parquet"
    pq.write_table(pa.table({"id": ["1"], "odd": column}), path)
    with pytest.raises(RecordError, match="odd.parquet: cannot be read as Parquet"):
        list(read_parquet(path, Pair))


def test_a_column_marked_as_json_that_holds_no_text_is_a_broken_row(tmp_path: Path) -> None:
    field = pa.field("query", pa.int64(), metadata={"openreward": "json"})
    path = tmp_path / "marked.parquet"
    pq.write_table(pa.table({"query": [3]}, pa.schema([field])), path)
    row = next(iter(read_parquet(path, Pair)))
    assert isinstance(row, RowError)
    assert (row.fault, row.line) == ("not_json", 1)
