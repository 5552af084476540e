"""A trajectory to train on: made by `openreward synth trajectories`, read by `train/sft.py`.

It is a chat of plain texts: the model's turns as they were generated, calls in them as text. A chat
template that is given its `messages` and tools writes what the agent loop's token path reads, so
that training and judging see the same.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from openreward.types import Record, Role


class ChatMessage(Record):
    """One message as chat templates take it."""

    role: Role
    content: str


class Span(Record):
    """Characters `[start, end)` of the content of message number `message`."""

    message: int = Field(ge=0)
    start: int = Field(ge=0)
    end: int = Field(ge=0)


class TrainingTrajectory(Record):
    """One trajectory to learn from: the loss is on the assistant's messages, without `unlearned`.

    `tools` is the JSON text of the list that a template takes: as nested rows, tools of unlike
    parameters would be filled up with nulls. The ids are there on the token path if asked for;
    `mask` is 1 on sampled ones.
    """

    id: str
    pair: str
    order: tuple[int, int]  # the pair's answers as shown
    label: Literal["A", "B"]  # the better one, as shown
    source: str
    teacher: str
    seed: int
    messages: tuple[ChatMessage, ...]
    tools: str
    unlearned: tuple[Span, ...] = ()
    own_document: bool | None = None  # whether a search brought the pair's; None: it names none
    prompt_ids: tuple[int, ...] = ()
    completion_ids: tuple[int, ...] = ()
    mask: tuple[int, ...] = ()
