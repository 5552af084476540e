"""The cache of search results: on disk, shared by processes, then single flight to the back end.

The key: source, folded query, language, the back end's version. `k` is not in it: a list serves
each `k` up to the one it was asked with, and any `k` when the back end had no more to give.
Failures are never stored. A broken or full disk makes the cache of less use, never a search fail.
Of a live service, whose version names its address only, entries are used up to an age: that of the
file, by this machine's clock. One that the clock calls younger than now counts by the difference
too, so that a clock set back cannot keep it for longer than twice that age.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import logging
import os
import secrets
import time
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from pydantic import ValidationError

from openreward.errors import UserError
from openreward.tools.base import Found, Search
from openreward.types import Passage, Record

_log = logging.getLogger(__name__)


class CacheKey(Record):
    """What a stored list answers."""

    source: str
    query: str  # folded
    language: str
    version: str


class CacheRecord(Record):
    """A stored list: the passages found when `k` were asked for."""

    key: CacheKey
    k: int
    passages: tuple[Passage, ...]

    def serves(self, k: int) -> bool:
        """Whether the first `k` are known: so many were asked for, or there are no more."""
        return k <= self.k or len(self.passages) < self.k


class DiskStore:
    """One file a key, written whole and renamed into place: no lock, so safe for any processes.

    An entry older than `max_age` seconds is as if absent, and replaced by the next search.
    """

    def __init__(
        self,
        directory: Path,
        max_age: float | None = None,
        clock: Callable[[], float] = time.time,  # as the disk's: of the wall
    ) -> None:
        self.directory = directory
        self.max_age = max_age
        self._clock = clock
        self.failures = 0  # reads and writes that the disk refused, and broken files
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                f"cannot use {directory} as a cache: {error}; name another folder"
            ) from None

    def get(self, key: CacheKey) -> CacheRecord | None:
        """The record of a key, or None; what cannot be read is as if absent."""
        path = self._path(key)
        try:
            if self.max_age is not None and self._age(path) > self.max_age:
                return None
            record = CacheRecord.model_validate_json(path.read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            self._failed(path, error)
            return None
        return record if record.key == key else None

    def put(self, record: CacheRecord) -> None:
        """Keep a record, unless the one that is there serves more."""
        known = self.get(record.key)
        if known is not None and known.serves(record.k):
            return
        path = self._path(record.key)
        part = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
        try:
            path.parent.mkdir(exist_ok=True)
            part.write_bytes(record.model_dump_json().encode())
            part.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                part.unlink()
            self._failed(path, error)

    def _age(self, path: Path) -> float:
        return abs(self._clock() - path.stat().st_mtime)

    def _path(self, key: CacheKey) -> Path:
        name = hashlib.blake2b(key.model_dump_json().encode(), digest_size=16).hexdigest()
        return self.directory / name[:2] / f"{name}.json"

    def _failed(self, path: Path, error: Exception) -> None:
        self.failures += 1
        if self.failures == 1:
            _log.warning(
                "cache entry %s is not usable (%s); searches go on without it", path, error
            )


@dataclass
class CacheCounts:
    """Searches by how they were answered."""

    hits: int = 0  # from the store
    joins: int = 0  # by a search already under way
    misses: int = 0  # by a search of their own


class _Place(NamedTuple):
    loop: asyncio.AbstractEventLoop
    key: CacheKey


@dataclass
class _Flight:
    k: int
    task: asyncio.Task[Found]
    waiting: int = 0


class CachedSearch:
    """A back end behind cache and single flight; itself a back end.

    Equal queries of one event loop share one search. It runs as a task of its own, so a caller that
    is cancelled takes nothing from the others; when the last one is, the search is cancelled too.
    """

    def __init__(self, inner: Search, store: DiskStore, language: str = "en") -> None:
        self.inner = inner
        self.store = store
        self.language = language
        self.counts = CacheCounts()
        self._flights: dict[_Place, _Flight] = {}

    @property
    def source(self) -> str:
        """The source of the back end."""
        return self.inner.source

    @property
    def version(self) -> str:
        """The version of the back end."""
        return self.inner.version

    async def search(self, query: str, k: int) -> Found:
        """At most `k` passages, from the store, from a search under way, or from a new one."""
        key = self.key(query)
        record = self.store.get(key)
        if record is not None and record.serves(k):
            self.counts.hits += 1
            return Found(record.passages[:k], cached=True)
        place = _Place(asyncio.get_running_loop(), key)
        flight = self._flights.get(place)
        joined = flight is not None and flight.k >= k
        if flight is None or flight.k < k:
            self.counts.misses += 1
            flight = _Flight(k, asyncio.create_task(self._fly(place, query, k)))
            self._flights[place] = flight
        else:
            self.counts.joins += 1
        found = await self._wait(place, flight)
        return Found(found.passages[:k], cached=joined or found.cached)

    def key(self, query: str) -> CacheKey:
        """The key of a query; case, width and spaces do not count."""
        whole = query.encode("utf-8", "ignore").decode("utf-8")  # a lone surrogate is not text
        folded = " ".join(unicodedata.normalize("NFKC", whole).casefold().split())
        return CacheKey(
            source=self.source, query=folded, language=self.language, version=self.version
        )

    async def _fly(self, place: _Place, query: str, k: int) -> Found:
        try:
            found = await self.inner.search(query, k)
            self.store.put(CacheRecord(key=place.key, k=k, passages=found.passages))
            return found
        finally:
            self._land(place, asyncio.current_task())

    async def _wait(self, place: _Place, flight: _Flight) -> Found:
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.task.done():
                self._land(place, flight.task)  # first: nobody may join what is being cancelled
                flight.task.cancel()
                await asyncio.wait([flight.task])  # so that nothing of it outlives its callers

    def _land(self, place: _Place, task: asyncio.Task[Found] | None) -> None:
        flight = self._flights.get(place)
        if flight is not None and flight.task is task:  # not a wider search that took its place
            del self._flights[place]
