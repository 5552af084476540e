"""Results of a short command: files beside each other, in their place only when all is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol, Self, TypeVar

from pydantic import BaseModel

from openreward.cli.progress import RunProgress
from openreward.errors import RecordError
from openreward.records import RowError
from openreward.synth.whole_file import WholeFile

_KEPT_ERRORS = 100


class _WithId(Protocol):
    @property
    def id(self) -> str: ...

    @classmethod
    def model_validate_json(cls, json_data: bytes, /) -> Self: ...


R = TypeVar("R", bound=_WithId)


def make_folder(folder: Path) -> None:
    """The folder of a run, made where it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RecordError(f"{folder}: cannot be a folder of results: {error.strerror}") from None


def rows_by_id(path: Path, model: type[R]) -> Iterator[R]:
    """The rows of an output in the order of their ids, whatever order they were done in."""
    places: list[tuple[str, int]] = []
    try:
        with path.open("rb") as file:
            offset = 0
            for line in file:
                if line.strip():  # an empty one stays where a row was taken out
                    places.append((model.model_validate_json(line).id, offset))
                offset += len(line)
            for _, place in sorted(places):
                file.seek(place)
                yield model.model_validate_json(file.readline())
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror or error}") from None


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Replace a file that is made from the rows of an output, all at once."""
    try:
        file = WholeFile(path)
        try:
            for line in lines:
                file.write(line.encode() + b"\n")
            file.finish()
        finally:
            file.forget()
    except OSError as error:
        raise RecordError(
            f"{path}: cannot be written: {error.strerror or error}; make room or check the "
            "permissions, then the same command with --resume writes it"
        ) from None


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
        self.check(*paths, replace=replace)
        self._files = dict[Path, WholeFile]()
        with ExitStack() as undo:
            for path in paths:
                try:
                    self._files[path] = WholeFile(path)
                except OSError as error:
                    raise _unwritable(path, error) from None
                undo.callback(self._files[path].forget)
            self._undo = undo.pop_all()

    @staticmethod
    def check(*paths: Path, replace: bool = False) -> None:
        """Raise `RecordError` where one exists and is not to be replaced."""
        for path in paths:
            if not replace and os.path.lexists(path):
                raise RecordError(
                    f"{path}: exists already; name another output, or move it out of the way"
                )

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
