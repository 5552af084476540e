"""Embeddings from any OpenAI-compatible server: texts in batches, a vector a text.

What comes back is checked: as many vectors as texts, each in its place, all of one length. Raises
`PolicyError`, like every engine.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from openreward.errors import PolicyError
from openreward.policy.transport import HttpSettings, Transport
from openreward.policy.wire import Wire

_BATCH = 64  # texts a request; servers refuse more than they are set for


class Vector(Wire):
    """One line of an answer; `index` is the text's place in the request."""

    index: int
    embedding: tuple[float, ...]


class Vectors(Wire):
    """What /v1/embeddings answers."""

    data: tuple[Vector, ...]


class EndpointEmbedder:
    """A server's embedding model."""

    def __init__(self, transport: Transport, model: str) -> None:
        self._transport = transport
        self._url = f"{transport.address.api}/embeddings"
        self.name = model

    async def embed(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """The vectors, in the order of the texts; batches go one after the other."""
        found: list[tuple[float, ...]] = []
        for start in range(0, len(texts), _BATCH):
            found += await self._batch(texts[start : start + _BATCH])
        return found

    async def _batch(self, texts: Sequence[str]) -> list[tuple[float, ...]]:
        sent = [text.encode("utf-8", "replace").decode() for text in texts]
        body = {"model": self.name, "input": sent, "encoding_format": "float"}
        answer = await self._transport.post(self._url, body, Vectors)
        by_place = {each.index: each.embedding for each in answer.data}
        lengths = {len(vector) for vector in by_place.values()}
        if sorted(by_place) != list(range(len(texts))) or len(lengths) != 1 or 0 in lengths:
            raise PolicyError(
                "bad_response",
                f"{self._url}: expected {len(texts)} vectors of one length, got "
                f"{len(answer.data)} of the lengths {sorted(lengths)[:5]}; is {self.name} an "
                "embedding model?",
            )
        return [by_place[place] for place in range(len(texts))]


@asynccontextmanager
async def connect_embedder(
    url: str, model: str, *, api_key: str | None = None, settings: HttpSettings | None = None
) -> AsyncIterator[EndpointEmbedder]:
    """An embedder over the server at `url`; its connections are closed at the end."""
    async with Transport(url, api_key=api_key, settings=settings) as transport:
        yield EndpointEmbedder(transport, model)
