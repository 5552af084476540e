"""Rows with answers and their scores, as they are handed over, read as `ScoredAnswers`.

The prompt stands as in any file of prompts (`prompt`, `query`, `messages`, `conversation_input`).
`answers` (or `responses`) are texts, objects with `text`, or texts by name; `openreward synth
answers` writes such rows. `scores` go with them (`openreward.synth.scored`), or `ranking` (best
first, equals in a list), whose scores are the numbers of ranks below. An answer whose `status` is
other than ok has no score, whatever a judge said of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator

from openreward.errors import shorten
from openreward.inputs import content_id
from openreward.records import explain
from openreward.synth.preferences import ScoredAnswers
from openreward.synth.scenario_records import Said
from openreward.synth.scenario_sift import PromptRow
from openreward.synth.scored import GivenScores, Name, Ranking, Scores, align, read_tiers


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    text: str
    status: str = "ok"
    writer: str | None = None


_ANSWERS = TypeAdapter[dict[str, str] | list[str | _Answer]](dict[str, str] | list[str | _Answer])


class _Listed(NamedTuple):
    names: list[Name]
    texts: list[str]
    usable: list[bool]
    writers: list[str]  # who wrote each; the name of an answer that has one


class ScoredRow(BaseModel):
    """A row as it is handed over; other fields are passed over."""

    model_config = ConfigDict(extra="ignore")

    id: str | None
    prompt: tuple[Said, ...]
    query: str  # the question without its context
    context: str | None
    answers: _Listed
    scores: GivenScores | None = None
    ranking: Ranking | None = None

    @model_validator(mode="before")
    @classmethod
    def _read_shape(cls, row: object) -> object:
        if not isinstance(row, Mapping):
            return row
        try:
            prompt = PromptRow.model_validate(row)
        except ValidationError as error:
            raise ValueError(explain(error)) from None
        return {
            "id": prompt.id,
            "prompt": prompt.conversation,
            "query": prompt.question or prompt.text(),
            "context": prompt.context,
            "answers": _listed(row),
            "scores": row.get("scores"),
            "ranking": row.get("ranking"),
        }

    def key(self) -> str:
        """The id, or a hash of the texts."""
        if self.id is not None:
            return self.id
        return content_id([said.model_dump() for said in self.prompt], self.answers.texts)


def scored_answers(row: ScoredRow, given: Scores | None, *, ranked: bool = True) -> ScoredAnswers:
    """The row with the scores given, else (`ranked`) with those that its ranking says, else none.

    Raises `ValueError` where they do not fit the answers.
    """
    names, texts, usable, _ = row.answers
    found: tuple[float | None, ...] = (None,) * len(texts)
    if given is not None:
        found = align(given, names)
    elif ranked and row.ranking is not None:
        tiers = read_tiers("field ranking", row.ranking, names)
        below = {at: len(tiers) - 1 - rank for rank, tier in enumerate(tiers) for at in tier}
        found = tuple(below.get(at) for at in range(len(texts)))
    scores = tuple(score if ok else None for score, ok in zip(found, usable, strict=True))
    return ScoredAnswers(id=row.key(), prompt=row.prompt, answers=tuple(texts), scores=scores)


def _listed(row: Mapping[object, object]) -> _Listed:
    key = "responses" if row.get("answers") is None else "answers"
    value = row.get(key)
    try:
        answers = _ANSWERS.validate_python(value, strict=True)
    except ValidationError:
        raise ValueError(
            f"field {key}: expected a list of texts, or of objects with text, or texts by name, "
            f"got {shorten(value)}"
        ) from None
    if isinstance(answers, dict):
        return _Listed([*answers], [*answers.values()], [True] * len(answers), [*answers])
    texts = [each if isinstance(each, str) else each.text for each in answers]
    usable = [isinstance(each, str) or each.status == "ok" for each in answers]
    writers = ["" if isinstance(each, str) else each.writer or "" for each in answers]
    return _Listed([*range(len(answers))], texts, usable, writers)
