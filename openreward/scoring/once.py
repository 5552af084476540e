"""Values that several ask for and one makes: kept by key, the oldest let go.

A value is made by a task of its own, so that a caller that is cancelled takes nothing from the
others; when the last one is, the task is cancelled too. Failures are not kept.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass
class _Flight(Generic[V]):
    task: asyncio.Task[V]
    waiting: int = 0


class Once(Generic[K, V]):
    """For one event loop. `keep` says which values are worth keeping, `most` how many."""

    def __init__(self, most: int, keep: Callable[[V], bool] = lambda value: True) -> None:
        self._most, self._keep = most, keep
        self._kept = OrderedDict[K, V]()
        self._flights: dict[K, _Flight[V]] = {}

    async def get(self, key: K, make: Callable[[], Coroutine[None, None, V]]) -> tuple[V, bool]:
        """The value, and whether it was there, or being made, before."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key], True
        flight = self._flights.get(key)
        joined = flight is not None
        if flight is None:
            flight = _Flight(asyncio.create_task(make()))
            self._flights[key] = flight
        return await self._wait(key, flight), joined

    async def _wait(self, key: K, flight: _Flight[V]) -> V:
        flight.waiting += 1
        try:
            value = await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if flight.task.done() or not flight.waiting:
                self._land(key, flight)
            if not flight.waiting and not flight.task.done():
                flight.task.cancel()
                await asyncio.wait([flight.task])  # so that nothing of it outlives its callers
        if self._keep(value):
            self._kept[key] = value
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return value

    def _land(self, key: K, flight: _Flight[V]) -> None:
        if self._flights.get(key) is flight:
            del self._flights[key]
