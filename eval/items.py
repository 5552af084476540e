"""Examples without their texts: what scoring needs of them, in about 60 bytes for two answers.

What many examples share (groups, what is asked, which answers are right) is kept once.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from openreward.eval.digests import Digests
from openreward.eval.orders import placement

if TYPE_CHECKING:
    from openreward.eval.benchmark import Comparison, Example, Part

H = TypeVar("H", bound=Hashable)
Groups = tuple[tuple[str, str], ...]


class Key(NamedTuple):
    """What is right about an example."""

    right: tuple[int, ...]
    ranking: tuple[tuple[int, ...], ...]
    human: tuple[tuple[int, ...], ...]
    agreed: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Shape:
    """What is asked about an example."""

    k: int
    comparisons: tuple[Comparison, ...]

    @cached_property
    def numbers(self) -> dict[Part, int]:
        """The number of the comparison that a part names."""
        return {comparison.part: at for at, comparison in enumerate(self.comparisons)}


class Interned(Generic[H]):
    """A list of values, equal ones kept once."""

    def __init__(self) -> None:
        self._codes: dict[H, int] = {}
        self._values: list[H] = []
        self._of = array("I")

    def append(self, value: H) -> None:
        """Put a value at the end."""
        code = self._codes.setdefault(value, len(self._values))
        if code == len(self._values):
            self._values.append(value)
        self._of.append(code)

    def values(self) -> Sequence[H]:
        """The different values, by code."""
        return self._values

    def codes(self) -> Sequence[int]:
        """The code of each place."""
        return self._of

    def __getitem__(self, item: int) -> H:
        return self._values[self._of[item]]


class Items:
    """Examples by number, in the order of adding; numbers of comparisons count from 0 in each."""

    def __init__(self) -> None:
        self.ids = Digests()
        self._groups: Interned[Groups] = Interned()
        self._shapes: Interned[Shape] = Interned()
        self._keys: Interned[Key] = Interned()
        self._lengths = array("I")
        self._answers = array("I", [0])  # where the answers of an example begin
        self._starts = array("I", [0])  # where its comparisons begin
        self._placed = array("B")

    def append(self, example: Example, comparisons: tuple[Comparison, ...], seed: int) -> None:
        """Add an example; its id must be new."""
        if not self.ids.add(example.id):
            raise ValueError(f"expected unique ids, got {example.id!r} twice")
        self._groups.append(tuple(example.groups.items()))
        self._shapes.append(Shape(len(example.responses), comparisons))
        self._keys.append(Key(example.right, example.ranking, example.human, example.agreed))
        self._lengths.extend(map(len, example.responses))
        self._answers.append(len(self._lengths))
        self._placed.extend(placement(seed, example.id, each.part) for each in comparisons)
        self._starts.append(len(self._placed))

    def __len__(self) -> int:
        return len(self.ids)

    def groups(self, item: int) -> dict[str, str]:
        """Where it belongs, level -> name."""
        return dict(self._groups[item])

    def levels(self) -> list[str]:
        """The levels of groups that examples have."""
        return list(dict.fromkeys(name for each in self._groups.values() for name, _ in each))

    def members(self, level: str) -> dict[str, array[int]]:
        """The items of each group of a level, groups in the order of the examples."""
        names = [dict(groups).get(level) for groups in self._groups.values()]
        found: dict[str, array[int]] = {}
        for item, code in enumerate(self._groups.codes()):
            name = names[code]
            if name is not None:
                found.setdefault(name, array("I")).append(item)
        return found

    def shape(self, item: int) -> Shape:
        """What is asked about it."""
        return self._shapes[item]

    def key(self, item: int) -> Key:
        """What is right about it."""
        return self._keys[item]

    def lengths(self, item: int) -> Sequence[int]:
        """Characters of its answers."""
        return self._lengths[self._answers[item] : self._answers[item + 1]]

    def placed(self, item: int, comparison: int) -> int:
        """1 where a protocol of one order shows the comparison swapped; drawn from the seed."""
        return self._placed[self._starts[item] + comparison]

    def first_answer(self, item: int) -> int:
        """The number of its first answer among all answers."""
        return self._answers[item]

    def first_comparison(self, item: int) -> int:
        """The number of its first comparison among all comparisons."""
        return self._starts[item]

    @property
    def answers(self) -> int:
        """The answers of all examples."""
        return len(self._lengths)

    @property
    def asked(self) -> int:
        """The comparisons of all examples."""
        return len(self._placed)
