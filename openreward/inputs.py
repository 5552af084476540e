"""The shapes in which pairs are handed over, all read as a `Pair`.

`query` with `responses`, or with `response_a` and `response_b`; or TRL's preference form: `prompt`,
`chosen`, `rejected`, as plain strings or as lists of messages, the prompt also within the lists.
`chosen` becomes response 0 and the label 0. Without an `id` a row gets a hash of its query and
responses: the same pair has the same id in any file. A `context`, the document that a pair is
about, goes into its `meta` (and into that hash). Fields besides these are passed over.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import sha256

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError, model_validator

from openreward.errors import shorten
from openreward.types import Pair

FIELDS = tuple(Pair.model_fields)
SHAPES = "query and responses, or query, response_a and response_b, or prompt, chosen and rejected"


class PairRow(Pair):
    """A `Pair` that is validated from any of the shapes."""

    @model_validator(mode="before")
    @classmethod
    def _read_shape(cls, row: object) -> object:
        if not isinstance(row, Mapping):
            return row
        given = {str(name): value for name, value in row.items() if value is not None}
        pair = {**given, **_answers(given)}
        if isinstance(pair.get("id"), int) and not isinstance(pair["id"], bool):
            pair["id"] = str(pair["id"])
        asked, context, meta = pair.get("query"), pair.get("context"), pair.get("meta", {})
        if isinstance(context, str) and isinstance(meta, Mapping):
            pair["meta"] = {**meta, "context": context}
            asked = [asked, context]
        if "id" not in pair:
            pair["id"] = content_id(asked, pair.get("responses"))
        return {name: pair[name] for name in FIELDS if name in pair}


def content_id(query: object, responses: object) -> str:
    """The id of a pair that has none: the same for the same texts, anywhere."""
    text = json.dumps([query, responses], ensure_ascii=True, default=str)
    return sha256(text.encode()).hexdigest()[:16]


def _answers(given: Mapping[str, object]) -> dict[str, object]:
    """Query, responses and label from the row's shape; empty where they are there already."""
    if "responses" in given:
        return {}
    if "response_a" in given and "response_b" in given:
        return {"responses": [given["response_a"], given["response_b"]]}
    if "chosen" in given and "rejected" in given:
        return _preference(given)
    has = ", ".join(given) or "nothing"
    raise ValueError(f"expected {SHAPES}; there is {has}")


class Message(BaseModel):
    """One message of a conversational row; other keys of it are passed over."""

    model_config = ConfigDict(extra="ignore")

    role: str
    content: str | list[_Part]


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore")

    text: str


_MESSAGES = TypeAdapter(list[Message])


def _preference(given: Mapping[str, object]) -> dict[str, object]:
    prompt, chosen, rejected = (given.get(name) for name in ("prompt", "chosen", "rejected"))
    if isinstance(chosen, str) and isinstance(rejected, str):
        if prompt is None:
            raise ValueError(f"expected a prompt beside chosen and rejected; {SHAPES}")
        asked = prompt if isinstance(prompt, str) else as_query(_messages("prompt", prompt))
        return {"query": asked, "responses": [chosen, rejected], "label": 0}
    good, bad = _messages("chosen", chosen), _messages("rejected", rejected)
    if prompt is None:
        shared = _shared(good, bad)
        asked, good, bad = as_query(good[:shared]), good[shared:], bad[shared:]
    else:
        asked = prompt if isinstance(prompt, str) else as_query(_messages("prompt", prompt))
    return {"query": asked, "responses": [_as_answer(good), _as_answer(bad)], "label": 0}


def _messages(name: str, value: object) -> list[Message]:
    try:
        return _MESSAGES.validate_python(value)
    except ValidationError:
        raise ValueError(
            f"field {name}: expected text, or messages with role and content, got {shorten(value)}"
        ) from None


def _shared(good: list[Message], bad: list[Message]) -> int:
    """How many messages both begin with, the last answer apart."""
    most = min(len(good), len(bad)) - 1
    return next((i for i in range(most) if good[i] != bad[i]), max(most, 0))


def as_query(messages: Sequence[Message]) -> str:
    """A conversation as one text: a single message bare, several under their roles."""
    if len(messages) == 1:
        return _text(messages[0])
    return "\n\n".join(f"{m.role.capitalize()}: {_text(m)}" for m in messages)


def _as_answer(messages: list[Message]) -> str:
    if len(messages) == 1:
        return _text(messages[0])
    return as_query(messages)


def _text(message: Message) -> str:
    if isinstance(message.content, str):
        return message.content
    return "".join(part.text for part in message.content)
