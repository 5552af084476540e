"""Warm-start trajectories: a teacher judges labelled pairs in the one loop; the good are kept.

Kept is what ends in the label's verdict and made at least one counted call, of the tool of the
pair's source, that brought passages; the rest is counted by reason. The teacher is a policy: an
engine, or the oracle, which is told the verdict and writes the form alone.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import Field

from openreward.agent import Clock, together
from openreward.batch import NotDone
from openreward.counting import counted_calls, ran_calls, tool_of, unserved
from openreward.errors import PolicyError
from openreward.inert import inert
from openreward.judge import Judge, JudgeSettings, derive
from openreward.loose_json import clean_text
from openreward.parse import LETTERS
from openreward.policy.base import Conversation, Generation, Policy, Sampling, ToolStyle
from openreward.synth.oracle import Oracle, call_text, verdict_span
from openreward.synth.trajectory_records import (
    DroppedTrajectory,
    PairTrajectories,
    TrajectoryReason,
)
from openreward.synth.writer import STOPPING
from openreward.tools.base import Tool
from openreward.tools.tape import Tape
from openreward.training_rows import ChatMessage, Span, TrainingTrajectory
from openreward.types import (
    Message,
    Pair,
    PolicyFault,
    Record,
    Trajectory,
    Usage,
    Verdict,
    Vote,
    total_usage,
)

_BOTH = ((0, 1), (1, 0))
_OF_THE_PAIR: tuple[PolicyFault, ...] = ("context_overflow", "bad_request")
_OWN_TAGS = re.compile(
    r"</?(?:tool_call|answer|think)>|</?(?:function|parameter)(?:=[\w.-]+)?>"
    r"""|["'](?:arguments|parameters|args)["']\s*:"""
)


class TeachingSettings(Record):
    """How trajectories are made; `samples` is of each order that is shown."""

    teacher: Literal["oracle", "engine"] = "oracle"
    samples: int = Field(default=1, ge=1)
    source: str | None = None  # of pairs that name none
    tool_style: ToolStyle = "template"  # the oracle's; an engine has its own
    tokens: bool = False
    judge: JudgeSettings = JudgeSettings(orders="one")


class _Made(NamedTuple):
    """One trajectory, and the conversation it left."""

    order: tuple[int, int]
    sample: int
    vote: Vote
    talk: Conversation


@dataclass
class Teaching:
    """Who teaches, with which tools; `engine` is None for the oracle."""

    engine: Policy | None
    tools: Sequence[Tool]
    settings: TeachingSettings
    tape: Tape | None = None
    clock: Clock = time.monotonic

    async def teach(self, pair: Pair) -> PairTrajectories:
        """All trajectories of a pair.

        Raises `PolicyError` for faults that would fail every pair, and `NotDone` where the engine
        failed in a way that says nothing of this one.
        """
        started = self.clock()
        source = pair.source or self.settings.source
        row = PairTrajectories(id=pair.id, source=source)
        problem = self._unusable(pair, source)
        if problem is not None or source is None:
            return row.model_copy(update={"dropped": (problem,) if problem else ()})
        made = await together(
            [
                self._one(pair, source, order, sample)
                for sample in range(self.settings.samples)
                for order in self._orders(pair, sample)
            ]
        )
        kept, dropped = list[TrainingTrajectory](), list[DroppedTrajectory]()
        for each in made:
            found = self._read(pair, source, each, kept)
            if isinstance(found, TrainingTrajectory):
                kept.append(found)
            else:
                dropped.append(found)
        usage: Usage = total_usage([each.vote.trajectory.usage for each in made])
        seconds = round(self.clock() - started, 3)
        return row.model_copy(
            update={
                "kept": tuple(kept),
                "dropped": tuple(dropped),
                "usage": usage,
                "seconds": seconds,
            }
        )

    def _unusable(self, pair: Pair, source: str | None) -> DroppedTrajectory | None:
        def drop(reason: TrajectoryReason, detail: str) -> DroppedTrajectory:
            return DroppedTrajectory(pair=pair.id, reason=reason, detail=detail)

        if source is None:
            return drop("no_tool", "the pair names no source, and there is no --source")
        if tool_of(source) not in {tool.spec.name for tool in self.tools}:
            return drop("no_tool", f"no {tool_of(source)[:80]} is open")
        if pair.label not in (0, 1):
            return drop("unlabelled", f"label {pair.label}")
        if pair.responses[0] == pair.responses[1]:
            return drop("same_answers", "")
        return None

    def _orders(self, pair: Pair, sample: int) -> tuple[tuple[int, int], ...]:
        if self.settings.judge.orders == "both":
            return _BOTH
        drawn = derive(self.settings.judge.seed, pair.id, f"order {sample}") % 2
        return (_BOTH[drawn],)

    async def _one(self, pair: Pair, source: str, order: tuple[int, int], sample: int) -> _Made:
        heard = _Overheard(self._teacher(pair, source, order, sample))
        judge = Judge(heard, self.tools, self.settings.judge, self.clock, self.tape)
        try:
            vote = await judge.once(pair, order, vote=sample)
        except PolicyError as error:  # a server counts the tokens
            raise _stopped(error.fault, str(error)) from None
        trajectory = vote.trajectory
        if trajectory.fault is not None and trajectory.fault not in _OF_THE_PAIR:
            raise _stopped(trajectory.fault, trajectory.error or trajectory.fault)
        return _Made(order, sample, vote, heard.talk)

    def _teacher(self, pair: Pair, source: str, order: tuple[int, int], sample: int) -> Policy:
        if self.engine is not None:
            return self.engine
        letter = LETTERS[order.index(int(pair.label == 1))]
        seed = derive(self.settings.judge.seed, pair.id, f"oracle {sample}")  # not of the order:
        return Oracle(pair.query, tool_of(source), letter, seed, self.settings.tool_style)

    def _read(
        self, pair: Pair, source: str, made: _Made, kept: Sequence[TrainingTrajectory]
    ) -> TrainingTrajectory | DroppedTrajectory:
        own = own_document(pair, made.vote.trajectory)
        messages = tuple(map(chat_message, made.talk.messages))
        reason, detail = _problem(pair, source, made.vote) or ("", "")
        if not reason and _holds_control_text(messages):
            reason, detail = "control_text", "a turn holds control strings of chat templates"
        if not reason and any(messages == each.messages for each in kept):
            reason, detail = "duplicate", "the same texts as another trajectory of the pair"
        if reason:
            return DroppedTrajectory(
                pair=pair.id,
                order=made.order,
                sample=made.sample,
                reason=reason,
                detail=clean_text(detail),
                own_document=own,
            )
        trace = made.vote.trajectory.tokens() if self.settings.tokens else None
        return TrainingTrajectory(
            id=f"{pair.id}/{made.order[0]}{made.order[1]}/{made.sample}",
            pair=pair.id,
            order=made.order,
            label="A" if made.order[0] == pair.label else "B",
            source=source,
            teacher=made.vote.trajectory.model,
            seed=derive(self.settings.judge.seed, pair.id, f"{made.order}/{made.sample}"),
            messages=messages,
            tools=json.dumps([tool.function() for tool in made.talk.tools], ensure_ascii=False),
            unlearned=_unlearned(messages) if self.engine is None else (),
            own_document=own,
            prompt_ids=tuple(trace.prompt_ids) if trace else (),
            completion_ids=tuple(trace.completion_ids) if trace else (),
            mask=tuple(trace.mask) if trace else (),
        )


class _Overheard:
    """A policy of one trajectory, whose conversation it keeps."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.model, self.path = policy.model, policy.path
        self.tool_style, self.context = policy.tool_style, policy.context
        self.talk = Conversation([])

    async def generate(self, conversation: Conversation, sampling: Sampling) -> Generation:
        self.talk = conversation
        return await self._policy.generate(conversation, sampling)

    async def count_tokens(self, text: str) -> int:
        return await self._policy.count_tokens(text)


def chat_message(message: Message) -> ChatMessage:
    """A message as a template takes it; native calls are written as a model writes them."""
    calls = [call_text(call.name, call.arguments) for call in message.tool_calls]
    content = "\n".join(part for part in (message.content, *calls) if part)
    return ChatMessage(role=message.role, content=content)


def own_document(pair: Pair, trajectory: Trajectory) -> bool | None:
    """Whether a search brought the pair's own document; None where it names none, or none ran."""
    wanted = pair.meta.get("document")
    if not isinstance(wanted, str) or unserved(trajectory) or not ran_calls(trajectory):
        return None
    return any(line.passage.document_id == wanted for line in trajectory.evidence)


def _problem(pair: Pair, source: str, vote: Vote) -> tuple[TrajectoryReason, str] | None:
    """Why a trajectory is not used: its engine and services first, then verdict, then calls."""
    trajectory = vote.trajectory
    if trajectory.stop_reason == "policy_error" or trajectory.fault is not None:
        return "engine_error", trajectory.error or ""
    if unserved(trajectory):
        return "service_failed", ""
    if vote.winner != pair.label:
        return _of_the_verdict(trajectory.verdict, trajectory)
    counted = counted_calls(trajectory)
    if not counted:
        return "no_counted_call", ""
    right = [call for call in counted if call.tool == tool_of(source)]
    if not right:
        return "wrong_tool", ", ".join(dict.fromkeys(call.tool[:80] for call in counted))
    if not any(call.found for call in right):
        return "nothing_found", "; ".join(call.query[:80] for call in right)
    return None


def _of_the_verdict(verdict: Verdict, trajectory: Trajectory) -> tuple[TrajectoryReason, str]:
    reasons: dict[str, TrajectoryReason] = {
        "ok": "wrong_verdict",
        "tie": "tie",
        "refused": "refused",
        "unparsed": "no_verdict",
        "error": "limit",
    }
    return reasons[verdict.status], trajectory.error or trajectory.stop_reason


def _holds_control_text(messages: Sequence[ChatMessage]) -> bool:
    """Whether a turn of the model, its calls and verdict apart, could act in a template."""
    turns = (m.content for m in messages if m.role == "assistant")
    return any(inert(rest) != rest for rest in (_OWN_TAGS.sub(" ", text) for text in turns))


def _unlearned(messages: Sequence[ChatMessage]) -> tuple[Span, ...]:
    """The verdict's letter, which the oracle was told."""
    last = len(messages) - 1
    start, end = verdict_span(messages[last].content)
    return (Span(message=last, start=start, end=end),)


def _stopped(fault: PolicyFault, message: str) -> PolicyError | NotDone:
    if fault in STOPPING:
        return PolicyError(fault, f"{message}; then go on with --resume")
    return NotDone(clean_text(message))
