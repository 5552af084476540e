"""A gathering that ends at any row, with any manifest that lay beside it then, and goes on."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

import pytest

from openreward.errors import RecordError, ToolError, UserError
from openreward.records import DataFile, Row, read_jsonl
from openreward.resume import Manifest, Totals, manifest_path, read_manifest
from openreward.synth import gathering
from openreward.synth.gathering import Gathering, gather
from openreward.types import Document

FOUND = {"a": "1 2 - 3 4 5", "b": "3 2 6 - 7 1 8 9", "c": "", "d": "9 8 10"}
WHOLE = ["1", "2", "3", "6", "7", "8", "9", "10"]  # three new ones of each query, where there are
MANIFEST = Manifest(
    program="test",
    state="running",
    config={},
    setup={"kept": 1},
    seed=0,
    versions={},
    data=DataFile(path="", sha256="", bytes=0),
)


class Shelf:
    """Gives what each query finds; "-" is a result without text."""

    def __init__(self, found: Mapping[str, str]) -> None:
        self.found, self.skipped = found, Counter[str]()
        self.asked: list[tuple[str, int]] = []

    async def documents(self, query: str, skip: int) -> AsyncIterator[Document]:
        self.asked.append((query, skip))
        for id in self.found[query].split()[skip:]:
            if id == "-":
                self.skipped["no text"] += 1
            elif id == "!":
                raise ToolError("unavailable", "it is down")
            elif id == "|":
                raise UserError("there are no more by position")
            else:
                yield Document(id=id, source="test", title="", text="text")
            await asyncio.sleep(0)


def run(path: Path, shelf: Shelf, *, number: int = 3, resume: bool = False) -> Gathering:
    with Gathering(path, list(shelf.found), MANIFEST, resume=resume) as output:
        asyncio.run(gather(shelf, output, number, lambda totals: None))
    return output


def ids(path: Path) -> list[str]:
    return [row.record.id for row in read_jsonl(path, Document) if isinstance(row, Row)]


def test_each_query_gives_what_is_new(tmp_path: Path) -> None:
    told: list[Totals] = []
    path, shelf = tmp_path / "out.jsonl", Shelf(FOUND)
    with Gathering(path, list(FOUND), MANIFEST) as output:
        asyncio.run(gather(shelf, output, 3, told.append))
    assert ids(path) == WHOLE
    assert [totals.rows for totals in told] == [1, 2, 3, 4, 5, 6, 7, 8]
    assert [(s.query, s.rows, s.met, s.done) for s in output.states] == [
        ("a", 3, 3, True),
        ("b", 3, 6, True),
        ("c", 0, 0, True),
        ("d", 2, 3, True),
    ]
    assert output.left_out == {"no text": 2, "met again": 4}
    manifest = read_manifest(path)
    assert manifest is not None
    assert (manifest.state, manifest.totals.rows, manifest.setup["kept"]) == ("finished", 8, 1)


def snapshots(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bytes]]:
    """Every manifest that a whole run writes, and how many rows there were then."""
    path, taken = folder / "whole.jsonl", list[tuple[int, bytes]]()
    save = Gathering.save

    def noting(self: Gathering, state: str) -> None:
        save(self, state)  # type: ignore[arg-type]
        taken.append((len(ids(path)), manifest_path(path).read_bytes()))

    with monkeypatch.context() as patched:
        patched.setattr(gathering, "_EVERY", 2)
        patched.setattr(Gathering, "save", noting)
        run(path, Shelf(FOUND))
    return taken


def test_a_run_that_died_at_any_row_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = snapshots(tmp_path, monkeypatch)
    lines = (tmp_path / "whole.jsonl").read_bytes().splitlines(keepends=True)
    assert len(taken) == 1 + 4 + 4 + 1  # at first, every two rows, after each query, at the end
    tried = 0
    for number, (rows, manifest) in enumerate(taken):
        # Rows are written between two manifests; the power may also fail before they are on disk.
        next_rows = taken[number + 1][0] if number + 1 < len(taken) else rows
        for there in range(1, next_rows + 1):
            path = tmp_path / f"{number}-{there}.jsonl"
            path.write_bytes(b"".join(lines[:there]) + b'{"id": "to')
            manifest_path(path).write_bytes(manifest)
            output = run(path, Shelf(FOUND), resume=True)
            assert ids(path)[:there] == WHOLE[:there]
            assert sorted(ids(path)) == sorted(WHOLE), (number, there)
            assert output.rows == 8
            tried += 1
    assert tried > 40


def test_what_is_done_is_not_asked_for_again(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    down = Shelf({**FOUND, "b": "3 2 6 !"})
    with pytest.raises(ToolError, match="it is down"):
        run(path, down)
    assert ids(path) == ["1", "2", "3", "6"]
    shelf = Shelf(FOUND)
    run(path, shelf, resume=True)
    assert shelf.asked == [("b", 3), ("c", 0), ("d", 0)]
    assert ids(path) == WHOLE
    again = Shelf(FOUND)
    assert run(path, again, resume=True).rows == 8
    assert again.asked == []


def test_the_end_of_what_can_be_reached_ends_a_query_with_a_note(tmp_path: Path) -> None:
    output = run(tmp_path / "out.jsonl", Shelf({"a": "1 |", "b": "2"}))
    assert [(s.rows, s.done, s.note, s.unasked) for s in output.states] == [
        (1, True, "there are no more by position", False),
        (1, True, "", False),
    ]


def test_a_line_that_is_no_document_is_named(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    run(path, Shelf(FOUND))
    path.write_bytes(b'{"id": 7}\n' + path.read_bytes())
    with pytest.raises(RecordError, match="line 1: .*expected a document; take the line out"):
        run(path, Shelf(FOUND), resume=True)


def test_a_second_run_does_not_write_to_the_same_file(tmp_path: Path) -> None:
    queries: Sequence[str] = list(FOUND)
    with (
        Gathering(tmp_path / "out.jsonl", queries, MANIFEST),
        pytest.raises(RecordError, match="another run is writing to it"),
    ):
        Gathering(tmp_path / "out.jsonl", queries, MANIFEST, resume=True)
