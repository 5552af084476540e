"""What one pipeline hands back: its dimension, and what the dimension was judged by."""

from __future__ import annotations

from typing import NamedTuple

from openreward.errors import PolicyError
from openreward.loose_json import clean_text
from openreward.scoring.asking import Reply
from openreward.scoring.records import (
    CheckedStatement,
    Dimension,
    DimensionScore,
    DimensionStatus,
    ExtractedPiece,
)
from openreward.types import PolicyFault


class Part(NamedTuple):
    """One dimension; the statements are faithfulness's, the pieces completeness's."""

    dimension: DimensionScore
    statements: tuple[CheckedStatement, ...] = ()
    extracted: tuple[ExtractedPiece, ...] = ()
    shared: bool = False  # another answer's extraction
    notes: tuple[str, ...] = ()


def scored(name: Dimension, reply: Reply[float]) -> DimensionScore:
    """A dimension whose score is one reply."""
    return DimensionScore(
        name=name,
        status=reply.status,
        score=reply.value,
        reason=reply.reason,
        text=reply.text,
        tries=reply.tries,
        forced=reply.forced,
        fault=reply.fault,
    )


def without(
    name: Dimension, status: DimensionStatus, reason: str, fault: PolicyFault | None = None
) -> DimensionScore:
    """A dimension that has no score, and why."""
    return DimensionScore(name=name, status=status, reason=clean_text(reason), fault=fault)


def broken(name: Dimension, error: PolicyError) -> DimensionScore:
    """A dimension that an engine failed at, outside of a request."""
    return without(name, "error", str(error), error.fault)
