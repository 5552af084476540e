"""The cache of a live service: an entry is used for so long, and not for ever."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from openreward.tools.base import Found
from openreward.tools.cache import CachedSearch, DiskStore
from openreward.tools.static import StaticSearch
from openreward.types import Passage

PASSAGE = Passage(document_id="d", source="static", title="t", text="x", start=0, end=1)


def ask(search: CachedSearch) -> Found:
    return asyncio.run(search.search("q", 1))


@pytest.mark.parametrize(
    ("later", "cached"),
    [(0.0, True), (99.0, True), (101.0, False), (-99.0, True), (-101.0, False)],
    ids=["now", "young", "old", "clock set back", "clock set far back"],
)
def test_an_entry_is_used_up_to_its_age(tmp_path: Path, later: float, cached: bool) -> None:
    inner, start = StaticSearch([PASSAGE]), time.time()
    ask(CachedSearch(inner, DiskStore(tmp_path, 100)))
    [entry] = tmp_path.glob("*/*.json")
    os.utime(entry, (start, start))
    store = DiskStore(tmp_path, 100, clock=lambda: start + later)
    assert ask(CachedSearch(inner, store)).cached is cached
    assert len(inner.calls) == (1 if cached else 2)


def test_an_old_entry_is_replaced_and_young_again(tmp_path: Path) -> None:
    inner, now = StaticSearch([PASSAGE]), time.time()
    search = CachedSearch(inner, DiskStore(tmp_path, 100))
    ask(search)
    [entry] = tmp_path.glob("*/*.json")
    os.utime(entry, (now - 1000, now - 1000))
    assert [ask(search).cached, ask(search).cached] == [False, True]
    os.utime(entry, (now - 1000, now - 1000))
    assert (
        ask(CachedSearch(inner, DiskStore(tmp_path))).cached is True
    )  # without an age it is used for ever
