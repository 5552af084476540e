from __future__ import annotations

import json
from pathlib import Path

import pytest

from openreward.synth.scenario_language import Language, read_language


@pytest.mark.parametrize(
    "text",
    [
        "What is the capital of France?",
        "Write a short poem about the sea and the moon.",
        "hello",
        "2 + 2 = what",
        "Translate this sentence into German: 'Guten Tag, wie geht es?' for the book of my aunt.",
        "def add(a, b):\n    return a + b\n\nWhat does this function do, and is it correct?",
        "Don’t you think it’s better that I don't go?",
    ],
)
def test_english_is_taken(text: str) -> None:
    assert read_language(text) == Language(True)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no letters"),
        ("12 + 30 = ?", "no letters"),
        ("法国的首都是哪里？", "0.00 of its letters are Latin, at least 0.8 expected"),
        (
            "Столица Франции is what?",
            "0.30 of its letters are Latin, at least 0.8 expected",
        ),
        (
            "Was ist die Hauptstadt von Frankreich und wie heißt der Fluss?",
            "6 small words of German, 1 of English",
        ),
        ("¿Cuál es la capital de Francia y qué río la cruza?", "6 small words of Spanish"),
        ("Quelle est la capitale de la France ?", "4 small words of French"),
        ("Qual é a capital da França e o que se come lá?", "7 small words of Portuguese"),
        ("Qual è la capitale della Francia e che cosa si mangia?", "7 small words of Italian"),
        ("Wat is de hoofdstad van Frankrijk en hoe heet het?", "6 small words of Dutch"),
        (
            "alpha beta gamma delta epsilon zeta eta theta iota kappa",
            "0 of 10 words are small English ones, at least 0.08 of them expected",
        ),
    ],
)
def test_what_is_not_english_says_why(text: str, why: str) -> None:
    found = read_language(text)
    assert (found.english, found.why[: len(why)]) == (False, why)


def test_the_shares_can_be_set() -> None:
    text = "alpha beta gamma delta epsilon zeta eta the iota kappa"
    assert read_language(text) == Language(True)
    assert not read_language(text, small_words=0.2).english
    mixed = "What does 号衣战裙 mean?"
    assert read_language(mixed, latin=0.7).english
    assert not read_language(mixed).english


def test_prompts_that_are_labelled_english_are_taken_for_it(test_data: Path) -> None:
    """RMB's labels are a model's; some of the prompts are not English at all."""
    prompts: dict[str, str | None] = {}
    for file in sorted((test_data / "rmb").rglob("*.json")):
        for row in json.loads(file.read_text()):
            last = row["conversation_input"][-1]
            prompts[last["content"]] = last.get("language")
    english = [text for text, language in prompts.items() if language == "English"]
    taken = sum(read_language(text).english for text in english)
    assert len(english) > 1000
    assert taken / len(english) > 0.98
