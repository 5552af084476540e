"""The documents of several files as one stream: each once, drawn by source, split into shards.

What is left out, and why, is in `skipped`. Which documents are drawn, and which shard takes one,
follows from hashes of the ids: neither depends on the order of the files, and shards of the same
files are disjoint and make up the whole. Memory: at most 200 bytes a document.
"""

from __future__ import annotations

import hashlib
import heapq
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from openreward.errors import RecordError
from openreward.judge import derive
from openreward.loose_json import clean_text
from openreward.records import DataFile, Row, describe_file
from openreward.resume import Ids
from openreward.synth.documents import read_documents
from openreward.synth.reading import DocumentFormat, Skipped
from openreward.types import Document


class DocumentStream:
    """`sample` names how many documents of which source are drawn; empty, all are taken.

    `shard` (k, n) takes part k of n. `source` renames the source of all. Raises `RecordError` for a
    file that cannot be read, and where a source named in `sample` has no document.
    """

    def __init__(
        self,
        paths: Sequence[Path],
        *,
        format: DocumentFormat | None = None,
        source: str | None = None,
        sample: Mapping[str, int] | None = None,
        shard: tuple[int, int] = (1, 1),
        seed: int = 0,
    ) -> None:
        self._paths, self._format, self._source = tuple(paths), format, source
        self._sample, self._shard, self._seed = dict(sample or {}), shard, seed
        self.data = _describe(self._paths)
        self.skipped = Skipped()

    def rows(self) -> Iterator[Row[Document]]:
        """The documents, from the beginning; `skipped` counts anew."""
        drawn = self._draw() if self._sample else None
        for number, document in enumerate(self._distinct(), 1):
            if (drawn is None or document.id in drawn) and self._in_shard(document.id):
                yield Row(number, document, "document")

    def total(self) -> int | None:
        """About how many documents `rows` gives, where that is known without reading them."""
        known = sum(self._sample.values()) if self._sample else self.data.lines
        return known if known is None else -(-known // self._shard[1])

    def _draw(self) -> frozenset[str]:
        """The ids drawn: of each source those with the smallest hashes."""
        kept: dict[str, list[tuple[int, str]]] = {source: [] for source in self._sample}
        for document in self._distinct():
            heap, most = kept.get(document.source), self._sample.get(document.source, 0)
            if heap is None:
                continue
            heapq.heappush(heap, (-derive(self._seed, document.id, "sample"), document.id))
            if len(heap) > most:
                heapq.heappop(heap)
        lacking = sorted(source for source, heap in kept.items() if not heap)
        if lacking:
            raise RecordError(
                f"sample: expected documents of {', '.join(lacking)}, got none; check the source's "
                "name, and the files"
            )
        return frozenset(id for heap in kept.values() for _, id in heap)

    def _distinct(self) -> Iterator[Document]:
        """Every document whose id and text were not met before."""
        self.skipped = Skipped()
        ids, texts = Ids(), Ids()
        for path in self._paths:
            for found in read_documents(path, self._format, self.skipped):
                if not ids.is_new(found.id):
                    self.skipped.add("same id", f"{path.name}, {found.id}")
                elif not texts.is_new(_folded(found.text)):
                    self.skipped.add("same text", f"{path.name}, {found.id}")
                else:
                    yield found.model_copy(update={"source": self._source or found.source})

    def _in_shard(self, id: str) -> bool:
        part, parts = self._shard
        return derive(0, id, "shard") % parts == part - 1


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _describe(paths: Sequence[Path]) -> DataFile:
    """All files as one: the sum is over their sums, in order."""
    files = [describe_file(path) for path in paths]
    if len(files) == 1:
        return files[0]
    digest = hashlib.sha256("".join(f"{file.sha256}\n" for file in files).encode())
    return DataFile(
        path=clean_text(", ".join(file.path for file in files)),
        sha256=digest.hexdigest(),
        bytes=sum(file.bytes for file in files),
    )
