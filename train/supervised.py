"""Warm-start trajectories as token ids and labels: the loss is on what the model itself says.

The chat template writes the whole conversation once, as the agent loop's token path does; a mark in
place of each assistant's turn says where it lies. Labels are its tokens and the end token behind
them, without those that touch a span that must not be learned (an oracle's verdict letter).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from openreward.errors import UserError, shorten
from openreward.policy.template import ChatTemplate, TemplateRefusal
from openreward.policy.token_path import Traits, fit
from openreward.training_rows import Span, TrainingTrajectory
from openreward.types import Message, ToolSpec

IGNORED = -100


class Example(NamedTuple):
    """One trajectory for a causal model; ids and labels are of one length."""

    id: str
    input_ids: list[int]
    labels: list[int]  # IGNORED where nothing is learned

    @property
    def learned(self) -> int:
        """Tokens in the loss."""
        return sum(label != IGNORED for label in self.labels)


_TOOLS = TypeAdapter(list[dict[str, Any]])


def example_of(row: TrainingTrajectory, tokenizer: Any, traits: Traits) -> Example:
    """Ids and labels; raises `UserError` for a row that the template cannot show, or that is bare.

    Ids that stand in the row are taken as they are, for nothing must be left out of them there.
    """
    if row.prompt_ids and not row.unlearned:
        ids = [*row.prompt_ids, *row.completion_ids]
        kept = [0] * len(row.prompt_ids) + list(row.mask)
    else:
        ids, kept = _rendered(row, tokenizer, traits)
    labels = [id if keep else IGNORED for id, keep in zip(ids, kept, strict=True)]
    made = Example(row.id, ids, labels)
    if not made.learned:
        raise UserError(f"row {shorten(row.id)}: expected a turn of the assistant, got none")
    return made


def _rendered(
    row: TrainingTrajectory, tokenizer: Any, traits: Traits
) -> tuple[list[int], list[int]]:
    text, spans = _text(row, tokenizer, traits)
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    ids, offsets = list(encoded["input_ids"]), encoded["offset_mapping"]
    kept = [0] * len(ids)
    for message, start in spans:
        content = row.messages[message].content
        stop = start + len(content)
        inside = [n for n, (left, right) in enumerate(offsets) if left < stop and right > start]
        end = inside[-1] + 1 if inside else len(ids)
        if end < len(ids):  # the token that ends the turn
            inside.append(end)
        left_out = [span for span in row.unlearned if span.message == message]
        for n in inside:
            kept[n] = int(not _touches(offsets[n], start, left_out))
    return ids, kept


def _touches(offset: Sequence[int], start: int, spans: Sequence[Span]) -> bool:
    return any(offset[0] < start + s.end and offset[1] > start + s.start for s in spans)


def _text(
    row: TrainingTrajectory, tokenizer: Any, traits: Traits
) -> tuple[str, list[tuple[int, int]]]:
    """The conversation as text, and where the content of each assistant's message begins in it."""
    template = ChatTemplate(
        tokenizer.chat_template, bos=tokenizer.bos_token or "", eos=tokenizer.eos_token or ""
    )
    tools = _tools(row)
    said = [n for n, message in enumerate(row.messages) if message.role == "assistant"]
    marks = {n: _mark(row, n) for n in said}
    messages = [
        Message(role=message.role, content=marks.get(n, message.content))
        for n, message in enumerate(row.messages)
    ]
    try:
        text = template.render(fit(messages, traits), tools, generation=False)
    except TemplateRefusal as refusal:
        raise UserError(
            f"row {shorten(row.id)}: the model's chat template does not take it: {refusal}"
        ) from None
    spans = []
    for n in said:
        start = text.find(marks[n])
        if start < 0 or text.count(marks[n]) > 1:
            raise UserError(
                f"row {shorten(row.id)}: the model's chat template leaves out a turn of the "
                "assistant, or writes it twice; train a model whose template keeps them"
            )
        text = text.replace(marks[n], row.messages[n].content, 1)
        spans.append((n, start))
    return text, spans


def _mark(row: TrainingTrajectory, number: int) -> str:
    """A word of its own for each turn, which no message holds."""
    tries = 0
    while any(f"qw{tries}turn{number}qw" in message.content for message in row.messages):
        tries += 1
    return f"qw{tries}turn{number}qw"


def _tools(row: TrainingTrajectory) -> list[ToolSpec]:
    try:
        found = _TOOLS.validate_python(json.loads(row.tools or "[]"))
        return [ToolSpec.model_validate(each.get("function", each)) for each in found]
    except (ValueError, ValidationError) as error:
        raise UserError(
            f"row {shorten(row.id)}: expected tools as the JSON text of a list, got "
            f"{shorten(row.tools)} ({shorten(error)})"
        ) from None
