"""What readers of documents share: the formats, the rows left out, what cannot be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from openreward.errors import RecordError

DocumentFormat = Literal["documents", "wikipedia-introductions", "arxiv", "pubmed-xml", "medline"]
FORMATS: tuple[DocumentFormat, ...] = get_args(DocumentFormat)


@dataclass
class Skipped:
    """Rows that became no document, by reason, with where the first of each stood."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, where: str) -> None:
        """Count one row."""
        self.counts[reason] = self.counts.get(reason, 0) + 1
        self.first.setdefault(reason, where)


def unreadable(path: Path, error: Exception) -> RecordError:
    """The error for a file that cannot be read, or whose packing is broken."""
    reason = getattr(error, "strerror", None) or str(error)
    return RecordError(f"{path}: cannot be read: {reason}; check the path, or fetch it again")
