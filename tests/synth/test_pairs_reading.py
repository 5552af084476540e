"""What a writer and a verifier wrote, as a pair takes it."""

from __future__ import annotations

import time

import pytest

from openreward.synth.pairs import read_verified, tidy_query


@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("Question: Why is it so?", "Why is it so?"),
        ("**Question:** Why is it so?", "Why is it so?"),
        ('"Why is it so?"', "Why is it so?"),
        ("1. Why is\nit so?", "Why is it so?"),
        ("“Why ‘is’ it so?”", "Why ‘is’ it so?"),
        ("Why 1.5 of it?", "Why 1.5 of it?"),
        ('"', '"'),
        ("", ""),
    ],
)
def test_a_query_is_freed_of_what_stands_around_it(said: str, query: str) -> None:
    assert tidy_query(said) == query


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("<answer>full</answer>", "full"),
        ("It is. <answer> PART </answer>", "part"),
        ("<answer>none</answer><answer>none</answer>", "none"),
        ("<answer>none</answer><answer>full</answer>", "unparsed"),
        ("<answer>yes</answer>", "unparsed"),
        ("full", "unparsed"),
        ("", "unparsed"),
    ],
)
def test_a_verifier_is_read_from_its_tags(text: str, word: str) -> None:
    assert read_verified(text) == word


def test_quotes_by_the_million_are_taken_off_in_no_time() -> None:
    started = time.monotonic()
    assert tidy_query('"' * 1_000_000 + "Why?" + '"' * 1_000_000) == "Why?"
    assert tidy_query('" ' * 100_000 + "Why?" + ' "' * 100_000) == "Why?"
    assert time.monotonic() - started < 5
