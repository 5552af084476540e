from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.synth.support_denials import Statements
from openreward.synth.support_words import read_sentences

DOCUMENT = (
    "The bridge was opened to traffic in spring. It does not carry heavy lorries in winter. "
    "The old ferry never landed at the northern pier. Engineers were unable to save the western "
    "arch of stone. Tolls increased after the flood while traffic became lower. The keeper lives "
    "there without a telephone. Only boats of the harbour may pass under it at night. The method, "
    "which is not new, measures the weight of every lorry exactly."
)


def turned(answer: str, document: str = DOCUMENT, query: str = "") -> bool | None:
    """Whether the one sentence is borne out; None where it denies and turns nothing."""
    statements = Statements(read_sentences(document), read_sentences(query))
    (sentence,) = read_sentences(answer)
    found = statements.turned(sentence)
    assert found is None or found[0] == sentence.text
    return found[1] if found else None


@pytest.mark.parametrize(
    "answer",
    [
        "The bridge was not opened to traffic in spring.",
        "The bridge wasn't opened to traffic in spring.",
        "The bridge wasn’t opened to traffic in spring.",
        "The bridge was never opened to traffic in spring.",
        "The bridge was opened to no traffic in spring.",
        "It does carry heavy lorries in winter.",
        "It carries heavy lorries in winter.",
        "The old ferry always landed at the northern pier.",
        "Engineers were able to save the western arch of stone.",
        "Tolls decreased after the flood while traffic became lower.",
        "Tolls increased after the flood while traffic became higher.",
        "The old ferry never landed at the southern pier.",
        "The keeper lives there with a telephone.",
        "The method does not measure the weight of every lorry.",
    ],
)
def test_a_sentence_that_denies_or_turns_round_one_like_it_is_not_borne_out(answer: str) -> None:
    assert turned(answer) is False


@pytest.mark.parametrize(
    "answer",
    [
        "Heavy lorries are not carried in winter.",
        "It doesn't carry heavy lorries in winter.",
        "No heavy lorries are carried in winter.",
        "The ferry did not land at the northern pier.",
        "Engineers could not save the western arch of stone.",
        "The keeper does not have a telephone and lives there.",
        "The keeper lives there with no telephone.",
    ],
)
def test_a_denial_in_other_words_is_borne_out(answer: str) -> None:
    assert turned(answer) is True


@pytest.mark.parametrize(
    "answer",
    [
        "In spring the bridge was opened to traffic.",
        "The bridge was opened not only to traffic in spring.",
        "The bridge was no doubt opened to traffic in spring.",
        "The method measures the weight of every lorry.",  # what is denied stands in another clause
        "Tolls increased after the flood.",
        "Boats of the harbour may pass under it at night.",  # of "only" nothing is said
        "The bridge was opened with or without traffic in spring.",
        "The bridge was opened to no-charge traffic in spring.",
        "Ducks like bread.",
        "Bread.",
    ],
)
def test_where_nothing_is_denied_nothing_is_said(answer: str) -> None:
    assert turned(answer) is None


def test_denying_twice_is_stating() -> None:
    document = "It is not true that the bridge was never opened to heavy traffic."
    assert turned("It is true that the bridge was opened to heavy traffic.", document) is None
    assert turned("It is not true the bridge was opened to heavy traffic.", document) is False


def test_a_denial_reaches_four_words_and_no_further_than_its_clause() -> None:
    near = "The ducks do not swim in cold water near boats."
    assert turned("The ducks swim in cold water near boats.", near) is False
    far = "The tower has no lift, and ducks swim in water near boats."
    assert turned("Ducks swim in water near boats.", far) is None
    bracket = "The planner (without money) trades boats between agents in spring."
    assert turned("The planner trades boats between agents in spring.", bracket) is None


def test_what_is_said_with_and_without_a_denial_is_not_denied() -> None:
    document = (
        "The map describes the form and how roads are built, what roads are allowed and what they "
        "join, without describing how the roads are paid."
    )
    assert turned("The map describes the form and what roads are allowed.", document) is None


@pytest.mark.parametrize(
    ("answer", "query", "expected"),
    [
        ("The mayor does not like ducks at all.", "", False),
        ("No wolves were ever seen by the mayor.", "", False),
        ("The mayor does not like ducks at all.", "Why does the mayor not like ducks?", True),
        ("So no lorries pass.", "", True),  # the document denies something of lorries
        ("The mayor lives without ducks.", "", None),  # only a plain denial asks for one
    ],
)
def test_a_denial_like_no_sentence_asks_for_one_of_the_same_words(
    answer: str, query: str, expected: bool | None
) -> None:
    assert turned(answer, query=query) is expected


def test_of_two_sentences_equally_like_it_one_is_enough() -> None:
    document = "The red boats were not sold in spring. The blue boats were sold in spring."
    assert turned("Boats were sold in spring.", document) is None
    assert turned("The red boats were sold in spring.", document) is False


@pytest.mark.parametrize(
    "text", ["not " * 5000, "not good " * 5000, "no, " * 5000, "not\x00 ", "否不是" * 5000]
)
def test_odd_text_is_read_in_little_time(text: str) -> None:
    started = time.monotonic()
    for answer in read_sentences(text):
        Statements(read_sentences(text)).turned(answer)
        Statements(read_sentences(DOCUMENT)).turned(answer)
    assert time.monotonic() - started < 4


@given(
    st.lists(st.sampled_from(["not", "no", "ducks", "swim", "never", "only", ",", "high", "low"]))
)
def test_a_sentence_never_turns_itself_round(words: list[str]) -> None:
    text = " ".join(words)
    for sentence in read_sentences(text):
        found = Statements([sentence]).turned(sentence)
        assert found is None or found[1]
