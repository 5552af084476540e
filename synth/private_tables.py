"""Tables of a run in a private database on disk that vanishes by itself, so memory stays small."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Self

from openreward.errors import RecordError


class PrivateTables:
    """The tables of a schema. Close it by `with`; `purpose` is what they are for, in messages.

    Raises `RecordError` where the database fails, such as on a full disk.
    """

    def __init__(self, schema: str, purpose: str) -> None:
        self._purpose = purpose
        self._tables = sqlite3.connect("")  # a private file that the system takes away
        with ExitStack() as undo:
            undo.callback(self._tables.close)
            with self._told():
                self._tables.executescript(schema)
            undo.pop_all()

    def do(self, statement: str, *values: object) -> int:
        """One statement that changes rows; how many it changed."""
        with self._told():
            return self._tables.execute(statement, values).rowcount

    def do_many(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        """One statement for each row of values."""
        with self._told():
            self._tables.executemany(statement, rows)

    def rows(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """What a statement finds, row by row."""
        with self._told():
            yield from self._tables.execute(statement, values)

    def close(self) -> None:
        """Let them go."""
        self._tables.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise RecordError(
                f"{self._purpose}: the temporary database failed: {error}; make room in the folder "
                "for temporary files, or name another one in TMPDIR"
            ) from None
