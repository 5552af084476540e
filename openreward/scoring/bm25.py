"""BM25 over the pieces of one context, in memory; terms are those of the local index.

Scripts without spaces give a term a character and one for each neighbouring pair, so that a phrase
of two characters outweighs the same characters apart.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from openreward.tools.analysis import analyzer, fold, is_unspaced, stop_terms

_K1, _B = 1.2, 0.75


class Bm25:
    """An index of pieces, made once and only read afterwards."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._chain = analyzer()
        self._stop = stop_terms(self._chain)
        counts = [Counter(self._terms(text)) for text in pieces]
        lengths = [count.total() for count in counts]
        mean = sum(lengths) / len(lengths) if any(lengths) else 1.0
        self._norms = [_K1 * (1 - _B + _B * length / mean) for length in lengths]
        self._places: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, count in enumerate(counts):
            for term, times in count.items():
                self._places[term].append((number, times))

    def scores(self, query: str) -> list[float]:
        """A score for each piece; 0 where it shares no word with the query."""
        found = [0.0] * len(self._norms)
        every = list(dict.fromkeys(self._terms(query)))
        for term in [term for term in every if term not in self._stop] or every:
            places = self._places.get(term, [])
            rare = math.log(1 + (len(found) - len(places) + 0.5) / (len(places) + 0.5))
            for number, times in places:
                found[number] += rare * times * (_K1 + 1) / (times + self._norms[number])
        return found

    def _terms(self, text: str) -> list[str]:
        terms = self._chain.analyze(fold(text))
        pairs = [
            left + right
            for left, right in zip(terms, terms[1:], strict=False)
            if is_unspaced(left) and is_unspaced(right)
        ]
        return [*terms, *pairs]
