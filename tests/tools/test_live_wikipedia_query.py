from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.errors import ToolError
from openreward.tools.live_wikipedia_query import query_terms, read_query, unique_titles


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("Marie Curie Nobel Prizes", "marie curie nobel prizes"),
        ('insource:/a.*b/ -intitle:"x y" AND z~2', "insource a b intitle x y and z 2"),
        ("prefix:Foo OR !bar* NOT qu?x", "prefix foo or bar not qu x"),
        ("User talk:Ada", "user talk ada"),
        ("Marie Curie’s anti-war O'Neill 3.14", "marie curie's anti-war o'neill 3.14"),
        ("--ten -metre- 'pole'", "ten metre pole"),
        ("ＡＢＣ ½", "abc 1 2"),
        ("東京 タワー", "東京 タワー"),
        ("a\0b\u200bc\ud800d", "a b cd"),
        ("C++ & C#", "c c"),
        ("x" * 500, "x" * 300),
        ("abcdefghi " * 500, " ".join(["abcdefghi"] * 30)),  # 299 characters
    ],
)
def test_a_search_is_asked_with_words_alone(query: str, words: str) -> None:
    assert read_query(query).words == words


@pytest.mark.parametrize("query", ["", "  \n", '?!... --- "" () []', "\0", "\ud800", "~*^\\|&"])
def test_a_query_without_a_word_is_a_bad_query(query: str) -> None:
    with pytest.raises(ToolError, match="holds no word to search for; write the name") as caught:
        read_query(query)
    assert caught.value.status == "bad_query"


@pytest.mark.parametrize(
    ("query", "loose"),
    [
        ("How many poles did Ada build?", "many OR poles OR ada OR build"),
        ("pole pole", ""),
        ("the who", ""),
        ("and or not", ""),
        ("ten and metre", "ten OR metre"),
    ],
)
def test_any_of_the_telling_words_may_do(query: str, loose: str) -> None:
    assert read_query(query).loose == loose


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("marie curie", ("marie curie", "Marie Curie")),
        ("Marie Curie", ("Marie Curie",)),
        ("nato", ("nato", "NATO")),
        ("iPhone", ("iPhone", "IPHONE")),
        ("celtuce", ("celtuce",)),
        ('"Heroes" (album)', ('"Heroes" (album)', 'Heroes" (album)')),
        ("Ada?", ("Ada?", "Ada", "ADA")),
        (" Ada_\tPole\x1f ", ("Ada Pole",)),
        ("Cafe\u0301", ("Café", "CAFÉ")),
        ("C#", ()),
        ("pole|metre", ()),
        ("[[Pole]]", ()),
        (":fr:Pole", ()),
        ("é" * 128, ()),  # 256 bytes
        ("é" * 127, ("é" * 127,)),
    ],
)
def test_the_titles_that_a_query_may_name(query: str, titles: tuple[str, ...]) -> None:
    assert read_query(query).titles[:3] == titles


def test_titles_that_differ_by_the_case_of_the_first_letter_are_one() -> None:
    assert unique_titles(["ada", "Ada", "adA", "Bea"]) == ["ada", "adA", "Bea"]


def test_stop_words_are_terms_only_where_there_is_no_other() -> None:
    assert query_terms("the poles of Ada") == {"pole", "ada"}
    assert query_terms("the who") == {"the", "who"}


@given(st.text())
def test_any_text_is_words_and_titles_or_a_bad_query(text: str) -> None:
    try:
        asked = read_query(text)
    except ToolError as error:
        asked, status = None, error.status
    if asked is None:
        assert status == "bad_query"
        return
    assert 0 < len(asked.words) <= 300
    assert asked.words == asked.words.strip()
    assert not re.search(r"[:\"*~?!\\/|()\[\]{}<>&^=+]|(^| )[-'.]|[-'.]( |$)", asked.words)
    assert not re.search(r"(^|\s)(AND|OR|NOT)(\s|$)", asked.words)
    assert len(asked.loose) <= 300
    for title in asked.titles:
        assert len(title.encode()) <= 255
        assert not re.search(r"[#<>\[\]{}|]", title)
        assert not any(unicodedata.category(c) == "Cc" for c in title)
