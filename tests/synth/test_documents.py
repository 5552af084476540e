from __future__ import annotations

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openreward.errors import RecordError
from openreward.synth.documents import guess_format, read_documents
from openreward.synth.reading import DocumentFormat, Skipped
from openreward.types import Document

ROW = {"id": "n:1", "source": "notes", "title": "One", "text": "An apple."}
INTRODUCTIONS = {
    "Ada Lovelace": {"title": "Ada Lovelace", "extract": "She wrote.", "topic": "People"},
    "AC/DC": {"title": "AC/DC", "extract": "A band."},
    "Empty": {"title": "Empty", "extract": " "},
    "Broken": {"title": "Broken"},
}
PAPER = {"id": "2209.07775", "title": "A\n  title", "abstract": "  First\nline.\n\nSecond part.\n"}
SNAPSHOT = {
    "id": "hep-th/9901001",
    "submitter": "A. Person",
    "authors": "A. Person",
    "title": "On\n  things",
    "abstract": "  We study\nthings.\n",
    "versions": [{"version": "v1", "created": "Fri, 1 Jan 1999"}, {"version": "v2", "created": ""}],
    "update_date": "2009-10-31",
    "authors_parsed": [["Person", "A.", ""]],
}


def write(path: Path, *rows: object) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def read(path: Path, format: DocumentFormat | None = None) -> tuple[list[Document], dict[str, int]]:
    skipped = Skipped()
    return list(read_documents(path, format, skipped)), skipped.counts


@pytest.mark.parametrize("name", ["d.jsonl", "d.jsonl.gz"])
def test_records_are_read_line_by_line_and_broken_ones_counted(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, ROW, {**ROW, "text": ""}, [1], {**ROW, "id": "n:2"})
    documents, counts = read(path)
    assert [document.id for document in documents] == ["n:1", "n:2"]
    assert counts == {"broken row (wrong_fields)": 2}


def test_a_skipped_row_is_named(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    path.write_text(json.dumps(ROW) + "\n{oops\n{also\n")
    skipped = Skipped()
    assert len(list(read_documents(path, "documents", skipped))) == 1
    assert skipped.counts == {"broken row (not_json)": 2}
    assert skipped.first["broken row (not_json)"].startswith("d.jsonl, line 2: expected one JSON")


def test_parquet_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "d.parquet"
    pq.write_table(pa.Table.from_pylist([ROW, {**ROW, "id": "n:2"}]), path)
    assert [document.id for document in read(path)[0]] == ["n:1", "n:2"]


def test_rows_of_the_users_own_need_no_more_than_a_text(tmp_path: Path) -> None:
    path = write(
        tmp_path / "own.jsonl",
        {"text": "Bare.", "author": "x"},
        {"text": "Full.", "id": 7, "title": "T", "url": "https://x.example", "revision": 2024},
        {"text": "Own.", "id": "s:1", "source": "s"},
        {"text": " \n"},
        {"title": "no text"},
    )
    skipped = Skipped()
    documents = list(read_documents(path, None, skipped, "given"))
    assert [document.model_dump(exclude_none=True) for document in documents] == [
        {"id": "given:5b9a1bdc6202289e", "source": "given", "title": "", "text": "Bare."},
        {
            "id": "7",
            "source": "given",
            "title": "T",
            "text": "Full.",
            "url": "https://x.example",
            "revision": "2024",
        },
        {"id": "s:1", "source": "s", "title": "", "text": "Own."},
    ]
    assert skipped.counts == {"no text": 1, "broken row (wrong_fields)": 1}


def test_rows_without_a_source_are_left_out_where_none_is_given(tmp_path: Path) -> None:
    documents, counts = read(write(tmp_path / "own.jsonl", {"text": "Bare."}, ROW))
    assert [document.id for document in documents] == ["n:1"]
    assert counts == {"broken row (no source; --source names one)": 1}


def test_introductions_get_stable_ids_and_addresses(tmp_path: Path) -> None:
    path = tmp_path / "i.json"
    path.write_text(json.dumps(INTRODUCTIONS))
    documents, counts = read(path)
    assert [document.model_dump(exclude_none=True) for document in documents] == [
        {
            "id": "wikipedia:Ada Lovelace",
            "source": "wikipedia",
            "title": "Ada Lovelace",
            "text": "She wrote.",
            "url": "https://en.wikipedia.org/wiki/Ada_Lovelace",
        },
        {
            "id": "wikipedia:AC/DC",
            "source": "wikipedia",
            "title": "AC/DC",
            "text": "A band.",
            "url": "https://en.wikipedia.org/wiki/AC/DC",
        },
    ]
    assert counts == {"no text": 1, "broken row (wrong_fields)": 1}


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.jsonl.gz"])
def test_arxiv_rows_of_both_forms_are_read(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, PAPER, SNAPSHOT, {**PAPER, "abstract": None})
    documents, counts = read(path)
    assert [document.model_dump() for document in documents] == [
        {
            "id": "arxiv:2209.07775",
            "source": "arxiv",
            "title": "A title",
            "text": "First line.\n\nSecond part.",
            "url": "https://arxiv.org/abs/2209.07775",
            "revision": None,
        },
        {
            "id": "arxiv:hep-th/9901001",
            "source": "arxiv",
            "title": "On things",
            "text": "We study things.",
            "url": "https://arxiv.org/abs/hep-th/9901001",
            "revision": "v2",
        },
    ]
    assert counts == {"no abstract": 1}


@pytest.mark.parametrize(
    ("given", "id", "revision"),
    [
        ("2209.07775v3", "arxiv:2209.07775", "v3"),
        ("arXiv:2209.07775", "arxiv:2209.07775", "2024-01-02"),
        ("solv-int/9901001", "arxiv:solv-int/9901001", "2024-01-02"),
        ("solv-int/9901001v2", "arxiv:solv-int/9901001", "v2"),
    ],
)
def test_a_version_in_an_arxiv_id_is_the_revision(
    tmp_path: Path, given: str, id: str, revision: str
) -> None:
    row = {**PAPER, "id": given, "update_date": "2024-01-02"}
    path = tmp_path / "a.json"
    path.write_text(json.dumps([row]))
    [document], _ = read(path)
    assert (document.id, document.revision) == (id, revision)


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("a.jsonl", json.dumps(PAPER), "arxiv"),
        ("a.json", "[" + json.dumps(SNAPSHOT), "arxiv"),
        ("d.jsonl", json.dumps(ROW), "documents"),
        ("i.json", json.dumps(INTRODUCTIONS), "wikipedia-introductions"),
        ("p.xml", "<?xml version='1.0'?>\n<PubmedArticleSet>", "pubmed-xml"),
        ("d.json", json.dumps([{"abstract": "a", "text": "t"}]), "documents"),
        ("d.jsonl", '{"text": "t"}', "documents"),
        ("w.xml", "<mediawiki xmlns='x'>", "wikipedia-dump"),
        ("m.txt", "\n\nPMID- 12230038\nOWN - NLM\n", "medline"),
    ],
)
def test_a_format_is_told_from_the_content(
    tmp_path: Path, name: str, content: str, format: str
) -> None:
    (tmp_path / name).write_text(content)
    assert guess_format(tmp_path / name) == format


@pytest.mark.parametrize("content", ["", "hello", "<html></html>", '{"a": 1}'])
def test_a_format_that_cannot_be_told_is_asked_for(tmp_path: Path, content: str) -> None:
    (tmp_path / "x.txt").write_text(content)
    with pytest.raises(RecordError, match="name its format with --format"):
        guess_format(tmp_path / "x.txt")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.jsonl", None, "none.jsonl: cannot be read: No such file"),
        ("cut.jsonl.gz", gzip.compress(b"x" * 9999)[:20], "cannot be read"),
        ("i.json", b'{"A": {"extract": "x"', "expected one JSON object: "),
        ("i.json", b'["A", {"b": {"extract"', "expected one JSON object: "),
    ],
)
def test_a_file_that_cannot_be_read_is_named(
    tmp_path: Path, name: str, content: bytes | None, message: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    format: DocumentFormat | None = "wikipedia-introductions" if name == "i.json" else None
    with pytest.raises(RecordError, match=message):
        list(read_documents(path, format))


def test_the_released_files_are_read_whole(test_data: Path) -> None:
    documents, counts = read(test_data / "arxiv" / "abstracts.jsonl")
    assert (len(documents), counts) == (2279, {})
    assert documents[0].id == "arxiv:2209.07775"
    assert "\n" not in documents[0].text
    documents, counts = read(test_data / "wikipedia" / "summaries_en.json")
    assert (len(documents), counts) == (10_033, {})
    assert len({document.id for document in documents}) == 10_033


def test_introductions_that_are_no_text_or_too_deep_are_told(tmp_path: Path) -> None:
    path = tmp_path / "i.json"
    path.write_text('{"a": {"title": "A\\ud800", "extract": "x \\ud800"}}')
    documents, _ = read(path, "wikipedia-introductions")
    assert [(each.title, each.text) for each in documents] == [("A?", "x ?")]
    path.write_text("[" * 100_000)
    with pytest.raises(RecordError, match="i.json: expected one JSON object"):
        read(path, "wikipedia-introductions")
