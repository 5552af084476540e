"""JSON as models write it."""

from __future__ import annotations

import pytest

from openreward.loose_json import clean, loads, objects


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("no object", []),
        ('{"a": 1} and {"b": 2}', [({"a": 1}, '{"a": 1}'), ({"b": 2}, '{"b": 2}')]),
        ('x [{"a": [1]}, {}] y', [([{"a": [1]}, {}], '[{"a": [1]}, {}]')]),
        ("[1, 2] {}", [({}, "{}")]),
        ("{'a': '}', }", [({"a": "}"}, "{'a': '}', }")]),
        ('{"a": {"b": 1}', [({"a": {"b": 1}}, '{"a": {"b": 1}')]),
        ('{"a": "cut', []),
        ('{x {"a": 1}', [({"a": 1}, '{"a": 1}')]),
        ('{"a": NaN}', []),
        ("{}" * 70, [({}, "{}")] * 64),
    ],
)
def test_objects_come_left_to_right_with_their_text(
    text: str, expected: list[tuple[object, str]]
) -> None:
    assert list(objects(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (' {"a": "b\nc"} ', {"a": "b\nc"}),
        ("[1, None, True]", [1, None, True]),
        ("'\\d'", "\\d"),
        ("{" + "1, " * 2_000 + "}", None),  # a literal of this length is no slip of the pen
        ("print(1)", None),
        ("[" * 5_000, None),
        ("1" * 5_000, None),
    ],
)
def test_json_or_a_python_literal_or_none(text: str, expected: object) -> None:
    assert loads(text) == expected


def test_what_comes_out_is_plain_json() -> None:
    value = {1: (1.5, float("nan")), "b\ud800": b"x", "deep": [[[[[[[[[[1]]]]]]]]]]}
    assert clean(value) == {
        "1": [1.5, "nan"],
        "b?": "b'x'",
        "deep": [[[[[[[["..."]]]]]]]],
    }
