from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path

import pytest

from openreward.errors import RecordError, UserError
from openreward.parquet import write_parquet
from openreward.synth.evaluation_overlap import EvaluationOverlap
from openreward.types import Pair

LONG = "the quick brown fox jumps over the lazy dog and runs away into the dark green forest"
RUN = "brown fox jumps over the"
SHORT = "Which of the nine old mills still turn at the ebb?"  # eleven words


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.jsonl", json.dumps({"id": 7, "query": LONG}) + "\n"),
        ("a.jsonl.gz", json.dumps({"query": "x"}) + "\n" + json.dumps({"query": LONG}) + "\n"),
        ("a.json", json.dumps([{"conversation": [{"role": "user", "content": LONG}]}])),
        ("a.json", json.dumps({"123": {"CONTEXTS": ["x", LONG]}}, indent=2)),  # one object
        ("a.json", json.dumps({"query": "x"}) + "\n" + json.dumps({"query": LONG})),  # lines
        ("a.json", json.dumps([LONG])),
        ("a.txt", f"Some words.\n\n{LONG[:40]}\n{LONG[40:]}\n"),
        ("a.txt.gz", LONG),
    ],
)
def test_every_text_of_a_file_is_read_whatever_its_place(
    tmp_path: Path, name: str, text: str
) -> None:
    found = EvaluationOverlap([write(tmp_path, name, text)], 5)
    assert found.find("A Quick look: BROWN fox, jumps\nover “the” fence.") == f"{name}: {RUN}"
    assert found.find("A quick look at a brown fox that jumps over the fence.") is None


def test_parquet_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pairs.parquet"
    write_parquet(path, [Pair(id="a", query="x", responses=("y", LONG))], Pair)
    assert EvaluationOverlap([path], 5).find(RUN) == f"pairs.parquet: {RUN}"


def test_of_several_files_the_one_that_holds_the_words_is_named(tmp_path: Path) -> None:
    paths = [
        write(tmp_path, "one.txt", "a b c d e f g h"),
        write(tmp_path, "two.txt", "i j k l m n o p a b c d e"),
    ]
    found = EvaluationOverlap(paths, 5)
    assert found.find("x k l m n o x") == "two.txt: k l m n o"
    assert found.find("x a b c d e x") == "one.txt: a b c d e"  # both: the first
    assert len(found) == 4 + 9 - 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (SHORT, True),
        (SHORT.upper().replace(" ", "  ").replace("?", ""), True),
        (f"Tell me: {SHORT} I ask for a friend.", True),  # held whole, from eight words on
        ("Which of the nine old mills still turn?", False),  # not whole
        ("Yes, it does so indeed.", True),  # five words, no more than it
        ("Yes, it does so indeed. And more.", False),
        ("No, not so.", False),  # four words
        ("", False),
    ],
)
def test_a_text_shorter_than_a_run_counts_whole(tmp_path: Path, text: str, found: bool) -> None:
    path = write(
        tmp_path, "a.json", json.dumps([LONG, SHORT, "Yes, it does so indeed", "No, not so"])
    )
    overlap = EvaluationOverlap([path], 13).find(text)
    assert (overlap is not None) == found
    assert overlap is None or overlap.startswith("a.json: ")


@pytest.mark.parametrize(("shared", "found"), [(12, False), (13, True), (14, True)])
def test_from_thirteen_words_in_a_row_on_texts_overlap(
    tmp_path: Path, shared: int, found: bool
) -> None:
    words = LONG.split()
    overlap = EvaluationOverlap([write(tmp_path, "a.txt", LONG)], 13)
    text = " ".join(["Once", *words[2 : 2 + shared], "it", "stopped"])
    assert (overlap.find(text) is not None) == found
    broken = " ".join([*words[:9], "then", *words[9:]])  # nine and eight of seventeen
    assert overlap.find(broken) is None


def test_texts_without_spaces_are_compared_by_characters(tmp_path: Path) -> None:
    found = EvaluationOverlap(
        [write(tmp_path, "a.txt", "东京是日本的首都人口很多而且历史悠久")], 13
    )
    assert found.find("请问：东京是日本的首都，人口很多而且对吗") == (
        "a.txt: 东 京 是 日 本 的 首 都 人 口 很 多 而"
    )
    assert found.find("巴黎是法国的首都人口很多") is None


def test_odd_texts_are_taken(tmp_path: Path) -> None:
    found = EvaluationOverlap([write(tmp_path, "a.json", '["a b c \\u0000 d e f g"]')], 5)
    assert found.find("\ud800 a\x00b c d e") == "a.json: a b c d e"
    assert found.find("\ud800") is None


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.jsonl", b'{"query": "x"}\n{"query', RecordError, "a.jsonl: line 2: expected one JSON"),
        ("a.json", b"[1, 2", RecordError, "a.json: expected a JSON list of records"),
        ("a.csv", b"a,b", RecordError, "expected a file that ends in .jsonl"),
        ("a.txt.gz", b"no gzip", RecordError, "a.txt.gz: cannot be read: Not a gzipped file"),
        ("a.parquet", b"no parquet", RecordError, "cannot be read as Parquet"),
        (
            "a.jsonl",
            b'{"label": 1, "text": "of four words only"}\n',
            UserError,
            "got none; drop it",
        ),
        ("a.txt", b"", UserError, "expected texts of at least 5 words, got none"),
    ],
)
def test_what_cannot_be_read_is_said(
    tmp_path: Path, name: str, content: bytes, error: type[UserError], message: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(error, match=message):
        EvaluationOverlap([path], 13)


@pytest.mark.parametrize("name", ["none.txt", "none.jsonl", "none.json", "none.parquet"])
def test_a_file_that_is_not_there_is_said(tmp_path: Path, name: str) -> None:
    with pytest.raises(RecordError, match=f"{name}: cannot be read"):
        EvaluationOverlap([tmp_path / name], 13)


def test_a_run_takes_ten_bytes(tmp_path: Path) -> None:
    words = " ".join(f"w{number}" for number in range(10_000))
    path = write(tmp_path, "a.txt", words)
    tracemalloc.start()
    try:
        found = EvaluationOverlap([path], 13)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found) == 9_988
    assert held < 13 * len(found)  # arrays keep some room to grow


def test_questions_of_pubmedqa_are_found_and_other_texts_are_not(test_data: Path) -> None:
    path = test_data / "pubmed" / "ori_pqal.json"
    found = EvaluationOverlap([path], 13)
    rows = list(json.loads(path.read_text()).values())[:50]
    assert all(found.find("So: " + " ".join(row["CONTEXTS"])) is not None for row in rows)
    pages = json.loads((test_data / "wikipedia" / "summaries_en.json").read_text()).values()
    assert [page["title"] for page in list(pages)[:200] if found.find(page["extract"])] == []
