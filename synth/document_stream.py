"""The documents of several files as one stream: each once, drawn by source, split into shards.

What is left out, and why, is in `skipped`. Which documents are drawn, and which shard takes one,
follows from hashes of the ids: neither depends on the order of the files, and shards of the same
files are disjoint and make up the whole. (Of two documents with one text, or one id, the first is
taken.) Memory: at most 75 bytes a document that is read, and the ids of those drawn.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from openreward.errors import RecordError
from openreward.judge import derive
from openreward.loose_json import clean_text
from openreward.records import DataFile, Row, describe_file
from openreward.synth.documents import read_documents
from openreward.synth.near_duplicates import folded
from openreward.synth.reading import DocumentFormat, Skipped
from openreward.synth.seen import Seen
from openreward.types import Document


class DocumentStream:
    """`sample` names how many documents of which source are drawn; empty, all are taken.

    `shard` (k, n) takes part k of n. `source` is that of documents that name none. A row's line
    is the number of its document in the file. Raises `RecordError` for a file that cannot be read,
    where there is no document at all, and where a source named in `sample` has none.
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
        self._drawn: frozenset[str] | None = None
        self.data = _describe(self._paths)
        self.skipped = Skipped()

    def rows(self) -> Iterator[Row[Document]]:
        """The documents, from the beginning; `skipped` counts anew."""
        self.skipped = Skipped()
        if not self._sample:
            yield from filter(self._in_shard, self._distinct())
            return
        self._drawn = self._draw()
        left = set(self._drawn)
        for row in self._read(Skipped()):  # what was left out is counted already
            if not left:
                return
            if row.record.id in left:
                left.remove(row.record.id)
                if self._in_shard(row):
                    yield row

    def total(self) -> int | None:
        """About how many documents `rows` gives, where that is known without reading them."""
        if self._drawn is not None:
            known: int | None = len(self._drawn)
        else:
            known = sum(self._sample.values()) if self._sample else self.data.lines
        return known if known is None else -(-known // self._shard[1])

    def _draw(self) -> frozenset[str]:
        """The ids drawn: of each source those with the smallest hashes."""
        kept: dict[str, list[tuple[int, str]]] = {source: [] for source in self._sample}
        for row in self._distinct():
            id, source = row.record.id, row.record.source
            if source not in kept:
                continue
            heapq.heappush(kept[source], (-derive(self._seed, id, "sample"), id))
            if len(kept[source]) > max(1, self._sample[source]):
                heapq.heappop(kept[source])
        lacking = sorted(source for source, heap in kept.items() if not heap)
        if lacking:
            raise RecordError(
                f"sample: expected documents of {', '.join(lacking)}, got none; check the source's "
                "name, and the files"
            )
        for source, most in self._sample.items():
            there = len(kept[source])
            if there < most:
                where = f"{most} asked for, {there} there"
                self.skipped.add(f"asked for and not there: {source}", where, most - there)
        return frozenset(
            id for source, heap in kept.items() if self._sample[source] for _, id in heap
        )

    def _distinct(self) -> Iterator[Row[Document]]:
        """Every document whose id and text were not met before."""
        ids, texts = Seen(), Seen()
        for row in self._read(self.skipped):
            found = row.record
            if not ids.is_new(found.id):
                self.skipped.add("same id", f"{row.place} {row.line}, {found.id}")
            elif not texts.is_new(folded(found.text)):
                self.skipped.add("same text", f"{row.place} {row.line}, {found.id}")
            else:
                yield row
        if not len(ids):
            left = "; ".join(f"{count} {why}" for why, count in self.skipped.counts.items())
            raise RecordError(
                f"{self.data.path}: expected documents, got none ({left or 'no rows'}); see "
                "what their format asks for"
            )

    def _read(self, skipped: Skipped) -> Iterator[Row[Document]]:
        for path in self._paths:
            found = read_documents(path, self._format, skipped, self._source)
            for number, document in enumerate(found, 1):
                yield Row(number, document, f"{path.name}, document")

    def _in_shard(self, row: Row[Document]) -> bool:
        part, parts = self._shard
        return derive(0, row.record.id, "shard") % parts == part - 1


def _describe(paths: Sequence[Path]) -> DataFile:
    """All files as one: the sum is over their sums, in order, whatever their names."""
    files = [describe_file(path) for path in paths]
    if len(files) == 1:
        return files[0]
    digest = hashlib.sha256("".join(f"{file.sha256}\n" for file in files).encode())
    lines = [file.lines for file in files if file.lines is not None]
    return DataFile(
        path=clean_text(", ".join(file.path for file in files)),
        sha256=digest.hexdigest(),
        bytes=sum(file.bytes for file in files),
        lines=sum(lines) if len(lines) == len(files) else None,
    )
