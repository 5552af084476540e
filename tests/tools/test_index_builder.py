from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest

from openreward.errors import IndexMismatch, RecordError, UserError
from openreward.tools.index import LocalIndex
from openreward.tools.index_builder import build
from openreward.types import Document


def document(number: int, text: str = "", source: str = "notes") -> Document:
    text = text or f"Note {number} speaks of apples."
    return Document(id=f"note:{number}", source=source, title=f"Note {number}", text=text)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    folder = tmp_path / "index"
    build([document(1), document(2)], folder, "notes")
    return folder


def change_meta(folder: Path, **fields: object) -> None:
    path = folder / "openreward-index.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


def test_repeated_rows_are_counted_and_blank_ones_left_out(tmp_path: Path) -> None:
    rows = [document(1), document(1), document(2, " \n "), document(3)]
    meta = build(rows, tmp_path / "index", "notes")
    assert (meta.documents, meta.passages, meta.duplicates, meta.blank) == (2, 2, 1, 1)


def test_an_id_with_two_texts_is_named_with_both_rows(tmp_path: Path) -> None:
    rows = [document(1), document(2), document(1, "Pears.")]
    with pytest.raises(RecordError, match=r"^row 3: id 'note:1' has another text than in row 1;"):
        build(rows, tmp_path / "index", "notes")


def test_a_row_of_another_source_is_named(tmp_path: Path) -> None:
    rows = [document(1), document(2, source="arxiv")]
    with pytest.raises(
        RecordError, match=r"^row 2 \('note:2'\): expected source 'notes', got 'arx"
    ):
        build(rows, tmp_path / "index", "notes")


@pytest.mark.parametrize("rows", [[], [document(1, "  ")]])
def test_nothing_to_index_is_an_error(tmp_path: Path, rows: list[Document]) -> None:
    with pytest.raises(UserError, match="expected documents of 'notes', got none with text"):
        build(rows, tmp_path / "index", "notes")


def test_a_failed_build_leaves_the_old_index_and_no_litter(built: Path) -> None:
    before = LocalIndex(built).version
    with pytest.raises(RecordError):
        build([document(3), document(4, source="x")], built, "notes")
    assert LocalIndex(built).version == before
    assert len(list(built.glob("data-*"))) == 1


def test_a_new_build_replaces_the_old_and_an_open_index_goes_on(built: Path) -> None:
    opened = LocalIndex(built)
    build([document(5, "Pears only.")], built, "notes")
    assert opened.lookup("apples", 1).passages[0].document_id in ("note:1", "note:2")
    assert LocalIndex(built).lookup("pears", 3).passages[0].document_id == "note:5"
    assert len(list(built.glob("data-*"))) == 1


def test_a_folder_with_something_else_in_it_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(UserError, match=r"holds 'thesis\.txt'; name another folder"):
        build([document(1)], tmp_path, "notes")
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]


def test_two_builds_of_one_folder_do_not_mix(tmp_path: Path) -> None:
    folder = tmp_path / "index"

    def rows() -> Iterator[Document]:
        yield document(1)
        build([document(2)], folder, "notes")

    with pytest.raises(UserError, match="another build is writing to"):
        build(rows(), folder, "notes")


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[int] = []
    build(map(document, range(500)), tmp_path / "index", "notes", progress=told.append)
    assert told == [200, 400, 500]


def test_memory_does_not_grow_with_the_documents(tmp_path: Path) -> None:
    peaks = []
    for count in (2_000, 8_000):
        tracemalloc.start()
        build(map(document, range(count)), tmp_path / str(count), "notes")
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] - peaks[0] < 200_000


SLOW_BUILD = """
import sys, time
from pathlib import Path
from openreward.tools.index_builder import build
from openreward.types import Document
def rows():
    for n in range(10**9):
        yield Document(id=str(n), source="notes", title="t", text="pears")
        if n == 300: print("going", flush=True)
        if n > 300: time.sleep(0.01)
build(rows(), Path(sys.argv[1]), "notes")
"""


@pytest.mark.parametrize("old", [True, False])
def test_a_killed_build_leaves_what_was_there(tmp_path: Path, old: bool) -> None:
    folder = tmp_path / "index"
    if old:
        build([document(1)], folder, "notes")
    command = [sys.executable, "-c", SLOW_BUILD, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"going\n"
        os.kill(process.pid, signal.SIGKILL)
    if old:
        assert LocalIndex(folder).lookup("apples", 1).passages[0].document_id == "note:1"
    else:
        with pytest.raises(IndexMismatch, match="an index whose build did not finish; build it"):
            LocalIndex(folder)
    build([document(2)], folder, "notes")
    assert LocalIndex(folder).lookup("apples", 1).passages[0].document_id == "note:2"
    assert len(list(folder.glob("data-*"))) == 1


def test_a_full_disk_is_a_clear_error(tmp_path: Path) -> None:
    code = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from openreward.tools.index_builder import build\nfrom openreward.types import Document\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))\n"
        "texts = {str(n): str(n) * 99 for n in range(999)}\n"
        "rows = [Document(id=n, source='n', title='t', text=t) for n, t in texts.items()]\n"
        "build(rows, Path(sys.argv[1]), 'n')"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "index")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "UserError: cannot write an index to" in run.stderr.splitlines()[-1]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"format": 99}, "expected index format 1, got 99; build it with `openreward index build"),
        ({"format": 99, "new": 1}, "expected index format 1, got 99"),
        ({"source": 3}, r"is broken \(source: "),
        ({"data": "../elsewhere"}, r"is broken \(data: "),
        ({"passages": 7}, "expected 7 passages, got 2"),
    ],
)
def test_an_index_of_another_form_names_the_remedy(
    built: Path, fields: dict[str, object], message: str
) -> None:
    change_meta(built, **fields)
    with pytest.raises(IndexMismatch, match=message):
        LocalIndex(built)


def test_a_missing_index_names_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(IndexMismatch, match="holds no index; build it with .* --source arxiv -o "):
        LocalIndex(tmp_path / "none", "arxiv")


@pytest.mark.parametrize("suffix", [".store", ".term", ".idx", "meta.json"])
@pytest.mark.parametrize("damage", ["cut", "flip", "gone"])
def test_a_damaged_file_is_found_when_the_index_is_opened(
    built: Path, suffix: str, damage: str
) -> None:
    path = next(path for path in built.glob("data-*/*") if path.name.endswith(suffix))
    content = path.read_bytes()
    middle = len(content) // 2
    if damage == "gone":
        path.unlink()
    else:
        flipped = bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]
        path.write_bytes(content[:middle] + (flipped if damage == "flip" else b""))
    with pytest.raises(IndexMismatch, match=r"is broken: .*; build it with"):
        LocalIndex(built)


def test_an_index_in_a_folder_of_others_is_read(built: Path) -> None:
    files = [path for path in built.glob("data-*/*") if not path.name.endswith(".lock")]
    assert all(path.stat().st_mode & 0o444 == 0o444 for path in files)
    code = (
        "import os, sys; from pathlib import Path\n"
        "from openreward.tools.index import LocalIndex\n"
        "if os.geteuid() == 0: os.setegid(65534); os.seteuid(65534)\n"
        "print(LocalIndex(Path(sys.argv[1])).lookup('apples', 1).passages[0].source)"
    )
    [folder] = built.glob("data-*")
    for path in (folder / ".tantivy-meta.lock", folder / ".tantivy-writer.lock"):
        path.unlink(missing_ok=True)
    for path in built.parents:
        if path.name.startswith("pytest-"):
            path.chmod(path.stat().st_mode | 0o055)
    built.parent.chmod(0o755)
    folder.chmod(0o555)
    run = subprocess.run(
        [sys.executable, "-c", code, str(built)], capture_output=True, text=True, check=False
    )
    folder.chmod(0o755)
    assert (run.stdout, run.stderr) == ("notes\n", "")


def test_opening_is_fast(built: Path) -> None:
    started = time.perf_counter()
    for _ in range(20):
        LocalIndex(built)
    assert time.perf_counter() - started < 4
