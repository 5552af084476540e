"""One rate for all who ask a service: threads, processes and ranks, and machines by an endpoint.

A `Desk` keeps the line of those who ask (see budget_line): the files of a folder on this machine,
or an endpoint. One who wants to ask takes a ticket, asks the desk whether it is their turn, sleeps
as long as it says, asks again; the line is never locked meanwhile. A desk that cannot be used is a
`ToolError`: no request is made without a turn.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Protocol

from openreward.errors import ToolError
from openreward.tools.budget_files import LineFiles
from openreward.tools.budget_line import LONGEST_LEASE, Answer, Ask, Line
from openreward.tools.services import Service, ServiceName

Sleep = Callable[[float], Awaitable[None]]


class Budget(Protocol):
    """Who may ask when. Implementations: a folder of locks on this machine, or an endpoint."""

    def turn(self, service: Service) -> AbstractAsyncContextManager[None]:
        """Wait for one's turn; the request is made inside the block.

        Raises `ToolError("rate_limited", ...)` when the turn would come after more than
        `service.patience` seconds, before waiting as far as that is known.
        """
        ...

    async def pause(self, service: Service, seconds: float) -> None:
        """Let nobody ask for so long: the service said so (Retry-After), or is failing."""
        ...


class Desk(Protocol):
    """Keeps the lines."""

    async def ask(self, wish: Ask) -> Answer:
        """Whether it is one's turn."""
        ...

    async def leave(self, service: ServiceName, ticket: str) -> None:
        """Give up one's turn or place. Does not fail: a lease ends by itself."""
        ...


class FolderBudget:
    """The budget of one machine: a folder that all its processes name. `clock` is a test's seam."""

    def __init__(
        self,
        folder: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.files = LineFiles(folder, clock)
        self._clock = clock
        self._sleep = sleep

    def turn(self, service: Service) -> AbstractAsyncContextManager[None]:
        """Wait for one's turn; the request is made inside the block."""
        return take_turn(self.files, service, self._clock, self._sleep)

    async def pause(self, service: Service, seconds: float) -> None:
        """Let nobody on this machine ask for so long, an hour at most."""
        await self.files.pause(service.name, seconds)

    def lines(self) -> dict[ServiceName, Line]:
        """The line of each service that was asked since the machine started."""
        return self.files.lines()


@asynccontextmanager
async def take_turn(
    desk: Desk, service: Service, clock: Callable[[], float], sleep: Sleep
) -> AsyncIterator[None]:
    """Wait at a desk until it is one's turn, and give the turn back after the block."""
    ticket = secrets.token_hex(8)
    deadline = clock() + service.patience
    try:
        while True:
            answer = await desk.ask(_wish(service, ticket, max(0.0, deadline - clock())))
            if answer.outcome == "go":
                break
            if answer.outcome == "refuse":
                raise ToolError("rate_limited", _refusal(service, answer))
            await sleep(answer.seconds)
        yield
    finally:
        await desk.leave(service.name, ticket)


def _wish(service: Service, ticket: str, patience: float) -> Ask:
    return Ask(
        service=service.name,
        ticket=ticket,
        interval=min(service.limit.interval, LONGEST_LEASE),
        at_once=service.limit.at_once,
        lease=min(service.timeout + 1.0, LONGEST_LEASE),
        patience=patience,
        who=f"{ascii(socket.gethostname())[1:-1]} {os.getpid()}"[:80],
    )


def _refusal(service: Service, answer: Answer) -> str:
    why = "asked for a pause" if answer.paused else "is asked by many just now"
    when = f"in {answer.seconds:.0f} s" if answer.seconds >= 1 else "not yet known"
    return (
        f"{service.name} {why}: the next free turn is {when}, and a call may wait "
        f"{service.patience:g} s; go on with what you have, or search elsewhere"
    )
