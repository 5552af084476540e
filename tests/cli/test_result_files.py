from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from openreward.cli.progress import RunProgress
from openreward.cli.result_files import LeftOut, ResultFiles, beside
from openreward.errors import RecordError
from openreward.records import RowError
from openreward.synth.preferences import NoPair

ROW = NoPair(id="r", reason="too_few")
LINE = '{"id":"r","reason":"too_few","detail":""}\n'


@pytest.mark.parametrize(
    ("output", "expected"),
    [("a/out.jsonl", "a/out.train.jsonl"), ("out", "out.train.jsonl")],
)
def test_a_file_beside_another_has_its_name(output: str, expected: str) -> None:
    assert beside(Path(output), "train.jsonl") == Path(expected)


def test_files_are_in_their_place_when_all_is_written(tmp_path: Path) -> None:
    one, other = tmp_path / "one.jsonl", tmp_path / "other.json"
    with ResultFiles(one, other) as files:
        files.write(one, ROW)
        files.write(one, ROW)
        files.write(other, ROW, indent=2)
        assert not one.exists()
    assert one.read_text() == 2 * LINE
    assert other.read_text().startswith('{\n  "id": "r"')
    assert sorted(tmp_path.iterdir()) == [one, other]


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    def stop() -> None:
        with ResultFiles(tmp_path / "one.jsonl", tmp_path / "other.jsonl") as files:
            files.write(tmp_path / "one.jsonl", ROW)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop()
    assert list(tmp_path.iterdir()) == []


def test_what_is_there_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "other.jsonl").symlink_to("nowhere")
    with pytest.raises(RecordError, match="other.jsonl: exists already; name another output"):
        ResultFiles(tmp_path / "one.jsonl", tmp_path / "other.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["other.jsonl"]


def test_what_cannot_be_written_is_said_and_takes_the_other_files_away(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="no/other.jsonl: cannot be written: No such file"):
        ResultFiles(tmp_path / "one.jsonl", tmp_path / "no" / "other.jsonl")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_goes_away_is_said(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()

    def write() -> None:
        with ResultFiles(folder / "one.jsonl") as files:
            files.write(folder / "one.jsonl", ROW)
            shutil.rmtree(folder)

    with pytest.raises(RecordError, match="one.jsonl: cannot be written: No such file"):
        write()


def test_rows_left_out_are_counted_all_and_kept_in_part(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with RunProgress(None, as_json=False) as progress:
        left_out = LeftOut(progress)
        for number in range(150):
            fault = "duplicate_id" if number % 3 else "wrong_fields"
            error = RowError(line=number, fault=fault, message=f"line {number}: wrong")
            left_out.drop(error)
    assert left_out.counts == {"wrong_fields": 50, "duplicate_id": 100}
    assert len(left_out.errors) == 100
    shown = capsys.readouterr().err.splitlines()
    assert (shown[0], shown[-1]) == ("left out: line 0: wrong", "and 130 more rows left out")
