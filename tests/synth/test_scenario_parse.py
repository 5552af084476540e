from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.synth.scenario_labels import Label
from openreward.synth.scenario_parse import is_refusal, read_features, read_label, read_score

LABELS = (Label(name="Chat"), Label(name="Open QA"), Label(name="Code/Data Management"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<answer>Chat</answer>", "Chat"),
        ("It talks. <answer> chat. </answer>", "Chat"),
        ('<answer>"Open  QA"</answer>', "Open QA"),
        ("<answer>Code/Data Management</answer>", "Code/Data Management"),
        ("<answer>Chat</answer> so <answer>Chat</answer>", "Chat"),
        ("<think><answer>Code</answer></think><answer>Open QA</answer>", "Open QA"),
        ("Chat", None),
        ("<answer>Chat", None),
        ("<answer></answer>", None),
        ("<answer>Chat</answer><answer>Open QA</answer>", None),
        ("<answer>Chat, Open QA</answer>", None),
        ("<answer>Data Management</answer>", None),
        ("<·answer>Chat<·/answer>", None),
        ("<think><answer>Chat</answer>", None),
    ],
)
def test_a_label_is_one_of_the_names_in_tags(text: str, expected: str | None) -> None:
    assert read_label(text, LABELS) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<answer>4</answer>", 4.0),
        ("<answer>3.5</answer>", 3.5),
        ("<answer>3,5</answer>", 3.5),
        ("<answer>**4/5**</answer>", 4.0),
        ("<answer>2 out of 5.</answer>", 2.0),
        ("<answer>1.25</answer>", 1.25),
        ("<answer>5.0</answer>", 5.0),
        ("<answer>5.1</answer>", None),
        ("<answer>0.5</answer>", None),
        ("<answer>6</answer>", None),
        ("<answer>10</answer>", None),
        ("<answer>-3</answer>", None),
        ("<answer>4/10</answer>", None),
        ("<answer>nan</answer>", None),
        ("<answer>٣</answer>", None),
        ("<answer>4</answer><answer>5</answer>", None),
        ("4", None),
        ("", None),
    ],
)
def test_a_score_is_one_number_from_1_to_5_in_tags(text: str, expected: float | None) -> None:
    assert read_score(text) == expected


FIVE = "1. a\n2) b\n3: c\n- d\n• e"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"<answer>{FIVE}</answer>", ("a", "b", "c", "d", "e")),
        (f"<answer>\n\n{FIVE}\n\n</answer>", ("a", "b", "c", "d", "e")),
        (f"Well: <answer>{FIVE}</answer> Done.", ("a", "b", "c", "d", "e")),
        (FIVE, None),
        ("<answer>1. a\n2. b\n3. c\n4. d</answer>", None),
        (f"<answer>{FIVE}\n6. f</answer>", None),
        (f"<answer>Here they are:\n{FIVE}</answer>", None),
        ("<answer>1. a\n2. A\n3. c\n4. d\n5. e</answer>", None),  # one of them twice
        ("<answer>1.\n2. b\n3. c\n4. d\n5. e</answer>", None),
        (f"<answer>{FIVE}", None),
    ],
)
def test_features_are_five_different_lines_in_tags(
    text: str, expected: tuple[str, ...] | None
) -> None:
    assert read_features(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm sorry, but I can't help with that.", True),
        ("I’m sorry, I cannot assist you.", True),
        ("Sorry, but I am not able to do that.", True),
        ("As an AI language model, I cannot have opinions.", True),
        ("I cannot provide that information.", True),
        ("  \n I CAN'T CREATE such a text.", True),
        ("I apologize, but I'm unable to open links.", True),
        ("I'm sorry to hear that you can't sleep. Try this:", False),
        ("Unfortunately, the ring cannot be mended.", False),
        ("I can't wait to tell you about Rome!", False),
        ("The capital is Paris. I'm sorry, I cannot say more.", False),
        ("", False),
    ],
)
def test_a_refusal_is_read_from_the_first_words(text: str, expected: bool) -> None:
    assert is_refusal(text) == expected


@given(st.text(st.sampled_from("<>/answerthink 12345.•-\n\ud800é"), max_size=200))
def test_any_text_is_read(text: str) -> None:
    label, score, features = read_label(text, LABELS), read_score(text), read_features(text)
    assert label in (None, "Chat", "Open QA", "Code/Data Management")
    assert score is None or 1 <= score <= 5
    assert features is None or len(features) == 5
    assert is_refusal(text) in (True, False)


@pytest.mark.parametrize("piece", ["<answer>", "sorry ", "1. a\n", "i cannot ", "\n", "<think>"])
def test_long_texts_are_read_in_little_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    started = time.process_time()
    assert read_score(text) is None
    assert read_features(f"<answer>{text}</answer>") is None
    assert is_refusal(text) in (True, False)
    assert time.process_time() - started < 2
