from __future__ import annotations

import re
from datetime import date
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from openreward.synth.corrupt import CORRUPTION_KINDS, Corruption, CorruptionKind, corrupt
from openreward.synth.corrupt_names import NamePool
from openreward.synth.corrupt_numbers import other_number, values_in
from openreward.synth.corrupt_text import sentences, takes_an


def made(text: str, kind: CorruptionKind, seeds: int = 20, **more: str) -> list[Corruption]:
    """All that some seeds make of a text."""
    found = [corrupt(text, kind, seed=seed, pool=NamePool(), **more) for seed in range(seeds)]
    return [each for each in found if each is not None]


def afters(text: str, kind: CorruptionKind, **more: str) -> set[str]:
    return {each.after for each in made(text, kind, **more)}


@pytest.mark.parametrize(
    ("old", "pattern"),
    [
        ("7", r"\d\d?"),
        ("45", r"\d\d"),
        ("1,240", r"\d,\d{3}|\d{3}"),
        ("300", r"[1-9]00|1[12]00"),
        ("12.5", r"\d\d?\.\d"),
        ("0.03", r"0\.0\d|0\.1[12]"),
    ],
)
def test_another_number_has_the_form_of_the_old_one(old: str, pattern: str) -> None:
    drawn = {other_number(old, Random(seed)) for seed in range(200)}
    assert len(drawn) > 3
    assert old not in drawn
    for new in drawn:
        assert new is not None
        assert re.fullmatch(pattern, new), new
        assert abs(float(new.replace(",", "")) / float(old.replace(",", "")) - 1) >= 0.1


@pytest.mark.parametrize("old", ["0", "1", "0.0"])
def test_none_and_one_have_no_other_number(old: str) -> None:
    assert other_number(old, Random(1)) is None


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("The bridge over the river is 740 metres long and was built by the town.", "integer"),
        ("In the trial 37.5% of the patients were better at the end of it.", "percent"),
        ("The tower that is in the town has a height of 21.4 m and a bell.", "decimal"),
        ("The town has seven schools that are in the north of it.", "word"),
        ("It is the third largest lake of the land and is in the north.", "rank"),
        ("He was the 12th mayor of the town and of the land.", "rank"),
    ],
)
def test_a_number_changes_and_its_unit_stays(text: str, form: str) -> None:
    found = made(text, "number")
    assert {each.form for each in found} == {form}
    assert all(re.sub(r"[\d.,]+|\w+", "", each.before) == "" for each in found)


@pytest.mark.parametrize(
    "text",
    [
        "It is a drug for the type 2 form of the disease that is in the land.",
        "The results are in Table 3 of the paper and [12] of the list.",
        "The film with Apollo 13 and the actors of the land is known for it.",
        "It was built in 1911 and then in the year 2003 by the town.",
        "The hazard ratio was 1.45 (95% CI 1.2 to 1.9) in the study of the land.",
        "The loss was 300 miles (480 km) from the town that is in the north.",
        "There were 40 (20%) of the patients who had the disease in it.",
        "The two brothers: the one is in the town and the other is not.",
    ],
)
def test_numbers_that_only_name_or_give_themselves_away_stay(text: str) -> None:
    assert made(text, "number") == []


def test_a_range_keeps_its_order() -> None:
    text = "The patients of the study were 34 to 41 years old and lived in the town."
    for each in made(text, "number", 60):
        low, high = re.findall(r"\d+", each.text)
        assert int(low) < int(high)
        assert (low == "34") != (high == "41")


def test_no_new_value_stands_in_the_answer_the_document_or_the_query() -> None:
    text = "The tower of the town has 7 floors and it is known for them."
    document = "A tower: 7 floors, then 2, 3, 4, 5, six, and it has eight bells, and 9 too."
    more = {"document": document, "query": "Which tower has 11 floors?"}
    assert afters(text, "number", **more) == {"12"}


def test_an_article_still_fits_its_number() -> None:
    text = "It is an 8 metre tower that was built by the town in the north."
    assert afters(text, "number") <= {"11"}


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("The school was founded in 1932 by the town that is in the north.", "year"),
        ("He lived in the town from 1840 to 1872 and was known for it.", "year"),
        ("He was the mayor (1840–1872) of the town that is in the north.", "range"),
        ("The bridge was opened on 29 February 2004 by the mayor of the town.", "day"),
        ("The bridge was opened in March 1998 by the mayor of the town.", "month"),
        ("The law is of 2011-05-31 and was made by the people of the land.", "day"),
        ("The town was known for it in the 1920s and the people are too.", "decade"),
        ("The church is of the late 16th century and it was built by the town.", "century"),
        ("The church is of the sixteenth century and was built by the town.", "century"),
        ("The town was founded in 480 BC by the people of the land.", "year"),
    ],
)
def test_a_date_changes_in_its_form(text: str, form: str) -> None:
    found = made(text, "date")
    assert {each.form for each in found} == {form}
    assert all(each.undone() == text for each in found)


def test_a_full_date_stays_a_date() -> None:
    text = "The bridge was opened on 29 February 2004 by the mayor of the town."
    for each in made(text, "date", 100):
        day, month, year = each.text.split(" on ")[1].split(" by ")[0].split()
        names = "January February March April May June July August September October November"
        number = [*names.split(), "December"].index(month) + 1
        assert date(int(year), number, int(day))


def test_years_keep_their_order_and_do_not_lie_ahead() -> None:
    text = "He lived in the town from 2019 to 2023 and was known for it."
    for each in made(text, "date", 80):
        first, last = map(int, re.findall(r"\d{4}", each.text))
        assert first < last <= 2024


@pytest.mark.parametrize(
    "text",
    [
        "The 2014 World Cup of the land was known for its teams and the people.",
        "The house on the road has 1453 windows and it is in the town.",
        "In 1932 it was built, and in 1932 the mayor of the town was there.",
    ],
)
def test_years_that_name_count_or_come_twice_stay(text: str) -> None:
    assert made(text, "date") == []


@pytest.mark.parametrize(
    ("word", "an"),
    [("8", True), ("11", True), ("18,000", True), ("1865", True), ("80", True), ("110", False)]
    + [("1911", False), ("European", False), ("hour", True), ("university", False)]
    + [("unlikely", True), ("NMR", True), ("one", False)],
)
def test_which_words_take_an(word: str, an: bool) -> None:
    assert takes_an(word) is an


def test_sentences_end_where_they_end() -> None:
    text = (
        "Dr. A. B. Holm (b. 1920) came, e.g. in May. It was 5 m. He left at 3.15. "
        "Then: “It is.” So?"
    )
    pieces = [text[start:end] for start, end in sentences(text)]
    assert pieces == [
        "Dr. A. B. Holm (b. 1920) came, e.g. in May.",
        "It was 5 m.",
        "He left at 3.15.",
        "Then: “It is.”",
        "So?",
    ]


def test_values_are_read_in_figures_and_words() -> None:
    assert sorted(map(float, values_in("1,200 or 3.5 or twelve, not 1."))) == [1, 3.5, 12, 1200]


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("这项研究共有120名患者，时间是2019年。", True),
        ("Die Brücke über den Fluss ist 740 Meter lang und der Turm ist nicht alt.", True),
        ("Мост имеет длину 740 метров.", True),
        ("عدد السكان 345 الف نسمة", True),
        ("", False),
        ("   \n", False),
        ("\x00\x1b[2J\ud800", False),
    ],
)
def test_in_other_languages_only_numbers_change(text: str, changed: bool) -> None:
    assert bool(made(text, "number")) is changed
    others: list[CorruptionKind] = ["date", "entity", "negation", "omission"]
    assert [made(text, kind, 3) for kind in others] == [[], [], [], []]


def test_a_very_long_answer_offers_no_place() -> None:
    assert made("The town has 740 houses. " * 500, "number", 2) == []


PIECES = st.sampled_from(
    [
        "This",
        "is",
        "the",
        "first",
        "of",
        "them",
        "and",
        "it",
        "was",
        "in",
        "1998",
        "12 March 1998",
        "Sweden",
        "Stanley Holm",
        "Holm's",
        "is",
        "not",
        "no",
    ]
    + [
        "(",
        ")",
        ".",
        ",",
        "\n",
        "37.5%",
        "1,200",
        "the 3rd",
        "\ud800",
        "\x00",
        "患者",
        "which",
        '"',
    ]
    + ["higher", "won the", "did not", "in the 1920s", "16th century", "U.S.", "GPT-4", "..."]
)


@settings(max_examples=300)
@given(
    st.lists(PIECES, max_size=40).map(" ".join), st.sampled_from(CORRUPTION_KINDS), st.integers()
)
def test_undoing_the_span_gives_the_text_byte_for_byte(
    text: str, kind: CorruptionKind, seed: int
) -> None:
    found = corrupt(text, kind, seed=seed, pool=NamePool())
    if found is not None:
        assert found.undone() == text
        assert found.text != text
        assert found.text[found.start : found.end] == found.after
        assert found == corrupt(text, kind, seed=seed, pool=NamePool())


@pytest.mark.parametrize("first", ["April", "April 1982"])
def test_a_range_within_a_year_keeps_its_months(first: str) -> None:
    text = f"The people of the town built it from {first} to November 1982 and used it."
    assert {each.before for each in made(text, "date", 40)} == {"1982"}


def test_neither_of_two_dates_of_one_year_passes_the_other() -> None:
    text = "The people who built it came on 3 April 1982 and left it on 9 November 1982 for good."
    for each in made(text, "date", 60):
        first, last = map(int, re.findall(r"\d{4}", each.text))
        assert first <= last
