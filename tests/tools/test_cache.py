from __future__ import annotations

import asyncio
import gc
import logging
import subprocess
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openreward.errors import ToolError, UserError
from openreward.tools.base import Found
from openreward.tools.cache import CachedSearch, DiskStore
from openreward.tools.static import StaticSearch
from openreward.types import Passage


def passages(count: int) -> list[Passage]:
    return [
        Passage(document_id=f"d{n}", source="static", title="t", text="x", start=0, end=1)
        for n in range(count)
    ]


def cached(folder: Path, inner: StaticSearch, language: str = "en") -> CachedSearch:
    return CachedSearch(inner, DiskStore(folder), language)


def ask(search: CachedSearch, query: str = "q", k: int = 3) -> Found:
    return asyncio.run(search.search(query, k))


def ids(found: Found) -> list[str]:
    return [passage.document_id for passage in found.passages]


def test_a_second_equal_search_is_a_hit(tmp_path: Path) -> None:
    inner = StaticSearch(passages(5))
    search = cached(tmp_path, inner)
    first, second = ask(search), ask(search)
    assert (first.cached, second.cached) == (False, True)
    assert first.passages == second.passages
    assert inner.calls == [("q", 3)]
    assert (search.counts.hits, search.counts.joins, search.counts.misses) == (1, 0, 1)


def test_a_hit_survives_the_process(tmp_path: Path) -> None:
    ask(cached(tmp_path, StaticSearch(passages(5))))
    inner = StaticSearch(passages(5))
    assert ids(ask(cached(tmp_path, inner))) == ["d0", "d1", "d2"]
    assert inner.calls == []


@pytest.mark.parametrize(
    ("have", "ks", "asked", "lengths"),
    [
        (20, [3, 10], [3, 10], [3, 10]),  # a shorter list never serves a larger k
        (20, [10, 3], [10], [10, 3]),
        (20, [3, 10, 5, 10], [3, 10], [3, 10, 5, 10]),
        (20, [10, 3, 12], [10, 12], [10, 3, 12]),
        (2, [3, 10, 1], [3], [2, 2, 1]),  # the back end had no more: exhaustive
        (3, [3, 10, 20], [3, 10], [3, 3, 3]),  # three of three may not be all
    ],
)
def test_which_list_serves_which_k(
    tmp_path: Path, have: int, ks: list[int], asked: list[int], lengths: list[int]
) -> None:
    inner = StaticSearch(passages(have))
    search = cached(tmp_path, inner)
    assert [len(ask(search, k=k).passages) for k in ks] == lengths
    assert [k for _, k in inner.calls] == asked


@pytest.mark.parametrize("same", ["ada lovelace", " Ada\t LOVELACE ", "Ａda lovelace"])
def test_case_width_and_spaces_do_not_count(tmp_path: Path, same: str) -> None:
    inner = StaticSearch(passages(3))
    search = cached(tmp_path, inner)
    ask(search, "Ada Lovelace")
    assert ask(search, same).cached is True
    assert inner.calls == [("Ada Lovelace", 3)]


@pytest.mark.parametrize(
    ("inner", "language"),
    [
        (StaticSearch(passages(3), version="2"), "en"),
        (StaticSearch(passages(3), source="other"), "en"),
        (StaticSearch(passages(3)), "de"),
    ],
    ids=["version", "source", "language"],
)
def test_another_version_source_or_language_is_another_key(
    tmp_path: Path, inner: StaticSearch, language: str
) -> None:
    ask(cached(tmp_path, StaticSearch(passages(3))))
    assert ask(cached(tmp_path, inner, language)).cached is False


@pytest.mark.parametrize("status", ["no_result", "unavailable", "rate_limited", "timeout"])
def test_failures_are_not_stored(tmp_path: Path, status: Any) -> None:
    inner = StaticSearch(passages(3), error=ToolError(status, "down"))
    search = cached(tmp_path, inner)
    for _ in range(2):
        with pytest.raises(ToolError, match="down"):
            ask(search)
    inner.error = None
    assert ask(search).cached is False
    assert len(inner.calls) == 3


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b'{"k": 3}', b"null"])
def test_a_broken_entry_is_a_miss_and_is_mended(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    search = cached(tmp_path, StaticSearch(passages(3)))
    ask(search)
    [entry] = tmp_path.glob("*/*.json")
    entry.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert ask(search).cached is False
    assert ask(search).cached is True
    assert search.store.failures > 0
    assert f"cache entry {entry} is not usable" in caplog.text


def test_a_disk_that_refuses_never_fails_a_search(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    search = cached(tmp_path, StaticSearch(passages(3)))
    for n in range(256):
        (tmp_path / f"{n:02x}").write_text("a file where a folder should be")
    assert [ask(search).cached, ask(search).cached] == [False, False]
    assert search.store.failures > 0
    assert len(caplog.records) == 1


def test_a_store_that_cannot_be_made_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="as a cache"):
        DiskStore(tmp_path / "file" / "cache")


def run_alone(work: Coroutine[Any, Any, None]) -> None:
    """Run, and see that no task but the test's own is left."""

    async def main() -> None:
        await work
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_eight_equal_queries_at_once_make_one_search(tmp_path: Path) -> None:
    inner = StaticSearch(passages(5), delay=0.05)
    search = cached(tmp_path, inner)

    async def work() -> None:
        found = await asyncio.gather(*(search.search("q", 3) for _ in range(8)))
        assert sorted(each.cached for each in found) == [False] + [True] * 7
        assert {each.passages for each in found} == {tuple(passages(3))}

    run_alone(work())
    assert inner.calls == [("q", 3)]
    assert (search.counts.misses, search.counts.joins) == (1, 7)


def test_a_smaller_k_joins_a_larger_and_not_the_other_way(tmp_path: Path) -> None:
    inner = StaticSearch(passages(20), delay=0.05)
    search = cached(tmp_path, inner)

    async def work() -> None:
        found = await asyncio.gather(*(search.search("q", k) for k in (3, 10, 5, 2)))
        assert [len(each.passages) for each in found] == [3, 10, 5, 2]

    run_alone(work())
    assert inner.calls == [("q", 3), ("q", 10)]


@pytest.mark.parametrize("cancelled", [[0], [3], [0, 1, 2], [1, 3], [0, 1, 2, 3]])
def test_a_cancelled_caller_takes_nothing_from_the_others(
    tmp_path: Path, cancelled: list[int]
) -> None:
    inner = StaticSearch(passages(5), delay=0.05)
    search = cached(tmp_path, inner)

    async def work() -> None:
        callers = [asyncio.create_task(search.search("q", 3)) for _ in range(4)]
        await asyncio.sleep(0.01)
        for number in cancelled:
            callers[number].cancel()
        ends = await asyncio.gather(*callers, return_exceptions=True)
        assert [n for n, e in enumerate(ends) if isinstance(e, asyncio.CancelledError)] == cancelled
        assert sum(isinstance(end, Found) for end in ends) == 4 - len(cancelled)

    run_alone(work())
    assert len(inner.calls) == 1
    assert len(list(tmp_path.glob("*/*.json"))) == (0 if len(cancelled) == 4 else 1)


def test_nobody_joins_a_search_that_is_being_cancelled(tmp_path: Path) -> None:
    inner = StaticSearch(passages(5), delay=0.02)
    search = cached(tmp_path, inner)

    async def work() -> None:
        first = asyncio.create_task(search.search("q", 3))
        await asyncio.sleep(0.005)
        first.cancel()
        await asyncio.sleep(0)  # its last caller is gone, its task not yet over
        assert len((await search.search("q", 3)).passages) == 3

    run_alone(work())
    assert len(inner.calls) == 2


def test_a_timeout_of_the_only_caller_cancels_the_search(tmp_path: Path) -> None:
    search = cached(tmp_path, StaticSearch(passages(5), delay=60))

    async def work() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await search.search("q", 3)

    run_alone(work())
    assert search.counts.misses == 1


def test_all_callers_get_a_failure_and_nothing_is_left(tmp_path: Path) -> None:
    inner = StaticSearch(delay=0.02, error=ToolError("unavailable", "down"))
    search = cached(tmp_path, inner)

    async def work() -> None:
        ends = await asyncio.gather(
            *(search.search("q", 3) for _ in range(8)), return_exceptions=True
        )
        assert [getattr(end, "status", None) for end in ends] == ["unavailable"] * 8
        gc.collect()  # a failure that nobody fetched would be reported here

    run_alone(work())
    assert len(inner.calls) == 1
    assert list(tmp_path.glob("*/*")) == []


@given(st.text())
def test_any_query_has_a_key(query: str) -> None:
    key = CachedSearch(StaticSearch(), DiskStore(Path("/tmp"))).key(query)
    assert key.query == " ".join(key.query.split())


HAMMER = """
import asyncio, sys
from pathlib import Path
from openreward.tools.cache import CachedSearch, DiskStore
from openreward.tools.static import StaticSearch
from openreward.types import Passage
one = Passage(document_id="1", source="s", title="t", text="x", start=0, end=1)
rows = [one.model_copy(update={"document_id": str(n)}) for n in range(50)]
search = CachedSearch(StaticSearch(rows, delay=0.001), DiskStore(Path(sys.argv[1])))
wrong = sum(
    len(asyncio.run(search.search(f"q{k % 3}", k)).passages) != k for k in (1, 9, 3, 20, 2, 49) * 9
)
print(wrong, search.store.failures)
"""


def test_processes_share_a_store(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HAMMER, str(tmp_path)]
    workers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [worker.communicate(timeout=60)[0] for worker in workers] == ["0 0\n"] * 3
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 3
