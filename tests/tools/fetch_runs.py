"""Runs of `Fetch` for tests: a budget that lets everybody ask, waits that take no time."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
from service_server import Answer, Asked

from openreward.errors import ToolError
from openreward.tools.fetch import Fetch, Reply
from openreward.tools.services import RateLimit, Service


class FreeBudget:
    """Lets everybody ask, and writes down turns and pauses."""

    def __init__(self) -> None:
        self.turns = 0
        self.under_way = 0
        self.pauses: list[float] = []

    @asynccontextmanager
    async def turn(self, service: Service) -> AsyncIterator[None]:
        self.turns += 1
        self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1

    async def pause(self, service: Service, seconds: float) -> None:
        self.pauses.append(seconds)


def service(url: str, **changed: object) -> Service:
    plain: dict[str, object] = {
        "name": "pubmed",
        "url": url,
        "contact": "ada@example.org",
        "limit": RateLimit(interval=0.0, at_once=3),
        "timeout": 30.0,
    }
    return Service.model_validate(plain | changed)


def whole(reply: Reply) -> Reply:
    return reply


class Waits:
    """Sleeps for no time, and writes down for how long it should."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def get(
    asked: Service,
    read: Callable[[Reply], object] = whole,
    *,
    budget: FreeBudget | None = None,
    waits: Waits | None = None,
    statuses: frozenset[int] = frozenset({200}),
    path: str = "",
    params: dict[str, str] | None = None,
) -> object:
    async def ask() -> object:
        fetch = Fetch(
            asked, budget or FreeBudget(), sleep=waits or Waits(), chance=random.Random(0)
        )
        async with fetch:
            return await fetch.get(params or {}, read, path=path, statuses=statuses)

    return asyncio.run(ask())


def fails(asked: Service, **named: object) -> ToolError:
    with pytest.raises(ToolError) as caught:
        get(asked, **named)  # type: ignore[arg-type]
    return caught.value


def always(answer: Answer) -> Callable[[Asked], Answer]:
    return lambda _: answer


def in_turn(*answers: Answer) -> Callable[[Asked], Answer]:
    rest = iter(answers)
    return lambda _: next(rest)
