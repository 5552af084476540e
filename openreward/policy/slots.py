"""Which slot of the embedded llama.cpp server a request goes to, so that its prompt cache holds.

Left alone, the server gives a new conversation whichever idle slot shares the longest start, and
all judgements share one: so it overwrites a conversation that is only waiting for its tool. Here
a conversation returns to the slot it grew in; a new one that begins mostly as another did (a second
question about one document) takes that one's slot, any other the slot idle for longest.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

_MOSTLY = 0.7  # of the new prompt: more than the system message that all judgements share


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
        slot = max(own, key=lambda each: len(each.ids), default=_nearest(idle, list(ids)))
        slot.busy, slot.ids = True, list(ids)
        try:
            yield slot.number
        finally:
            slot.busy = False
            self._slots.remove(slot)
            self._slots.append(slot)


def _nearest(idle: Sequence[_Slot], ids: list[int]) -> _Slot:
    """The idle slot that holds most of a prompt's start, else the one idle for longest."""
    shared = {slot.number: len(os.path.commonprefix([slot.ids, ids])) for slot in idle}
    best = max(idle, key=lambda slot: shared[slot.number])
    return best if shared[best.number] >= _MOSTLY * len(ids) else idle[0]
