from __future__ import annotations

import sys
from pathlib import Path

import pytest

from openreward.errors import RecordError
from openreward.synth.pair_records import PairSettings
from openreward.synth.pair_set import make_set
from openreward.synth.pair_table import words_in

sys.path.insert(0, str(Path(__file__).parent))

from pair_rows import row, write


def whole(line: str) -> str:
    return row("a").model_dump_json() + "\n" + line


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (whole('{"id": "b", "sour'), "line 2: expected one JSON object"),
        (whole('{"id": "b"}\n'), "line 2: field source: expected, but missing"),
        (
            whole(row("b").model_copy(update={"negative": None}).model_dump_json()),
            "line 2: expected a row with a query and two answers, or with a drop",
        ),
        (
            whole(row("b").model_copy(update={"query": ""}).model_dump_json()),
            "line 2: expected a row with a query and two answers, or with a drop",
        ),
        (whole(row("a").model_dump_json()), "expected each document once, got 'a' again"),
    ],
)
def test_a_line_that_is_no_row_is_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RecordError) as caught:
        make_set([path], PairSettings())
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


def test_a_document_of_two_files_is_an_error_that_names_both(tmp_path: Path) -> None:
    one, other = write(tmp_path / "1.jsonl", [row("a")]), write(tmp_path / "2.jsonl", [row("a")])
    with pytest.raises(RecordError) as caught:
        make_set([one, other], PairSettings())
    assert str(caught.value) == (
        f"{other}: expected each document once, got 'a' again, which {one} has; "
        "give each folder once, of shards that differ"
    )


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"none\.jsonl: cannot be read: No such file"):
        make_set([tmp_path / "none.jsonl"], PairSettings())


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("The well-known river's mouth, 3.5 km wide.", 8),
        ("**Bold** - and `code`!", 3),
        ("日本語です", 5),
        ("\x00 a\x00b _ 1", 4),
    ],
)
def test_words_are_counted(text: str, words: int) -> None:
    assert words_in(text) == words
