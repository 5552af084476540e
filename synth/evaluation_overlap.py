"""Whether a text shares a run of words with evaluation files, which training data must not.

Every text in the files counts, whatever its field; runs are kept as sorted 64-bit digests, 8 bytes
each. A text of an evaluation file shorter than a run counts whole, from five words on.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

from pydantic import JsonValue, RootModel

from openreward.errors import RecordError, UserError
from openreward.loose_json import clean_text
from openreward.records import RowError, open_bytes, read_rows
from openreward.tools.passages import UNSPACED

_SHORTEST = 5  # words of an evaluation text that is shorter than a run
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")


class EvaluationOverlap:
    """The runs of `run` words of evaluation files: .txt, and all that `read_rows` reads.

    Raises `UserError` for a file without text, `RecordError` for one that cannot be read.
    """

    def __init__(self, paths: Sequence[Path], run: int) -> None:
        self._run = run
        self._names = [path.name for path in paths]
        self._runs: list[array[int]] = []
        self._lengths: set[int] = {run}
        for path in paths:
            found = array("Q", sorted(set(self._digests(path))))
            if not found:
                raise UserError(
                    f"{path}: expected texts of at least {_SHORTEST} words, got none; drop it, or "
                    "name the file that holds the evaluation's texts"
                )
            self._runs.append(found)

    def find(self, text: str) -> str | None:
        """The words in common with the first file that has any, and its name."""
        words = _words(text)
        for length in sorted(self._lengths, reverse=True):
            for start in range(len(words) - length + 1):
                run = words[start : start + length]
                name = self._holder(_digest(run))
                if name is not None:
                    return f"{name}: {' '.join(run)}"
        return None

    def _holder(self, digest: int) -> str | None:
        for name, runs in zip(self._names, self._runs, strict=True):
            place = bisect_left(runs, digest)
            if place < len(runs) and runs[place] == digest:
                return name
        return None

    def _digests(self, path: Path) -> Iterator[int]:
        for text in _texts(path):
            words = _words(text)
            if len(words) >= self._run:
                for start in range(len(words) - self._run + 1):
                    yield _digest(words[start : start + self._run])
            elif len(words) >= _SHORTEST:
                self._lengths.add(len(words))
                yield _digest(words)


def _texts(path: Path) -> Iterator[str]:
    """Every text of a file, nested ones too; of a plain text file its lines."""
    if path.suffix == ".txt" or path.name.endswith(".txt.gz"):
        try:
            with open_bytes(path) as file:
                for line in file:
                    yield line.decode("utf-8", "replace")
        except (OSError, EOFError) as error:
            raise RecordError(f"{path}: cannot be read: {error}; check the path") from None
        return
    for row in read_rows(path, RootModel[JsonValue]):
        if isinstance(row, RowError):
            raise RecordError(f"{path}: {row.message}; an evaluation file must be read whole")
        yield from _strings(row.record.root)


def _strings(value: JsonValue) -> Iterator[str]:
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, str):
            yield each
        elif isinstance(each, list):
            pending.extend(each)
        elif isinstance(each, dict):
            pending.extend(each.values())


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", clean_text(text)).casefold())


def _digest(words: Sequence[str]) -> int:
    return int.from_bytes(blake2b(" ".join(words).encode(), digest_size=8).digest())
