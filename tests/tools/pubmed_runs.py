"""Searches of a live PubMed back end against a server of the test's own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import pytest
from pydantic import SecretStr
from service_server import Answer, Asked, ServiceServer, of_xml, pubmed_listing

from openreward.errors import ToolError
from openreward.tools.base import Found
from openreward.tools.fetch import Fetch
from openreward.tools.live_pubmed import LivePubmed
from openreward.tools.services import RateLimit, Service

T = TypeVar("T")
Answers = Callable[[Asked], Answer]


class NoWait:
    """A budget that lets everybody ask at once."""

    @asynccontextmanager
    async def turn(self, service: Service) -> AsyncIterator[None]:
        yield

    async def pause(self, service: Service, seconds: float) -> None:
        return None


def make_service(url: str, contact: str = "ada@example.org", key: str = "") -> Service:
    return Service(
        name="pubmed",
        url=url,
        contact=contact,
        limit=RateLimit(interval=0, at_once=8),
        api_key=SecretStr(key) if key else None,
        timeout=10,
        tries=1,
    )


def run(
    answer: Answers,
    use: Callable[[LivePubmed], Awaitable[T]],
    *,
    contact: str = "ada@example.org",
    key: str = "",
    tail: str = "/eutils",
) -> tuple[T, list[Asked]]:
    """What `use` makes of a back end whose service answers so, and what that was asked."""
    with ServiceServer(answer) as server:

        async def go() -> T:
            async with Fetch(make_service(server.url + tail, contact, key), NoWait()) as fetch:
                return await use(LivePubmed(fetch))

        return asyncio.run(go()), server.requests


def find(answer: Answers, query: str, k: int = 3) -> tuple[Found, list[Asked]]:
    return run(answer, lambda pubmed: pubmed.search(query, k))


def fails(answer: Answers, query: str = "pain") -> tuple[str, str, list[Asked]]:
    """Status and message of a search that fails, and what was asked."""

    async def use(pubmed: LivePubmed) -> ToolError:
        with pytest.raises(ToolError) as raised:
            await pubmed.search(query, 3)
        return raised.value

    error, asked = run(answer, use)
    return error.status, str(error), asked


def record(pmid: str, text: str = "It works.", more: str = "", ids: str = "") -> str:
    """The XML of one record; without a text it has a title alone."""
    abstract = f"<Abstract><AbstractText>{text}</AbstractText></Abstract>" if text else ""
    return (
        f"<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID><Article><ArticleTitle>On {pmid}."
        f"</ArticleTitle>{abstract}</Article>{more}</MedlineCitation><PubmedData><ArticleIdList>"
        f"{ids}</ArticleIdList></PubmedData></PubmedArticle>"
    )


def record_set(*records: str) -> Answer:
    return of_xml(f"<PubmedArticleSet>{''.join(records)}</PubmedArticleSet>")


def library(found: dict[str, list[str]], records: dict[str, str]) -> Answers:
    """A PubMed of terms with the ids they find, and of records, given in the order of their ids."""

    def answer(asked: Asked) -> Answer:
        if asked.path.endswith("/esearch.fcgi"):
            ids = found.get(asked.params["term"], [])
            start, most = int(asked.params["retstart"]), int(asked.params["retmax"])
            return pubmed_listing(ids[start : start + most], len(ids), start)
        wanted = sorted(asked.params["id"].split(","), key=int)
        return record_set(*(records[pmid] for pmid in wanted if pmid in records))

    return answer


def programs(asked: list[Asked]) -> list[str]:
    return [each.path.rpartition("/")[2].removesuffix(".fcgi") for each in asked]
