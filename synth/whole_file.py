"""A file that takes its place when it is finished, and before that is not seen."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


class WholeFile:
    """Write, then `finish`; `forget` takes away what was not finished. Raises `OSError`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
        self._file = self._unfinished.open("wb")

    def write(self, data: bytes) -> None:
        """Put data at the end."""
        self._file.write(data)

    def finish(self) -> None:
        """Put it on disk and in its place, over what was there."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._unfinished.replace(self._path)

    def forget(self) -> None:
        """Close it; nothing stays of it unless it was finished."""
        with suppress(OSError):  # of a full disk: the first error is the one to tell
            self._file.close()
        with suppress(OSError):
            self._unfinished.unlink(missing_ok=True)
