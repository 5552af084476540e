"""Ids by number in about 20 bytes each: digests in an array, found through a table of places.

A dict of a million ids takes 130 bytes each and keeps the ids besides. Digests have 64 bits: that
two of ten million ids are taken for one has a chance of 0.0003 %.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b

EMPTY = -1
_FIRST = 16  # places; always a power of two


class Digests:
    """Numbers from 0 in the order of adding."""

    def __init__(self) -> None:
        self._digests = array("Q")
        self._places = array("i", [EMPTY]) * _FIRST

    def __len__(self) -> int:
        return len(self._digests)

    def add(self, id: str) -> bool:
        """Give an id the next number; False if it has one."""
        digest = _digest(id)
        place = self._place(digest)
        if self._places[place] != EMPTY:
            return False
        self._places[place] = len(self._digests)
        self._digests.append(digest)
        if 3 * len(self._digests) > 2 * len(self._places):
            self._grow()
        return True

    def find(self, id: str) -> int | None:
        """The number of an id."""
        number = self._places[self._place(_digest(id))]
        return None if number == EMPTY else number

    def _place(self, digest: int) -> int:
        """Where the digest stands in the table, or the empty place where it would."""
        last = len(self._places) - 1
        place = digest & last
        while (number := self._places[place]) != EMPTY and self._digests[number] != digest:
            place = (place + 1) & last
        return place

    def _grow(self) -> None:
        self._places = array("i", [EMPTY]) * (2 * len(self._places))
        for number, digest in enumerate(self._digests):
            self._places[self._place(digest)] = number


def _digest(id: str) -> int:
    return int.from_bytes(blake2b(id.encode("utf-8", "surrogatepass"), digest_size=8).digest())
