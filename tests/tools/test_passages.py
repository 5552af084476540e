from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.tools.passages import CutSettings, count_words, cut

SMALL = CutSettings(min_words=3, max_words=6)


def pieces(text: str, settings: CutSettings = SMALL) -> list[str]:
    return [text[start:end] for start, end in cut(text, settings)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One two three.", ["One two three."]),
        ("  \n ", []),
        ("", []),
        (
            "One two three four. Five six seven. Eight nine ten.",
            ["One two three four.", "Five six seven. Eight nine ten."],
        ),
        # no border after an abbreviation or an initial, nor before a small letter
        (
            "Dr. Smith met J. Doe there. He left the U.S. Army then.",
            ["Dr. Smith met J. Doe there.", "He left the U.S. Army then."],
        ),
        # a sentence that is too long is cut between words
        ("a b c d e f g h", ["a b c d e f", "g h"]),
        # two characters of a script without spaces count as a word
        (
            "東京は日本の首都。大阪は商業の都市。",
            ["東京は日本の首都。", "大阪は商業の都市。"],
        ),
        (
            "First one here now\n\nSecond one here now",
            ["First one here now", "Second one here now"],
        ),
    ],
)
def test_a_text_is_cut_at_its_sentences(text: str, expected: list[str]) -> None:
    assert pieces(text) == expected


def test_a_word_without_end_is_cut_too() -> None:
    assert [len(piece) for piece in pieces("x" * 1000)] == [384, 384, 232]


def test_parts_are_of_about_one_size() -> None:
    text = " ".join(f"Sentence {number} has five words." for number in range(40))  # 200 words
    assert [count_words(piece) for piece in pieces(text, CutSettings())] == [100, 100]


@given(st.text(alphabet=st.sampled_from("ab. \n!?東京。é\u3000X"), max_size=300) | st.text())
def test_passages_tile_the_text(text: str) -> None:
    spans = cut(text, SMALL)
    place, outside = 0, ""
    for start, end in spans:
        assert place <= start < end
        outside += text[place:start]
        place = end
    assert not (outside + text[place:]).strip()
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    assert all(count_words(text[start:end]) <= 6 for start, end in spans)
