"""Requests that wait within a few milliseconds of each other become one batch, in a worker thread.

A batch is closed to those that come later: turns of a rollout group end at about the same time, so
little is lost. A request whose caller has gone is left out, or dropped between two tokens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


@dataclass
class Request(Generic[Q, A]):
    """One question, and where its answer goes."""

    question: Q
    answer: asyncio.Future[A]
    gone: bool = False  # read by the worker between two tokens


@dataclass
class MicroBatcher(Generic[Q, A]):
    """`work` answers a batch in order, in a thread; what it gives for a `gone` request is lost."""

    work: Callable[[Sequence[Request[Q, A]]], Sequence[A]]
    most: int = 64  # requests of one batch
    wait: float = 0.005  # seconds for others to come
    _waiting: list[Request[Q, A]] = field(default_factory=list)
    _task: asyncio.Task[None] | None = None

    async def ask(self, question: Q) -> A:
        """The answer; a failing batch fails every request of it. Cancelling takes it out."""
        request: Request[Q, A] = Request(question, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._serve())
        try:
            return await request.answer
        finally:
            request.gone = True

    async def _serve(self) -> None:
        while self._waiting:
            await asyncio.sleep(self.wait)
            batch, self._waiting = self._waiting[: self.most], self._waiting[self.most :]
            batch = [request for request in batch if not request.gone]
            if batch:
                await self._answer(batch)

    async def _answer(self, batch: Sequence[Request[Q, A]]) -> None:
        try:
            answers = await asyncio.to_thread(self.work, batch)
        except Exception as error:  # to be raised where it was asked
            for request in batch:
                if not request.answer.done():
                    request.answer.set_exception(error)
            return
        for request, answer in zip(batch, answers, strict=True):
            if not request.answer.done():
                request.answer.set_result(answer)
