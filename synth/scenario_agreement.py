"""How far people agree with the labels of a constructed set, pair by pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, Field, model_validator

from openreward.errors import UserError
from openreward.eval.stats import wilson
from openreward.records import Row, read_rows
from openreward.synth.scenario_items import PairItem
from openreward.types import Record

RULE = "share of the human rows that name the chosen answer; a human tie does not agree"
_SHAPES = "pair_uid (or id) with label (0: chosen, 1: reject, tie) or winner"
_KEPT = 10  # of each kind


class HumanRow(BaseModel):
    """What one person says of one pair. `said` is chosen, reject, tie, or the winner's name."""

    pair_uid: str = Field(min_length=1)
    said: str

    @model_validator(mode="before")
    @classmethod
    def _read_shape(cls, row: object) -> object:
        if not isinstance(row, Mapping):
            return row
        uid = row.get("pair_uid") if row.get("pair_uid") is not None else row.get("id")
        said = row.get("label") if row.get("label") is not None else row.get("winner")
        if isinstance(said, int) and not isinstance(said, bool) and said in (0, 1):
            said = ("chosen", "reject")[said]
        if not isinstance(uid, str) or not isinstance(said, str) or not said.strip():
            has = ", ".join(str(name) for name in row) or "nothing"
            raise ValueError(f"expected {_SHAPES}; there is {has}")
        return {"pair_uid": uid, "said": "reject" if said == "rejected" else said}


class Agreement(Record):
    """Human rows against the constructed labels; `unknown` pairs or winners are not in the set."""

    agree: int
    disagree: int
    tie: int
    unknown: int
    unreadable: int
    share: float | None
    low: float | None  # bounds of the 95 % interval (Wilson)
    high: float | None
    rule: str = RULE
    first_unknown: tuple[str, ...] = ()
    first_unreadable: tuple[str, ...] = ()


def check_human(human: Path) -> None:
    """Refuse a file that no rows can be read from, before a set is made; not its rows."""
    if not human.is_file():
        raise UserError(f"--human {human}: expected a file, got none")
    read_rows(human, HumanRow)


def agreement(human: Path, items: Iterable[PairItem]) -> Agreement:
    """Compare a file of human rows, any number of them a pair, with the pairs of a set."""
    said: dict[str, list[str]] = {}
    counts, unreadable = Counter[str](), list[str]()
    for row in read_rows(human, HumanRow):
        if isinstance(row, Row):
            said.setdefault(row.record.pair_uid, []).append(row.record.said)
        else:
            counts["unreadable"] += 1
            unreadable += [row.message] if len(unreadable) < _KEPT else []
    unknown = list[str]()
    for item in items:
        for each in said.pop(item.pair_uid, ()):
            outcome = _compare(item, each)
            counts[outcome] += 1
            if outcome == "unknown":
                unknown.append(f"{item.pair_uid}: {each}")
    for uid, rows in said.items():
        counts["unknown"] += len(rows)
        unknown.append(uid)
    total = counts["agree"] + counts["disagree"] + counts["tie"]
    interval = wilson(counts["agree"], total)
    return Agreement(
        agree=counts["agree"],
        disagree=counts["disagree"],
        tie=counts["tie"],
        unknown=counts["unknown"],
        unreadable=counts["unreadable"],
        share=counts["agree"] / total if total else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        first_unknown=tuple(unknown[:_KEPT]),
        first_unreadable=tuple(unreadable),
    )


def _compare(item: PairItem, said: str) -> Literal["agree", "disagree", "tie", "unknown"]:
    if said == "tie":
        return "tie"
    if said in ("chosen", item.chosen.llm_name):
        return "agree"
    return "disagree" if said in ("reject", item.reject.llm_name) else "unknown"
