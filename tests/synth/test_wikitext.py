from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.synth.wikitext import plain_text

PAGE = """{{Short description|A made-up {{nowrap|river}}}}
{{Infobox river
| name = Orvel
| image = [[File:x.jpg|thumb|a [[b]]]]
|}}
__NOTOC__
<!-- a comment [[with]] {{marks -->
'''The Orvel''' ({{IPA|/o/}}; {{lang|fr|Orvelle}}) is a ''river'' of {{convert|10|km|mi}} in
[[Testland (country)|Testland]]'s south,<ref name="a">{{cite web|title=X}}</ref> near [[Town]].<ref
name=a /> It carries 10<sup>6</sup> litres of H<sub>2</sub>O&nbsp;&mdash; daily{{cn|date=May}}.

[[File:River.jpg|thumb|The [[Orvel]] in {{circa|1900}}, with [[File:in.png]] inside]]
Its formula is <math>a_{b} = {{c}} < d</math>.
== Trade ==
{| class="wikitable"
! A !! B
|-
| 1 || {{x|
{|
| nested
|}
}}
|}
=== Only a table ===
{|
| x
|}
=== Early days ===
Ships came with [[:Category:People|people]].
* First with [[link|text]]
# Second <b>bold</b>
== See also ==
* [[Other]]
=== Within ===
gone
== Fish ==
Fish live here.
== References ==
{{reflist}}
[[Category:Rivers]] [[de:Orvel]]
"""


def test_a_page_becomes_paragraphs_lists_and_headings() -> None:
    assert plain_text(PAGE) == (
        "The Orvel (Orvelle) is a river of 10 km in Testland's south, near Town. "
        "It carries 10^6 litres of H2O — daily.\n\n"
        "Its formula is a_{b} = {{c}} < d.\n\n"
        "Trade\nEarly days\nShips came with people.\n\n- First with text\n- Second bold\n\n"
        "Fish\nFish live here."
    )


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("[[a|b]]s and [[c d]]", "bs and c d"),
        ("[[a|b|c]] [[:File:x]] [[x#y]]", "b|c File:x x#y"),
        ("[[Image:x|a [[b|c]] d]]after", "after"),
        ("[https://a.example the site] of [http://b.example]it", "the site of it"),
        ("<nowiki>[[a]] {{b}} ''c'' <b></nowiki> d", "[[a]] {{b}} ''c'' <b> d"),
        ("a<!-- b {{ --> c", "a c"),
        ("'''''a''''' ''b'' '''c''' d'e", "a b c d'e"),
        ("l'''amour'' and '''b''' and ''c''", "l'amour and b and c"),
        ("a &lt;b&gt; &amp;amp; &#233;", "a <b> &amp; é"),
        ("19<sup>th</sup> 10<sup>−3</sup> 5 < 6", "19th 10^−3 5 < 6"),
        ("a<br />b<br>c", "a b c"),
        ("one\ntwo\n\nthree", "one two\n\nthree"),
        ("A (; b) (c, ) () d ( e), .NET , f .", "A (b) (c) d (e), .NET, f."),
        (":: said\n; term\n:meaning", "said\nterm\nmeaning"),
        ("<gallery>\nFile:a|b\n</gallery>x<syntaxhighlight>int y</syntaxhighlight>", "x"),
        ("<table><tr><td>a</td></tr></table>b", "b"),
        ("<div class=x>a</div>b", "a\n\nb"),
        ("a {{b|{{c|[[d]]}}|e}} f", "a f"),
        ("{{a|\n|}}b", "b"),
        ("{{quote|Rivers run.|A. Person}}", "Rivers run."),
        ("= Top =\ny", "Top\ny"),
        ("1{{frac|1|2}} a", "1 1/2 a"),
        ("a \ufdd0\ufdd4b", "a b"),
    ],
)
def test_marks_give_way_to_their_text(wikitext: str, text: str) -> None:
    assert plain_text(wikitext) == text


@pytest.mark.parametrize(
    ("wikitext", "text"),
    [
        ("a [[b and c.\n\nd", "a b and c.\n\nd"),
        ("a {{b and c.\n\nd", "a b and c.\n\nd"),
        ("a ]] b }} c </ref> d |} e", "a b c d |} e"),
        ("a<ref>b.\n\nc<ref>d</ref> e", "ab.\n\nc e"),
        ("a [[b {{c]] d", "a b c d"),
        ("{{a|[[b}} c", "c"),
        ("{|\n| x || y\n|-\n! z !! w\n\nStays.", "Stays."),
        ("{{Infobox\n| a = b\n\nStays.", "Infobox\n\nStays."),
        ("a<nowiki>b [[c]]", "ab c"),
        ("a <!-- b", "a"),
        ("'''a", "a"),
    ],
)
def test_a_mark_that_is_never_closed_is_dropped_and_the_page_stays(
    wikitext: str, text: str
) -> None:
    assert plain_text(wikitext) == text


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("convert|5|to|10|km|mi", "5 to 10 km"),
        ("convert|5|-|10|sqmi", "5–10 square miles"),
        ("cvt|6|ft|2|in|m|abbr=on", "6 ft 2 in"),
        ("convert|7", "7"),
        ("convert", ""),
        ("frac|1|2", "1/2"),
        ("frac|3|1|2", "3 1/2"),
        ("frac|4", "1/4"),
        ("val|5.2|e=3|u=m", "5.2×10^3 m"),
        ("val|5.2|0.1|e=-3|ul=kg", "(5.2 ± 0.1)×10^-3 kg"),
        ("val|12|u=%", "12%"),
        ("val", ""),
        ("as of|2020", "As of 2020"),
        ("As_of|2020|lc=y", "as of 2020"),
        ("lang-fr|mot", "mot"),
        ("langx|fr|mot|lit=word", "mot"),
        ("transliteration|ru|ISO|slovo", "slovo"),
        ("nowrap|1=a b", "a b"),
        ("circa|1815", "c. 1815"),
        ("US$|5", "US$5"),
        ("HMS|Bounty|1787", "HMS Bounty"),
        ("formatnum:12345", "12345"),
        ("unknown|text", ""),
        ("", ""),
    ],
)
def test_templates_within_sentences_are_read(template: str, text: str) -> None:
    assert plain_text(f"{{{{{template}}}}}") == text


def test_a_wiki_names_its_files_and_categories_itself() -> None:
    page = "a [[Datei:x|b]] [[Kategorie:c]] [[Kategorie d]]"
    assert plain_text(page, ["Datei", "Kategorie"]) == "a Kategorie d"


@given(st.text(st.sampled_from("{}[]|<>/=*'!-\n ab&;#ref:\ud800"), max_size=200))
def test_any_text_is_read(text: str) -> None:
    found = plain_text(text)
    assert found == found.strip()
    assert "\n\n\n" not in found


@pytest.mark.parametrize(
    "piece",
    ["{{", "[[", "{{[[", "{{[[]]", "<ref>", "{|\n", "[http://a ", "<nowiki><math>", "(,", "&#x"]
    + ["== a ==\n", "'", "=", "|", "<a ", "!a\n", "( "],
)
def test_time_grows_with_the_length_alone(piece: str) -> None:
    started = time.process_time()
    plain_text(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 3.0  # what is tried again and again takes minutes
