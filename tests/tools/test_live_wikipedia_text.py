from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.tools.live_wikipedia_text import clean_extract, list_options

FORMULA = """The energy
  
    
      
        E
        =
        m
        
          c
          
            2
          
        
      
    
    {\\displaystyle E=mc^{2}}
  
, where
  
    
      
        m
      
    
    {\\displaystyle m}
  
 is the mass.
"""  # noqa: W293


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ("One.\nTwo.", "One.\nTwo."),
        ("One.\n\n\n== A ==\nTwo.", "One.\n\nA\nTwo."),
        ("One.\n\n\n== A ==\n\nTwo.\n\n\n=== B ===\nThree.", "One.\n\nA\nTwo.\n\nB\nThree."),
        ("One.\n\n\n== A ==\n\n\n=== B ===\nTwo.", "One.\n\nA\nB\nTwo."),
        ("One.\n\n\n== A ==\n\n\n== B ==\nTwo.\n\n\n== C ==\n", "One.\n\nB\nTwo."),
        ("== A ==\n\n\n=== B ===\n\n\n== C ==\n", ""),
        ("a == b holds.\n==  ==\nc = d.", "a == b holds.\n\nc = d."),
        ("A (  ; ) is\u00a0a  pole.\x00\x07", "A ( ; ) is a pole."),
        ("One.\r\nTwo.\rThree.", "One.\nTwo.\nThree."),
        (FORMULA, "The energy E=mc^{2}, where m is the mass."),
        ("One\n  code\n  more code\nTwo", "One\ncode\nmore code\nTwo"),
        ("  {\\displaystyle x}\n\n\n== A ==\nTwo.", "x\n\nA\nTwo."),
        ("", ""),
        (" \n\n ", ""),
    ],
)
def test_an_extract_becomes_text_to_read(raw: str, text: str) -> None:
    assert clean_extract(raw) == text


@given(st.text(alphabet="ab.= \n\t{}"), st.text(alphabet="ab.= \n\t{}"))
def test_an_introduction_is_the_beginning_of_its_page(intro: str, rest: str) -> None:
    opening = intro.strip()
    whole = clean_extract(f"{opening}\n\n\n== A ==\n{rest}")
    assert whole.startswith(clean_extract(opening))


def test_meanings_are_titles_each_with_what_it_says() -> None:
    html = """<p><b><a href="/wiki/Pole" title="Pole">Pole</a></b> is a rod. See
    <a title="Rod">rods</a></p>
    <div class="toc"><ul><li class="toclevel-1 tocsection-1"><a href="#A">A</a></li></ul></div>
    <ul><!-- <li><a title="Hidden">x</a></li> --><li><style>.a>b{color:red}</style>
    <a title="Pole star">Pole star</a><sup>[1]</sup>, a <a title="Star">star</a><br></li>
    <li><a title="Pole (river)">The Pole</a> &amp; more
      <ul><li>its <a title="Mouth">mouth</a></li></ul></li>
    <li>no link</li>
    <li><a title="Gone" href="/w/index.php?title=Gone&amp;redlink=1">Gone</a></li>
    <li><a title="Pole star">Pole star</a>, a <a title="Star">star</a></li></ul>"""
    assert list_options("Pole (words)", html, "") == (
        '"Pole (words)" may refer to several things; search for one of these titles:\n'
        "- Pole\n- Pole star, a star\n- Pole (river): The Pole & more\n- Mouth: its mouth"
    )


def test_of_many_meanings_the_first_are_given() -> None:
    html = "".join(f'<li><a title="Pole {n}">x</a></li>' for n in range(45))
    lines = list_options("Pole", html, "").splitlines()
    assert (len(lines), lines[1], lines[-1]) == (42, "- Pole 0: x", "and 5 more")


@pytest.mark.parametrize(
    ("extract", "text"),
    [("It is a rod.", '"P" may refer to several things:\nIt is a rod.'), ("", "")],
)
def test_a_page_that_lists_nothing_is_given_by_its_text(extract: str, text: str) -> None:
    assert list_options("P", "<p>nothing <li>", extract) == text


@pytest.mark.parametrize(
    "unit", ["<li><b>", "<a title='x'>", "</li>", "<", "&#", "<li", "<!--", "<![CDATA[", "<b><li>x"]
)
def test_odd_html_is_read_in_bounded_time(unit: str) -> None:
    begun = time.process_time()  # a busy machine takes longer
    list_options("x", unit * (1_000_000 // len(unit)), "y")
    assert time.process_time() - begun < 2


@given(st.text(alphabet="<>/libap =\"'title&;#!-x[]"))
def test_any_html_is_read(html: str) -> None:
    assert isinstance(list_options("x", html, "y"), str)
