from __future__ import annotations

import time
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.synth.pair_records import Support
from openreward.synth.support import support

DOCUMENT = (
    "The Ostra tide mill stands in the United States of Norland, and was built in 1783 by Walter "
    "Brandt, a German engineer. It has 14 sluice gates, three wheels and 1,500,000 bricks. On 5 "
    "May 1906 the parish bought it. Some 46.72% of the visitors, or 312 a day, come by boat. The "
    "mill was not damaged by the flood of 1931, and the World Health Organization praised its "
    "water. Its wheels are able to turn with the ebb, and output increased in the 19th century "
    "while costs of repair remained low. COVID-19 closed it between 2019 and 2021 under Louis XIV."
)


def missing(answer: str, query: str = "") -> tuple[str, ...]:
    return support(answer, DOCUMENT, query).missing


@pytest.mark.parametrize(
    "answer",
    [
        "The mill was put up in 1783 by the engineer Walter Brandt.",
        "Brandt's mill is in the US.",
        "The U.S. of Norland has a mill.",
        "An engineer from Germany, Brandt, built it with 1.5 million bricks.",
        "There are fourteen gates.",
        "It was built in the 1780s, in the 18th century.",
        "About 300 visitors a day come by boat, roughly 45% of all.",
        "Of the visitors, 46.7% or 47 percent come by boat.",
        "On May 5, 1906 it was bought; this was in May 1906.",
        "On the 5th of May the parish bought it.",
        "It was bought on 1906-05-05.",
        "The WHO praised its water.",
        "The flood did not damage the mill.",
        "There was no damage to the mill by the flood.",
        "There are three main points, and two of them are about water.",
        "1. The mill has wheels.\n2. It turns.\n10) It stands.",
        "## Key Facts About Tides\n\n**Historic Value:** the mill is old.\n- Its wheels turn.",
        "Furthermore, the mill is old. However, Visitors come.",
        "Step 4: look at the mill.",
        "See [Brandt](https://example.org/2044) and [7].",
        "The pandemic, COVID-19, or COVID‐19, closed it.",
        "It was closed from 2019–21.",
        "The mill was owned under Louis XIV, not only by the parish.",
        "`Brandt` built *it* in __1783__.",
        "",
        "?!",
    ],
)
def test_what_the_document_says_in_other_forms_is_found(answer: str) -> None:
    assert missing(answer) == ()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("It was built in 1873.", ("1873",)),
        ("It has 15 sluice gates.", ("15",)),
        ("It has sixteen gates.", ("sixteen",)),
        ("It has 1.5 billion bricks.", ("1.5 billion",)),
        ("It has 1,600,000 bricks.", ("1,600,000",)),
        ("Boats bring 64.72% of the visitors.", ("64.72",)),
        ("About 400 visitors come.", ("400",)),
        ("From 1783 to 1940 it stood there.", ("1940",)),  # a year is not near another one
        ("In the 1850s it was new.", ("1850s",)),
        ("On 7 May 1906 it was bought.", ("7 May",)),
        ("On 5 June 1906 it was bought.", ("5 June",)),
        ("It was bought in October 1906.", ("October",)),
        ("It was built by Walter Krause.", ("Walter Krause",)),
        ("The engineer was Isaac Newton.", ("Isaac Newton",)),  # "in" is no short form of it
        ("The engineer was Austrian.", ("Austrian",)),
        ("The IMF praised its water.", ("IMF",)),
        ("The pandemic SARS-2 closed it.", ("2", "SARS")),
        ("The mill of Ostra was damaged by the flood.", "turned"),
        ("The mill was never built by Walter Brandt, the German engineer.", "turned"),
        ("Its wheels are unable to turn with the ebb.", "turned"),
        ("The output decreased in the 19th century.", "turned"),
        ("The parish does not like ducks at all.", "turned"),  # nothing like it is denied
    ],
)
def test_one_wrong_fact_is_named_as_it_stands(answer: str, expected: tuple[str, ...] | str) -> None:
    assert missing(answer) == ((answer,) if expected == "turned" else expected)


def test_what_the_query_holds_is_given() -> None:
    assert missing("In 2044 Krause ate it.", "What did Krause eat in 2044?") == ()
    assert missing("In 2044 Krause ate it.") == ("2044", "Krause")


def test_a_query_s_words_are_neither_evidence_nor_claims() -> None:
    document, query = "Bees dance to show where flowers are.", "Why do wasps matter to farmers?"
    assert support("Wasps matter to farmers.", document, query) == Support(share=0.0)
    assert support("Bees dance; wasps matter.", document, query).share == 1.0
    assert support("Bees dance; wasps sting.", document, query).share == 0.6667
    assert support("Bees sting ducks.", document, "").share == 0.3333


def test_a_sentence_left_out_is_not_seen() -> None:
    assert support("The mill was built in 1783.", DOCUMENT) == Support(share=1.0, facts=1)


def test_facts_are_counted_and_each_missing_one_is_named_once() -> None:
    found = support("Krause came in 2044. In 2044 Krause met Brandt.", DOCUMENT)
    assert (found.facts, found.missing) == (4, ("2044", "Krause"))


def test_a_name_at_the_start_of_a_sentence_alone_is_not_seen() -> None:
    """Its capital says nothing; behind another word it does."""
    assert missing("Krause built it.") == ()
    assert missing("The engineer Krause built it. Krause was old.") == ("Krause",)


def test_texts_without_spaces_are_held_by_pairs_of_characters() -> None:
    document = "东京是日本的首都，人口为1400万。"
    assert support("东京是日本的首都。", document).share == 1.0
    assert support("巴黎位于法国北部。", document).share == 0.0
    assert support("东京人口为1500万。", document).missing == ("1500",)


def test_a_zero_in_the_document_bears_out_no_name() -> None:
    """Words that are no Roman numeral are worth 0."""
    document = "The score was 0 to 3 under Louis 14, said Mr. Brandt."
    assert support("The engineer Krause lost under Louis XIV.", document).missing == ("Krause",)


@pytest.mark.parametrize(
    "text",
    [
        "\x00\ud800 In 1999\u202e",
        "²²²²-18 and 1999-²² of ½",
        "about " + "three " + "million " * 400,
        "1" * 5000,
        "." * 20_000,
        "[a](" * 5000,
        "A. " * 5000,
        "not good " * 4000,
        "# a\n" * 5000,
        "the 1-" * 5000 + "May",
        "a" * 1_000_000,
        "A" * 1_000_000,
        "9" * 1_000_000,
    ],
)
def test_odd_text_is_read_in_little_time(text: str) -> None:
    started = time.monotonic()
    assert 0 <= support(text, DOCUMENT).share <= 1
    assert support("The cat sat in 1066.", text).facts == 1
    assert time.monotonic() - started < 5


@given(st.text(max_size=200), st.text(max_size=200), st.text(max_size=50))
def test_any_text_is_read(answer: str, document: str, query: str) -> None:
    found = support(answer, document, query)
    assert 0 <= found.share <= 1
    assert len(found.missing) <= found.facts


ODD_SENTENCES = (
    "## Results and Discussion\n",
    "- **Tides:** In 1914-18 no mill of the U.S. Navy was not watched, was it?",
    "1. Costs were higher (p < 0.01; 95% CI 1.2-3.4) with or without A. B. Krause's help.",
    "(2) Neither the WHO nor the IMF lowered its prices, only raised them.",
    "About half of 1,234.5 km² burned on 5-7 May, e.g. in St. Mary's.",
    "p53 and mRNA did not decrease while IL-6 increased…",
    "东京的人口不是1400万。",
    '"It isn\'t true," she said; "never, never, never!"',
    "See [the map](https://example.org/a(b)) or https://example.org/1999.",
    "| mill | 1783 |",
    "The XIXth century, or 19th c., and the 1780s: fewer than twenty-one of three million.",
)


@given(
    st.lists(st.sampled_from(ODD_SENTENCES), min_size=1, max_size=8),
    st.lists(st.sampled_from(ODD_SENTENCES), max_size=4),
    st.randoms(use_true_random=False),
    st.sampled_from(["\n", "\n\n"]),
)
def test_odd_sentences_of_a_document_are_supported_by_it(
    said: list[str], left_out: list[str], random: Random, gap: str
) -> None:
    document = [*said, *left_out]
    random.shuffle(document)
    found = support("\n".join(said), gap.join(document))
    assert found.missing == ()
    assert found.share == 1.0


@given(st.lists(st.sampled_from(DOCUMENT.split(". ")), max_size=6))
def test_sentences_of_the_document_in_any_order_are_supported(sentences: list[str]) -> None:
    answer = ". ".join(sentences)
    assert support(answer, DOCUMENT).missing == ()
    assert support(answer, DOCUMENT).share == (1.0 if sentences else 0.0)
