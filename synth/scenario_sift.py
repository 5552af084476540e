"""Rows of a file -> prompts with ids, those dropped before any model is asked marked as such.

A row has `prompt` or `query`, as text or as messages, or `messages` or `conversation_input` (RMB,
TRL); answers at the end of a conversation are left off. Sifting goes in the order of the file: of
duplicates the first one stays. Only prompts that pass length and language are compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import BaseModel, TypeAdapter, ValidationError, model_validator

from openreward.errors import shorten
from openreward.inputs import Message, as_query, content_id
from openreward.records import Row, RowError
from openreward.synth.near_duplicates import Duplicate, NearDuplicates
from openreward.synth.scenario_language import read_language
from openreward.synth.scenario_records import Drop, Prompt, Said, ScenarioSettings

SHAPES = "prompt or query (text or messages), or messages, or conversation_input"
_KEYS = ("prompt", "query", "conversation_input", "messages")
_MESSAGES = TypeAdapter(list[Message])


class PromptRow(BaseModel):
    """A row as it is handed over; other fields are passed over."""

    id: str | None = None
    conversation: tuple[Said, ...]
    context: str | None = None  # a document that the prompt is about, where a row has one
    question: str | None = None  # the bare question, where that stands as `query`

    @model_validator(mode="before")
    @classmethod
    def _read_shape(cls, row: object) -> object:
        if not isinstance(row, Mapping):
            return row
        key = next((key for key in _KEYS if row.get(key) is not None), None)
        if key is None:
            has = ", ".join(str(name) for name in row) or "nothing"
            raise ValueError(f"expected {SHAPES}; there is {has}")
        id = row.get("id")
        if isinstance(id, int) and not isinstance(id, bool):
            id = str(id)
        if id == "":
            raise ValueError("field id: expected text, got an empty one; leave it out")
        texts = {"context": row.get("context"), "question": row.get("query")}
        long = {name: text for name, text in texts.items() if isinstance(text, str)}
        return {"id": id, "conversation": _conversation(key, row[key]), **long}

    def text(self) -> str:
        """The conversation as one text."""
        return text_of(self.conversation)

    def asked(self) -> str:
        """What the user wrote."""
        return "\n".join(said.content for said in self.conversation if said.role == "user")


def text_of(conversation: Sequence[Said]) -> str:
    """A conversation as one text, as benchmarks show it to judges."""
    return as_query([Message(role=said.role, content=said.content) for said in conversation])


def _conversation(key: str, value: object) -> list[dict[str, str]]:
    if isinstance(value, str):
        return [{"role": "user", "content": value}]
    try:
        messages = _MESSAGES.validate_python(value)
    except ValidationError:
        raise ValueError(
            f"field {key}: expected text, or messages with role and content, got {shorten(value)}"
        ) from None
    while messages and messages[-1].role == "assistant":
        messages.pop()
    if not messages or messages[-1].role != "user":
        raise ValueError(f"field {key}: expected a message of the user at the end, got none")
    return [{"role": each.role, "content": as_query([each])} for each in messages]


def sift(
    rows: Iterator[Row[PromptRow] | RowError],
    settings: ScenarioSettings,
    kept: NearDuplicates,
) -> Iterator[Row[Prompt] | RowError]:
    """The prompts in the order of the file; a prompt that is not worth a model has its `drop`."""
    for row in rows:
        yield row if isinstance(row, RowError) else _sifted(row, settings, kept)


def _sifted(row: Row[PromptRow], settings: ScenarioSettings, kept: NearDuplicates) -> Row[Prompt]:
    read, text = row.record, row.record.text()
    drop, english = _length(text, settings), False
    if drop is None:  # the cheap question first: texts may be of any length
        language = read_language(read.asked(), settings.latin, settings.small_words)
        english = language.english
        if settings.language == "english" and not english:
            drop = Drop(step="language", reason="not_english", detail=language.why)
    drop = drop or _duplicate(kept.find(text))
    id = read.id or content_id([said.model_dump() for said in read.conversation], None)
    is_new = kept.is_new_id(id)
    if read.id is None and not is_new:  # one text twice: two rows, of which one is dropped
        id = f"{id}-{row.place}-{row.line}"
    elif is_new and drop is None:  # an id that came before is named, and dropped, by the runner
        kept.add(id, text)
    prompt = Prompt(id=id, conversation=read.conversation, english=english, drop=drop)
    return Row(row.line, prompt, row.place)


def _length(text: str, settings: ScenarioSettings) -> Drop | None:
    size = len(text.strip())
    if size < settings.shortest:
        detail = f"{size} characters, at least {settings.shortest} expected"
        return Drop(step="length", reason="too_short", detail=detail)
    if size > settings.longest:
        detail = f"{size} characters, at most {settings.longest} expected"
        return Drop(step="length", reason="too_long", detail=detail)
    return None


def _duplicate(found: Duplicate | None) -> Drop | None:
    if found is None:
        return None
    if found.exact:
        return Drop(step="duplicates", reason="same_text", detail=f"the same as {found.of}")
    detail = f"{found.overlap:.2f} in common with {found.of}"
    return Drop(step="duplicates", reason="near_duplicate", detail=detail)
