from __future__ import annotations

import json
from pathlib import Path

import pytest

from openreward.errors import RecordError
from openreward.synth.documents import guess_format, read_documents
from openreward.synth.reading import Skipped
from openreward.types import Document

ROW = {
    "QUESTION": "Does rest  help?",
    "CONTEXTS": ["We asked\n so.", " ", "It did."],
    "LABELS": ["AIMS", "METHODS", "RESULTS"],
    "MESHES": ["Rest"],
    "YEAR": "2011",
    "LONG_ANSWER": "Rest helps.",
    "final_decision": "yes",
}


def read(path: Path, rows: object) -> tuple[list[Document], dict[str, int]]:
    path.write_text(json.dumps(rows))
    skipped = Skipped()
    return list(read_documents(path, "pubmed-qa", skipped)), skipped.counts


def test_an_abstract_is_its_labelled_parts_and_no_answer(tmp_path: Path) -> None:
    [document], counts = read(tmp_path / "q.json", {"17": ROW})
    assert document.model_dump() == {
        "id": "pubmed:17",
        "source": "pubmed",
        "title": "Does rest help?",
        "text": "AIMS: We asked so.\nRESULTS: It did.",
        "url": "https://pubmed.ncbi.nlm.nih.gov/17/",
        "revision": "2011",
    }
    assert counts == {}
    assert guess_format(tmp_path / "q.json") == "pubmed-qa"


@pytest.mark.parametrize(
    ("change", "text", "revision"),
    [
        ({"LABELS": ["AIMS"]}, "We asked so.\nIt did.", "2011"),
        ({"LABELS": ["UNLABELLED", "", " "], "YEAR": None}, "We asked so.\nIt did.", None),
        ({"YEAR": "11"}, "AIMS: We asked so.\nRESULTS: It did.", None),
    ],
)
def test_labels_and_year_may_be_missing(
    tmp_path: Path, change: dict[str, object], text: str, revision: str | None
) -> None:
    [document], _ = read(tmp_path / "q.json", {"17": {**ROW, **change}})
    assert (document.text, document.revision) == (text, revision)


def test_rows_that_are_no_abstracts_are_counted(tmp_path: Path) -> None:
    rows = {"x1": ROW, "2": {**ROW, "CONTEXTS": [""]}, "3": {"QUESTION": "q"}, "4": 5, "": ROW}
    documents, counts = read(tmp_path / "q.json", rows)
    assert documents == []
    assert counts == {"no PMID": 2, "no abstract": 1, "broken row (wrong_fields)": 2}


def test_a_file_that_is_no_object_is_told(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"q\.json: expected one JSON object, got \[1\]"):
        read(tmp_path / "q.json", [1])


def test_the_released_file_gives_a_thousand_abstracts_without_their_answers(
    test_data: Path,
) -> None:
    path = test_data / "pubmed" / "ori_pqal.json"
    skipped = Skipped()
    documents = list(read_documents(path, None, skipped))
    assert (len(documents), skipped.counts) == (1000, {})
    assert documents[0].id == "pubmed:21645374"
    assert documents[0].title.startswith("Do mitochondria play a role in remodelling")
    rows = json.loads(path.read_text())
    answers = [row["LONG_ANSWER"] for row in rows.values()]
    assert sum(a in d.text for a, d in zip(answers, documents, strict=True)) == 0
