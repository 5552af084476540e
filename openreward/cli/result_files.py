"""Results of a short command: files beside each other, in their place only when all is written."""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from pydantic import BaseModel

from openreward.cli.progress import RunProgress
from openreward.errors import RecordError
from openreward.records import RowError
from openreward.synth.whole_file import WholeFile

_KEPT_ERRORS = 100


def beside(output: Path, ending: str) -> Path:
    """The file of the same name with another ending: `out.jsonl` and `out.train.jsonl`."""
    return output.with_name(f"{output.name.removesuffix('.jsonl')}.{ending}")


class LeftOut:
    """Input rows that cannot be used: counted by fault, the first ones kept, all of them told."""

    def __init__(self, progress: RunProgress) -> None:
        self.counts, self.errors = dict[str, int](), list[str]()
        self._progress = progress

    def drop(self, error: RowError) -> None:
        """Count a row and say what is wrong with it."""
        self.counts[error.fault] = self.counts.get(error.fault, 0) + 1
        if len(self.errors) < _KEPT_ERRORS:
            self.errors.append(error.message)
        self._progress.drop(error)


class ResultFiles:
    """Files of records, by their paths; an error leaves none behind.

    None may exist, unless they are to `replace` those of an earlier run.
    """

    def __init__(self, *paths: Path, replace: bool = False) -> None:
        for path in paths:
            if not replace and os.path.lexists(path):
                raise RecordError(
                    f"{path}: exists already; name another output, or move it out of the way"
                )
        self._files = dict[Path, WholeFile]()
        with ExitStack() as undo:
            for path in paths:
                try:
                    self._files[path] = WholeFile(path)
                except OSError as error:
                    raise _unwritable(path, error) from None
                undo.callback(self._files[path].forget)
            self._undo = undo.pop_all()

    def write(self, path: Path, record: BaseModel, indent: int | None = None) -> None:
        """A record as a line, or over several lines."""
        try:
            self._files[path].write(record.model_dump_json(indent=indent).encode() + b"\n")
        except OSError as error:
            raise _unwritable(path, error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        with self._undo:
            for path, file in self._files.items() if kind is None else ():
                try:
                    file.finish()
                except OSError as failed:
                    raise _unwritable(path, failed) from None


def _unwritable(path: Path, error: OSError) -> RecordError:
    return RecordError(
        f"{path}: cannot be written: {error.strerror or error}; make room, check the folder and "
        "its permissions, or name another output"
    )
