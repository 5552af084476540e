"""Scores of the answers of a row, as judges write them and consensus and preferences read them.

A score row is `{"id": ..., "scores": ...}`: a list in the order of the answers, null where there is
no score, or an object by the answers' names. Answers without names have the names "0", "1", ...
What a listwise judge returns (an object with `scores` in it) is taken for its scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NamedTuple

from pydantic import BeforeValidator

from openreward.errors import UserError, shorten
from openreward.eval.reading import FormatRow
from openreward.loose_json import clean_text
from openreward.records import Row, RowError, read_rows

_LARGEST = 1e100  # of a score: sums and differences of such are finite

Name = int | str
Ranking = list[Name | list[Name]]
"""Best first; equal answers in a list of their own."""


Scores = list[float | None] | dict[str, float | None]
"""As they stand in a row: in the order of the answers, or by their names."""


def _read(value: object) -> object:
    """Scores, or an object that holds them, as numbers; one message for all that is neither."""
    inner = value.get("scores") if isinstance(value, Mapping) else None
    given = inner if isinstance(inner, Mapping | list) else value
    if isinstance(given, Mapping):
        return {str(name): _number(score) for name, score in given.items()}
    if isinstance(given, list):
        return [_number(score) for score in given]
    raise ValueError(f"expected scores as a list or by the answers' names, got {shorten(given)}")


def _number(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool):
        with suppress(OverflowError):
            if abs(number := float(value)) <= _LARGEST:
                return number
    raise ValueError(f"expected finite numbers as scores, or null, got {shorten(value)}")


GivenScores = Annotated[Scores, BeforeValidator(_read)]


class ScoreRow(FormatRow):
    """The scores of one row's answers; other fields are passed over."""

    id: str | int
    scores: GivenScores


class ScoreFile(NamedTuple):
    """The scores of a file by id, and the rows of it that cannot be used."""

    scores: dict[str, Scores]
    errors: list[RowError]


def read_scores(path: Path) -> ScoreFile:
    """A file of score rows, kept in memory; a second row of an id is an error."""
    found = ScoreFile({}, [])
    for row in read_rows(path, ScoreRow):
        error = row if isinstance(row, RowError) else _keep(row, found)
        if error is not None:
            message = clean_text(f"{path}: {error.message}")
            found.errors.append(error.model_copy(update={"message": message}))
    return found


def _keep(row: Row[ScoreRow], found: ScoreFile) -> RowError | None:
    id = str(row.record.id)
    if id in found.scores:
        message = f"{row.place} {row.line}: expected a new id, got {shorten(id)} again"
        return RowError(line=row.line, fault="duplicate_id", message=message)
    found.scores[id] = row.record.scores
    return None


def align(scores: Scores, names: Sequence[Name]) -> tuple[float | None, ...]:
    """One score or None for each answer; raises `ValueError` where they do not fit the answers."""
    if isinstance(scores, list):
        if len(scores) != len(names):
            raise ValueError(
                f"scores: expected {len(names)}, one for each answer (null: none), got "
                f"{len(scores)}"
            )
        return tuple(scores)
    known = [str(name) for name in names]
    unknown = [name for name in scores if name not in known]
    if unknown:
        raise ValueError(
            f"scores: expected them of {shorten(known)}, got one of {shorten(unknown[0])}"
        )
    return tuple(scores.get(name) for name in known)


def read_tiers(field: str, ranking: Ranking, names: Sequence[Name]) -> tuple[tuple[int, ...], ...]:
    """A ranking as answers' numbers, each at most once; raises `ValueError`."""
    numbers = {name: number for number, name in enumerate(names)}
    tiers = [tier if isinstance(tier, list) else [tier] for tier in ranking]
    said = [name for tier in tiers for name in tier]
    if len(set(said)) != len(said) or not all(name in numbers for name in said) or not all(tiers):
        raise ValueError(
            f"{field}: expected answers of {shorten(list(names))}, each at most once, best first, "
            f"got {shorten(ranking)}"
        )
    return tuple(tuple(numbers[name] for name in tier) for tier in tiers)


def check_used(path: Path, scores: Mapping[str, Scores], used: int) -> str | None:
    """What to say of scores that no row has the id of; raises `UserError` where all are such."""
    if scores and not used:
        raise UserError(
            f"{path}: expected the ids of the rows that were scored, got "
            f"{shorten(next(iter(scores)))}, which no row has, and no other that one has"
        )
    unused = len(scores) - used
    return f"{path}: {unused} of {len(scores)} ids are of no row" if unused else None
