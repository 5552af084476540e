"""What readers of documents share: the formats, the rows left out, what cannot be read."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, cast, get_args

from openreward.errors import RecordError, shorten
from openreward.loose_json import clean
from openreward.records import open_bytes

DocumentFormat = Literal[
    "documents",
    "wikipedia-dump",
    "wikipedia-introductions",
    "arxiv",
    "pubmed-xml",
    "medline",
    "pubmed-qa",
]
FORMATS: tuple[DocumentFormat, ...] = get_args(DocumentFormat)


@dataclass
class Skipped:
    """Rows that became no document, by reason, with where the first of each stood."""

    counts: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def add(self, reason: str, where: str, rows: int = 1) -> None:
        """Count one row, or several at one place."""
        self.counts[reason] = self.counts.get(reason, 0) + rows
        self.first.setdefault(reason, where)


def unreadable(path: Path, error: Exception) -> RecordError:
    """The error for a file that cannot be read, or whose packing is broken."""
    reason = getattr(error, "strerror", None) or str(error)
    return RecordError(f"{path}: cannot be read: {reason}; check the path, or fetch it again")


def read_members(path: Path) -> Iterable[tuple[str, object]]:
    """The members of a file that is one JSON object; it is read whole."""
    try:
        with open_bytes(path) as file:
            members = clean(json.load(file))  # a lone surrogate has no UTF-8 form
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError) as error:
        raise RecordError(f"{path}: expected one JSON object: {error}; fetch it again") from None
    if not isinstance(members, dict):
        raise RecordError(
            f"{path}: expected one JSON object, got {shorten(members)}; name its format with "
            "--format"
        )
    return cast(dict[str, object], members).items()
