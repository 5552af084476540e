"""The nouns of warm-start data: a trajectory to train on, and why another one is not used.

A trajectory is a chat of plain texts: the model's turns as they were generated, calls in them as
text. A chat template that is given its `messages` and tools writes what the agent loop's token path
reads, so that training and judging see the same.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from openreward.types import Record, Role, Usage

TrajectoryReason = Literal[
    "unlabelled",  # a pair that names no better answer
    "same_answers",  # a pair
    "no_tool",  # a pair whose source no open tool searches, or that names no source
    "engine_error",  # the engine refuses this conversation, or it does not fit
    "service_failed",  # every search failed by its service
    "limit",  # tokens or seconds of the trajectory were spent
    "refused",  # the engine's own word
    "no_verdict",
    "tie",
    "wrong_verdict",
    "no_counted_call",
    "wrong_tool",  # no counted call is of the tool of the pair's source
    "nothing_found",  # none of those brought passages
    "control_text",  # a turn holds control strings that are not its own calls and verdict
    "duplicate",  # the same as another one of the pair
]


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


class DroppedTrajectory(Record):
    """Why a trajectory is not used; without an order it is the whole pair."""

    pair: str
    order: tuple[int, int] | None = None
    sample: int | None = None
    reason: TrajectoryReason
    detail: str = ""
    own_document: bool | None = None


class PairTrajectories(Record):
    """All that became of one pair."""

    id: str
    source: str | None
    kept: tuple[TrainingTrajectory, ...] = ()
    dropped: tuple[DroppedTrajectory, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0
