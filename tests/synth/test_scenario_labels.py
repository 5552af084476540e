from __future__ import annotations

import json
from pathlib import Path

import pytest

from openreward.errors import RecordError, UserError
from openreward.synth.scenario_labels import CLASSES, LEAVES, Label, check_labels, read_labels


def test_the_classes_and_leaves_are_those_of_rmb(test_data: Path) -> None:
    counts = json.loads((test_data / "rm-r1-scores" / "rmb_leaf_counts.json").read_text())
    leaves = {
        key.removeprefix("Pairwise_set/Helpfulness/")
        for key in counts
        if key.startswith("Pairwise_set/Helpfulness/")
    }
    assert {label.name for label in LEAVES} == leaves
    assert len(LEAVES) == 37
    assert [label.name for label in CLASSES] == sorted({leaf.split("/")[0] for leaf in leaves})


def test_both_sets_can_be_told_apart() -> None:
    check_labels(CLASSES)
    check_labels(LEAVES)
    assert (read_labels("classes"), read_labels("leaves")) == (CLASSES, LEAVES)


def test_a_class_without_leaves_is_its_own_leaf() -> None:
    assert Label(name="Open QA").path == "Open QA/Open QA"
    assert Label(name="Code/Documentation").path == "Code/Documentation"


def test_a_file_of_labels_is_read(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text(
        '{"label": " Recipes", "description": "how to\\ncook"}\n{"label": "Travel/Rail", "x": 1}\n'
    )
    assert read_labels(str(path)) == (
        Label(name="Recipes", description="how to cook"),
        Label(name="Travel/Rail"),
    )


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/..", "a/b/c", "/a", "a/", "a\x00", "a\nb", ".hidden", "a\\b", "a ",
     "x" * 90, "a<b", "-a", "\U00010400" * 51],
)  # fmt: skip
def test_a_label_that_cannot_be_a_path_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="expected a class, or class/leaf"):
        check_labels([Label(name="Chat"), Label(name=name)])


@pytest.mark.parametrize("names", [["a", "A"], ["Chat", "Chat/Chat"]])
def test_labels_that_cannot_be_told_apart_are_refused(names: list[str]) -> None:
    with pytest.raises(UserError, match="expected it once, got it again"):
        check_labels([Label(name=name) for name in names])


@pytest.mark.parametrize("count", [0, 1, 101])
def test_too_few_or_too_many_labels_are_refused(count: int) -> None:
    with pytest.raises(UserError, match=f"expected 2 to 100, got {count}"):
        check_labels([Label(name=f"label {number}") for number in range(count)])


def test_a_row_that_is_no_label_is_named(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_text('{"label": "a"}\n{"name": "b"}\n')
    with pytest.raises(RecordError, match="line 2: .*label.* a label row has label"):
        read_labels(str(path))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        read_labels(str(tmp_path / "none.jsonl"))
