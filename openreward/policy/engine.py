"""What the token path needs of an engine; llama.cpp and vLLM are the two that give it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from openreward.errors import PolicyError
from openreward.policy.base import Sampling
from openreward.types import Message, ToolSpec, Usage


class Completed(NamedTuple):
    """One turn; ids and logprobs, equal in length, include the end token, the text does not."""

    text: str
    finish_reason: str | None
    ids: tuple[int, ...]
    logprobs: tuple[float, ...]
    usage: Usage


class Engine(Protocol):
    """What the token path needs of an engine. `text` and `prompt` raise `TemplateRefusal`."""

    name: str
    context: int  # tokens of prompt and completion together

    async def text(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, generation: bool
    ) -> str:
        """The conversation as text; `generation` adds the opening of the next turn."""
        ...

    async def prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[int]:
        """The ids of the whole conversation with the opening of the next turn."""
        ...

    async def tokenize(self, text: str) -> list[int]:
        """Ids of a piece of a rendered conversation: control tokens are read, none is added."""
        ...

    async def complete(self, ids: Sequence[int], sampling: Sampling, max_tokens: int) -> Completed:
        """Sample behind `ids`. Raises `PolicyError` bad_response if an id or logprob is missing."""
        ...


def known_numbers(logprobs: Sequence[float | None]) -> tuple[float, ...]:
    """The logprobs, each of which must be a finite number: JSON has no form for another."""
    known = tuple(value for value in logprobs if value is not None and math.isfinite(value))
    if len(known) != len(logprobs):
        raise incomplete(
            f"{len(logprobs) - len(known)} of {len(logprobs)} logprobs are null or infinite"
        )
    return known


def incomplete(what: str) -> PolicyError:
    """What to raise when the engine left out an id or a logprob."""
    return PolicyError("bad_response", f"{what}; the token path needs every id: use --chat without")
