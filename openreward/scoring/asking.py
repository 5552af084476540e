"""Put a request to the engine until its reply can be read: the tries, and the requests at once.

The first try is greedy, later ones are sampled. A fault of the engine is an outcome, not another
try: the engine's own path has repeated it already. A refusal is not argued with.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Literal, TypeVar

from openreward.errors import PolicyError
from openreward.loose_json import clean_text
from openreward.parse import visible
from openreward.policy.base import Conversation, Generation, Policy, Sampling
from openreward.scoring.parse import Misread
from openreward.scoring.prompts import Request
from openreward.scoring.records import ScoreSettings
from openreward.seeds import derive
from openreward.types import PolicyFault, Usage

T = TypeVar("T")
ReplyStatus = Literal["ok", "unparsed", "refused", "error"]


@dataclass(frozen=True)
class Reply(Generic[T]):
    """What a request came to; `value` is there when the status is ok."""

    status: ReplyStatus
    value: T | None = None
    text: str = ""  # of the last try, without its thinking
    reason: str = ""
    tries: int = 0
    cut: bool = False
    forced: bool = False
    fault: PolicyFault | None = None


@dataclass
class Spent:
    """What the requests of one answer, or of one extraction, took."""

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0  # of the engine, added up
    tool_seconds: float = 0.0

    def add(self, other: Spent) -> None:
        """Count another's too."""
        self.calls += other.calls
        self.usage += other.usage
        self.seconds += other.seconds
        self.tool_seconds += other.tool_seconds


class Asking:
    """An engine, with at most `gate` requests under way."""

    def __init__(
        self,
        policy: Policy,
        settings: ScoreSettings,
        gate: asyncio.Semaphore,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.policy = policy
        self.settings = settings
        self.clock = clock
        self._gate = gate

    async def ask(self, request: Request[T], id: str, spent: Spent) -> Reply[T]:
        """The reply, once it can be read, or why it cannot; `id` seeds the sampling."""
        text, reason, forced = "", "", False
        for number in range(self.settings.tries):
            try:
                made = await self._generate(request, id, number, spent)
            except PolicyError as error:
                said = clean_text(str(error))
                return Reply("error", None, text, said, number + 1, fault=error.fault)
            text, forced = clean_text(visible(made.text).strip()), made.forced
            if made.finish_reason == "refused":
                why = "the engine reported a refusal"
                return Reply("refused", None, text, why, number + 1)
            cut = made.finish_reason == "length"
            value = (
                Misread("the list was cut at its token limit")
                if cut and request.whole
                else (request.read(made.text))
            )
            if not isinstance(value, Misread):
                return Reply("ok", value, text, "", number + 1, cut, forced)
            reason = f"cut at its token limit; {value.reason}" if cut else value.reason
        why = f"{reason} (after {self.settings.tries} tries)"
        return Reply("unparsed", None, text, why, self.settings.tries, forced=forced)

    async def _generate(
        self, request: Request[T], id: str, number: int, spent: Spent
    ) -> Generation:
        settings = self.settings
        sampling = Sampling(
            max_tokens=request.tokens,
            temperature=settings.retry_temperature if number else settings.temperature,
            seed=derive(settings.seed, id, f"{request.step}/{number}"),
            constraint=request.constraint if settings.grammar else None,
            tools=False,
        )
        async with self._gate:
            started = self.clock()
            spent.calls += 1
            try:
                made = await self.policy.generate(Conversation(list(request.messages)), sampling)
            finally:
                spent.seconds += self.clock() - started
        spent.usage += made.usage
        return made
