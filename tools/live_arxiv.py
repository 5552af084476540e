"""arXiv, live, over its query API: abstracts of papers, by relevance.

A search makes one request; two where no paper holds every word, or an id in the query names none.
The package `arxiv` builds the requests and reads the feeds. Each request costs everybody three
seconds of the budget, so no more is asked for than is shown.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import NamedTuple
from urllib.parse import parse_qsl

import arxiv

from openreward.errors import ToolError, UserError, shorten
from openreward.tools.arxiv_feeds import STATUSES, Feed, read_feed
from openreward.tools.arxiv_query import Asked, read_query
from openreward.tools.arxiv_records import make_document, split_name
from openreward.tools.base import Found
from openreward.tools.excerpts import choose_passages
from openreward.tools.fetch import Fetch
from openreward.tools.sans_io import drive
from openreward.types import Document

REACHABLE = 30_000  # results of a query that arXiv gives
_PAGE = 100
_SPARE = 2  # papers asked for beyond `k`: a few have no abstract

Get = Callable[[str], Feed]


class Page(NamedTuple):
    """Papers that match, from a position on; `entries` counts those without an abstract too."""

    documents: list[Document]
    total: int
    entries: int


class LiveArxiv:
    """The live back end of `arxiv_search`; `skipped` counts papers left out, by reason."""

    source = "arxiv"

    def __init__(self, fetch: Fetch) -> None:
        self.version = f"live/1 {fetch.service.url}"
        self.skipped: Counter[str] = Counter()
        self._fetch = fetch

    async def search(self, query: str, k: int) -> Found:
        """At most `k` passages, of the papers that arXiv finds most relevant."""
        if k < 1:
            raise UserError(f"expected k of at least 1, got {k}")
        asked = read_query(query)
        total = 0
        for search in _searches(asked)[:2]:
            page = await self._page(search, 0, min(k + _SPARE, _PAGE))
            if page.documents:
                most = k if search.id_list else 2  # of each paper
                return Found(choose_passages(page.documents, query, k, per_document=most))
            total += page.total
        raise _nothing(query, asked, total)

    async def documents(self, query: str, skip: int = 0) -> AsyncIterator[Document]:
        """The papers a query finds, from arXiv's `skip`-th on; each comes once.

        Those that match every word come newest first: pages by relevance are drawn from scores that
        shift between two requests, while a new paper only pushes the others back, so one who goes
        on later meets some again and misses none. Where only some words match, relevance is all
        there is to go by. Papers without an abstract count in `skip`. Raises `UserError` behind the
        last paper that arXiv gives.
        """
        asked = read_query(query)
        searches = _searches(asked, arxiv.SortCriterion.SubmittedDate)
        seen: set[str] = set()
        start, total = skip, skip + 1
        while start < total:
            number = _room(query, start)
            for search in searches:
                page = await self._page(search, start, number)
                if page.total:
                    searches = [search]
                    break
            else:
                raise _nothing(query, asked, 0)
            for document in page.documents:
                if document.id not in seen:
                    seen.add(document.id)
                    yield document
            start, total = start + max(1, page.entries), page.total

    async def _page(self, search: arxiv.Search, start: int, number: int) -> Page:
        async def fetch(url: str) -> Feed:
            read = functools.partial(read_feed, start=start)
            return await self._fetch.get(dict(parse_qsl(url)), read, statuses=STATUSES)

        feed, results = await drive(functools.partial(_read_page, search, start, number), fetch)
        documents = [document for result in results if (document := self._document(result))]
        return Page(documents, feed.total, feed.entries)

    def _document(self, result: arxiv.Result) -> Document | None:
        """A paper's abstract; None, and counted, where there is none."""
        name = split_name(result.get_short_id())
        if name is None:
            self.skipped["no arXiv id"] += 1
            return None
        document = make_document(name[0], result.title, result.summary, name[1])
        if document is None:
            self.skipped["no abstract"] += 1
        return document


class _Session:
    """Takes the place of the package's HTTP session: whatever it asks for, we fetch."""

    def __init__(self, get: Get) -> None:
        self._get = get
        self.feeds: list[Feed] = []

    def get(self, url: str, **ignored: object) -> Feed:
        """The answer to a request, which is its address without what stands before the `?`."""
        if self.feeds:
            raise ToolError(
                "unavailable",
                "arXiv's answer could not be read; search elsewhere, or go on without it",
            )
        self.feeds.append(self._get(url))
        return self.feeds[0]


def _read_page(
    search: arxiv.Search, start: int, number: int, get: Get
) -> tuple[Feed, list[arxiv.Result]]:
    """One page as the package asks for it and reads it; it would go on to the next by itself."""
    client = arxiv.Client(page_size=number, delay_seconds=0, num_retries=0)
    session = _Session(get)
    client.query_url_format = "{}"
    client._session = session
    results = client.results(search, start)
    first = list(itertools.islice(results, 1))
    feed = session.feeds[0]
    return feed, first + list(itertools.islice(results, max(0, feed.entries - 1)))


def _searches(
    asked: Asked, order: arxiv.SortCriterion = arxiv.SortCriterion.Relevance
) -> list[arxiv.Search]:
    """What to ask for, one after the other until something matches; `order` is of sure matches."""
    searches = [arxiv.Search(id_list=list(asked.ids), max_results=None)] if asked.ids else []
    for place, term in enumerate(asked.terms):
        by = order if place == 0 else arxiv.SortCriterion.Relevance
        searches.append(arxiv.Search(term, max_results=None, sort_by=by))
    return searches


def _room(query: str, start: int) -> int:
    """How many papers the page from `start` on may hold."""
    if start >= REACHABLE:
        raise UserError(
            f"expected at most {REACHABLE:,} papers of one query, got a request for more (from "
            f"{start:,} on): arXiv gives no others; split the query {shorten(query)} into narrower "
            "ones"
        )
    return min(_PAGE, REACHABLE - start)


def _nothing(query: str, asked: Asked, total: int) -> ToolError:
    if total:
        said = f"arXiv has papers for {shorten(query)}, but without abstracts"
    elif asked.ids and not asked.terms:
        said = f"arXiv has no paper {shorten(', '.join(asked.ids))}"
    else:
        said = f"nothing in arXiv matches {shorten(query)}"
    return ToolError(
        "no_result", f"{said}; use fewer and more common words, in English, or a paper's title"
    )
