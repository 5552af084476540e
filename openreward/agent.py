"""The one loop: generation and tool calls take turns until a verdict. Nothing else alternates them.

All calls of a turn run at once, their results go back in call order. When no call, turn or token is
left, or the model only talks, it gets one last turn that must end in a verdict. Every end has a
stop reason; a failed trajectory is a record, not an exception. Cancelling `run` cancels what it
started.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from pydantic import Field

from openreward import parse, prompts
from openreward.calls import Wanted, wanted_calls
from openreward.counting import SERVICE_FAULTS, call_key, query_of
from openreward.errors import PolicyError
from openreward.evidence import show
from openreward.loose_json import clean_text
from openreward.policy.base import Conversation, Generation, Policy, Sampling
from openreward.tools.base import Tool, run_call
from openreward.tools.tape import Place, Tape
from openreward.types import (
    Evidence,
    Message,
    PolicyFault,
    Record,
    StopReason,
    Task,
    Times,
    ToolCall,
    ToolResult,
    Trajectory,
    Turn,
    Verdict,
    total_usage,
)

Clock = Callable[[], float]
T = TypeVar("T")


class Limits(Record):
    """What one trajectory may spend. Tokens are the policy's own, seconds are wall time."""

    calls: int = Field(default=4, ge=0)
    turns: int = Field(default=6, ge=1)
    turn_tokens: int = Field(default=320, ge=16)
    total_tokens: int = Field(default=4096, ge=256)  # prompt, evidence and completions together
    evidence_tokens: int = Field(default=500, ge=0)  # a turn, over all its passages
    seconds_per_call: float = Field(default=20.0, gt=0)
    seconds: float = Field(default=600.0, gt=0)
    grammar: bool = True  # holds the last turn to a verdict's form, where the engine can


async def run(
    task: Task,
    policy: Policy,
    tools: Sequence[Tool],
    limits: Limits = Limits(),  # noqa: B008 - frozen
    sampling: Sampling = Sampling(),  # noqa: B008 - frozen
    clock: Clock = time.monotonic,
    tape: Tape | None = None,
) -> Trajectory:
    """Judge one task: search, read, decide. Only `sampling.temperature` and `top_p` are used.

    On `tape` the calls stand under the task's id and seed. Raises `TapeMiss` in a strict replay.
    """
    named = {tool.spec.name: tool for tool in tools}
    return await _State(task, policy, named, limits, sampling, clock, tape).run()


async def together(steps: Sequence[Coroutine[None, None, T]]) -> tuple[T, ...]:
    """Run all at once, results in order; a failure cancels the others and is raised as itself."""
    try:
        async with asyncio.TaskGroup() as group:
            jobs = [group.create_task(step) for step in steps]
    except BaseExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return tuple(job.result() for job in jobs)


@dataclass
class _End(Exception):
    """Ends the loop from within a step."""

    reason: StopReason
    error: str = ""
    fault: PolicyFault | None = None


@dataclass
class _State:
    """One trajectory under way."""

    task: Task
    policy: Policy
    tools: dict[str, Tool]
    limits: Limits
    sampling: Sampling
    clock: Clock
    tape: Tape | None
    turns: list[Turn] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    asked: dict[tuple[str, str], list[int]] = field(default_factory=dict)  # -> passage numbers
    calls: int = 0
    idle: int = 0  # turns in a row that ran no call
    used_tokens: int = 0  # of the context: what the engine last counted, and what came since
    policy_seconds: float = 0.0
    tool_seconds: float = 0.0

    async def run(self) -> Trajectory:
        started = self.clock()
        searching = self.limits.calls > 0 and self.limits.turns > 1
        specs = tuple(tool.spec for tool in self.tools.values()) if searching else ()
        prompt = prompts.opening(self.task, specs, self.policy.tool_style)
        native = specs if self.policy.tool_style == "template" else ()
        talk = Conversation(list(prompt), native)
        end = _End("time_limit", f"no verdict within {self.limits.seconds:g} s")
        verdict = Verdict(status="error")
        try:
            async with asyncio.timeout(self.limits.seconds) as limit:
                verdict, end = await self._turns(talk, last=not specs)
        except TimeoutError:
            if not limit.expired():  # somebody else's, so a fault of the policy
                raise
        except PolicyError as error:
            overflow = error.fault == "context_overflow"
            end = _End("context_limit" if overflow else "policy_error", str(error), error.fault)
        except _End as early:
            end = early
        return self._trajectory(tuple(prompt), verdict, end, self.clock() - started)

    async def _turns(self, talk: Conversation, last: bool) -> tuple[Verdict, _End]:
        while True:
            turn, verdict = await self._turn(talk, last)
            if turn.finish_reason == "refused":
                return Verdict(status="refused"), _End("refused")
            if verdict is not None and verdict.status in ("ok", "tie"):
                return verdict, _End("verdict")
            if last:
                cut = turn.finish_reason == "length"
                return Verdict(status="unparsed"), _End("cut" if cut else "no_verdict")
            last = await self._answer(talk, turn)

    async def _turn(self, talk: Conversation, last: bool) -> tuple[Turn, Verdict | None]:
        """One generation, read; a verdict only where the turn is one."""
        generation = await self._generate(talk, last)
        calls, problems = Wanted()
        if not last:
            left = self.limits.calls - self.calls
            number = len(self.turns) + 1
            calls, problems = wanted_calls(generation, number, self.asked, left, self.task.tie)
        turn = Turn(
            text=clean_text(generation.text),  # a row with a lone surrogate cannot be written
            tool_calls=calls,
            problems=problems,
            forced=generation.forced,
            finish_reason=generation.finish_reason,
            usage=generation.usage,
            context_ids=generation.context_ids,
            token_ids=generation.token_ids,
            logprobs=generation.logprobs,
        )
        self.turns.append(turn)
        self.used_tokens = turn.usage.prompt_tokens + turn.usage.completion_tokens
        talk.messages.append(
            Message(role="assistant", content=turn.text, tool_calls=generation.tool_calls)
        )
        if calls or problems:
            return turn, None
        verdict = parse.read_verdict(turn.text, self.task.tie)
        return turn, verdict.model_copy(update={"forced": turn.forced})

    async def _generate(self, talk: Conversation, last: bool) -> Generation:
        left = self._tokens_left()
        if left < 16:
            raise _End("token_limit", f"{self.used_tokens} of {self.used_tokens + left} tokens")
        room = min(self.limits.turn_tokens, left)
        sampling = replace(
            self.sampling,
            max_tokens=room,
            seed=(self.task.seed + len(self.turns)) % 2**31,
            stop=("</answer>",) if self.policy.path == "chat" else (),
            constraint=prompts.verdict_constraint(self.task, self.limits.turn_tokens)
            if last and self.limits.grammar
            else None,
            tools=not last,
        )
        started = self.clock()
        try:
            return await self.policy.generate(talk, sampling)
        finally:
            self.policy_seconds += self.clock() - started

    async def _answer(self, talk: Conversation, turn: Turn) -> bool:
        """Run the calls of a turn and tell the model; returns whether its next turn is the last."""
        results = await self._run_calls(turn.tool_calls)
        self.turns[-1] = turn.model_copy(update={"results": results})
        self.calls += len(results)
        texts = await self._texts(turn.tool_calls, results)
        self.used_tokens += await self.policy.count_tokens("\n".join(texts))
        self.idle = 0 if results else self.idle + 1
        last = self._must_end(turn)
        texts.extend(turn.problems)
        step = self._step(last, bool(texts))
        prompts.tell(talk, turn.tool_calls, texts, step, self._tool_messages(talk))
        return last

    def _step(self, last: bool, told: bool) -> str:
        found = bool(self.evidence)
        left = self.limits.calls - self.calls
        if last:
            return prompts.last_step(self.task, found)
        if told:
            return prompts.next_step(self.task, left, found)
        return prompts.neither(self.task, left)

    def _tool_messages(self, talk: Conversation) -> bool:
        """Whether results go back as tool messages; a chat server wants native calls for that."""
        native = self.policy.path == "token" or bool(talk.messages[-1].tool_calls)
        return self.policy.tool_style == "template" and native

    async def _run_calls(self, calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
        started = self.clock()
        try:
            numbered = enumerate(calls, self.calls + 1)
            return await together([self._run_call(call, number) for number, call in numbered])
        finally:
            self.tool_seconds += self.clock() - started

    async def _run_call(self, call: ToolCall, number: int) -> ToolResult:
        live = partial(run_call, self.tools, call, self.limits.seconds_per_call)
        if self.tape is None:
            return await live()
        return await self.tape.answer(Place(f"{self.task.id}/{self.task.seed}", number), call, live)

    async def _texts(self, calls: Sequence[ToolCall], results: Sequence[ToolResult]) -> list[str]:
        """What the model reads of each call, trimmed to the evidence budget; fills the ledger."""
        room = self._tokens_left() - 2 * self.limits.turn_tokens
        budget = max(0, min(self.limits.evidence_tokens, room))
        share = budget // max(1, sum(result.status == "ok" for result in results))
        texts = []
        for call, result in zip(calls, results, strict=True):
            shown = await show(
                result.passages, call.name, query_of(call), len(self.evidence), share, self.policy
            )
            self.evidence.extend(item for item, _ in shown)
            if result.status not in SERVICE_FAULTS:
                self.asked[call_key(call)] = [item.number for item, _ in shown]
            texts.append(prompts.results_text(self.task, call, result, shown))
        return texts

    def _must_end(self, turn: Turn) -> bool:
        """Whether a budget is spent, or the model only talks (a small one then repeats itself)."""
        spent = self.calls >= self.limits.calls or len(self.turns) >= self.limits.turns - 1
        talks = self.idle > 1 or (self.idle == 1 and self.evidence and not turn.problems)
        return spent or bool(talks) or self._tokens_left() < 2 * self.limits.turn_tokens

    def _tokens_left(self) -> int:
        total = self.limits.total_tokens
        return min(total, self.policy.context or total) - self.used_tokens

    def _trajectory(
        self, prompt: tuple[Message, ...], verdict: Verdict, end: _End, total: float
    ) -> Trajectory:
        said = self.turns[-1].text if end.reason == "verdict" else ""
        cited = parse.cited_numbers(said)
        ledger = [e.model_copy(update={"cited": e.number in cited}) for e in self.evidence]
        return Trajectory(
            task=self.task.id,
            path=self.policy.path,
            model=self.policy.model,
            prompt=prompt,
            turns=tuple(self.turns),
            evidence=tuple(ledger),
            verdict=verdict,
            explanation=parse.explanation(said),
            stop_reason=end.reason,
            error=end.error or None,
            fault=end.fault,
            usage=total_usage([turn.usage for turn in self.turns]),
            times=Times(total=total, policy=self.policy_seconds, tools=self.tool_seconds),
        )
