"""Output that survives: whole lines after any cut, one writer, and settings that may not change."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.errors import RecordError
from openreward.records import DataFile, Row, read_jsonl
from openreward.resume import (
    Ids,
    JsonlWriter,
    Manifest,
    check_resumable,
    manifest_path,
    read_manifest,
    write_manifest,
)
from openreward.types import Record


class Note(Record):
    id: str
    text: str


NOTES = st.lists(
    st.builds(Note, id=st.text("abc\n"), text=st.text(st.characters(exclude_categories=("Cs",)))),
    min_size=1,
    max_size=5,
)
MANIFEST = Manifest(
    program="judge",
    state="running",
    config={"tie": False, "limits": {"calls": 4, "turns": 6}},
    setup={"concurrency": 8},
    seed=0,
    versions={"openreward": "0.1.0"},
    data=DataFile(path="in.jsonl", sha256="aa", bytes=3),
)


def read(path: Path) -> list[Note]:
    rows = list(read_jsonl(path, Note))
    assert all(isinstance(row, Row) for row in rows)
    return [row.record for row in rows if isinstance(row, Row)]


@given(NOTES, st.data())
def test_a_file_cut_at_any_byte_goes_on_with_whole_lines(
    notes: list[Note], data: st.DataObject
) -> None:
    lines = [note.model_dump_json().encode() + b"\n" for note in notes]
    whole = b"".join(lines)
    cut = data.draw(st.integers(0, len(whole)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out.jsonl"
        path.write_bytes(whole[:cut])
        kept = whole[:cut].count(b"\n")
        with JsonlWriter(path, resume=True) as writer:
            assert path.read_bytes() == b"".join(lines[:kept])
            for note in notes[kept:]:
                writer.append(note)
        assert path.read_bytes() == whole
        assert read(path) == notes


def test_a_torn_line_longer_than_a_block_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    first = b'{"id":"a","text":""}\n'
    path.write_bytes(first + b"x" * 200_000)
    JsonlWriter(path, resume=True).close()
    assert path.read_bytes() == first


def test_an_existing_file_is_refused_without_resume(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    path.write_bytes(b"torn")
    with pytest.raises(RecordError) as caught:
        JsonlWriter(path)
    assert str(caught.value) == (
        f"{path}: exists already; continue it with --resume, or name another output"
    )
    assert path.read_bytes() == b"torn"


def test_two_writers_cannot_have_one_file(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with JsonlWriter(path) as writer:
        writer.append(Note(id="a", text="b"))
        with pytest.raises(RecordError, match="another run is writing to it; wait for it"):
            JsonlWriter(path, resume=True)
    with JsonlWriter(path, resume=True) as writer:
        writer.append(Note(id="b", text="c"))
    assert [note.id for note in read(path)] == ["a", "b"]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be written: No such file or directory; check"):
        JsonlWriter(tmp_path / "none" / "out.jsonl")


FILL = """
import resource, sys
from pathlib import Path
from openreward.errors import RecordError
from openreward.resume import JsonlWriter
from openreward.types import Document
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
document = Document(id="a", source="s", title="t", text="x" * 250)
with JsonlWriter(Path(sys.argv[1])) as writer:
    try:
        for _ in range(10):
            writer.append(document)
    except RecordError as error:
        sys.exit(str(error))
"""


def test_a_full_disk_leaves_whole_lines_and_says_what_to_do(tmp_path: Path) -> None:
    """The limit on a file's size stands in for the disk: a write is short, the next one fails."""
    path = tmp_path / "out.jsonl"
    run = subprocess.run(
        [sys.executable, "-c", FILL, str(path)], capture_output=True, text=True, check=False
    )
    assert run.stderr == (
        f"{path}: cannot be written: File too large; "
        "its lines are whole; make room, then continue with --resume\n"
    )
    lines = path.read_bytes().splitlines(keepends=True)
    assert [len(line) for line in lines] == [len(lines[0])] * 3
    assert lines[0].endswith(b'"revision":null}\n')


def test_a_device_is_not_taken_for_a_file() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(RecordError, match="/dev/full: expected a file, got a device or a pipe"):
        JsonlWriter(Path("/dev/full"), resume=True)


def test_ids_know_what_is_done_and_what_was_seen() -> None:
    ids = Ids(["a", "b"])
    assert (len(ids), ids.is_done("a"), ids.is_done("c")) == (2, True, False)
    assert [ids.is_new(id) for id in ("a", "c", "a", "c")] == [True, True, False, False]
    assert ids.is_done("c") is False


def test_ids_take_at_most_100_bytes_a_row() -> None:
    tracemalloc.start()
    ids = Ids(f"done-{number}" for number in range(100_000))
    most = 0.0
    for number in range(100_000):
        ids.is_new(f"done-{number}")
        if number % 1000 == 999:
            most = max(most, tracemalloc.get_traced_memory()[0] / max(number + 1, 100_000))
    tracemalloc.stop()
    assert most <= 100


def test_a_manifest_is_replaced_whole(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    assert read_manifest(output) is None
    write_manifest(output, MANIFEST)
    write_manifest(output, MANIFEST.model_copy(update={"runs": 2}))
    assert read_manifest(output) == MANIFEST.model_copy(update={"runs": 2})
    assert os.listdir(tmp_path) == ["out.jsonl.manifest.json"]


def test_a_broken_manifest_is_named(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    manifest_path(output).write_text('{"program": 1}')
    with pytest.raises(RecordError, match=r"out\.jsonl\.manifest\.json: expected a manifest, fiel"):
        read_manifest(output)


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"seed": 1}, "seed: 0 then, 1 now"),
        (
            {"config": {"tie": False, "limits": {"calls": 5, "turns": 6}}},
            "config.limits.calls: 4 then, 5 now",
        ),
        (
            {"config": {"tie": True, "limits": {"calls": 4, "turns": 6}, "votes": 2}},
            "config.tie: False then, True now; config.votes: None then, 2 now",
        ),
        (
            {"data": DataFile(path="in.jsonl", sha256="bb", bytes=3)},
            "data.sha256: 'aa' then, 'bb' now",
        ),
        ({"program": "filter"}, "program: 'judge' then, 'filter' now"),
    ],
)
def test_other_settings_or_data_are_refused_by_name(
    tmp_path: Path, changed: dict[str, object], named: str
) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("{}\n")
    write_manifest(output, MANIFEST)
    with pytest.raises(RecordError) as caught:
        check_resumable(output, MANIFEST.model_copy(update=changed))
    assert str(caught.value) == (
        f"{output}: cannot be continued with other settings or data ({named}); "
        "take the same, or name another output"
    )


def test_another_number_of_workers_or_path_may_continue(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("{}\n")
    write_manifest(output, MANIFEST)
    moved = DataFile(path="elsewhere/in.jsonl", sha256="aa", bytes=3)
    now = MANIFEST.model_copy(update={"setup": {"concurrency": 1}, "data": moved})
    check_resumable(output, now)
    assert read_manifest(output) == MANIFEST


def test_rows_without_a_manifest_are_not_continued(tmp_path: Path) -> None:
    output = tmp_path / "out.jsonl"
    output.write_text("someone's notes")
    with pytest.raises(RecordError, match=r"expected out\.jsonl\.manifest\.json beside it"):
        check_resumable(output, MANIFEST)
    assert output.read_text() == "someone's notes"
