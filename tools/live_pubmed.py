"""PubMed, live, over NCBI's E-utilities: esearch for ids by relevance, then one efetch of records.

A search makes two requests; three where no record holds every word, one where nothing matches or a
record is named by its PMID. Records without an abstract are left out: their title says what was
studied and not what was found, and a judge would take it for a finding.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable
from typing import TypeVar

from openreward.errors import ToolError, UserError, shorten
from openreward.tools.base import Found
from openreward.tools.entrez_requests import Entrez, EntrezRequest
from openreward.tools.excerpts import choose_passages
from openreward.tools.fetch import Fetch, Reply, Unusable
from openreward.tools.pubmed_answers import STATUSES, Matches, read_articles, read_matches
from openreward.tools.pubmed_records import Article, make_document
from openreward.tools.pubmed_terms import Asked, read_query
from openreward.types import Document

T = TypeVar("T")

REACHABLE = 9_999  # results of a query that PubMed gives by position
_PAGE = 1_000  # ids of one esearch
_BATCH = 100  # records of one efetch; each has some 20 kB, half of it references
_MAIL = re.compile(r"[\w.+%-]+@[\w-]+(?:\.[\w-]+)+")


class LivePubmed:
    """The live back end of `pubmed_search`; `skipped` counts records left out, by reason."""

    source = "pubmed"

    def __init__(self, fetch: Fetch) -> None:
        service = fetch.service
        self.version = f"live/1 {service.url}"
        self.skipped: Counter[str] = Counter()
        self._fetch = fetch
        mail = _MAIL.search(service.contact)
        self._entrez = Entrez(
            tool="openreward",
            email=mail[0] if mail else "",
            api_key=service.api_key.get_secret_value() if service.api_key else "",
        )

    async def search(self, query: str, k: int) -> Found:
        """At most `k` passages, of the records that PubMed finds most relevant."""
        if k < 1:
            raise UserError(f"expected k of at least 1, got {k}")
        asked = read_query(query)
        number = min(2 * k + 2, _BATCH)  # more than `k`: some have no abstract
        matches = Matches(1, (asked.pmid,))
        if not asked.pmid:
            _, matches = await self._match(asked, query, 0, number)
        documents = await self._documents(asked, matches.ids)
        if not documents:
            raise _nothing_to_read(asked, query, matches)
        whole = asked.pmid or asked.name
        return Found(choose_passages(documents, query, k, per_document=k if whole else 2))

    async def documents(self, query: str, skip: int = 0) -> AsyncIterator[Document]:
        """The documents a query finds, from PubMed's `skip`-th result on, by relevance.

        Results without an abstract count in `skip`, so that none is passed over by one who counts
        only what came. Raises `UserError` behind the last result that PubMed gives of a query.
        """
        asked = read_query(query)
        if asked.pmid:
            for document in await self._documents(asked, (asked.pmid,) if not skip else ()):
                yield document
            return
        seen: set[str] = set()
        start, count, term = skip, skip + 1, ""
        while start < count:
            if start >= REACHABLE:
                raise _out_of_reach(query, start)
            number = min(_PAGE, REACHABLE - start)
            if term:
                matches = await self._page(term, start, number)
            else:
                term, matches = await self._match(asked, query, start, number)
            new = tuple(pmid for pmid in matches.ids if pmid not in seen)
            seen.update(new)
            for first in range(0, len(new), _BATCH):
                for document in await self._documents(asked, new[first : first + _BATCH]):
                    yield document
            start, count = start + max(1, len(matches.ids)), matches.total

    async def _match(
        self, asked: Asked, query: str, start: int, number: int
    ) -> tuple[str, Matches]:
        """The first of the terms that matches anything, and a page of what it does."""
        for term in asked.terms:
            matches = await self._page(term, start, number)
            if matches.total:
                return term, matches
        if asked.name:
            raise _no_such_record(asked.name)
        raise ToolError(
            "no_result",
            f"nothing in PubMed matches {shorten(query)}; use fewer and more common words, in "
            "English, or the full medical term",
        )

    async def _page(self, term: str, start: int, number: int) -> Matches:
        read = functools.partial(read_matches, start=start)
        return await self._get(self._entrez.search(term, start, number), read)

    async def _documents(self, asked: Asked, ids: tuple[str, ...]) -> list[Document]:
        """The records of ids that have an abstract, in the order of the ids."""
        if not ids:
            return []

        def read(reply: Reply) -> dict[str, Article]:
            given = {article.pmid: article for article in read_articles(reply)}
            if not asked.pmid and given.keys().isdisjoint(ids):
                raise Unusable(f"PubMed gave none of {len(ids)} records that it had found")
            return given

        given = await self._get(self._entrez.fetch(ids), read)
        found = [given[pmid] for pmid in ids if pmid in given]
        if asked.name:
            found = [article for article in found if asked.name in article.names]
        if not found and (asked.pmid or asked.name):
            raise _no_such_record(asked.name or f"PMID {asked.pmid}")
        self._count("not given by PubMed", sum(pmid not in given for pmid in ids))
        self._count("no abstract", sum(not article.text for article in found))
        return [
            make_document(article.pmid, article.title, article.text, article.date)
            for article in found
            if article.text
        ]

    async def _get(self, request: EntrezRequest, read: Callable[[Reply], T]) -> T:
        return await self._fetch.get(request.params, read, path=request.path, statuses=STATUSES)

    def _count(self, reason: str, number: int) -> None:
        if number:
            self.skipped[reason] += number


def _no_such_record(name: str) -> ToolError:
    return ToolError(
        "no_result",
        f"PubMed has no record of {shorten(name)}; check it, or search by words of the title",
    )


def _nothing_to_read(asked: Asked, query: str, matches: Matches) -> ToolError:
    """Something matched, but there is no abstract among what was fetched."""
    if asked.pmid or asked.name:
        said = f"PubMed has the record {shorten(query)} by its title alone, without an abstract"
    else:
        said = (
            f"PubMed found {matches.total} records for {shorten(query)}, and the first "
            f"{len(matches.ids)} have no abstract"
        )
    return ToolError("no_result", f"{said}; search for another article by other words")


def _out_of_reach(query: str, start: int) -> UserError:
    return UserError(
        f"expected at most {REACHABLE:,} results of one query, got a request for more (from "
        f"{start:,} on): PubMed gives no others by position; split the query {shorten(query)} into "
        "narrower ones, such as one a year"
    )
