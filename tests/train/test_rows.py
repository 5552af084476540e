"""Training rows: both orders of a pair, targets by the order shown, bad rows named."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from openreward.errors import RecordError, UserError
from openreward.train.rewards import RewardSettings
from openreward.train.rows import check_share, read_training_rows

sys.path.insert(0, str(Path(__file__).parent))

import runs

REWARD = RewardSettings()
GOOD = {"id": "1", "query": "q", "responses": ["a", "b"], "label": 1, "source": "wikipedia"}


def write(folder: Path, *rows: object) -> Path:
    file = folder / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def test_each_pair_stands_in_both_orders_and_the_target_follows_the_order(tmp_path: Path) -> None:
    found = read_training_rows([write(tmp_path, GOOD)], runs.NAMES, REWARD)
    assert [(row.id, row.order, row.target.winner) for row in found.rows] == [
        ("1|01", (0, 1), 1),
        ("1|10", (1, 0), 0),
    ]
    assert {row.target.tool for row in found.rows} == {"wikipedia_search"}
    assert found.table()[0]["prompt"] == "1|01"
    assert set(found.by_id()) == {"1|01", "1|10"}


def test_drawn_orders_are_one_a_pair_and_follow_the_seed(tmp_path: Path) -> None:
    file = write(tmp_path, *[{**GOOD, "id": str(n)} for n in range(40)])
    drawn = [
        [
            row.order
            for row in read_training_rows([file], runs.NAMES, REWARD, orders="drawn", seed=s).rows
        ]
        for s in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1]
    assert drawn[0] != drawn[2]
    assert len(set(drawn[0])) == 2
    assert len(drawn[0]) == 40


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({**GOOD, "label": "tie"}, "expected label 0 or 1"),
        ({**GOOD, "label": None}, "expected label 0 or 1"),
        ({**GOOD, "label": 2}, "label"),
        ({**GOOD, "responses": ["a", "a"]}, "two different answers"),
        ({**GOOD, "responses": ["a", "b", "c"]}, "responses"),
        ({**GOOD, "source": "pubmed"}, "expected a source whose tool is among"),
        ({**GOOD, "source": None}, "expected a source whose tool is among"),
        ({"question": "q"}, "expected query and responses"),
        ({**GOOD, "id": "0"}, "expected every id once"),
        ([1, 2], "line 2"),
    ],
)
def test_a_row_that_cannot_be_trained_on_is_named_and_the_rest_goes_on(
    tmp_path: Path, row: object, said: str
) -> None:
    found = read_training_rows([write(tmp_path, {**GOOD, "id": "0"}, row)], runs.NAMES, REWARD)
    assert {each.pair.id for each in found.rows} == {"0"}
    (unusable,) = found.unusable
    assert said in unusable.message
    assert "line 2" in unusable.message
    check_share(found, 0.5)
    with pytest.raises(UserError, match="got 1 of 2: rows.jsonl, line 2"):
        check_share(found, 0.49)


def test_a_file_without_a_usable_row_is_refused(tmp_path: Path) -> None:
    for rows in ([], [{**GOOD, "label": "tie"}]):
        with pytest.raises(UserError, match="expected labelled pairs to train on"):
            read_training_rows([write(tmp_path, *rows)], runs.NAMES, REWARD)
    with pytest.raises(RecordError):
        read_training_rows([tmp_path / "none.jsonl"], runs.NAMES, REWARD)


def test_without_a_tool_in_the_reward_a_pair_needs_no_source(tmp_path: Path) -> None:
    file = write(tmp_path, {**GOOD, "source": None})
    found = read_training_rows([file], (), RewardSettings(gate="no_tool"))
    assert [row.target.tool for row in found.rows] == [None, None]
