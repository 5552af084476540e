"""The shapes in which answers to score are handed over.

`query` (or `question`, or `prompt` as text or messages) with `answer` (or `response`), or with
several in `answers` (or `responses`): texts, or objects with `text`, of which those whose `status`
is other than ok are passed over. `context` is the document, where a row has its own. Without an
`id` a row gets a hash of its texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator

from openreward.errors import shorten
from openreward.inputs import Message, as_query, content_id
from openreward.records import Row, RowError
from openreward.types import Record

SHAPES = "query (question, prompt) with answer (response), or with answers (responses)"
_QUERIES = ("query", "question", "prompt")
_ONE, _MANY = ("answer", "response"), ("answers", "responses")


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)

    text: str
    status: str = "ok"


_ANSWERS = TypeAdapter[list[str | _Answer]](list[str | _Answer])
_MESSAGES = TypeAdapter(list[Message])


class AskedAnswer(Record):
    """One answer to score."""

    id: str
    query: str
    answer: str
    context: str | None = None


class AnswersRow(BaseModel):
    """A row as it is handed over; `fields` are all of its fields, the context among them."""

    model_config = ConfigDict(extra="ignore")

    id: str | None
    query: str
    answers: tuple[tuple[int | None, str], ...]  # the number where a row has several
    fields: dict[str, object]

    @model_validator(mode="before")
    @classmethod
    def _read_shape(cls, row: object) -> object:
        if not isinstance(row, Mapping):
            return row
        given = {str(name): value for name, value in row.items() if value is not None}
        id = given.get("id")
        if isinstance(id, int) and not isinstance(id, bool):
            id = str(id)
        return {
            "id": id or None,
            "query": _query(given),
            "answers": _answers(given),
            "fields": given,
        }

    def asked(self, context: str | None, field: str) -> Iterator[AskedAnswer]:
        """The answers, with the row's own context in `field`, or the one given for all.

        Raises `ValueError` where that field is no text.
        """
        own = self.fields.get(field, context)
        if own is not None and not isinstance(own, str):
            raise ValueError(f"field {field}: expected text, got {shorten(own)}")
        for number, text in self.answers:
            if self.id is None:
                id = content_id([self.query, own], text)
            else:
                id = self.id if number is None else f"{self.id}/{number}"
            yield AskedAnswer(id=id, query=self.query, answer=text, context=own)


def asked_answers(
    rows: Iterator[Row[AnswersRow] | RowError], context: str | None, field: str
) -> Iterator[Row[AskedAnswer] | RowError]:
    """Every answer of every row."""
    for row in rows:
        if isinstance(row, RowError):
            yield row
            continue
        try:
            for asked in row.record.asked(context, field):
                yield Row(row.line, asked, row.place)
        except ValueError as error:
            message = f"{row.place} {row.line}: {error}"
            yield RowError(line=row.line, fault="wrong_fields", message=message)


def _query(given: Mapping[str, object]) -> str:
    key = next((key for key in _QUERIES if key in given), None)
    if key is None:
        raise ValueError(f"expected {SHAPES}; there is {', '.join(given) or 'nothing'}")
    value = given[key]
    if isinstance(value, str):
        return value
    try:
        return as_query(_MESSAGES.validate_python(value))
    except ValidationError:
        raise ValueError(
            f"field {key}: expected text, or messages with role and content, got {shorten(value)}"
        ) from None


def _answers(given: Mapping[str, object]) -> list[tuple[int | None, str]]:
    one = next((key for key in _ONE if key in given), None)
    if one is not None:
        text = given[one]
        if not isinstance(text, str):
            raise ValueError(f"field {one}: expected text, got {shorten(text)}")
        return [(None, text)]
    many = next((key for key in _MANY if key in given), None)
    if many is None:
        raise ValueError(f"expected {SHAPES}; there is {', '.join(given) or 'nothing'}")
    try:
        listed = _ANSWERS.validate_python(given[many])
    except ValidationError:
        raise ValueError(
            f"field {many}: expected a list of texts, or of objects with text, got "
            f"{shorten(given[many])}"
        ) from None
    return [
        (number, each if isinstance(each, str) else each.text)
        for number, each in enumerate(listed)
        if isinstance(each, str) or each.status == "ok"
    ]
