"""Searches of a live arXiv back end against a server of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from service_server import Answer, Asked, ServiceServer, of_feed

from openreward.errors import ToolError
from openreward.tools.fetch import Fetch
from openreward.tools.live_arxiv import LiveArxiv
from openreward.tools.services import RateLimit, Service
from openreward.types import Passage

T = TypeVar("T")
Answers = Callable[[Asked], Answer]

_FEED = """<?xml version='1.0' encoding='UTF-8'?>
<feed xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"
 xmlns:arxiv="http://arxiv.org/schemas/atom" xmlns="http://www.w3.org/2005/Atom">
<opensearch:totalResults>{total}</opensearch:totalResults>
<opensearch:startIndex>{start}</opensearch:startIndex>
{entries}</feed>"""


class NoWait:
    """A budget that lets everybody ask at once."""

    @asynccontextmanager
    async def turn(self, service: Service) -> AsyncIterator[None]:
        yield

    async def pause(self, service: Service, seconds: float) -> None:
        return None


def entry(name: str, summary: str = "It works.", title: str = "A paper") -> str:
    """One paper as arXiv lists it; `name` has its version."""
    return (
        f"<entry><id>http://arxiv.org/abs/{name}</id><title>{title}</title>"
        "<updated>2024-01-01T00:00:00Z</updated><published>2024-01-01T00:00:00Z</published>"
        f"<summary>{summary}</summary><author><name>Ada</name></author></entry>"
    )


def feed(entries: Sequence[str], total: int | None = None, start: int = 0) -> Answer:
    count = len(entries) if total is None else total
    return of_feed(_FEED.format(total=count, start=start, entries="\n".join(entries)))


def listing(papers: Sequence[str]) -> Answers:
    """A service whose every search finds these entries, page by page."""

    def answer(asked: Asked) -> Answer:
        start, most = int(asked.params["start"]), int(asked.params["max_results"])
        return feed(papers[start : start + most], len(papers), start)

    return answer


def run(answer: Answers, use: Callable[[LiveArxiv], Awaitable[T]]) -> tuple[T, list[Asked]]:
    """What `use` makes of a back end whose service answers so, and what that was asked."""
    with ServiceServer(answer) as server:
        service = Service(
            name="arxiv",
            url=server.url + "/api/query",
            contact="ada@example.org",
            limit=RateLimit(interval=0, at_once=8),
            timeout=10,
            tries=1,
        )

        async def go() -> T:
            async with Fetch(service, NoWait()) as fetch:
                return await use(LiveArxiv(fetch))

        return asyncio.run(go()), server.requests


def find(
    answer: Answers, query: str = "pole", k: int = 3
) -> tuple[tuple[Passage, ...], list[Asked]]:
    """The passages of a search, and what was asked."""

    async def use(arxiv: LiveArxiv) -> tuple[Passage, ...]:
        return (await arxiv.search(query, k)).passages

    return run(answer, use)


def fails(answer: Answers, query: str = "pole", k: int = 3) -> tuple[str, str, list[Asked]]:
    """The status and the message of a search that fails, and what was asked."""

    async def use(arxiv: LiveArxiv) -> tuple[str, str]:
        try:
            found = await arxiv.search(query, k)
        except ToolError as error:
            return error.status, str(error)
        return "ok", repr(found)

    (status, message), asked = run(answer, use)
    return status, message, asked
