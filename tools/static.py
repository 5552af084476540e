"""The public fake: a search that finds what it was given, for tests, dry runs and benchmarks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from openreward.errors import ToolError, shorten
from openreward.tools.base import Found
from openreward.types import Passage


class StaticSearch:
    """The same passages for every query, or those under it in a mapping, or an error.

    `delay` is the seconds a search takes, before `error` is raised; `calls` are the queries so
    far, each with its `k`.
    """

    def __init__(
        self,
        passages: Sequence[Passage] | Mapping[str, Sequence[Passage]] = (),
        *,
        delay: float = 0.0,
        source: str = "static",
        version: str = "static",
        error: ToolError | None = None,
    ) -> None:
        self.passages = passages
        self.delay = delay
        self.source = source
        self.version = version
        self.error = error
        self.calls: list[tuple[str, int]] = []

    async def search(self, query: str, k: int) -> Found:
        """At most `k` of the given passages."""
        self.calls.append((query, k))
        if self.delay:
            await asyncio.sleep(self.delay)
        if self.error is not None:
            raise self.error
        known = self.passages
        found = known.get(query, ()) if isinstance(known, Mapping) else known
        if not found:
            raise ToolError("no_result", f"nothing in {self.source} matches {shorten(query)}")
        return Found(tuple(found[:k]))
