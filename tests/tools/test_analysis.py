from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.tools.analysis import analyzer, fold, title_keys


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Café CAFE\u0301 cafe", ["cafe", "cafe", "cafe"]),
        ("Running runs", ["run", "run"]),
        ("Straße ΑΘΉΝΑΣ αθηνας", ["strass", "αθηνασ", "αθηνασ"]),
        ("İstanbul Łódź", ["istanbul", "lodz"]),
        ("ＡＢＣ１２", ["abc12"]),
        ("東京tower", ["東", "京", "tower"]),
        ("ไทย", ["ไ", "ท", "ย"]),
        ("서울", ["서", "울"]),
        ("C++ (1972): a/b", ["c", "1972", "a", "b"]),
        ('"!?() 😀', []),
    ],
)
def test_text_becomes_folded_terms(text: str, terms: list[str]) -> None:
    assert analyzer().analyze(fold(text)) == terms


@pytest.mark.parametrize(
    ("title", "keys"),
    [
        ("Mercury  (Planet)", ["mercury (planet)", "mercury planet"]),
        ("C++", ["c++", "c"]),
        ("Beyoncé", ["beyonce"]),
        ("!!!", ["!!!"]),
        (" ", []),
    ],
)
def test_a_title_is_found_as_written_and_by_its_words(title: str, keys: list[str]) -> None:
    assert title_keys(fold(title)) == keys


@given(st.text())
def test_folding_twice_is_folding_once_for_terms(text: str) -> None:
    chain = analyzer()
    assert chain.analyze(fold(fold(text))) == chain.analyze(fold(text))


def test_a_lone_surrogate_is_left_out() -> None:
    assert fold("a\ud800b") == "ab"
