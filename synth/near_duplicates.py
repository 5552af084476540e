"""Which texts say nearly the same as one before: MinHash over runs of words, checked exactly.

What is compared is words, not meaning: a paraphrase in other words is not found. Candidates come
from bands of MinHash values (Broder 1997), as in locality-sensitive hashing; each is then checked
by the true share of runs in common (Jaccard). The tables are in a temporary database on disk that
vanishes by itself, so memory does not grow with the texts.
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator
from hashlib import blake2b
from random import Random
from typing import NamedTuple, Self

from openreward.loose_json import clean_text
from openreward.synth.private_tables import PrivateTables

_PRIME = (1 << 61) - 1
_BANDS, _ROWS = 24, 4  # texts that share 0.7 meet in a band with probability 0.998, 0.3 with 0.18
_MOST_CANDIDATES = 64
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|\w+")  # where no spaces: characters
_TABLES = """
create table exact (digest integer primary key, id text);
create table texts (number integer primary key, id text, runs blob);
create table bands (key integer, number integer);
create index by_key on bands (key);
create table seen (id text primary key) without rowid;
"""


class Duplicate(NamedTuple):
    """The text that came first, and the share of runs in common; `exact` but for case and space."""

    of: str
    overlap: float
    exact: bool


class NearDuplicates:
    """The texts kept so far. Close it by `with`.

    `near` is the share of runs of `run` words in common from which two texts are one.
    """

    def __init__(self, near: float = 0.7, run: int = 3) -> None:
        self.near, self._run = near, run
        random = Random(1997)  # the functions must be the same in every run
        self._functions = [
            (random.randrange(1, _PRIME), random.randrange(_PRIME)) for _ in range(_BANDS * _ROWS)
        ]
        self._tables = PrivateTables(_TABLES, "finding duplicates")
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._tables.close()

    def is_new_id(self, id: str) -> bool:
        """Whether the id is asked about for the first time."""
        return self._tables.do("insert or ignore into seen values (?)", clean_text(id)) == 1

    def find(self, text: str) -> Duplicate | None:
        """What the text is a duplicate of; of several, the one with the most in common."""
        same = self._tables.rows("select id from exact where digest = ?", _digest(folded(text)))
        for (id,) in same:
            return Duplicate(str(id), 1.0, True)
        runs = self._runs(text)
        found = [(overlap(runs, other), -number, id) for number, id, other in self._near(runs)]
        best = max(found, default=(0.0, 0, ""))
        return Duplicate(best[2], best[0], False) if best[0] >= self.near else None

    def add(self, id: str, text: str) -> None:
        """Keep a text, so that later ones are compared with it."""
        runs, name = self._runs(text), clean_text(id)
        digest = _digest(folded(text))
        self._tables.do("insert or ignore into exact values (?, ?)", digest, name)
        self._count += 1
        blob = array("q", sorted(runs)).tobytes()
        self._tables.do("insert into texts values (?, ?, ?)", self._count, name, blob)
        keys = [(key, self._count) for key in self._keys(runs)]
        self._tables.do_many("insert into bands values (?, ?)", keys)

    def _near(self, runs: set[int]) -> Iterator[tuple[int, str, set[int]]]:
        keys = self._keys(runs)
        marks = ",".join("?" * len(keys))
        rows = self._tables.rows(
            "select number, id, runs from texts where number in "
            f"(select distinct number from bands where key in ({marks}) order by number limit ?)",
            *keys,
            _MOST_CANDIDATES,
        )
        for number, id, blob in rows:
            other = array("q")
            other.frombytes(blob)
            yield int(number), str(id), set(other)

    def _runs(self, text: str) -> set[int]:
        """Digests of the runs of words; of a shorter text one, of all its words."""
        words = _WORD.findall(folded(text))
        last = max(1, len(words) - self._run + 1) if words else 0
        return {_digest(" ".join(words[at : at + self._run])) for at in range(last)}

    def _keys(self, runs: set[int]) -> list[int]:
        """A key for each band of the sketch; equal keys are a reason to look."""
        if not runs:
            return []
        sketch = [min((a * run + b) % _PRIME for run in runs) for a, b in self._functions]
        return [
            _digest(f"{band}:{sketch[band * _ROWS : (band + 1) * _ROWS]}") for band in range(_BANDS)
        ]


def overlap(some: set[int], others: set[int]) -> float:
    """The share of what either holds that both hold."""
    return len(some & others) / len(some | others) if some and others else 0.0


def folded(text: str) -> str:
    """A text but for case, spaces and the forms of signs."""
    return " ".join(unicodedata.normalize("NFKC", clean_text(text)).casefold().split())


def _digest(text: str) -> int:
    """63 bits, which sqlite can hold."""
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) >> 1
