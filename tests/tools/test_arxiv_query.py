from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.errors import ToolError
from openreward.tools.arxiv_query import Asked, read_query

ALL_OF = {
    "ten metre pole": "all:ten AND all:metre AND all:pole",
    "Pole POLE pole": "all:pole",
    "how tall is the pole?": "all:tall AND all:pole",
    "to be or not to be": "all:to AND all:be",  # stop words, where there are no others
    "pole ANDNOT metre OR short": "all:pole AND all:metre AND all:short",
    "ti:pole AND au:smith": "all:pole AND all:smith",
    "(pole [metre] {ten": "all:pole AND all:metre AND all:ten",
    '"ten metre" pole': "all:ten AND all:metre AND all:pole",
    "-ten +metre non-invasive": 'all:ten AND all:metre AND all:"non invasive"',
    "state‐of‐the‐art": 'all:"state of the art"',
    "gpt-3.5": 'all:"gpt 3.5"',
    "Ohm’s law": 'all:"ohm\'s" AND all:law',
    "Fre\u0301chet spaces": 'all:"fréchet" AND all:spaces',
    "竹竿的高度": 'all:"竹竿的高度"',
    "\ufb01lter\u200bpole": "all:filter AND all:pole",
    "a_b|c:d": "all:b AND all:c AND all:d",
    "pole\ud800\0 metre": "all:pole AND all:metre",
    "pi 3141.5926": 'all:pi AND all:"3141.5926"',  # no month has the number 41
}


@pytest.mark.parametrize(("query", "terms"), ALL_OF.items())
def test_every_word_that_tells_is_asked_for(query: str, terms: str) -> None:
    asked = read_query(query)
    assert (asked.ids, asked.terms[0]) == ((), terms)


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("the tall pole", "all:tall OR all:pole"),
        ("non-invasive care", "all:non OR all:invasive OR all:care"),
        ("metre-pole", "all:metre OR all:pole"),
    ],
)
def test_any_word_is_asked_for_next(query: str, terms: str) -> None:
    assert read_query(query).terms[1:] == (terms,)


@pytest.mark.parametrize("query", ["pole", "the pole", "to be"])
def test_one_request_is_enough_where_a_second_would_be_the_same(query: str) -> None:
    assert len(read_query(query).terms) == 1


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("2401.00001", ["2401.00001"]),
        ("arXiv:2401.00001v2", ["2401.00001v2"]),
        ("arxiv 0808.0539", ["0808.0539"]),
        ("https://arxiv.org/abs/2401.00001v12", ["2401.00001v12"]),
        ("http://export.arxiv.org/pdf/2401.00001v1.pdf", ["2401.00001v1"]),
        ("www.arxiv.org/html/2401.00001", ["2401.00001"]),
        ("https://doi.org/10.48550/arXiv.2401.00001", ["2401.00001"]),
        ("hep-th/9711200", ["hep-th/9711200"]),
        ("math.GT/0309136v2", ["math/0309136v2"]),
        ("https://arxiv.org/abs/quant-ph/0201082v1", ["quant-ph/0201082v1"]),
        ("What is the paper 2401.00001 about?", ["2401.00001"]),
        ("1605.08386, 1707.08567 and 1605.08386", ["1605.08386", "1707.08567"]),
        ("0000.0000", ["0000.0000"]),  # arXiv itself may say that there is none
    ],
)
def test_papers_that_a_query_names_are_asked_for_by_id(query: str, ids: list[str]) -> None:
    assert read_query(query) == Asked(tuple(ids))


def test_words_around_an_id_are_asked_for_where_it_names_nothing() -> None:
    asked = read_query("attention (2401.00001) transformers")
    assert asked.ids == ("2401.00001",)
    assert asked.terms[0] == "all:attention AND all:transformers"


@pytest.mark.parametrize(
    "query", ["x2401.00001", "2401.000011", "2401.00001.5", "1/2401.00001", "and/0309136", "2401.1"]
)
def test_what_only_looks_like_an_id_is_words(query: str) -> None:
    assert read_query(query).ids == ()


def test_no_more_than_ten_papers_are_asked_for() -> None:
    assert len(read_query(" ".join(f"2401.{n:05}" for n in range(20))).ids) == 10


@pytest.mark.parametrize("query", ["", " \n", '?!"()', "AND OR ANDNOT", "\u0301", "\0", "...", "-"])
def test_a_text_without_words_is_a_bad_query_that_says_what_to_write(query: str) -> None:
    with pytest.raises(ToolError, match="a paper's title") as raised:
        read_query(query)
    assert raised.value.status == "bad_query"


def test_a_long_text_is_cut_between_words() -> None:
    words = [f"word{n:04}" for n in range(1000)]
    terms = read_query(" ".join(words)).terms[0].split(" AND ")
    assert terms == [f"all:{word}" for word in words[:32]]
    long = [f"{n}{'竹' * 30}" for n in range(9)]
    assert read_query(" ".join(long)).terms[0].split(" AND ") == [f'all:"{w}"' for w in long[:6]]
    assert read_query("p" * 5000).terms == (f"all:{'p' * 100}",)


@given(st.text() | st.text("ab-'.\" :()[]ANDOR\\", max_size=40))
def test_any_text_is_words_or_a_bad_query(query: str) -> None:
    try:
        asked = read_query(query)
    except ToolError as error:
        status = error.status
    else:
        check(asked.terms)
        return
    assert status == "bad_query"


def check(asked: tuple[str, ...]) -> None:
    for terms in asked:
        for term in re.split(" AND | OR ", terms):
            assert re.fullmatch(r'all:([a-z0-9]+|"[^"\\:()\[\]A-Z-]+")', term), term
