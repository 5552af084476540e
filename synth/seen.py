"""A set of texts that only grows, kept as 64-bit digests: 36 bytes a text at most.

That two of twenty million texts are taken for one has a chance of 0.001 %. A set of Python's own
would take 90 bytes and more.
"""

from __future__ import annotations

from array import array
from hashlib import blake2b

_SMALLEST = 1 << 10  # slots; always a power of two


class Seen:
    """Digests in an open table: each lies in the first free slot behind the one it names."""

    def __init__(self) -> None:
        self._slots = array("Q", bytes(8 * _SMALLEST))  # 0 is a free one
        self._used = 0

    def __len__(self) -> int:
        return self._used

    def is_new(self, text: str) -> bool:
        """Whether the text is met for the first time; it is seen from now on."""
        if 3 * self._used >= 2 * len(self._slots):
            self._grow()
        digest = int.from_bytes(blake2b(text.encode(), digest_size=8).digest()) or 1
        return self._put(digest)

    def _put(self, digest: int) -> bool:
        slots, last = self._slots, len(self._slots) - 1
        place = digest & last
        while found := slots[place]:
            if found == digest:
                return False
            place = (place + 1) & last
        slots[place] = digest
        self._used += 1
        return True

    def _grow(self) -> None:
        old, self._used = self._slots, 0
        self._slots = array("Q", bytes(16 * len(old)))
        for digest in filter(None, old):
            self._put(digest)
