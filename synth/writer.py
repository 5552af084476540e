"""Plain text from a policy: one turn, with what became of it; the engine's failure is an outcome.

Faults that fail every row alike (unreachable, unauthorized, no such model) are raised: what they
would cost is better done again. Text inside a model's thinking is not part of what it wrote.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from openreward.errors import PolicyError
from openreward.loose_json import clean_text
from openreward.parse import visible
from openreward.policy.base import Constraint, Conversation, Policy, Sampling
from openreward.types import Message, PolicyFault, Usage

WrittenStatus = Literal["ok", "empty", "refused", "cut", "error"]
"""`refused` is the engine's own word, `cut` its token limit; `error` is a fault of the engine."""

STOPPING: tuple[PolicyFault, ...] = ("unreachable", "unauthorized", "unknown_model")


class Written(NamedTuple):
    """What a turn came to; `raw` holds the thinking too."""

    status: WrittenStatus
    text: str
    raw: str = ""
    usage: Usage = Usage()
    fault: PolicyFault | None = None
    error: str = ""


@dataclass(frozen=True)
class Writer:
    """A policy, and how it samples. `name` is what its texts are signed with."""

    policy: Policy
    name: str
    temperature: float = 0.2
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int = 0

    async def write(
        self,
        messages: Sequence[Message],
        seed: int = 0,
        *,
        constraint: Constraint | None = None,
        stop: tuple[str, ...] = (),
        temperature: float | None = None,
    ) -> Written:
        """One turn behind the messages; its seed is the writer's plus this one."""
        sampling = Sampling(
            max_tokens=self.max_tokens,
            temperature=self.temperature if temperature is None else temperature,
            top_p=self.top_p,
            seed=(self.seed + seed) % 2**31,
            stop=stop if self.policy.path == "chat" else (),
            constraint=constraint,
            tools=False,
        )
        try:
            made = await self.policy.generate(Conversation(list(messages)), sampling)
        except PolicyError as error:
            if error.fault in STOPPING:
                raise PolicyError(error.fault, f"{error}; then go on with --resume") from None
            return Written("error", "", fault=error.fault, error=clean_text(str(error)))
        raw = clean_text(made.text)
        text = visible(raw).strip()
        status: WrittenStatus = "ok" if text else "empty"
        if made.finish_reason != "stop":
            status = "cut" if made.finish_reason == "length" else "refused"
        return Written(status, text, raw, made.usage)
