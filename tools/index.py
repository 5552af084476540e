"""The local index: BM25 over passages, one index a source, built once and only read afterwards.

`LocalIndex.version` is a digest of documents, settings and format: equal ones give equal answers.
A query is cut into terms here and never parsed as a query language, for a model may write anything.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import tantivy

from openreward.errors import IndexMismatch, ToolError, UserError, shorten
from openreward.tools.analysis import analyzer, fold, is_unspaced, stop_terms, title_keys
from openreward.tools.base import Found
from openreward.tools.index_meta import (
    CHAIN,
    TITLE_LIMIT,
    IndexMeta,
    read_meta,
    remedy,
    schema,
)
from openreward.types import Passage

_QUERY_LIMIT = 4000  # characters of a query that are read

_Place = tuple[int, int]


class _Hit(NamedTuple):
    address: tantivy.DocAddress
    document: int  # a number for the document, so that its text is read only when it is shown
    score: float | None

    @property
    def place(self) -> _Place:
        return self.address.segment_ord, self.address.doc


class LocalIndex:
    """A finished index, opened; safe for many tasks, threads and (after a fork) processes.

    An article whose title is the query comes first, with its opening passage. Of one document at
    most `per_document` passages are given: with three to read, a judge wants a second source more
    than a third piece of one page. Of a long query the `max_terms` rarest terms are asked.
    """

    def __init__(
        self,
        directory: Path,
        source: str | None = None,
        *,
        per_document: int = 2,
        max_terms: int = 32,
    ) -> None:
        if per_document < 1 or max_terms < 1:
            raise UserError(
                "expected per_document and max_terms of at least 1, "
                f"got {per_document} and {max_terms}"
            )
        self.directory = directory
        self.meta = read_meta(directory, source)
        self.source = self.meta.source
        self.version = self.meta.version
        self.per_document = per_document
        self.max_terms = max_terms
        self._chain = analyzer()
        self._stop = stop_terms(self._chain)
        self._schema = schema()
        self._searcher = _open(directory, self.meta)

    async def search(self, query: str, k: int) -> Found:
        """The best `k` passages, or fewer where no more match.

        Runs inline: a search takes less time than handing it to a thread would.
        """
        return self.lookup(query, k)

    def lookup(self, query: str, k: int) -> Found:
        """The same as `search`, for callers without an event loop."""
        try:
            return self._lookup(query, k)
        except ValueError as error:  # tantivy met bytes that it did not write
            cure = remedy(self.directory, self.source)
            raise IndexMismatch(f"{self.directory} is broken: {error}; {cure}") from error

    def _lookup(self, query: str, k: int) -> Found:
        if k < 1:
            raise UserError(f"expected k of at least 1, got {k}")
        k = min(k, self.meta.passages)  # tantivy sets memory aside for as many as are asked for
        folded = fold(query[:_QUERY_LIMIT])
        terms = self._terms(folded)
        titles = self._titled(folded, k)
        if not terms and not titles:
            raise ToolError(
                "bad_query",
                f"the query {shorten(query)} holds no word to search for; write the name of the "
                "subject and a few words of what you want to know",
            )
        passages = [self._passage(hit) for hit in self._ranked(terms, titles, k)]
        if not passages:
            raise ToolError(
                "no_result",
                f"nothing in {self.source} matches {shorten(query)}; use fewer and more common "
                "words, another spelling, or the subject's full name",
            )
        return Found(tuple(passages))

    def _terms(self, folded: str) -> list[str]:
        every = list(dict.fromkeys(self._chain.analyze(folded)))
        telling = [term for term in every if term not in self._stop] or every
        if len(telling) <= self.max_terms:
            return telling
        counts = {term: self._searcher.doc_freq("text", term) for term in telling}
        known = [term for term in telling if counts[term]]
        return sorted(known, key=counts.__getitem__)[: self.max_terms] or telling[: self.max_terms]

    def _titled(self, folded: str, k: int) -> list[_Hit]:
        """Opening passages of documents whose title is the query: as written, then by its words."""
        found: dict[_Place, _Hit] = {}
        for key in title_keys(folded):
            if len(key) <= TITLE_LIMIT:
                asked = tantivy.Query.term_query(self._schema, "title", key, "basic")
                for hit in self._hits(asked, k):
                    found.setdefault(hit.place, hit._replace(score=None))
        return list(found.values())

    def _ranked(self, terms: list[str], titles: list[_Hit], k: int) -> list[_Hit]:
        """`titles`, then passages by BM25, `per_document` of each, until `k` or no more match."""
        if not terms:
            return titles[:k]
        asked = self._asked(terms)
        limit = min(2 * k, self.meta.passages)
        while True:
            hits = self._hits(asked, limit)
            kept = _merge(titles[:k], hits, self.per_document, k)
            if len(kept) == k or len(hits) < limit or limit == self.meta.passages:
                return kept
            limit = min(4 * limit, self.meta.passages)

    def _hits(self, asked: tantivy.Query, limit: int) -> list[_Hit]:
        hits = self._searcher.search(asked, limit, count=False).hits
        numbers = self._searcher.fast_field_values("document", [address for _, address in hits])
        return [
            _Hit(address, int(number or 0), score)
            for (score, address), number in zip(hits, numbers, strict=True)
        ]

    def _asked(self, terms: list[str]) -> tantivy.Query:
        query, should = tantivy.Query, tantivy.Occur.Should
        parts = [(should, query.term_query(self._schema, "text", term, "freq")) for term in terms]
        parts += [
            (should, query.phrase_query(self._schema, "text", [left, right]))
            for left, right in zip(terms, terms[1:], strict=False)
            if is_unspaced(left) and is_unspaced(right)
        ]
        return query.boolean_query(parts)

    def _passage(self, hit: _Hit) -> Passage:
        stored = json.loads(self._searcher.doc(hit.address)["passage"][0])
        return Passage.model_construct(**stored, score=hit.score)  # was checked by the build


def _merge(titles: list[_Hit], ranked: list[_Hit], per_document: int, k: int) -> list[_Hit]:
    kept = {hit.place: hit for hit in titles}
    counts = Counter(hit.document for hit in titles)
    for hit in ranked:
        if hit.place in kept:
            kept[hit.place] = hit  # the same, with its score
        elif len(kept) < k and counts[hit.document] < per_document:
            counts[hit.document] += 1
            kept[hit.place] = hit
    return list(kept.values())


def _open(directory: Path, meta: IndexMeta) -> tantivy.Searcher:
    cure = remedy(directory, meta.source)
    try:
        # Opening takes a lock file in the folder, which may be another's, or read-only: so it is
        # done in a folder of links. The files stay mapped when that is gone. A thread of tantivy
        # may put its lock there while it is removed; then a folder with an empty file is left.
        with tempfile.TemporaryDirectory(prefix="openreward-", ignore_cleanup_errors=True) as view:
            for name in meta.files:
                (Path(view) / name).symlink_to((directory / meta.data / name).absolute())
            index = tantivy.Index.open(view)
            index.config_reader("manual")  # nothing changes, so nothing need be watched
            index.register_tokenizer(CHAIN, analyzer())
            searcher = index.searcher()
    except (OSError, ValueError) as error:
        raise IndexMismatch(
            f"{directory}: tantivy {version('tantivy')} cannot open this index, written by "
            f"{meta.tantivy} ({error}); {cure}"
        ) from None
    if searcher.num_docs != meta.passages:
        raise IndexMismatch(
            f"{directory}: expected {meta.passages} passages, got {searcher.num_docs}; {cure}"
        )
    return searcher
