"""What `openreward eval` is given, before anything is asked."""

from __future__ import annotations

from pathlib import Path

import pytest

from openreward.cli.eval_inputs import LONGEST_PRINCIPLE, check_folder, read_principle
from openreward.cli.eval_run import control_contender, saved_contender, told_apart
from openreward.errors import RecordError, UserError


def test_a_principle_is_words_or_a_file_of_them(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 120) / ("b" * 120)
    deep.mkdir(parents=True)
    (deep / "principle.txt").write_text("\ufeffPrefer the shorter one.\r\n")
    assert read_principle(str(deep / "principle.txt")) == "Prefer the shorter one."
    assert read_principle(" Be kind, e.g. say thanks. ") == "Be kind, e.g. say thanks."
    assert read_principle("honesty") == "honesty"
    assert read_principle("Helpful/harmless") == "Helpful/harmless"
    assert read_principle("one\ntwo") == "one\ntwo"
    assert read_principle("x" * 5000) == "x" * 5000  # longer than any path
    assert read_principle(None) is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "expected a principle in words, got none"),
        (" \n", "expected a principle in words, got none"),
        ("empty.txt", "expected a principle in words, got none"),
        ("principel.txt", "or a file of it; there is no such file"),
        ("no/such.md", "there is no such file"),
        (".", "there is no such file"),
        ("binary.txt", "expected text in UTF-8"),
        ("huge.txt", f"expected at most {LONGEST_PRINCIPLE} characters"),
    ],
)
def test_what_is_no_principle_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").write_text("\n")
    (tmp_path / "binary.txt").write_bytes(b"\xff\x00")
    (tmp_path / "huge.txt").write_text("x" * (LONGEST_PRINCIPLE + 1))
    with pytest.raises(UserError) as raised:
        read_principle(given)
    assert message in str(raised.value)


def test_a_report_that_is_there_is_not_lost(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    check_folder(tmp_path / "out", tmp_path / "data.json", resume=False)
    (tmp_path / "out" / "report.json").write_text("{}")
    with pytest.raises(RecordError, match="exists already; .*continue it with --resume"):
        check_folder(tmp_path / "out", tmp_path / "data.json", resume=False)
    check_folder(tmp_path / "out", tmp_path / "data.json", resume=True)


@pytest.mark.parametrize("folder", ["data", "data/out", "data/../data/out/deep"])
def test_results_do_not_go_where_they_would_be_data(tmp_path: Path, folder: str) -> None:
    (tmp_path / "data").mkdir()
    with pytest.raises(UserError, match="expected a folder outside the data"):
        check_folder(tmp_path / folder, tmp_path / "data", resume=True)
    check_folder(tmp_path / "data-out", tmp_path / "data", resume=True)
    check_folder(tmp_path / folder, "owner/name", resume=True)


def test_files_of_one_name_are_called_by_their_paths(tmp_path: Path) -> None:
    paths = [tmp_path / name / "judge.predictions.jsonl" for name in "ab"]
    for path in paths:
        path.parent.mkdir()
        path.touch()
    alone = tmp_path / "alone.jsonl"
    alone.touch()
    made = [*map(saved_contender, [*paths, alone]), control_contender("first")]
    names = [each.name for each in told_apart(made)]
    assert names == [*map(str, paths), "alone", "always the first shown"]
    named = told_apart([made[0]._replace(called="mine"), *made[1:]])
    assert [each.name for each in named][:2] == ["mine", "judge.predictions"]
