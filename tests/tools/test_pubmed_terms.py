from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openreward.errors import ToolError
from openreward.tools.pubmed_terms import Asked, read_query


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("heart failure", ("heart failure", "heart OR failure")),
        ("Aspirin", ("aspirin",)),
        (
            "What is the effect of aspirin on stroke in the elderly?",
            ("effect aspirin stroke elderly", "effect OR aspirin OR stroke OR elderly"),
        ),
        ("vitamin A deficiency", ("vitamin a deficiency", "vitamin OR deficiency")),
        ("the WHO", ("the who", "the OR who")),  # nothing else to go by
        ("don't smoke", ("smoke",)),
        ("alzheimer’s 2.5 mg TNF-α", None),
        ("smith j[au] AND (x* NOT y)", ("smith j x y", "smith OR j OR x OR y")),
        ('"heart attack"[Title/Abstract] OR "stroke', ("heart attack stroke", None)),
        ("2020:2021[dp] cancer[MeSH Terms:noexp]", ("2020 2021 cancer", None)),
        ("COVID-19 IL-6", ("covid 19 il 6", "covid OR 19 OR il OR 6")),
        ("#1 #2 | & ~ x", ("1 2 x", "1 OR 2 OR x")),
        ("naïve Ａspirin µg", ("naïve aspirin μg", None)),
        ("新冠肺炎 疫苗", ("新冠肺炎 疫苗", "新冠肺炎 OR 疫苗")),
        ("pain pain PAIN", ("pain",)),
        ("\ud800pain\x00", ("pain",)),
        ("2019", ("2019",)),
    ],
)
def test_a_query_is_asked_by_its_words(query: str, terms: tuple[str | None, ...] | None) -> None:
    asked = read_query(query)
    if terms is None:
        assert asked.terms[0] == "alzheimer's 2.5 mg tnf α"
        return
    assert len(asked.terms) == len(terms)
    assert all(want in (None, got) for want, got in zip(terms, asked.terms, strict=True))


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("19304878", Asked(pmid="19304878")),
        ("PMID: 123", Asked(pmid="123")),
        ("pmid 00123 ", Asked(pmid="123")),
        ("pubmed:7", Asked(pmid="7")),
        ("https://pubmed.ncbi.nlm.nih.gov/19304878/", Asked(pmid="19304878")),
        ("PMC2682512", Asked(terms=("PMC2682512",), name="pmc2682512")),
        ("PMCID: PMC26", Asked(terms=("PMC26",), name="pmc26")),
        ("10.1093/x/b163", Asked(terms=('"10.1093/x/b163"[doi]',), name="10.1093/x/b163")),
        ("DOI: 10.1/X", Asked(terms=("doi 10.1 x", "doi OR 10.1 OR x"))),  # too short a prefix
        ("https://doi.org/10.1000/X(1).", Asked(('"10.1000/x(1)"[doi]',), name="10.1000/x(1)")),
        ('10.1000/a"[ti]OR"b', Asked(terms=("10.1000 a b", "10.1000 OR b"))),
        ("10.1000/a[b]", Asked(terms=("10.1000 a b", "10.1000 OR b"))),
    ],
)  # fmt: skip
def test_an_id_asks_for_its_record(query: str, asked: Asked) -> None:
    assert read_query(query) == asked


@pytest.mark.parametrize("query", ["", " \n", "!?", "AND or NOT", "\x00\ud800", "''' ...", "[au]"])
def test_a_query_without_a_word_is_refused_with_what_to_write(query: str) -> None:
    with pytest.raises(ToolError, match="write condition, treatment and outcome") as raised:
        read_query(query)
    assert raised.value.status == "bad_query"


def test_a_long_query_is_asked_by_its_longest_words_in_their_order() -> None:
    query = " ".join([*(f"w{n}" for n in range(100)), "interleukin", "w", "pharmacokinetics"])
    all_of, any_of = read_query(query).terms
    words = all_of.split()
    assert (len(words), words[-2:]) == (32, ["interleukin", "pharmacokinetics"])
    assert any_of.split(" OR ") == words


MANY = " ".join(chr(0x4E00 + number) * 40 for number in range(90))


@pytest.mark.parametrize("query", ["a" * 3000, "漢" * 3000, MANY, "\U0001d4d0" * 2000])
def test_a_term_fits_an_address(query: str) -> None:
    asked = read_query(query)
    assert 0 < len(asked.terms[0].encode()) <= 600


@given(st.text(max_size=300))
@example("a AND b[ti]")
@example("ǅ'ʼn")
def test_nothing_of_pubmeds_language_gets_through(query: str) -> None:
    try:
        asked = read_query(query)
    except ToolError as error:
        if error.status != "bad_query":
            raise
        return
    if asked.pmid or asked.name:
        return
    for term in asked.terms:
        words = re.sub(r" OR ", " ", term).split(" ")
        assert words
        for word in words:
            assert word == word.lower()
            assert word not in ("", "and", "or", "not")
            assert all(unicodedata.category(c)[0] in "LMN" or c in "'." for c in word)
        term.encode()
