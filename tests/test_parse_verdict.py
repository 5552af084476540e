"""Verdicts, explanations and citations as models write them."""

from __future__ import annotations

import pytest

from openreward.parse import cited_numbers, explanation, read_verdict, visible

VERDICTS = {
    "A": ("<answer>A</answer>", "ok", 0),
    "B behind text": ("The facts fit B [2].\n<answer>B</answer>", "ok", 1),
    "text behind it": ("<answer>B</answer> I am sure.", "ok", 1),
    "lower case": ("<answer>b</answer>", "ok", 1),
    "upper-case tag": ("<ANSWER>A</Answer>", "ok", 0),
    "spaces and lines": ("<answer>\n A \t</answer>", "ok", 0),
    "twice the same": ("<answer>A</answer> yes, <answer>a</answer>", "ok", 0),
    "after thinking": ("<think><answer>B</answer></think><answer>A</answer>", "ok", 0),
    "after thinking opened by the template": (
        "B? <answer>B</answer></think><answer>A</answer>",
        "ok",
        0,
    ),
    "before a thinking that never ends": ("<answer>A</answer><think><answer>B</answer>", "ok", 0),
    "none": ("Answer A is better.", "unparsed", None),
    "empty text": ("", "unparsed", None),
    "two different": ("<answer>A</answer><answer>B</answer>", "unparsed", None),
    "a letter and a word": ("<answer>A</answer><answer>neither</answer>", "unparsed", None),
    "in thinking only": ("<think><answer>A</answer></think> Hm.", "unparsed", None),
    "in a thinking that never ends": ("<think><answer>A</answer>", "unparsed", None),
    "in a second thinking": ("<think>a</think> b <think><answer>A</answer>", "unparsed", None),
    "never closed": ("<answer>A", "unparsed", None),
    "never opened": ("A</answer>", "unparsed", None),
    "an opening in it": ("<answer>A <answer>B</answer>", "unparsed", None),
    "another word": ("<answer>AB</answer>", "unparsed", None),
    "a third letter": ("<answer>C</answer>", "unparsed", None),
    "a sentence": ("<answer>Answer A</answer>", "unparsed", None),
    "nothing in it": ("<answer></answer>", "unparsed", None),
    "the empty word in it": ("<answer> </answer>", "unparsed", None),
    "the placeholder": ("<answer>A or B</answer>", "unparsed", None),
    "another tag": ("<B>", "unparsed", None),
    "a tag with attributes": ("<answer x=1>A</answer>", "unparsed", None),
    "spaces in the tag": ("< answer >A</ answer >", "unparsed", None),
    "a Cyrillic letter": ("<answer>А</answer>", "unparsed", None),
    "a full-width letter": ("<answer>Ａ</answer>", "unparsed", None),
    "a long s in the tag": ("<anſwer>A</anſwer>", "unparsed", None),
    "a full-width tag": ("＜answer＞A＜/answer＞", "unparsed", None),
    "a zero-width space in the tag": ("<ans\u200bwer>A</answer>", "unparsed", None),
    "a broken tag": ("<·answer>A<·/answer>", "unparsed", None),
    "a tie where none is allowed": ("<answer>tie</answer>", "unparsed", None),
}


@pytest.mark.parametrize("name", VERDICTS)
def test_a_verdict_is_exactly_one(name: str) -> None:
    text, status, winner = VERDICTS[name]
    verdict = read_verdict(text)
    assert (verdict.status, verdict.winner, verdict.forced) == (status, winner, False)


@pytest.mark.parametrize(
    ("text", "status", "winner"),
    [
        ("<answer>tie</answer>", "tie", None),
        ("<answer> Tie\n</answer>", "tie", None),
        ("<answer>A</answer>", "ok", 0),
        ("<answer>A</answer><answer>tie</answer>", "unparsed", None),
        ("<answer>draw</answer>", "unparsed", None),
        ("<answer>tıe</answer>", "unparsed", None),  # a dotless i, whose upper case is I
    ],
)
def test_a_tie_is_a_verdict_where_the_task_allows_it(
    text: str, status: str, winner: int | None
) -> None:
    verdict = read_verdict(text, tie=True)
    assert (verdict.status, verdict.winner) == (status, winner)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A fits [1].\n<answer>A</answer>", "A fits [1]."),
        ("<think>hm</think>A fits.<answer>A</answer> Sure. <answer>A</answer>", "A fits. Sure."),
        ("<answer>A</answer>", ""),
        ("no verdict", "no verdict"),
        ("cut <answer>A", "cut <answer>A"),
        ("", ""),
        ("a\ud800b", "a?b"),
    ],
)
def test_the_explanation_is_the_visible_text_without_the_verdict(text: str, expected: str) -> None:
    assert explanation(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("as [2] says", {2}),
        ("[1][3] and [ 4]", {1, 3}),
        ("[1, 3,12]", {1, 3, 12}),
        ("[2] and [2]", {2}),
        ("[a], [], [1-3], (4), [12345], 5", set()),
        ("[٣]", {3}),
    ],
)
def test_citations_are_numbers_in_brackets(text: str, expected: set[int]) -> None:
    assert cited_numbers(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "a"),
        ("<think>a</think>b", "b"),
        ("a</think>b", "b"),
        ("<think>a", ""),
        ("a<think>b", "a"),
        ("<think>a</think>b<think>c</think>d", "d"),
        ("<think>a</think>b<think>c", "b"),
    ],
)
def test_the_visible_text_is_what_stands_after_the_thinking(text: str, expected: str) -> None:
    assert visible(text) == expected
