"""The rows of a set as a table on disk: where each lies, and what becomes of it. No texts.

A temporary database that vanishes by itself, as in `near_duplicates`: memory does not grow with the
rows. Rows come in an order drawn by the hash of their ids, or in that of their ids, so nothing
depends on the files they were written to, or when.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple, Self, get_args

from openreward.errors import RecordError, shorten
from openreward.judge import derive
from openreward.records import RowError, parse_line
from openreward.synth.pair_records import AnswerText, PairDrop, PairReason, PairRow, PairStep
from openreward.synth.private_tables import PrivateTables
from openreward.tools.passages import UNSPACED
from openreward.types import Record

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)

_WORD = re.compile(rf"[{UNSPACED}]|[^\W{UNSPACED}]+(?:['’-][^\W{UNSPACED}]+)*")
_TABLES = """
create table rows (
    number integer primary key, id text unique, file integer, place integer, source text,
    drawn integer, positive integer, negative integer,
    step text, reason text, detail text, split text, label integer
)
"""


class Entry(NamedTuple):
    """A row without a drop; lengths are in words."""

    number: int
    id: str
    positive: int
    negative: int


class Group(NamedTuple):
    """How many rows of a source share a fate: dropped by a reason, or in a split."""

    source: str
    step: PairStep | None
    reason: PairReason | None
    split: Split | None
    rows: int


class DroppedPair(Record):
    """A document that gave no pair, and why."""

    id: str
    source: str
    step: PairStep
    reason: PairReason
    detail: str


class PairTable:
    """All rows of some files. Close it by `with`; raises `RecordError` where one cannot be read."""

    def __init__(self, paths: Sequence[Path], seed: int) -> None:
        self.paths, self._seed = paths, seed
        self._files = list[BinaryIO]()
        with ExitStack() as undo:
            self._tables = undo.enter_context(PrivateTables(_TABLES, "making the set"))
            for path in paths:
                with _readable(path):
                    self._files.append(undo.enter_context(path.open("rb")))
            self._undo = undo.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self._undo.close()

    def read_all(self) -> Iterator[PairRow]:
        """Put all rows into the table, and give each as it comes."""
        for number, (path, file) in enumerate(zip(self.paths, self._files, strict=True)):
            place = 0
            with _readable(path):
                for at, line in enumerate(file, 1):
                    if line.strip():
                        row = _parse(path, at, line)
                        self._put(row, number, place)
                        yield row
                    place += len(line)

    def sources(self) -> list[str]:
        """The sources of rows without a drop, in order."""
        found = self._tables.rows(
            "select distinct source from rows where reason is null order by source"
        )
        return [source for (source,) in found]

    def kept(self, source: str | None = None, split: Split | None = None) -> list[Entry]:
        """The rows without a drop, of a source and a split, in drawn order."""
        found = self._tables.rows(
            "select number, id, positive, negative from rows where reason is null "
            "and (?1 is null or source = ?1) and (?2 is null or split = ?2) order by drawn, id",
            source,
            split,
        )
        return [Entry(*each) for each in found]

    def read(self, number: int) -> PairRow:
        """A row of the table, whole."""
        ((file, place),) = self._tables.rows(
            "select file, place from rows where number = ?", number
        )
        with _readable(self.paths[file]):
            self._files[file].seek(place)
            return _parse(self.paths[file], number, self._files[file].readline())

    def drop(self, number: int, drop: PairDrop) -> None:
        """A row becomes no pair."""
        self._tables.do(
            "update rows set step = ?, reason = ?, detail = ? where number = ?",
            *(drop.step, drop.reason, drop.detail, number),
        )

    def place(self, number: int, split: Split) -> None:
        """A row goes into a split."""
        self._tables.do("update rows set split = ? where number = ?", split, number)

    def label(self, number: int, label: Literal[0, 1]) -> None:
        """Which of its answers is the better."""
        self._tables.do("update rows set label = ? where number = ?", label, number)

    def labelled(self, split: Split | None = None) -> Iterator[tuple[PairRow, Literal[0, 1]]]:
        """The rows of a split by their ids, or all in drawn order, with their labels."""
        order = "drawn, id" if split is None else "id"
        found = self._tables.rows(
            "select number, label from rows where reason is null and (?1 is null or split = ?1) "
            f"order by {order}",
            split,
        )
        for number, label in found:
            yield self.read(number), label

    def dropped(self) -> Iterator[DroppedPair]:
        """The rows with a drop, by their ids."""
        found = self._tables.rows(
            "select id, source, step, reason, detail from rows where reason is not null order by id"
        )
        for id, source, step, reason, detail in found:
            yield DroppedPair(id=id, source=source, step=step, reason=reason, detail=detail)

    def groups(self) -> list[Group]:
        """What became of all rows, counted."""
        found = self._tables.rows(
            "select source, step, reason, iif(reason is null, split, null) as fate, count(*) "
            "from rows group by source, step, reason, fate"
        )
        return [Group(*each) for each in found]

    def _put(self, row: PairRow, file: int, place: int) -> None:
        drop = row.drop
        done = self._tables.do(
            "insert or ignore into rows (id, file, place, source, drawn, positive, negative, step, "
            "reason, detail) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            *(row.id, file, place, row.source, derive(self._seed, row.id, "set")),
            *(_words(row.positive), _words(row.negative)),
            *((drop.step, drop.reason, drop.detail) if drop else (None, None, None)),
        )
        if not done:
            ((former,),) = self._tables.rows("select file from rows where id = ?", row.id)
            cure = (
                "which it has before; take the line out"
                if former == file
                else f"which {self.paths[former]} has; give each folder once, of shards that differ"
            )
            raise RecordError(
                f"{self.paths[file]}: expected each document once, got {shorten(row.id)} again, "
                f"{cure}"
            )


def words_in(text: str) -> int:
    """How many words a text has; a character of a script without spaces is one."""
    return sum(1 for _ in _WORD.finditer(text))


def _words(answer: AnswerText | None) -> int:
    return words_in(answer.text) if answer is not None else 0


def _parse(path: Path, at: int, line: bytes) -> PairRow:
    found = parse_line(at, line.strip(), PairRow)
    if isinstance(found, RowError):
        raise RecordError(
            f"{path}: {found.message}; expected a row of `openreward synth pairs`; go on with that "
            "run by --resume, which cuts a torn last line off, or take the line out"
        )
    row = found.record
    answers = (row.positive, row.negative)
    if row.drop is None and not (row.query and all(each and each.text for each in answers)):
        raise RecordError(
            f"{path}: line {at}: expected a row with a query and two answers, or with a drop, got "
            f"neither for {shorten(row.id)}; take the line out and do it again by --resume"
        )
    return row


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecordError(
            f"{path}: cannot be read: {error.strerror or error}; name the folder of a run of "
            "`openreward synth pairs`"
        ) from None
