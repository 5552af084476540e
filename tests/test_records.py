"""Reading rows: any record comes back, and a broken row is named by its place."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.errors import RecordError
from openreward.records import Row, RowError, describe_file, parse_line, read_jsonl, read_rows
from openreward.types import Document, Pair, Turn

TEXT = st.text(st.characters(exclude_categories=("Cs",)))
NAME = st.text(st.characters(exclude_categories=("Cs",)), min_size=1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
PAIRS = st.builds(
    Pair,
    id=NAME,
    query=NAME,
    responses=st.tuples(TEXT, TEXT),
    label=st.sampled_from([None, 0, 1, "tie"]),
    source=st.none() | TEXT,
    meta=st.dictionaries(TEXT, JSON, max_size=3),
)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SAMPLED = st.lists(st.tuples(st.integers(0, 2**31), FINITE), max_size=4)
TURNS = st.builds(
    lambda text, sampled: Turn(
        text=text,
        token_ids=tuple(id for id, _ in sampled),
        logprobs=tuple(logprob for _, logprob in sampled),
    ),
    TEXT,
    SAMPLED,
)


def write(folder: Path, data: bytes, name: str = "rows.jsonl") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@given(st.lists(PAIRS | TURNS, max_size=5))
def test_any_record_comes_back_from_its_line(records: list[Pair | Turn]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        lines = b"".join(record.model_dump_json().encode() + b"\n" for record in records)
        path = write(Path(folder), lines)
        for kind in (Pair, Turn):
            back = {r.line: r.record for r in read_jsonl(path, kind) if isinstance(r, Row)}
            assert back == {i: r for i, r in enumerate(records, 1) if isinstance(r, kind)}


@given(st.binary(max_size=60))
def test_no_line_makes_the_reader_raise(raw: bytes) -> None:
    assert isinstance(parse_line(1, raw, Document), RowError)


@pytest.mark.parametrize(
    ("line", "fault", "message"),
    [
        (
            b'{"id": "a"',
            "not_json",
            'line 7: expected one JSON object, got \'{"id": "a"\': '
            "EOF while parsing an object at column 10",
        ),
        (
            b'{"query": "q", "responses": ["x", "y"]}',
            "wrong_fields",
            "line 7: field id: expected, but missing; there is query, responses",
        ),
        (
            b'{"id": "a", "query": 5, "responses": ["x", "y"]}',
            "wrong_fields",
            "line 7: field query: expected a valid string, got 5",
        ),
        (
            b'{"id": "a", "query": "q", "responses": ["x", null]}',
            "wrong_fields",
            "line 7: field responses.1: expected a valid string, got None",
        ),
        (
            b'{"id": "a", "query": "q", "responses": ["x", "y"], "label": 2}',
            "wrong_fields",
            "line 7: field label: expected 0, 1 or 'tie', got 2",
        ),
        (
            b'{"id": "a", "query": "q", "responses": ["x", "y"], "lable": 1}',
            "wrong_fields",
            "line 7: field lable: no such field; take it out or correct its name",
        ),
        (b"[1]", "wrong_fields", "line 7: expected an object, got [1]"),
        (
            b'{"id": "a\xff"}',
            "not_utf8",
            "line 7: expected UTF-8, got byte 0xff at column 10; save the file as UTF-8",
        ),
    ],
)
def test_a_broken_line_is_named_with_field_expected_and_got(
    line: bytes, fault: str, message: str
) -> None:
    row = parse_line(7, line, Pair)
    assert isinstance(row, RowError)
    assert (row.line, row.fault, row.message) == (7, fault, message)


def test_a_long_wrong_value_is_shortened() -> None:
    line = json.dumps({"id": "a", "query": ["q" * 500], "responses": ["x", "y"]}).encode()
    row = parse_line(1, line, Pair)
    assert isinstance(row, RowError)
    assert len(row.message) == len("line 1: field query: expected a valid string, got ") + 79


def test_mark_crlf_and_blank_lines_are_taken_and_lines_keep_their_numbers(tmp_path: Path) -> None:
    good = b'{"id":"a","source":"s","title":"t","text":"x"}'
    path = write(tmp_path, b"\xef\xbb\xbf" + good + b"\r\n\r\n  \n" + b"oops\r\n" + good)
    rows = list(read_jsonl(path, Document))
    assert [(row.line, type(row)) for row in rows] == [(1, Row), (4, RowError), (5, Row)]


@pytest.mark.parametrize("name", ["r.jsonl", "r.ndjson", "r.json", "r.jsonl.gz", "r.json.gz"])
def test_lines_are_read_under_every_suffix(tmp_path: Path, name: str) -> None:
    data = b'{"id":"a","source":"s","title":"t","text":"x"}\n'
    path = write(tmp_path, gzip.compress(data) if name.endswith(".gz") else data, name)
    document = Document(id="a", source="s", title="t", text="x")
    assert list(read_rows(path, Document)) == [Row(1, document)]


def test_a_json_list_is_read_by_items(tmp_path: Path) -> None:
    data = b'[\n {"id":"a","source":"s","title":"t",\n "text":"x"},\n 5]'
    rows = list(read_rows(write(tmp_path, data, "r.json"), Document))
    assert rows[0] == Row(1, Document(id="a", source="s", title="t", text="x"), "item")
    assert isinstance(rows[1], RowError)
    assert rows[1].message.startswith("item 2: expected a valid dictionary or instance of Document")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("r.csv", b"", "expected a file that ends in .jsonl, .ndjson, .json"),
        ("r", b"", "got 'no suffix'; rename or convert it"),
        ("r.json", b"[1, 2", "expected a JSON list of records: EOF while parsing a list"),
        ("r.json", b"5", "expected a JSON list of records, got 5"),
        ("r.jsonl.gz", b"plain", "expected a whole gzip file, got Not a gzipped file"),
        ("r.jsonl.gz", gzip.compress(b'{"a":1}\n')[:-6], "expected a whole gzip file, got "),
        ("r.parquet", b"PAR1", "cannot be read as Parquet"),
    ],
)
def test_an_unreadable_file_is_an_error_that_names_it(
    tmp_path: Path, name: str, data: bytes, message: str
) -> None:
    path = write(tmp_path, data, name)
    with pytest.raises(RecordError) as caught:
        list(read_rows(path, Document))
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.jsonl"
    expected = f"{path}: cannot be read: No such file or directory; check the path"
    for read in (lambda: list(read_jsonl(path, Pair)), lambda: describe_file(path)):
        with pytest.raises(RecordError) as caught:
            read()
        assert str(caught.value).startswith(expected)


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="this system has no /dev/zero")
@pytest.mark.parametrize("name", ["z.jsonl", "z.json", "z.jsonl.gz", "z.parquet"])
def test_a_link_to_a_device_is_refused_before_it_is_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.symlink_to("/dev/zero")  # an endless line
    for read in (lambda: list(read_rows(path, Pair)), lambda: describe_file(path)):
        with pytest.raises(RecordError) as caught:
            read()
        assert str(caught.value).startswith(f"{path}: ")


def test_a_pipe_can_be_read_once(tmp_path: Path) -> None:
    path = tmp_path / "pipe.jsonl"
    os.mkfifo(path)
    line = b'{"id":"a","source":"s","title":"t","text":"x"}\n'
    with ThreadPoolExecutor() as pool:
        pool.submit(path.write_bytes, line)
        assert len(list(read_rows(path, Document))) == 1
    with pytest.raises(RecordError, match="a device or a pipe, which cannot be read twice"):
        describe_file(path)


def test_a_file_is_described_by_sum_size_and_lines(tmp_path: Path) -> None:
    found = describe_file(write(tmp_path, b"a\nb"))
    assert found.sha256 == "7e18f737311b2dc3b2f269dd78396b0351f14fb66efa879f768cb23181883c78"
    assert (found.bytes, found.lines) == (3, 2)
    assert describe_file(write(tmp_path, b"", "empty.jsonl")).lines == 0
    assert describe_file(write(tmp_path, b"a\n", "x.parquet")).lines is None
