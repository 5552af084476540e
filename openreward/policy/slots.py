"""Which slot of the embedded llama.cpp server a request goes to, so that its prompt cache holds.

Left alone, the server gives a new conversation whichever idle slot shares the longest start, and
all judgements share one: so it overwrites a conversation that is only waiting for its tool. Here
a conversation returns to the slot it grew in, and a new one takes the slot idle for longest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class _Slot:
    number: int
    ids: list[int] = field(default_factory=list)  # what its cache holds, as far as was sent
    busy: bool = False


class Slots:
    """The slots of one server, least recently used first."""

    def __init__(self, count: int) -> None:
        self._slots = [_Slot(number) for number in range(count)]

    @contextmanager
    def take(self, ids: Sequence[int]) -> Iterator[int | None]:
        """The slot for a prompt while it runs; None, the server's choice, when all are busy."""
        idle = [slot for slot in self._slots if not slot.busy]
        if not idle:
            yield None
            return
        own = [slot for slot in idle if slot.ids and list(ids[: len(slot.ids)]) == slot.ids]
        slot = max(own, key=lambda each: len(each.ids), default=idle[0])
        slot.busy, slot.ids = True, list(ids)
        try:
            yield slot.number
        finally:
            slot.busy = False
            self._slots.remove(slot)
            self._slots.append(slot)
