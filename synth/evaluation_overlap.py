"""Whether a text shares a run of words with evaluation files, which training data must not.

Every text in the files counts, whatever its field. A text shorter than a run counts whole: within
another text from eight words on, below that (five at least) only where the other text is no more
than it, since shorter phrases are anybody's. Runs are kept as sorted 64-bit digests and the number
of their file, 10 bytes each; that two of ten million are taken for one has a chance of 0.0003 %.
"""

from __future__ import annotations

import heapq
import re
import unicodedata
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import repeat
from pathlib import Path

import pydantic_core
from pydantic import JsonValue, RootModel

from openreward.errors import RecordError, UserError
from openreward.loose_json import clean_text
from openreward.records import RowError, open_bytes, read_rows
from openreward.tools.passages import UNSPACED

_SHORTEST = 5  # words of an evaluation text that is another text, whole
_SHORTEST_INSIDE = 8  # and of one that another text holds
_MOST_FILES = 1 << 16
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")


class EvaluationOverlap:
    """The runs of `run` words of evaluation files: .txt (also .gz), and all that `read_rows` reads.

    Raises `UserError` for a file without text, `RecordError` for one that cannot be read.
    """

    def __init__(self, paths: Sequence[Path], run: int) -> None:
        if len(paths) > _MOST_FILES:
            raise UserError(
                f"expected at most {_MOST_FILES} evaluation files, got {len(paths)}; join them"
            )
        self._run = run
        self._names = [path.name for path in paths]
        self._lengths: set[int] = {run}
        self._runs, self._files = array("Q"), array("H")
        found = [self._read(path) for path in paths]
        numbered = (zip(runs, repeat(file)) for file, runs in enumerate(found))
        for digest, file in heapq.merge(*numbered):
            if not self._runs or self._runs[-1] != digest:  # of several files the first is named
                self._runs.append(digest)
                self._files.append(file)

    def __len__(self) -> int:
        """How many different runs there are."""
        return len(self._runs)

    def find(self, text: str) -> str | None:
        """The first file that has words in common with the text, and these words."""
        words = _words(text)
        if _SHORTEST <= len(words) < self._run and (name := self._holder(words)):
            return f"{name}: {' '.join(words)}"
        for length in sorted(self._lengths, reverse=True):
            for start in range(len(words) - length + 1):
                run = words[start : start + length]
                if name := self._holder(run):
                    return f"{name}: {' '.join(run)}"
        return None

    def _holder(self, words: Sequence[str]) -> str | None:
        digest = _digest(words)
        place = bisect_left(self._runs, digest)
        known = place < len(self._runs) and self._runs[place] == digest
        return self._names[self._files[place]] if known else None

    def _read(self, path: Path) -> array[int]:
        found = array("Q", sorted(set(self._digests(path))))
        if not found:
            raise UserError(
                f"{path}: expected texts of at least {_SHORTEST} words, got none; drop it, or name "
                "the file that holds the evaluation's texts"
            )
        return found

    def _digests(self, path: Path) -> Iterator[int]:
        for text in _texts(path):
            words = _words(text)
            for start in range(len(words) - self._run + 1):
                yield _digest(words[start : start + self._run])
            if _SHORTEST <= len(words) < self._run:
                yield _digest(words)
                if len(words) >= _SHORTEST_INSIDE:
                    self._lengths.add(len(words))


def _texts(path: Path) -> Iterator[str]:
    """Every text of a file, nested ones too; of a plain text file its paragraphs."""
    name = path.name.removesuffix(".gz")
    if name.endswith(".txt"):
        yield from _read_whole(path).decode("utf-8", "replace").split("\n\n")
        return
    whole = _one_value(path) if name.endswith(".json") else None
    if whole is not None:
        yield from _strings(whole)
        return
    for row in read_rows(path, RootModel[JsonValue]):
        if isinstance(row, RowError):
            raise RecordError(f"{path}: {row.message}; an evaluation file must be read whole")
        yield from _strings(row.record.root)


def _one_value(path: Path) -> JsonValue:
    """What a .json file holds, of any shape; None where it holds lines of records."""
    try:
        value: JsonValue = pydantic_core.from_json(_read_whole(path))
    except ValueError:
        return None
    return value


def _read_whole(path: Path) -> bytes:
    try:
        with open_bytes(path) as file:
            return file.read()
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise RecordError(
            f"{path}: cannot be read: {reason}; check the path, or fetch it again"
        ) from None


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
