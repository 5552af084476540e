"""From grounded answers to hard pairs: where answers come from, the names around them, the pairs.

An answer is the labelled response of a pair, the positive of a row of `synth pairs`, or a bare
`{query, answer}`. What is drawn for it depends on the seed and its id alone, and the pool of names
is the same whatever order the rows stand in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Literal, NamedTuple, Self

from pydantic import Field, JsonValue, model_validator

from openreward import inputs
from openreward.errors import shorten
from openreward.judge import derive
from openreward.loose_json import clean_text
from openreward.synth.corrupt import Corruption, CorruptionKind, corrupt
from openreward.synth.corrupt_names import NamePool
from openreward.synth.pair_records import PairRow
from openreward.synth.pair_set import to_pair
from openreward.synth.private_tables import PrivateTables
from openreward.types import Document, Pair, Record

LeftOut = Literal["no_label", "dropped"]
"""Rows that hold no answer known to be grounded: without a label, or dropped by a check."""

SHAPES = f"query and answer, a row of `synth pairs`, or a labelled pair ({inputs.SHAPES})"


class Origin(Record):
    """A grounded answer and where it comes from; `left_out` says why there is none."""

    id: str = Field(min_length=1)
    query: str = ""
    answer: str = ""
    source: str | None = None
    meta: dict[str, JsonValue] = Field(default_factory=dict)
    left_out: LeftOut | None = None

    @property
    def document(self) -> str | None:
        """The id of the document that the answer was written from."""
        found = self.meta.get("document")
        return found if isinstance(found, str) else None

    @model_validator(mode="before")
    @classmethod
    def _read_shape(cls, row: object) -> object:
        if not isinstance(row, Mapping):
            return row
        if "positive" in row and "kind" in row:
            return _of_row(PairRow.model_validate(row))
        if "query" in row and "answer" in row:
            return _of_answer(row)
        if not {"responses", "response_a", "chosen"} & set(row):
            has = ", ".join(map(str, row)) or "nothing"
            raise ValueError(f"expected {SHAPES}; there is {has}")
        return _of_pair(inputs.PairRow.model_validate(row))


def _of_row(row: PairRow) -> dict[str, object]:
    if row.drop is not None or row.positive is None:
        return {"id": row.id, "left_out": "dropped"}
    return _of_pair(to_pair(row, 0))


def _of_pair(pair: Pair) -> dict[str, object]:
    if pair.label not in (0, 1):
        return {"id": pair.id, "left_out": "no_label"}
    return {
        "id": pair.id,
        "query": pair.query,
        "answer": pair.responses[pair.label],
        "source": pair.source,
        "meta": pair.meta,
    }


def _of_answer(row: Mapping[object, object]) -> dict[str, object]:
    given = {str(name): value for name, value in row.items() if value is not None}
    texts = given.get("query"), given.get("answer")
    if not all(isinstance(text, str) for text in texts) or not texts[1]:
        raise ValueError(f"expected query and answer as texts, got {shorten(texts)}")
    id = given.get("id", inputs.content_id(texts[0], [texts[1]]))
    names = ("query", "answer", "source", "meta")
    found = {name: given[name] for name in names if name in given}
    return found | {"id": str(id) if isinstance(id, int) and not isinstance(id, bool) else id}


class Texts:
    """Documents by id, in a private file that vanishes by itself. Close it by `with`."""

    def __init__(self) -> None:
        schema = "create table texts (id text primary key, text text) without rowid"
        self._tables = PrivateTables(schema, "keeping the documents")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._tables.close()

    def add(self, document: Document) -> None:
        """Keep a text."""
        row = (clean_text(document.id), clean_text(document.text))
        self._tables.do("insert or ignore into texts values (?, ?)", *row)

    def find(self, id: str | None) -> str:
        """The text of a document; empty where it is not known."""
        query = "select text from texts where id = ?"
        return "".join(str(text) for (text,) in self._tables.rows(query, clean_text(id or "")))


class Pools:
    """A pool of names for each source."""

    def __init__(self) -> None:
        self._pools: dict[str | None, NamePool] = {}

    def of(self, source: str | None) -> NamePool:
        """The pool of a source."""
        return self._pools.setdefault(source, NamePool())


class Made(NamedTuple):
    """The pairs of one answer, and the kinds for which it offered no place."""

    pairs: list[Pair]
    chosen: list[Corruption]
    no_place: list[CorruptionKind]


def corrupted_pairs(
    origin: Origin,
    kinds: Sequence[CorruptionKind],
    most: int,
    *,
    seed: int,
    pool: NamePool,
    document: str = "",
) -> Made:
    """At most so many pairs of an answer, its kinds in turn, in an order that is drawn."""
    turns = Random(derive(seed, origin.id, "kinds")).sample(kinds, len(kinds))
    by_kind = {kind: _corruptions(origin, kind, most, seed, pool, document) for kind in turns}
    chosen = [
        (number, found[number - 1])
        for number in range(1, most + 1)
        for found in by_kind.values()
        if len(found) >= number
    ][:most]
    first = derive(seed, origin.id, "order")
    pairs = [
        _pair(origin, number, each, (first + place) % 2)
        for place, (number, each) in enumerate(chosen)
    ]
    no_place = [kind for kind in kinds if not by_kind[kind]]
    return Made(pairs, [each for _, each in chosen], no_place)


def _corruptions(
    origin: Origin, kind: CorruptionKind, most: int, seed: int, pool: NamePool, document: str
) -> list[Corruption]:
    """Unlike corruptions of one kind; the answer ends them when draws bring nothing new."""
    found = dict[str, Corruption]()
    for number in range(1, most + 1):
        made = corrupt(
            origin.answer,
            kind,
            seed=derive(seed, origin.id, f"{kind} {number}"),
            pool=pool,
            document=document,
            query=origin.query,
        )
        if made is None:
            break
        found.setdefault(made.text, made)
    return list(found.values())


def _pair(origin: Origin, number: int, made: Corruption, label: int) -> Pair:
    texts = (origin.answer, made.text) if label == 0 else (made.text, origin.answer)
    about: dict[str, JsonValue] = {
        "kind": made.kind,
        "form": made.form,
        "origin": origin.id,
        "before": made.before,
        "after": made.after,
        "start": made.start,
        "end": made.end,
        "better_for": "completeness" if made.kind == "omission" else "truth",
    }
    return Pair.model_validate(
        {
            "id": f"{origin.id}/{made.kind}-{number}",
            "query": origin.query,
            "responses": texts,
            "label": label,
            "source": origin.source,
            "meta": {**origin.meta, "corruption": about},
        }
    )
