"""Standard output that can be full: told once as an error of the user's, not as a traceback.

A pipe whose reader has gone (`| head`) stays the `OSError` that click ends silently on.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import Any


class _Stdout(FileIO):
    """The descriptor; after the first failure it takes what comes, so that the end is quiet."""

    _failed = False

    def write(self, data: Any, /) -> int:
        """Raises `UserError` where there is no room."""
        if self._failed:
            return len(data)
        try:
            return super().write(data)
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            self._failed = True
            raise _unwritable(error) from None


def _unwritable(error: OSError) -> Exception:
    from openreward.errors import UserError  # imports pydantic, which --help need not

    return UserError(
        f"standard output: cannot be written: {error.strerror or error}; make room, or send it "
        "elsewhere; what went to files stays there"
    )


@contextmanager
def guarded_stdout() -> Iterator[None]:
    """Within the block all that is printed goes through a `_Stdout`, which is flushed at its end.

    A name or a sign that the terminal's encoding lacks is written as its escape.
    """
    plain = sys.stdout
    if not isinstance(plain, TextIOWrapper):  # closed, or a test's
        yield
        return
    raw = _Stdout(plain.fileno(), "wb", closefd=False)
    guarded = TextIOWrapper(
        BufferedWriter(raw),
        encoding=plain.encoding,
        errors="backslashreplace",
        line_buffering=plain.line_buffering,
    )
    sys.stdout = guarded
    try:
        yield
    finally:
        if sys.stdout is guarded:  # else click has put another there, as the reader has gone
            guarded.flush()
