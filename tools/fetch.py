"""The one way out to live services: polite, bounded, typed.

CONTRACT ONLY, to be written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

from openreward.tools.budget import Budget
from openreward.tools.services import Service

T = TypeVar("T")


class Reply(NamedTuple):
    """One answer, whole."""

    status: int
    content: bytes
    content_type: str  # media type in small letters, without parameters
    url: str


class Unusable(Exception):
    """Raised by a reader: this answer is broken or unexpectedly empty; asking again may help."""


class Fetch:
    """Asks one service, in turn with everybody else who does."""

    def __init__(self, service: Service, budget: Budget) -> None:
        self.service = service
        self.budget = budget

    async def get(
        self,
        params: Mapping[str, str],
        read: Callable[[Reply], T],
        *,
        path: str = "",
        statuses: frozenset[int] = frozenset({200}),
    ) -> T:
        """What `read` makes of the answer to `url + path?params`.

        `read` sees only answers whose status is among `statuses`, and checks the content type
        itself. It raises `Unusable` to have it asked again (after the last try: `unavailable`), or
        `ToolError` for what is final. Raises `ToolError`: `rate_limited`, `unavailable`, `timeout`.
        """
        raise NotImplementedError

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        return None
