from __future__ import annotations

import pytest

from openreward.synth.support_words import read_sentences, weights


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It turns. It stands!  Does it?", ["It turns.", "It stands!", "Does it?"]),
        ('He said "no." She left.', ['He said "no."', "She left."]),
        ("Dr. A. B. Brandt of St. Mary's met J.K. Holm.", None),
        ("It weighs approx. 3.5 kg, i.e. No. 7 of Fig. 2, e.g. Brandt et al. 1999.", None),
        ("It is old... and stands.", None),
        ("It was seen. p53 rose.", ["It was seen.", "p53 rose."]),
        ("It was seen. mRNA rose.", ["It was seen.", "mRNA rose."]),
        ("It is old etc. and stands.", None),
        ("京都很古老。东京很大。", ["京都很古老。", "东京很大。"]),
        ("# Tides\nThe ebb\nturns.\n\n- one\n- two", ["Tides", "The ebb turns.", "one", "two"]),
        ("**Tides:** the ebb", ["Tides: the ebb"]),
        ("1. The ebb\n2) the *flood*\n(3) `rain`", ["The ebb", "the flood", "rain"]),
        ("[The ebb](https://example.org/1) is [2] it https://a.org.", ["The ebb is   it"]),
        (" \n\t. ", []),
        ("", []),
    ],
)  # fmt: skip
def test_a_text_is_read_as_sentences(text: str, expected: list[str] | None) -> None:
    assert [each.text for each in read_sentences(text)] == (
        [text] if expected is None else expected
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The engineers were building mills", ["engin", "build", "mill"]),
        ("Élan’s U.K. mills' x 5", ["elan", "uk", "mill", "5"]),
        ("Additionally, it is used for example", []),
        ("东京 mill 大", ["东京", "mill"]),
        ("1,234.5 and 3%", ["1234.5", "3"]),
    ],
)
def test_words_of_weight_are_stemmed_and_folded(text: str, expected: list[str]) -> None:
    (sentence,) = read_sentences(text)
    assert weights(sentence.words) == expected


def test_a_capital_is_soft_where_layout_or_grammar_asks_for_it() -> None:
    (sentence,) = read_sentences("Historic Value: The mill: Its Ebb turns")
    soft = [word.text for word in sentence.words if word.soft]
    assert soft == ["Historic", "Value", "The", "Its"]
    assert [word.text for word in sentence.words if word.label] == ["Historic", "Value"]
