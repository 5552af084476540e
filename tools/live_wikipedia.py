"""Wikipedia, live, over MediaWiki's Action API.

A search makes two requests: the hits, then all their introductions together with those of the
titles that the query may name. A third fetches one whole page where no introduction holds all that
was asked, or the meanings of a title that has several. Where no page holds all the words, pages
with any of them are asked for: two more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass, field

from openreward.errors import ToolError, UserError, shorten
from openreward.tools.analysis import fold
from openreward.tools.base import Found
from openreward.tools.fetch import Fetch
from openreward.tools.live_wikipedia_answers import REACHABLE, WikiPage
from openreward.tools.live_wikipedia_api import TITLES, TITLES_BYTES, Hits, MediaWiki
from openreward.tools.live_wikipedia_query import read_query, unique_titles
from openreward.tools.live_wikipedia_rank import choose, holds_all, subject
from openreward.tools.live_wikipedia_text import clean_extract, list_options
from openreward.types import Document, Passage

_SPARE = 3  # hits beyond `k`: some are lists of meanings, or tables without text
_MOST_HITS = 50  # of one request
_ROUNDS = 4  # pages of hits that a search reads at most


@dataclass
class _Gathered:
    """What a search has found so far: pages once each, an exactly titled one first."""

    exact: WikiPage | None = None
    pages: dict[int, WikiPage] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)  # of the articles with text

    def several(self) -> WikiPage | None:
        """A page of meanings to show: that of the very title, else one where nothing else is."""
        if self.exact is not None:
            return self.exact if self.exact.disambiguation else None
        pages = () if self.documents else self.pages.values()
        return next((page for page in pages if page.disambiguation), None)


class LiveWikipedia:
    """The live back end of `wikipedia_search`; `skipped` counts what `documents` left out."""

    source = "wikipedia"

    def __init__(self, fetch: Fetch) -> None:
        service = fetch.service
        self.version = f"live/1 {service.url} {service.language}"
        self.skipped: Counter[str] = Counter()
        self._wiki = MediaWiki(fetch)
        self._ids = "wikipedia" if service.language == "en" else f"wikipedia:{service.language}"

    async def search(self, query: str, k: int) -> Found:
        """At most `k` passages; an article with the very title comes first, with its opening."""
        if k < 1:
            raise UserError(f"expected k of at least 1, got {k}")
        asked = read_query(query)
        gathered = await self._gather(asked.words, asked.titles, k)
        if not gathered.pages and asked.loose:
            gathered = await self._gather(asked.loose, (), k)
        passages = await self._passages(gathered, asked.words, k)
        several = gathered.several()
        if several is not None and (k > 1 or not passages):
            options = await self._options(several)
            passages = (*passages[: k - len(options)], *options)
        if not passages:
            raise _nothing(query, len(gathered.pages))
        return Found(passages)

    async def documents(self, query: str, skip: int = 0) -> AsyncIterator[Document]:
        """The articles a query finds, whole, from the wiki's `skip`-th hit on, by relevance.

        Hits that are no article with text count in `skip`. Raises `UserError` behind the last hit
        that a wiki gives by position.
        """
        asked = read_query(query)
        words, hits = asked.words, await self._hits(asked.words, query, skip)
        if not hits.titles and asked.loose and not (skip and await self._any(asked.words, query)):
            words, hits = asked.loose, await self._hits(asked.loose, query, skip)
        if not hits.titles and not skip:
            raise _nothing(query, 0)
        seen: set[str] = set()
        while True:
            for title in hits.titles:
                document = await self._whole(title)
                if document is not None and document.id not in seen:
                    seen.add(document.id)
                    yield document
            if hits.next is None:
                return
            hits = await self._hits(words, query, hits.next)

    async def _any(self, words: str, query: str) -> bool:
        """Whether there are hits at all: then a page without any lies behind the last."""
        return bool((await self._hits(words, query, 0)).titles)

    async def _hits(self, words: str, query: str, start: int) -> Hits:
        if start >= REACHABLE:
            raise UserError(
                f"expected at most {REACHABLE:,} hits of one query, got a request for more (from "
                f"{start:,} on): a wiki gives no others by position; split the query "
                f"{shorten(query)} into narrower ones"
            )
        return await self._wiki.search(words, min(_MOST_HITS, REACHABLE - start), start)

    async def _whole(self, title: str) -> Document | None:
        """The article of a hit, whole; None, and counted, where it is none with text."""
        found = (await self._wiki.whole(title)).find(title)
        if found is None:
            self.skipped["gone"] += 1
            return None
        document = self._document(found.page)
        if document is None:
            self.skipped["several meanings" if found.page.disambiguation else "no text"] += 1
        return document

    async def _gather(self, words: str, titles: Sequence[str], k: int) -> _Gathered:
        """Pages until `k` articles have text, or there are no more hits."""
        gathered = _Gathered()
        hits = Hits((), 0)
        for _ in range(_ROUNDS):
            if hits.next is None:
                break
            hits = await self._wiki.search(words, min(k + _SPARE, _MOST_HITS), hits.next)
            for batch in _batches([*titles, *hits.titles]):
                if len(gathered.documents) < k:
                    await self._add(gathered, batch, titles, hits.titles)
            titles = ()
            if len(gathered.documents) >= k:
                break
        return gathered

    async def _add(
        self,
        gathered: _Gathered,
        batch: Sequence[str],
        titles: Sequence[str],
        hits: Sequence[str],
    ) -> None:
        """The pages that a batch leads to; exact is one that a title of the query names."""
        folded = {fold(title) for title in titles}
        known = {fold(title) for title in hits}
        answer = await self._wiki.introductions(batch, [t for t in batch if fold(t) in known])
        reached = [(title, found) for title in batch if (found := answer.find(title))]
        for title, found in reached:
            named = fold(found.page.title) in folded or (title in titles and not found.within)
            if gathered.exact is None and named:
                gathered.exact = found.page
        front = [gathered.exact] if gathered.exact is not None else []
        for page in [*front, *(found.page for _, found in reached)]:
            if page.id not in gathered.pages:
                gathered.pages[page.id] = page
                document = self._document(page)
                if document is not None:
                    gathered.documents.append(document)

    async def _passages(self, gathered: _Gathered, words: str, k: int) -> tuple[Passage, ...]:
        documents = gathered.documents
        if not documents:
            return ()
        exact = gathered.exact
        pinned = exact is not None and documents[0].title == exact.title
        if not holds_all(documents, words):
            place = 0 if pinned else subject(documents, words)
            title = documents[place].title
            found = (await self._wiki.whole(title)).find(title)
            whole = None if found is None else self._document(found.page)
            if whole is not None:  # else it has just been taken away
                documents = [*documents[:place], whole, *documents[place + 1 :]]
        return choose(documents, words, k, pinned=pinned)

    def _document(self, page: WikiPage) -> Document | None:
        """A page as it came, the introduction or all of it; None where it is no article."""
        text = "" if page.disambiguation else clean_extract(page.extract)
        return self._make(page, text) if text else None

    def _make(self, page: WikiPage, text: str) -> Document:
        return Document(
            id=f"{self._ids}:{page.title}",
            source=self.source,
            title=page.title,
            text=text,
            url=page.url,
            revision=page.revision,
        )

    async def _options(self, page: WikiPage) -> tuple[Passage, ...]:
        """What a title may mean, as one passage."""
        html = await self._wiki.html(page.title)
        text = list_options(page.title, html, clean_extract(page.extract))
        if not text:
            return ()
        fields = self._make(page, text).model_dump()
        return (Passage(document_id=fields.pop("id"), start=0, end=len(text), **fields),)


def _batches(titles: Sequence[str]) -> Iterator[list[str]]:
    """Titles in order, once each, as many as one request may name."""
    batch: list[str] = []
    for title in unique_titles(titles):
        size = sum(len(each.encode()) + 1 for each in [*batch, title])
        if batch and (len(batch) == TITLES or size > TITLES_BYTES):
            yield batch
            batch = []
        batch.append(title)
    if batch:
        yield batch


def _nothing(query: str, pages: int) -> ToolError:
    if pages:
        said = f"wikipedia has pages for {shorten(query)}, but none with text"
    else:
        said = f"nothing in wikipedia matches {shorten(query)}"
    return ToolError(
        "no_result", f"{said}; use fewer and more common words, or the subject's full name"
    )
