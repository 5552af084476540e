from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.printable import one_line, visible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("Grüße, 東京 👍", "Grüße, 東京 👍"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("\x1b[2J\x1b]0;title\x07", "\\x1b[2J\\x1b]0;title\\x07"),
        ("\x9b31m", "\\x9b31m"),
        ("over\rwritten\x08", "over\\x0dwritten\\x08"),
        ("a\u202eb", "a\\u202eb"),
        ("a\u200bb\u2028c", "a\\u200bb\\u2028c"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_would_act_is_written_out(text: str, expected: str) -> None:
    assert visible(text) == expected


def test_one_line_has_no_line_break() -> None:
    assert one_line("a\nb\tc\x1b") == "a\\nb\\tc\\x1b"


@given(st.text())
def test_nothing_that_could_act_or_hide_is_left(text: str) -> None:
    kinds = {unicodedata.category(char) for char in visible(text) if char not in "\n\t"}
    assert not {kind for kind in kinds if kind.startswith("C") or kind in ("Zl", "Zp")}


@given(st.text())
def test_what_is_safe_stays_as_it_is(text: str) -> None:
    assert visible(visible(text)) == visible(text)
