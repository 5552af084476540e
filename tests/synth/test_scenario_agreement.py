from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from openreward.eval.stats import wilson
from openreward.synth.scenario_agreement import agreement
from openreward.synth.scenario_items import ItemAnswer, ItemMessage, PairItem


def item(uid: str) -> PairItem:
    return PairItem(
        pair_uid=uid,
        conversation_input=(ItemMessage(role="user", content="Who?", language="English"),),
        chosen=ItemAnswer(llm_name="big", answer="a"),
        reject=ItemAnswer(llm_name="small", answer="b"),
        category_path="Pairwise_set/Helpfulness/Chat/Chat",
    )


def human(folder: Path, *rows: JsonValue) -> Path:
    path = folder / "human.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        ({"pair_uid": "p/0-1", "label": 0}, "agree"),
        ({"pair_uid": "p/0-1", "label": 1}, "disagree"),
        ({"pair_uid": "p/0-1", "label": "tie"}, "tie"),
        ({"pair_uid": "p/0-1", "label": "chosen"}, "agree"),
        ({"pair_uid": "p/0-1", "winner": "reject"}, "disagree"),
        ({"pair_uid": "p/0-1", "winner": "rejected"}, "disagree"),
        ({"id": "p/0-1", "winner": "big"}, "agree"),
        ({"id": "p/0-1", "winner": "small"}, "disagree"),
        ({"id": "p/0-1", "winner": 0}, "agree"),
        ({"id": "p/0-1", "winner": "middle"}, "unknown"),
        ({"id": "p/0-2", "winner": "big"}, "unknown"),
        ({"id": "p/0-1"}, "unreadable"),
        ({"id": "p/0-1", "label": 2}, "unreadable"),
        ({"id": "p/0-1", "label": True}, "unreadable"),
        ({"id": 3, "label": 0}, "unreadable"),
        ({"label": 0}, "unreadable"),
        ("x", "unreadable"),
    ],
)
def test_what_a_person_says_is_one_outcome(tmp_path: Path, row: JsonValue, outcome: str) -> None:
    found = agreement(human(tmp_path, row), [item("p/0-1")])
    assert len(found.first_unreadable) == found.unreadable
    outcomes = ("agree", "disagree", "tie", "unknown", "unreadable")
    assert {name: getattr(found, name) for name in outcomes} == {
        name: int(name == outcome) for name in outcomes
    }


def test_the_share_has_wilsons_interval_and_ties_do_not_agree(tmp_path: Path) -> None:
    rows: list[JsonValue] = [{"pair_uid": f"p{n}", "label": 0} for n in range(6)]
    rows += [{"pair_uid": "p6", "label": 1}, {"pair_uid": "p7", "label": "tie"}]
    rows += [{"pair_uid": "p7", "label": 0}, {"pair_uid": "elsewhere", "label": 0}]  # two people
    found = agreement(human(tmp_path, *rows), [item(f"p{n}") for n in range(9)])
    assert (found.agree, found.disagree, found.tie, found.unknown) == (7, 1, 1, 1)
    assert found.share == pytest.approx(7 / 9)
    assert (found.low, found.high) == wilson(7, 9)
    assert found.low == pytest.approx(0.4526, abs=1e-4)
    assert found.high == pytest.approx(0.9368, abs=1e-4)
    assert found.first_unknown == ("elsewhere",)


def test_without_a_row_there_is_no_share(tmp_path: Path) -> None:
    found = agreement(human(tmp_path), [item("p")])
    assert (found.share, found.low, found.high) == (None, None, None)
