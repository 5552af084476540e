from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.tools.xml_reader import BrokenXml, XmlReader, read_xml


def texts(content: bytes) -> list[str]:
    return ["".join(element.itertext()) for element in read_xml(content, ("a",))[1]]


def test_kept_elements_come_as_trees_and_nothing_else_is_kept() -> None:
    root, found = read_xml(b"<r>out<a>1<b>2</b></a><c><a>3</a></c><a/></r>", ("a",))
    assert root == "r"
    assert ["".join(element.itertext()) for element in found] == ["12", "3", ""]


def test_a_kept_element_within_one_is_part_of_it() -> None:
    assert texts(b"<r><a>1<a>2</a>3</a><a>4</a></r>") == ["123", "4"]


def test_elements_come_as_soon_as_they_end() -> None:
    reader = XmlReader(("a",))
    counts = [len(reader.feed(block)) for block in (b"<r><a>1</a>", b"<a>", b"</a></r>", b"")]
    assert counts == [1, 0, 1, 0]


def test_comments_and_instructions_are_no_text_and_cdata_is() -> None:
    assert texts(b"<r><a>1<!-- no --><?no?><![CDATA[<&]]>2</a></r>") == ["1<&2"]


def test_names_that_an_unread_declaration_would_explain_are_those_of_html() -> None:
    head = b'<!DOCTYPE r PUBLIC "-//X//EN" "https://nowhere.invalid/r.dtd">'
    assert texts(head + b"<r><a>&alpha;&nosuch;&lt;&#946;</a></r>") == ["α&nosuch;<β"]


@pytest.mark.parametrize(
    "content",
    [
        b"<!DOCTYPE r [<!ENTITY x 'y'>]><r><a>&x;</a></r>",
        b"<!DOCTYPE r [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><r><a>&x;</a></r>",
        b"<!DOCTYPE r [<!ENTITY % x SYSTEM 'http://127.0.0.1:9/x'> %x;]><r/>",
    ],
    ids=["internal", "file", "parameter"],
)
def test_declarations_of_entities_are_refused(content: bytes) -> None:
    with pytest.raises(BrokenXml, match="without entity declarations, got one of 'x'"):
        read_xml(content, ("a",))


@pytest.mark.parametrize("name", [b"a", b"other"])
def test_deep_nesting_is_refused(name: bytes) -> None:
    content = b"<%b>" % name * 100_000 + b"</%b>" % name * 100_000
    with pytest.raises(BrokenXml, match="expected at most 100 levels of elements, got more"):
        read_xml(content, ("a",))


def test_a_hundred_levels_are_walked() -> None:
    assert texts(b"<a>" * 100 + b"x" + b"</a>" * 100) == ["x"]


def test_a_huge_attribute_is_an_attribute() -> None:
    _, [found] = read_xml(b"<a b='" + b"x" * 3_000_000 + b"'/>", ("a",))
    assert len(found.attrib["b"]) == 3_000_000


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<r>",
        b"<r></s>",
        b"not xml",
        b"<r>\x00</r>",
        b"<r>\xff</r>",
        b"<r>&#xD800;</r>",
        b"<r/><r/>",
        b"<?xml version='1.0' encoding='no-such'?><r/>",
        b"<?xml version='1.0' encoding='shift_jis'?><r/>",
        b"<r>&nosuch;</r>",
    ],
)
def test_what_is_no_xml_is_said_to_be_broken(content: bytes) -> None:
    with pytest.raises(BrokenXml, match="expected well-formed XML: "):
        read_xml(content, ("r",))


@given(st.binary(max_size=200) | st.text("<>/a&;!?-[]'\" =x", max_size=60).map(str.encode))
def test_any_bytes_are_read_or_broken(content: bytes) -> None:
    try:
        root, _ = read_xml(content, ("a",))
    except BrokenXml:
        return
    assert root
