"""Which passages of the documents a live service found are shown: breadth first.

A service ranks whole documents; a judge with three passages to read wants three documents, and of
each the passage that holds most of the query's words.
"""

from __future__ import annotations

from collections.abc import Sequence

from openreward.tools.analysis import analyzer, fold, stop_terms
from openreward.tools.passages import CutSettings, passages_of
from openreward.types import Document, Passage


def choose_passages(
    documents: Sequence[Document],
    query: str,
    k: int,
    *,
    per_document: int = 2,
    settings: CutSettings | None = None,
) -> tuple[Passage, ...]:
    """At most `k`: the nearest passage of each document in turn, then the second nearest."""
    chain = analyzer()
    wanted = frozenset(chain.analyze(fold(query))) - stop_terms(chain)
    ranked = [
        sorted(
            passages_of(document, settings or CutSettings()),
            key=lambda passage: len(wanted.intersection(chain.analyze(fold(passage.text)))),
            reverse=True,  # a stable sort: of equal ones the earlier first
        )
        for document in documents
    ]
    chosen = [each[rank] for rank in range(per_document) for each in ranked if rank < len(each)]
    return tuple(chosen[:k])
