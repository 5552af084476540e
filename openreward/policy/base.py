"""The seam to an engine: a policy turns a conversation into one generation.

A conversation is owned by one trajectory. On the token path the policy keeps `token_ids` in it,
which only ever grows: what was sampled is never rendered or tokenised again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from openreward.types import FinishReason, Message, PolicyPath, ToolCall, ToolSpec, Usage

ToolStyle = Literal["template", "prompt"]
"""`template`: the engine's chat template (or chat endpoint) takes tool schemas and tool messages.
`prompt`: it does not, so schemas stand in the first user message and results come as user turns."""


@dataclass(frozen=True)
class Constraint:
    """A form the engine must give the text of one turn, where it can; each reads its own field."""

    regex: str  # of the whole turn; vLLM and SGLang
    grammar: str  # the same as GBNF; llama.cpp


@dataclass(frozen=True)
class Sampling:
    """How one turn is sampled. `temperature` 0 is greedy; `stop` is used on the chat path only."""

    max_tokens: int = 512
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0
    stop: tuple[str, ...] = ()
    constraint: Constraint | None = None
    tools: bool = True  # False: the turn may not call tools


@dataclass
class Conversation:
    """Messages so far, and on the token path the ids they already are."""

    messages: list[Message]
    tools: tuple[ToolSpec, ...] = ()
    token_ids: list[int] = field(default_factory=list)
    rendered: int = 0  # how many messages `token_ids` covers


@dataclass(frozen=True)
class Generation:
    """One turn as the engine gave it. Ids and logprobs are empty on the chat path.

    `forced` is True only when the engine really held `Sampling.constraint`.
    """

    text: str
    finish_reason: FinishReason = "stop"
    tool_calls: tuple[ToolCall, ...] = ()  # native calls, chat path only
    problems: tuple[str, ...] = ()  # native calls that could not be read
    context_ids: tuple[int, ...] = ()
    token_ids: tuple[int, ...] = ()
    logprobs: tuple[float, ...] = ()
    usage: Usage = Usage()
    forced: bool = False


class Policy(Protocol):
    """An engine. `generate` changes `conversation.token_ids` and `rendered`, and nothing else.

    Raises `PolicyError`. Cancelling `generate` ends the request at the engine.
    """

    model: str
    path: PolicyPath
    tool_style: ToolStyle
    context: int | None  # tokens of prompt and completion together; None where not known

    async def generate(self, conversation: Conversation, sampling: Sampling) -> Generation:
        """The next turn of the conversation."""
        ...

    async def count_tokens(self, text: str) -> int:
        """Tokens of `text`; an estimate that errs upwards where the tokenizer is not known."""
        ...
