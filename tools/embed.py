"""Embeddings from a local sentence-transformer; needs the extra `[embed]`.

Nothing is fetched: the model is a folder, or a name that is in the local cache of models already.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

from openreward.errors import MissingExtra, UserError, shorten


class LocalEmbedder:
    """A model in this process; one batch at a time, in a thread, for torch uses all cores."""

    def __init__(self, model: str, device: str = "cpu") -> None:
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise MissingExtra(
                "a local embedder needs sentence-transformers; "
                'install it: pip install "openreward-rm[embed]"; or name an endpoint'
            ) from None
        try:
            self._model: Any = SentenceTransformer(model, device=device, local_files_only=True)
        except (OSError, ValueError, KeyError) as error:
            raise UserError(
                f"{shorten(model)}: expected a folder with a sentence-transformer, got: "
                f"{shorten(str(error), 200)}"
            ) from None
        self.name = model
        self._lock = threading.Lock()

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """The vectors, in the order of the texts."""
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> list[list[float]]:
        with self._lock:
            made = self._model.encode(texts, convert_to_numpy=True, show_progress_bar=False)
        return [[float(each) for each in row] for row in made]
