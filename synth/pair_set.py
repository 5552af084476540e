"""From the rows of one run, or of many machines', to a set of labelled pairs in three splits.

Over the rows without a drop, in this order: near-duplicate queries, matching of lengths, the split
by document, and which answer stands first. All is drawn by hashes of the ids, so the set depends on
the rows alone, not on their order or their files. A document's split never changes as others come;
whether it is left out, and which answer is first, may.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Literal, Self, get_args

from openreward.inputs import content_id
from openreward.judge import derive
from openreward.synth.near_duplicates import NearDuplicates
from openreward.synth.pair_matching import unmatched
from openreward.synth.pair_records import (
    AnswerText,
    PairDrop,
    PairReason,
    PairRow,
    PairSettings,
    PairStep,
)
from openreward.synth.pair_table import SPLITS, DroppedPair, PairTable, Split
from openreward.types import Pair, Record, Usage

_STEPS, _REASONS = get_args(PairStep), get_args(PairReason)


class DropCount(Record):
    """How many documents ended at a step for a reason."""

    step: PairStep
    reason: PairReason
    documents: int


class SourceCounts(Record):
    """What became of the documents of a source."""

    source: str
    documents: int
    dropped: tuple[DropCount, ...]
    pairs: int
    train: int
    dev: int
    test: int


class PairSet:
    """A finished set. Close it by `with`; `usage` and `seconds` are those of its rows added up."""

    def __init__(self, table: PairTable, usage: Usage, seconds: float) -> None:
        self._table, self.usage, self.seconds = table, usage, seconds

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._table.__exit__(*raised)

    def pairs(self, split: Split) -> Iterator[Pair]:
        """The pairs of a split, by their documents' ids."""
        return itertools.starmap(to_pair, self._table.labelled(split))

    def drawn(self, most: int) -> Iterator[Pair]:
        """Pairs of all splits, drawn by the hash of the id: all of them, or `most`."""
        return itertools.islice(itertools.starmap(to_pair, self._table.labelled()), most)

    def dropped(self) -> Iterator[DroppedPair]:
        """The documents that gave no pair, by their ids."""
        return self._table.dropped()

    def counts(self) -> tuple[SourceCounts, ...]:
        """What became of all documents, by source."""
        groups = sorted(self._table.groups(), key=lambda group: group.source)
        found = list[SourceCounts]()
        for source, members in itertools.groupby(groups, key=lambda group: group.source):
            dropped, splits = list[DropCount](), dict[Split, int]()
            for each in members:
                if each.split is not None:
                    splits[each.split] = each.rows
                elif each.step is not None and each.reason is not None:
                    count = DropCount(step=each.step, reason=each.reason, documents=each.rows)
                    dropped.append(count)
            pairs = sum(splits.values())
            found.append(
                SourceCounts(
                    source=source,
                    documents=pairs + sum(each.documents for each in dropped),
                    dropped=tuple(sorted(dropped, key=order_of_drops)),
                    pairs=pairs,
                    **{split: splits.get(split, 0) for split in SPLITS},
                )
            )
        return tuple(found)


def order_of_drops(count: DropCount) -> tuple[int, int]:
    """Drops in the order of the steps, and of the reasons within one."""
    return _STEPS.index(count.step), _REASONS.index(count.reason)


def make_set(paths: Sequence[Path], settings: PairSettings) -> PairSet:
    """The set of all rows of some files. Raises `RecordError`, as for a document met twice."""
    with ExitStack() as undo:
        table = undo.enter_context(PairTable(paths, settings.seed))
        usage, seconds = Usage(), 0.0
        for row in table.read_all():
            usage += row.usage
            seconds += row.seconds
        _drop_duplicates(table, settings.near)
        for source in table.sources():
            if settings.match_lengths:
                _match_lengths(table, source)
        for entry in table.kept():
            table.place(entry.number, split_of(entry.id, settings))
        for source, split in itertools.product(table.sources(), SPLITS):
            _balance(table, source, split, settings.seed)
        undo.pop_all()
    return PairSet(table, usage, seconds)


def split_of(id: str, settings: PairSettings) -> Split:
    """The split of a document, by the hash of its id alone."""
    drawn = derive(settings.seed, id, "split") / 2**31
    if drawn < settings.test:
        return "test"
    return "dev" if drawn < settings.test + settings.dev else "train"


def to_pair(row: PairRow, label: Literal[0, 1]) -> Pair:
    """The pair of a row without a drop; the grounded answer stands at `label`."""
    grounded, other = _text(row.positive), _text(row.negative)
    return Pair(
        id=f"{row.id}#{content_id(row.query, [grounded, other])[:8]}",
        query=row.query,
        responses=(other, grounded) if label else (grounded, other),
        label=label,
        source=row.source,
        meta={
            "document": row.id,
            "title": row.title,
            "url": row.url,
            "revision": row.revision,
            "start": row.start,
            "end": row.end,
            "kind": row.kind,
            "words": row.words,
            "writer": row.writer,
            "seed": row.seed,
            "prompts": row.prompts,
            "support": {"positive": _share(row.positive), "negative": _share(row.negative)},
        },
    )


def _drop_duplicates(table: PairTable, near: float) -> None:
    with NearDuplicates(near) as before:
        for entry in table.kept():
            query = table.read(entry.number).query
            found = before.find(query)
            if found is None:
                before.add(entry.id, query)
                continue
            detail = f"{found.overlap:.2f} in common with {found.of}"
            table.drop(entry.number, PairDrop(step="set", reason="duplicate_query", detail=detail))


def _match_lengths(table: PairTable, source: str) -> None:
    entries = table.kept(source)
    ratios = [math.log(max(1, each.positive) / max(1, each.negative)) for each in entries]
    for at in unmatched(ratios):
        entry = entries[at]
        detail = f"{entry.positive} words with the document, {entry.negative} without"
        table.drop(entry.number, PairDrop(step="set", reason="length_matching", detail=detail))


def _balance(table: PairTable, source: str, split: Split, seed: int) -> None:
    """Half of the pairs get label 0; of an odd number, the one more goes to a drawn side."""
    entries = sorted(
        table.kept(source, split), key=lambda entry: (derive(seed, entry.id, "label"), entry.id)
    )
    zeros = (len(entries) + derive(seed, f"{source} {split}", "odd") % 2) // 2
    for at, entry in enumerate(entries):
        table.label(entry.number, 0 if at < zeros else 1)


def _text(answer: AnswerText | None) -> str:
    return answer.text if answer is not None else ""


def _share(answer: AnswerText | None) -> float | None:
    return answer.support.share if answer is not None and answer.support is not None else None
