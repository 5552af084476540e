"""Plain text from a policy: one turn, with what became of it; the engine's failure is an outcome.

Faults that fail every row alike (unreachable, unauthorized, no such model) are raised: what they
would cost is better done again. Text inside a model's thinking is not part of what it wrote.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from openreward.errors import PolicyError
from openreward.loose_json import clean_text
from openreward.parse import visible
from openreward.policy.base import Constraint, Conversation, Generation, Policy, Sampling
from openreward.types import Message, PolicyFault, Usage

WrittenStatus = Literal["ok", "empty", "refused", "cut", "error"]
"""`refused` is the engine's own word, `cut` its token limit; `error` is a fault of the engine."""

STOPPING: tuple[PolicyFault, ...] = ("unreachable", "unauthorized", "unknown_model")
PASSING: tuple[PolicyFault, ...] = ("unreachable", "rate_limited", "server_error")
"""Faults that a later try may not meet; a `timeout` is none, for the turn may still run."""

_LONGEST_PAUSE = 30.0


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
    """A policy, and how it samples. `name` is what its texts are signed with.

    A fault that passes is waited out for `patience` seconds, beyond the tries of the policy itself,
    with pauses that double from `pause` seconds on.
    """

    policy: Policy
    name: str
    temperature: float = 0.2
    top_p: float = 1.0
    max_tokens: int = 512
    seed: int = 0
    patience: float = 0.0
    pause: float = 2.0

    async def write(
        self,
        messages: Sequence[Message],
        seed: int = 0,
        *,
        constraint: Constraint | None = None,
        stop: tuple[str, ...] = (),
        temperature: float | None = None,
        max_tokens: int | None = None,
    ) -> Written:
        """One turn behind the messages; its seed is the writer's plus this one."""
        sampling = Sampling(
            max_tokens=max_tokens or self.max_tokens,
            temperature=self.temperature if temperature is None else temperature,
            top_p=self.top_p,
            seed=(self.seed + seed) % 2**31,
            stop=stop if self.policy.path == "chat" else (),
            constraint=constraint,
            tools=False,
        )
        try:
            made = await self._generate(messages, sampling)
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

    async def _generate(self, messages: Sequence[Message], sampling: Sampling) -> Generation:
        until, pause = time.monotonic() + self.patience, self.pause
        while True:
            try:
                return await self.policy.generate(Conversation(list(messages)), sampling)
            except PolicyError as error:
                if error.fault not in PASSING or time.monotonic() + pause > until:
                    raise
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
