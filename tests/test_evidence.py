"""Passages as the model sees them: numbers that run on, and a budget that is kept."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.evidence import CUT, sentences_of, show, trim
from openreward.policy.base import Conversation, Generation, Sampling, ToolStyle
from openreward.policy.chat_path import estimate_tokens
from openreward.policy.scripted import ScriptedPolicy
from openreward.types import Passage, PolicyPath

WORDS = ScriptedPolicy(["-"])  # counts words; the mark of a cut is three


class Characters:
    """A policy whose tokens are characters, or what `estimate_tokens` makes of them."""

    model = "characters"
    path: PolicyPath = "chat"
    tool_style: ToolStyle = "prompt"
    context: int | None = None

    def __init__(self, estimated: bool = False) -> None:
        self.estimated = estimated

    async def generate(self, conversation: Conversation, sampling: Sampling) -> Generation:
        """Nothing; these tests only count."""
        return Generation("")

    async def count_tokens(self, text: str) -> int:
        """One a character."""
        return estimate_tokens(text) if self.estimated else len(text)


def passage(text: str, number: int = 1) -> Passage:
    return Passage(document_id=f"d{number}", source="s", title="T", text=text, start=0, end=9)


def cut_to(text: str, budget: int) -> tuple[str, int, bool]:
    return asyncio.run(trim(text, budget, WORDS))


@pytest.mark.parametrize(
    ("text", "budget", "expected"),
    [
        ("One two. Three four.", 4, "One two. Three four."),
        ("One two. Three four five six seven.", 6, "One two. [... cut here]"),
        ("One two! Three four? Five six seven eight.", 7, "One two! Three four? [... cut here]"),
        ('He said "one two." Then three four five.', 7, 'He said "one two." [... cut here]'),
        ("one two\nthree four five six seven", 6, "one two [... cut here]"),
        ("一二。三四 五 六 七 八 九 十", 5, "一二。 [... cut here]"),
        ("one two three four five six seven eight", 5, "one two [... cut here]"),
        ("", 0, ""),
        ("one two", 0, "[... cut here]"),
        ("one two three four", 2, "[... cut here]"),
    ],
)
def test_a_text_is_cut_at_a_sentence_else_at_a_word(text: str, budget: int, expected: str) -> None:
    kept, tokens, cut = cut_to(text, budget)
    assert kept == expected
    assert tokens == len(expected.split())
    assert cut is (CUT in expected)


def test_a_stop_inside_a_number_ends_no_sentence() -> None:
    text = "It weighs 3.14159 kilogrammes and more"
    kept, _, _ = asyncio.run(trim(text, len("It weighs 3. ") + len(CUT), Characters()))
    assert kept == f"It weighs {CUT}"


def test_what_is_counted_is_the_inert_text() -> None:
    text = "<|im_end|>" * 30
    kept, tokens, cut = asyncio.run(trim(text, 310, Characters()))
    assert cut
    assert len(kept) == tokens <= 310
    assert kept.startswith("<·|im_end|><·|im_end|>")
    whole, tokens, cut = asyncio.run(trim(text, 330, Characters()))
    assert (whole, tokens, cut) == ("<·|im_end|>" * 30, 330, False)


@given(st.text(), st.integers(len(CUT), 200), st.booleans())
def test_the_budget_is_kept_and_a_cut_is_marked(text: str, budget: int, estimated: bool) -> None:
    policy = Characters(estimated)
    kept, tokens, cut = asyncio.run(trim(text, budget, policy))
    assert tokens == asyncio.run(policy.count_tokens(kept)) <= budget
    assert kept.endswith(CUT) or not cut
    assert cut or len(kept) >= len(text)


def test_a_text_of_100_kb_is_cut_with_few_counts() -> None:
    counts = 0

    class Counting(Characters):
        async def count_tokens(self, text: str) -> int:
            nonlocal counts
            counts += 1
            return len(text) // 4

    kept, tokens, cut = asyncio.run(trim("Some words in a sentence. " * 4000, 700, Counting()))
    assert (cut, 600 < tokens <= 700, counts <= 5) == (True, True, True)
    assert kept.endswith(f"sentence. {CUT}")


def test_numbers_run_on_and_the_ledger_keeps_whole_passages() -> None:
    found = [passage("a b c.", 1), passage("d e f. " * 20, 2), passage("g", 3)]
    shown = asyncio.run(show(found, "wiki", "q", 4, 24, WORDS))
    assert [evidence.number for evidence, _ in shown] == [5, 6, 7]
    assert [evidence.cut for evidence, _ in shown] == [False, True, False]
    assert [text for _, text in shown][0] == "a b c."
    assert shown[1][0].passage == found[1]
    assert shown[1][1].endswith(f"f. {CUT}")
    assert {(e.tool, e.query, e.cited) for e, _ in shown} == {("wiki", "q", False)}


def test_what_a_short_passage_leaves_goes_to_the_later_ones() -> None:
    long = " ".join(["word"] * 100)
    shown = asyncio.run(show([passage("one"), passage(long)], "wiki", "q", 0, 30, WORDS))
    assert 20 < len(shown[1][1].split()) <= 29
    assert sum(len(text.split()) for _, text in shown) <= 30


def test_without_a_budget_only_the_cuts_are_shown() -> None:
    shown = asyncio.run(show([passage("a b"), passage("c d")], "wiki", "q", 0, 0, WORDS))
    assert [text for _, text in shown] == [CUT, CUT]
    assert all(evidence.cut for evidence, _ in shown)
    assert asyncio.run(show([], "wiki", "q", 0, 30, WORDS)) == []


@pytest.mark.parametrize(
    ("text", "characters", "expected"),
    [
        ("One. Two three", 99, "One. Two three"),
        ("One. Two three", 14, "One. Two three"),
        ("One. Two three", 13, "One."),
        ("One two three", 9, "One two"),
        ("", 3, ""),
    ],
)
def test_a_text_is_shortened_to_sentences_and_one_that_fits_is_whole(
    text: str, characters: int, expected: str
) -> None:
    assert sentences_of(text, characters) == expected
