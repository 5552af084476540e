"""Which tool belongs to which source, and the stack of layers behind each.

Layers, from the model inwards: tape (around whole calls), cache, single flight, then the live back
end, whose requests go through fetch and its budget. A local index needs none of them: it answers
about as fast as the disk cache would.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, get_args

from openreward.errors import UserError, shorten
from openreward.tools.arxiv import arxiv_search
from openreward.tools.base import Search, Tool
from openreward.tools.index import LocalIndex
from openreward.tools.pubmed import pubmed_search
from openreward.tools.services import ServiceName
from openreward.tools.wikipedia import wikipedia_search
from openreward.types import Document

if TYPE_CHECKING:
    from openreward.tools.fetch import Fetch

SOURCES: Mapping[str, Callable[[Search, int], Tool]] = {
    "wikipedia": wikipedia_search,
    "arxiv": arxiv_search,
    "pubmed": pubmed_search,
}

SERVICES: tuple[ServiceName, ...] = get_args(ServiceName)


class LiveSearch(Search, Protocol):
    """A live back end, which can also hand out whole documents."""

    @property
    def skipped(self) -> Counter[str]:
        """What was left out, by reason."""
        ...

    def documents(self, query: str, skip: int) -> AsyncIterator[Document]:
        """What a query finds, whole, in the service's order, from the `skip`-th on."""
        ...


def live_search(fetch: Fetch) -> LiveSearch:
    """The live back end of the service that `fetch` asks; its client package is imported here."""
    if fetch.service.name == "wikipedia":
        from openreward.tools.live_wikipedia import LiveWikipedia

        return LiveWikipedia(fetch)
    if fetch.service.name == "arxiv":
        from openreward.tools.live_arxiv import LiveArxiv

        return LiveArxiv(fetch)
    from openreward.tools.live_pubmed import LivePubmed

    return LivePubmed(fetch)


def local_tools(indexes: Mapping[str, Path], passages: int = 3) -> list[Tool]:
    """One tool a source, in the order given, each over its local index; raises `IndexMismatch`."""
    unknown = [source for source in indexes if source not in SOURCES]
    if unknown:
        raise UserError(
            f"expected sources among {', '.join(SOURCES)}, got {shorten(unknown[0])}, which no "
            "tool searches; build the index with one of them as the source of its documents, name "
            "the indexes to use (--index SOURCE=DIR), or in Python make a tool with search_tool"
        )
    return [SOURCES[source](LocalIndex(path, source), passages) for source, path in indexes.items()]
