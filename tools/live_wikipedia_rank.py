"""Which passages of pages are shown: those that hold most of what a query asks, two of a page.

A wiki ranks pages; a judge asks for one fact. Passages are compared by the query's terms that they
or their titles hold; a term counts by how few passages hold it, so the fact asked for outweighs
the subject's name, which all hold. Equal ones keep the wiki's order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from openreward.tools.live_wikipedia_query import query_terms
from openreward.tools.passages import CutSettings, passages_of
from openreward.types import Document, Passage

PER_PAGE = 2


class _Candidate(NamedTuple):
    passage: Passage
    terms: frozenset[str]  # of the query


def choose(
    documents: Sequence[Document], query: str, k: int, *, pinned: bool
) -> tuple[Passage, ...]:
    """At most `k` passages; with `pinned` the first document's opening is the first."""
    wanted = query_terms(query)
    candidates = [each for document in documents for each in _candidates(document, wanted)]
    counts = Counter(term for each in candidates for term in each.terms)
    total = len(candidates)
    weights = {term: math.log(1 + total / count) for term, count in counts.items()}
    first, others = (candidates[:1], candidates[1:]) if pinned else ([], candidates)
    # rounded, for the sum depends on the order of the terms; a stable sort keeps the wiki's order
    others.sort(key=lambda each: -round(sum(weights[term] for term in each.terms), 6))
    chosen: list[Passage] = []
    shown: Counter[str] = Counter()
    for passage, _ in [*first, *others]:
        if len(chosen) < k and shown[passage.document_id] < PER_PAGE:
            shown[passage.document_id] += 1
            chosen.append(passage)
    return tuple(chosen)


def holds_all(documents: Iterable[Document], query: str) -> bool:
    """Whether one passage has all terms of the query, its title counted in."""
    wanted = query_terms(query)
    return any(
        each.terms == wanted for document in documents for each in _candidates(document, wanted)
    )


def subject(documents: Sequence[Document], query: str) -> int:
    """The place of the document that the query seems to be about.

    That is the one whose title is named in it, the longest such title; else the first.
    """
    wanted = query_terms(query)
    named = [query_terms(document.title.partition(" (")[0]) for document in documents]
    sizes = [len(terms) if terms <= wanted else 0 for terms in named]
    return sizes.index(max(sizes))


def _candidates(document: Document, wanted: frozenset[str]) -> list[_Candidate]:
    titled = wanted & query_terms(document.title)
    return [
        _Candidate(passage, titled | (wanted & query_terms(passage.text)))
        for passage in passages_of(document, CutSettings())
    ]
