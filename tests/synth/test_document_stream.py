from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from openreward.errors import RecordError
from openreward.synth.document_stream import DocumentStream


def write(path: Path, *rows: Mapping[str, object]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def row(id: str, text: str | None = None, source: str = "notes") -> dict[str, str]:
    return {"id": id, "source": source, "title": id, "text": text or f"Text of {id}."}


def ids(stream: DocumentStream) -> list[str]:
    return [found.record.id for found in stream.rows()]


@pytest.fixture
def three(tmp_path: Path) -> list[Path]:
    """Files of 40, 30 and 30 documents of two sources."""
    parts = [range(40), range(40, 70), range(70, 100)]
    return [
        write(tmp_path / f"{name}.jsonl", *(row(f"d{n}", source="ab"[n % 2]) for n in part))
        for name, part in zip("xyz", parts, strict=True)
    ]


def test_documents_come_in_the_order_of_the_files_as_often_as_asked(three: list[Path]) -> None:
    stream = DocumentStream(three)
    assert ids(stream) == ids(stream) == [f"d{n}" for n in range(100)]
    row = list(stream.rows())[41]
    assert (row.place, row.line) == ("y.jsonl, document", 2)
    assert stream.total() == 100
    assert stream.skipped.counts == {}


def test_an_id_or_a_text_met_before_is_left_out_and_counted(tmp_path: Path) -> None:
    one = write(tmp_path / "one.jsonl", row("a", "An apple."), row("b", "A pear."))
    two = write(
        tmp_path / "two.jsonl",
        row("a", "Another."),
        row("c", "an  APPLE.\n"),
        row("d", "A plum."),
        row("d", "A fig."),
    )
    stream = DocumentStream([one, two])
    for _ in range(2):  # counted anew
        assert ids(stream) == ["a", "b", "d"]
        assert stream.skipped.counts == {"same id": 2, "same text": 1}
    assert stream.skipped.first == {
        "same id": "two.jsonl, document 1, a",
        "same text": "two.jsonl, document 2, c",
    }


def test_a_sample_is_the_same_whatever_the_order_of_the_files(three: list[Path]) -> None:
    forth = DocumentStream(three, sample={"a": 10, "b": 5}, seed=3)
    back = DocumentStream(three[::-1], sample={"b": 5, "a": 10}, seed=3)
    other = DocumentStream(three, sample={"a": 10, "b": 5}, seed=4)
    drawn = ids(forth)
    assert len(drawn) == 15
    assert sum(int(id[1:]) % 2 for id in drawn) == 5
    assert sorted(drawn) == sorted(ids(back))
    assert sorted(drawn) != sorted(ids(other))
    assert drawn == sorted(drawn, key=lambda id: int(id[1:]))  # in the order of the files
    assert forth.total() == 15


def test_a_larger_sample_holds_the_smaller(three: list[Path]) -> None:
    small = set(ids(DocumentStream(three, sample={"a": 5})))
    assert small < set(ids(DocumentStream(three, sample={"a": 20})))


def test_sources_that_are_not_named_in_a_sample_are_left_out(three: list[Path]) -> None:
    stream = DocumentStream(three, sample={"a": 1000, "b": 0})
    assert set(ids(stream)) == {f"d{n}" for n in range(0, 100, 2)}
    assert stream.skipped.counts == {"asked for and not there: a": 950}
    assert stream.skipped.first == {"asked for and not there: a": "1000 asked for, 50 there"}
    assert stream.total() == 50


def test_a_source_without_documents_cannot_be_drawn_from(three: list[Path]) -> None:
    with pytest.raises(RecordError, match="sample: expected documents of c, got none"):
        ids(DocumentStream(three, sample={"a": 1, "c": 1}))


def test_duplicates_are_counted_once_though_a_sample_reads_twice(tmp_path: Path) -> None:
    path = write(
        tmp_path / "d.jsonl", row("a"), row("a", "Other."), row("b", "text of A."), {"x": 1}
    )
    stream = DocumentStream([path], sample={"notes": 2})
    assert [(each.record.id, each.record.text) for each in stream.rows()] == [("a", "Text of a.")]
    assert stream.skipped.counts == {
        "same id": 1,
        "same text": 1,
        "broken row (wrong_fields)": 1,
        "asked for and not there: notes": 1,
    }


@pytest.mark.parametrize("sample", [{}, {"a": 20, "b": 11}], ids=["all", "drawn"])
def test_shards_are_disjoint_and_make_up_the_whole(
    three: list[Path], sample: dict[str, int]
) -> None:
    whole = ids(DocumentStream(three, sample=sample))
    parts = [ids(DocumentStream(three, sample=sample, shard=(k, 3))) for k in (1, 2, 3)]
    assert sorted(sum(parts, [])) == sorted(whole)
    assert all(len(part) > len(whole) / 6 for part in parts)
    assert [id for id in whole if id in set(parts[1])] == parts[1]


def test_a_shard_does_not_depend_on_the_seed(three: list[Path]) -> None:
    assert ids(DocumentStream(three, shard=(1, 4), seed=1)) == ids(
        DocumentStream(three, shard=(1, 4), seed=2)
    )


def test_a_source_is_given_to_documents_that_name_none(tmp_path: Path) -> None:
    path = write(tmp_path / "d.jsonl", row("a", source="own"), {"id": 7, "text": "Bare."})
    found = [each.record for each in DocumentStream([path], source="given").rows()]
    assert [(each.id, each.source) for each in found] == [("a", "own"), ("7", "given")]


def test_no_document_at_all_is_an_error_that_says_why(tmp_path: Path) -> None:
    path = write(tmp_path / "d.jsonl", {"text": "Bare."}, {"text": ""})
    message = (
        r"d.jsonl: expected documents, got none \(1 broken row \(no source; --source names "
        r"one\); 1 broken row \(wrong_fields\)\)"
    )
    with pytest.raises(RecordError, match=message):
        ids(DocumentStream([path], format="documents"))


def test_the_sum_is_of_the_contents_in_order_whatever_the_names(
    tmp_path: Path, three: list[Path]
) -> None:
    before = DocumentStream(three).data
    moved = [path.rename(tmp_path / f"{n}.jsonl") for n, path in enumerate(three)]
    after = DocumentStream(moved).data
    assert (after.sha256, after.bytes, after.lines) == (before.sha256, before.bytes, 100)
    assert before.bytes == sum(path.stat().st_size for path in moved)
    assert DocumentStream(moved[::-1]).data.sha256 != after.sha256
    assert DocumentStream(moved[:1]).data.lines == 40


def test_files_of_all_sources_are_drawn_from_together(test_data: Path) -> None:
    paths = [
        test_data / "wikipedia" / "summaries_en.json",
        test_data / "arxiv" / "abstracts.jsonl",
        test_data / "pubmed" / "ori_pqal.json",
    ]
    stream = DocumentStream(paths, sample={"wikipedia": 300, "arxiv": 150, "pubmed": 150})
    counts = dict.fromkeys(("wikipedia", "arxiv", "pubmed"), 0)
    for found in stream.rows():
        counts[found.record.source] += 1
    assert counts == {"wikipedia": 300, "arxiv": 150, "pubmed": 150}


def test_the_released_files_are_one_stream(test_data: Path) -> None:
    paths = [
        test_data / "wikipedia" / "summaries_en.json",
        test_data / "arxiv" / "abstracts.jsonl",
        test_data / "pubmed" / "ori_pqal.json",
    ]
    stream = DocumentStream(paths)
    assert sum(1 for _ in stream.rows()) == 10_033 + 2_279 + 1_000
    assert stream.skipped.counts == {}
