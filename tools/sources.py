"""Which tool belongs to which source, and the stack of layers behind each.

Layers, from the model inwards: tape, cache, single flight, budget, fetch; each is a `Search` around
a `Search`. A local index needs none of them: it answers about as fast as the disk cache would.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from openreward.errors import UserError, shorten
from openreward.tools.arxiv import arxiv_search
from openreward.tools.base import Search, Tool
from openreward.tools.index import LocalIndex
from openreward.tools.pubmed import pubmed_search
from openreward.tools.wikipedia import wikipedia_search

SOURCES: Mapping[str, Callable[[Search, int], Tool]] = {
    "wikipedia": wikipedia_search,
    "arxiv": arxiv_search,
    "pubmed": pubmed_search,
}


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
