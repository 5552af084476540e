"""What the tests of the budget share: a service, a clock that a test sets, one turn."""

from __future__ import annotations

import asyncio
from pathlib import Path

from openreward.tools.budget import FolderBudget
from openreward.tools.services import RateLimit, Service, ServiceName


def service(
    name: ServiceName = "arxiv",
    *,
    interval: float = 0.1,
    at_once: int = 1,
    patience: float = 60.0,
    timeout: float = 60.0,
) -> Service:
    return Service(
        name=name,
        url="http://127.0.0.1:9",
        contact="ada@example.org",
        limit=RateLimit(interval=interval, at_once=at_once),
        patience=patience,
        timeout=timeout,
    )


class Clock:
    """A clock that a test sets; sleeping moves it on."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now
        self.slept = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds
        await asyncio.sleep(0)


def budget(folder: Path, clock: Clock) -> FolderBudget:
    return FolderBudget(folder, clock=clock, sleep=clock.sleep)


def state(folder: Path, name: str = "arxiv") -> Path:
    (found,) = folder.glob(f"{name}-*.json")
    return found


async def one(budget: FolderBudget, asked: Service) -> None:
    async with budget.turn(asked):
        pass
