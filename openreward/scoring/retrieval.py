"""The seam between statements and the context: which pieces bear on each of several statements.

BM25 needs no model and is the default. Embeddings take any `Embedder`: an OpenAI-compatible
endpoint (`openreward.policy.embeddings`) or a local model (`openreward.tools.embed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from openreward.errors import UserError, shorten

if TYPE_CHECKING:
    import numpy as np

    from openreward.scoring.bm25 import Bm25


class Hit(NamedTuple):
    """A piece by its number, and how near it is."""

    piece: int
    score: float


class Nearest(NamedTuple):
    """The pieces nearest to one text, in the order of the context.

    `matched` are the pieces, of all, that have anything in common with it.
    """

    hits: tuple[Hit, ...]
    matched: int


class Opened(Protocol):
    """A context made ready to be searched."""

    async def nearest(self, texts: Sequence[str], k: int) -> list[Nearest]:
        """For each text the `k` nearest pieces, fewer only where there are no more."""
        ...


class Retriever(Protocol):
    """A way to find pieces. `name` goes into manifests."""

    name: str

    async def open(self, pieces: Sequence[str]) -> Opened:
        """The pieces made ready; raises `PolicyError` where an engine is needed and fails."""
        ...


class Embedder(Protocol):
    """Texts to vectors, one a text, all of one length. Raises `PolicyError`."""

    name: str

    async def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """The vectors, in the order of the texts."""
        ...


class Bm25Retriever:
    """By words."""

    name = "bm25"

    async def open(self, pieces: Sequence[str]) -> Opened:
        """An index in memory."""
        from openreward.scoring.bm25 import Bm25  # tantivy: not before a context is given

        return _Words(Bm25(pieces))


class EmbeddingRetriever:
    """By the cosine of embeddings, as the paper does."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.name = f"embedding {embedder.name}"

    async def open(self, pieces: Sequence[str]) -> Opened:
        """The pieces embedded."""
        return _Vectors(self.embedder, await _embedded(self.embedder, pieces))


class _Words:
    def __init__(self, index: Bm25) -> None:
        self._index = index

    async def nearest(self, texts: Sequence[str], k: int) -> list[Nearest]:
        return [_top(self._index.scores(text), k, above=0.0) for text in texts]


class _Vectors:
    def __init__(self, embedder: Embedder, pieces: np.ndarray) -> None:
        self._embedder = embedder
        self._pieces = pieces  # (N, D), of length 1 each

    async def nearest(self, texts: Sequence[str], k: int) -> list[Nearest]:
        if not len(self._pieces):
            return [Nearest((), 0) for _ in texts]
        wanted = await _embedded(self._embedder, texts)  # (M, D)
        if wanted.shape[1] != self._pieces.shape[1]:
            raise UserError(
                f"{self._embedder.name}: expected vectors of {self._pieces.shape[1]} numbers, got "
                f"{wanted.shape[1]}; is another model served now?"
            )
        cosines = wanted @ self._pieces.T  # (M, N)
        return [_top([float(each) for each in row], k, above=-2.0) for row in cosines]


async def _embedded(embedder: Embedder, texts: Sequence[str]) -> np.ndarray:
    import numpy as np

    if not texts:
        return np.zeros((0, 0))
    given = await embedder.embed(texts)
    lengths = {len(vector) for vector in given}
    if len(given) != len(texts) or len(lengths) != 1:
        raise UserError(
            f"{shorten(embedder.name)}: expected {len(texts)} vectors of one length, got "
            f"{len(given)} of the lengths {sorted(lengths)[:5]}"
        )
    vectors = np.asarray(given, dtype=np.float64)  # (N, D)
    if not np.isfinite(vectors).all():
        raise UserError(f"{shorten(embedder.name)}: expected finite numbers, got others")
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(norms > 0, norms, 1.0))


def _top(scores: Sequence[float], k: int, above: float) -> Nearest:
    """The best `k`, of equal ones the earlier, put back in the order of the context."""
    best = sorted(range(len(scores)), key=lambda number: (-scores[number], number))[:k]
    hits = tuple(Hit(number, scores[number]) for number in sorted(best))
    return Nearest(hits, sum(score > above for score in scores))
