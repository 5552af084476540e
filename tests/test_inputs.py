"""The shapes of pairs."""

from __future__ import annotations

import json

import pytest
from pydantic import JsonValue

from openreward.inputs import PairRow
from openreward.records import Row, RowError, parse_line

USER = {"role": "user", "content": "Who?"}
GOOD = {"role": "assistant", "content": "She."}
BAD = {"role": "assistant", "content": [{"type": "text", "text": "He"}, {"text": "."}]}


def parse(row: dict[str, JsonValue]) -> Row[PairRow] | RowError:
    return parse_line(1, json.dumps(row).encode(), PairRow)


@pytest.mark.parametrize(
    ("row", "label"),
    [
        ({"query": "Who?", "responses": ["She.", "He."]}, None),
        ({"query": "Who?", "response_a": "She.", "response_b": "He.", "label": "tie"}, "tie"),
        ({"prompt": "Who?", "chosen": "She.", "rejected": "He."}, 0),
        ({"prompt": [USER], "chosen": [GOOD], "rejected": [BAD]}, 0),
        ({"prompt": [USER], "chosen": "She.", "rejected": "He."}, 0),
        ({"chosen": [USER, GOOD], "rejected": [USER, BAD]}, 0),
        ({"query": "Who?", "responses": ["She.", "He."], "idx": 3, "meta": None}, None),
    ],
)
def test_every_shape_gives_the_same_pair_with_the_same_id(
    row: dict[str, JsonValue], label: object
) -> None:
    parsed = parse(row)
    assert isinstance(parsed, Row)
    pair = parsed.record
    assert (pair.query, pair.responses, pair.label) == ("Who?", ("She.", "He."), label)
    assert pair.id == "418534dc10c7fba4"


def test_given_ids_stay_and_numbers_become_text() -> None:
    for given, kept in (("a", "a"), (7, "7"), (0, "0")):
        parsed = parse({"id": given, "query": "q", "responses": ["x", "y"]})
        assert isinstance(parsed, Row)
        assert parsed.record.id == kept


def test_another_text_has_another_id() -> None:
    rows: list[JsonValue] = [["x", "y"], ["y", "x"], ["x", "z"], ["xy", ""]]
    ids = {p.record.id for r in rows if isinstance(p := parse({"query": "q", "responses": r}), Row)}
    assert len(ids) == 4


def test_several_turns_are_one_query_with_their_roles() -> None:
    turns: list[JsonValue] = [
        {"role": "system", "content": "Be brief."},
        USER,
        {"role": "assistant", "content": "Which?"},
        {"role": "user", "content": "Ada."},
    ]
    parsed = parse({"chosen": [*turns, GOOD], "rejected": [*turns, BAD]})
    assert isinstance(parsed, Row)
    assert parsed.record.query == (
        "System: Be brief.\n\nUser: Who?\n\nAssistant: Which?\n\nUser: Ada."
    )
    assert parsed.record.responses == ("She.", "He.")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (
            {"query": "q"},
            "line 1: expected query and responses, or query, response_a and response_b, "
            "or prompt, chosen and rejected; there is query",
        ),
        ({}, "; there is nothing"),
        ({"query": "q", "response_a": "x"}, "; there is query, response_a"),
        ({"responses": ["x", "y"]}, "line 1: field query: expected, but missing; there is"),
        ({"query": "", "responses": ["x", "y"]}, "field query: String should have at least 1 char"),
        ({"query": "q", "responses": ["x"]}, "field responses.1: expected, but missing"),
        ({"query": "q", "responses": "xy"}, "field responses: expected a valid array, got 'xy'"),
        ({"query": "q", "response_a": 1, "response_b": "y"}, "responses.0: expected a valid stri"),
        ({"chosen": "x", "rejected": "y"}, "expected a prompt beside chosen and rejected"),
        (
            {"prompt": "p", "chosen": 5, "rejected": "y"},
            "field chosen: expected text, or messages with role and content, got 5",
        ),
        ({"prompt": [{"content": "p"}], "chosen": "x", "rejected": "y"}, "field prompt: expected"),
        ({"id": True, "query": "q", "responses": ["x", "y"]}, "field id: expected a valid string"),
        ({"chosen": [], "rejected": []}, "line 1: field query: String should have at least 1"),
    ],
)
def test_what_is_wrong_with_a_row_is_said(row: dict[str, JsonValue], message: str) -> None:
    parsed = parse(row)
    assert isinstance(parsed, RowError)
    assert message in parsed.message
