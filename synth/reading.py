"""What readers of documents share: opening a file, and counting the rows that became none."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, cast

from openreward.errors import RecordError


@dataclass
class Skipped:
    """Rows that became no document, by reason, with where the first of each stood."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, where: str) -> None:
        """Count one row."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first.setdefault(reason, where)


def open_bytes(path: Path) -> BinaryIO:
    """A file as bytes, unpacked when its name ends in .gz."""
    try:
        return cast(BinaryIO, gzip.open(path)) if path.suffix == ".gz" else path.open("rb")
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: Exception) -> RecordError:
    """The error for a file that cannot be read, or whose packing is broken."""
    reason = getattr(error, "strerror", None) or str(error)
    return RecordError(f"{path}: cannot be read: {reason}; check the path, or fetch it again")
