from __future__ import annotations

import asyncio
import time

import pytest

from openreward.errors import ToolError
from openreward.tools.static import StaticSearch
from openreward.types import Passage

ONE = Passage(document_id="1", source="static", title="One", text="one", start=0, end=3)
TWO = Passage(document_id="2", source="static", title="Two", text="two", start=0, end=3)


def test_it_finds_what_it_was_given() -> None:
    search = StaticSearch([ONE, TWO])
    assert asyncio.run(search.search("anything", 1)).passages == (ONE,)
    assert asyncio.run(search.search("other", 5)).passages == (ONE, TWO)
    assert search.calls == [("anything", 1), ("other", 5)]


def test_a_mapping_answers_by_query_and_else_finds_nothing() -> None:
    search = StaticSearch({"two": [TWO]}, source="mine")
    assert asyncio.run(search.search("two", 3)).passages == (TWO,)
    with pytest.raises(ToolError, match="nothing in mine matches 'three'") as raised:
        asyncio.run(search.search("three", 3))
    assert raised.value.status == "no_result"


def test_it_fails_as_told_and_after_its_delay() -> None:
    search = StaticSearch([ONE], delay=0.05, error=ToolError("rate_limited", "wait"))
    started = time.monotonic()
    with pytest.raises(ToolError, match="wait"):
        asyncio.run(search.search("q", 1))
    assert time.monotonic() - started >= 0.05
