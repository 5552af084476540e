"""Runs a client package's own code against answers we fetch: no thread, no transport of its own.

The package is called with a `get` that knows the answers so far. For an unknown one it stops, the
answer is fetched by us, and the call is made anew. So the package must ask the same for the same
answers, and may ask only through `get`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
A = TypeVar("A")
T = TypeVar("T")


class _Unknown(BaseException):
    """Leaves the package's code; a BaseException, so that no `except Exception` there keeps it."""


async def drive(
    call: Callable[[Callable[[K], A]], T], fetch: Callable[[K], Awaitable[A]], requests: int = 20
) -> T:
    """The result of `call(get)`, after at most `requests` fetches; what `fetch` raises is raised.

    Raises `RecursionError` when the package asks for more: it would go on for ever.
    """
    answers: dict[K, A] = {}
    wanted: list[K] = []

    def get(request: K) -> A:
        if request not in answers:
            wanted.append(request)
            raise _Unknown
        return answers[request]

    while True:
        try:
            return call(get)
        except _Unknown:
            if len(answers) >= requests:
                raise RecursionError(f"a client asked more than {requests} times") from None
            answers[wanted[-1]] = await fetch(wanted[-1])
