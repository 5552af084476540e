"""LongBench-Chat: a judge grades one answer a case from 1 to 10, and the total is of 100.

A case has a question, a reference answer and three graded examples (the authors' few_shots.json, a
list by the case's number, which counts from 1). The total is ten times the mean grade: on the 50
cases the sum over 5. It is a number only when every case has a grade.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pydantic_core
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from openreward.agent import Clock
from openreward.batch import Measure, NotDone
from openreward.errors import PolicyError, RecordError, shorten
from openreward.eval.judges import STOPPING
from openreward.records import Row, RowError, explain
from openreward.scoring.asking import Asking, ReplyStatus, Spent
from openreward.scoring.language import language_of
from openreward.scoring.rating import Rated, rating
from openreward.types import PolicyFault, Record, Usage

_OF_THE_CASE: tuple[PolicyFault, ...] = ("context_overflow", "bad_request")


class _Example(BaseModel):
    model_config = ConfigDict(extra="ignore")

    answer: str
    score: float = Field(ge=1, le=10)


_EXAMPLES = TypeAdapter(list[list[_Example]])


class CaseRow(BaseModel):
    """A case as it is handed over; `answer` is the reference, `prediction` the one to grade."""

    model_config = ConfigDict(extra="ignore")

    idx: int | None = None
    id: str
    query: str
    answer: str
    prediction: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _name(cls, row: object) -> object:
        if not isinstance(row, Mapping) or row.get("id") is not None:
            return row if not isinstance(row, Mapping) else {**row, "id": str(row["id"])}
        if row.get("idx") is None:
            raise ValueError("expected idx, the number of the case from 1 on, or id; got neither")
        return {**row, "id": str(row["idx"])}


class Case(Record):
    """A case with the answer to grade and its examples."""

    id: str
    query: str
    reference: str
    answer: str
    examples: tuple[tuple[str, float], ...] = ()


class Grade(Record):
    """What a case came to."""

    id: str
    status: ReplyStatus
    grade: float | None = None
    reason: str = ""
    text: str = ""
    tries: int = 0
    forced: bool = False
    usage: Usage = Usage()
    seconds: float = 0.0


class AnswerRow(BaseModel):
    """An answer in a file of its own."""

    model_config = ConfigDict(extra="ignore")

    id: str | int | None = None
    idx: int | None = None
    prediction: str | None = None
    answer: str | None = None
    response: str | None = None

    def text(self) -> str | None:
        """The answer, under whichever name."""
        given = (self.prediction, self.response, self.answer)
        return next((each for each in given if each is not None), None)

    def key(self) -> str | None:
        """The case's id."""
        found = self.idx if self.id is None else self.id
        return None if found is None else str(found)


def read_examples(path: Path) -> list[tuple[tuple[str, float], ...]]:
    """The graded examples of each case, in the order of their numbers."""
    try:
        found = _EXAMPLES.validate_python(pydantic_core.from_json(path.read_bytes()))
    except OSError as error:
        raise RecordError(f"{path}: cannot be read: {error.strerror}") from None
    except ValidationError as error:
        raise RecordError(
            f"{path}: expected a list of graded answers a case: {explain(error)}"
        ) from (None)
    except ValueError as error:
        raise RecordError(f"{path}: expected JSON: {error}") from None
    return [tuple((each.answer, each.score) for each in case) for case in found]


def cases(
    rows: Iterator[Row[CaseRow] | RowError],
    examples: Sequence[tuple[tuple[str, float], ...]],
    answers: Mapping[str, str] | None,
) -> Iterator[Row[Case] | RowError]:
    """The cases that can be graded; `answers` by id are in place of the rows' own."""
    for row in rows:
        if isinstance(row, RowError):
            yield row
            continue
        case = row.record
        answer = case.prediction if answers is None else answers.get(case.id)
        number = case.idx if case.idx is not None else int(case.id) if case.id.isdecimal() else 0
        wrong = ""
        if answer is None:
            wrong = f"expected an answer of case {shorten(case.id)}, got none"
        elif examples and not 1 <= number <= len(examples):
            wrong = f"expected idx from 1 to {len(examples)}, the graded examples, got {number}"
        if answer is None or wrong:
            message = f"{row.place} {row.line}: {wrong}"
            yield RowError(line=row.line, fault="wrong_fields", message=message)
            continue
        shown = examples[number - 1] if examples else ()
        made = Case(
            id=case.id, query=case.query, reference=case.answer, answer=answer, examples=shown
        )
        yield Row(row.line, made, row.place)


async def grade(asking: Asking, case: Case, clock: Clock = time.monotonic) -> Grade:
    """The grade of a case.

    Raises `PolicyError` for faults that every case would share, `NotDone` for one that passes.
    """
    spent, started = Spent(), clock()
    language = language_of(case.query, case.answer)
    examples = [Rated(answer, score) for answer, score in case.examples]
    tokens = asking.settings.turn_tokens
    request = rating(language, case.query, case.reference, examples, case.answer, tokens)
    reply = await asking.ask(request, case.id, spent)
    if reply.fault in STOPPING and reply.fault is not None:
        raise PolicyError(reply.fault, f"{reply.reason}; then go on with --resume")
    if reply.fault is not None and reply.fault not in _OF_THE_CASE:
        raise NotDone(reply.reason)
    return Grade(
        id=case.id,
        status=reply.status,
        grade=reply.value,
        reason=reply.reason,
        text=reply.text,
        tries=reply.tries,
        forced=reply.forced,
        usage=spent.usage,
        seconds=round(clock() - started, 3),
    )


def measured(made: Grade) -> Measure:
    """What a grade adds to the totals."""
    return Measure(made.id, made.status, made.usage, made.seconds)


def total_of(grades: Sequence[float], cases: int) -> float | None:
    """Of 100; None where a case has no grade."""
    if not cases or len(grades) < cases:
        return None
    return 10 * sum(grades) / len(grades)
