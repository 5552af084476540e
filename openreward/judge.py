"""Compare two answers, with evidence: both orders by default, any number of votes.

An order's verdict is what most of its readable votes say. Both orders must name the same winner;
where they differ the judgment is a tie that says so, where one cannot be read there is no winner.
Nothing is guessed: every vote and its trajectory are kept.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from openreward.agent import Clock, Limits, run, together
from openreward.counting import unserved
from openreward.errors import PolicyError, UserError
from openreward.evidence import trim
from openreward.policy.base import Policy, Sampling
from openreward.scoring.records import Score, ScoreSettings
from openreward.scoring.scorer import Scorer
from openreward.seeds import derive as derive
from openreward.tools.base import Tool
from openreward.tools.tape import Tape
from openreward.types import (
    Judgment,
    Pair,
    Record,
    Task,
    Times,
    Trajectory,
    VerdictStatus,
    Vote,
    total_usage,
)

_BOTH = ((0, 1), (1, 0))
_WORST_FIRST: tuple[VerdictStatus, ...] = ("error", "refused", "unparsed")


class JudgeSettings(Record):
    """How a pair is judged. The defaults that the paper does not give are our choices."""

    orders: Literal["both", "one"] = "both"  # "one": drawn per pair from the seed
    votes: int = Field(default=1, ge=1)  # a vote is one trajectory of each order
    tie: bool = False  # whether the model may call a tie
    temperature: float = Field(default=0.0, ge=0, allow_inf_nan=False)  # above 0 for votes
    top_p: float = Field(default=1.0, gt=0, le=1)
    seed: int = 0
    query_tokens: int = Field(default=600, ge=16)
    answer_tokens: int = Field(default=700, ge=16)  # each answer; the cut of a longer is marked
    principle: str | None = None
    limits: Limits = Limits()

    @property
    def trajectories(self) -> int:
        """How many trajectories a pair takes."""
        return self.votes * (2 if self.orders == "both" else 1)


class Judge:
    """A policy with tools, as a judge of pairs."""

    def __init__(
        self,
        policy: Policy,
        tools: Sequence[Tool],
        settings: JudgeSettings = JudgeSettings(),  # noqa: B008 - frozen
        clock: Clock = time.monotonic,
        tape: Tape | None = None,
        scoring: ScoreSettings | None = None,
    ) -> None:
        self.policy = policy
        self.tools = tuple(tools)
        self.settings = settings
        self.clock = clock
        self.tape = tape
        scoring = scoring or ScoreSettings(seed=settings.seed)
        self.scorer = Scorer(policy, self.tools, scoring, clock=clock, tape=tape)

    async def compare(self, query: str, a: str, b: str, *, id: str = "pair") -> Judgment:
        """Which of two answers is better; `winner` 0 is `a`."""
        return await self.judge(Pair(id=id, query=query, responses=(a, b)))

    def compare_sync(self, query: str, a: str, b: str, *, id: str = "pair") -> Judgment:
        """`compare` for code that runs no event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.compare(query, a, b, id=id))
        raise UserError(
            "compare_sync was called where an event loop runs, as in a notebook; "
            "use `await judge.compare(...)` there"
        )

    async def score(
        self, query: str, answer: str, context: str | None = None, *, id: str = "answer"
    ) -> Score:
        """Four scores of one answer, and their mean as its reward; see `Scorer.score`."""
        return await self.scorer.score(query, answer, context, id=id)

    async def judge(self, pair: Pair) -> Judgment:
        """Judge a pair. An engine that fails gives status "error" with its fault, no exception."""
        if pair.responses[0] == pair.responses[1]:
            reason = "the two answers are identical; the model was not asked"
            return Judgment(id=pair.id, status="tie", reason=reason, label=pair.label)
        started = self.clock()
        try:
            shown, notes = await self._fit(pair)
        except PolicyError as error:  # a server counts the tokens
            reason, fault = f"policy_error: {error}", error.fault
            return Judgment(
                id=pair.id, status="error", reason=reason, fault=fault, label=pair.label
            )
        if shown[1] == shown[2]:
            reason = "the two answers are identical as far as they fit; the model was not asked"
            return Judgment(id=pair.id, status="tie", reason=reason, label=pair.label, notes=notes)
        places = [
            (order, vote) for order in self._orders(pair) for vote in range(self.settings.votes)
        ]
        votes = await together([self._vote(pair, shown, order, vote) for order, vote in places])
        return _combine(pair, votes, notes, self.clock() - started)

    async def once(
        self, pair: Pair, order: tuple[int, int], *, vote: int = 0, principle: str | None = None
    ) -> Vote:
        """One trajectory of a pair in one order, under a principle of its own where one is given.

        Raises `PolicyError` when an engine that must count tokens fails at it.
        """
        shown, _ = await self._fit(pair)
        return await self._vote(pair, shown, order, vote, principle)

    def _orders(self, pair: Pair) -> tuple[tuple[int, int], ...]:
        if self.settings.orders == "both":
            return _BOTH
        return (_BOTH[derive(self.settings.seed, pair.id, "order") % 2],)

    async def _fit(self, pair: Pair) -> tuple[tuple[str, str, str], tuple[str, ...]]:
        """Query and answers cut to their budgets, and what was done in words."""
        settings = self.settings
        parts = (("the query", pair.query, settings.query_tokens),) + tuple(
            (f"answer {n + 1}", text, settings.answer_tokens)
            for n, text in enumerate(pair.responses)
        )
        texts, notes = [], []
        for name, text, budget in parts:
            kept, tokens, cut = await trim(text, budget, self.policy)
            texts.append(kept)
            if cut:
                notes.append(f"{name} was cut to {tokens} tokens, of {len(text)} characters")
            if not text.strip():
                notes.append(f"{name} is empty")
        return (texts[0], texts[1], texts[2]), tuple(notes)

    async def _vote(
        self,
        pair: Pair,
        shown: tuple[str, str, str],
        order: tuple[int, int],
        vote: int,
        principle: str | None = None,
    ) -> Vote:
        settings = self.settings
        task = Task(
            id=pair.id,
            query=shown[0],
            responses=tuple(shown[1 + index] for index in order),
            tie=settings.tie,
            principle=principle or settings.principle,
            seed=derive(settings.seed, pair.id, f"{order}/{vote}"),
        )
        sampling = Sampling(temperature=settings.temperature, top_p=settings.top_p)
        trajectory = await run(
            task, self.policy, self.tools, settings.limits, sampling, self.clock, self.tape
        )
        verdict = trajectory.verdict
        winner = None if verdict.winner is None else order[verdict.winner]
        return Vote(
            order=order, vote=vote, status=verdict.status, winner=winner, trajectory=trajectory
        )


def _combine(pair: Pair, votes: Sequence[Vote], notes: tuple[str, ...], seconds: float) -> Judgment:
    status, winner, reason = _decide(votes)
    spoken = next((v.trajectory for v in votes if v.winner == winner and v.status == status), None)
    failed = next((v.trajectory for v in votes if v.trajectory.fault), None)
    trajectory: Trajectory = spoken or votes[0].trajectory  # none spoke for a disagreement
    return Judgment(
        id=pair.id,
        status=status,
        winner=winner,
        reason=reason,
        fault=failed.fault if failed and status == "error" else None,
        explanation=spoken.explanation if spoken else "",
        label=pair.label,
        evidence=trajectory.evidence,
        votes=tuple(votes),
        notes=(*notes, *_unserved(votes)),
        usage=total_usage([vote.trajectory.usage for vote in votes]),
        times=Times(
            total=seconds,
            policy=sum(vote.trajectory.times.policy for vote in votes),
            tools=sum(vote.trajectory.times.tools for vote in votes),
        ),
    )


def _decide(votes: Sequence[Vote]) -> tuple[VerdictStatus, int | None, str]:
    """Status, winner and reason of a judgment from its votes."""
    orders = list(dict.fromkeys(vote.order for vote in votes))
    each = [_order_verdict([vote for vote in votes if vote.order == order]) for order in orders]
    for status in _WORST_FIRST:
        bad = [vote for vote in votes if vote.status == status]
        if any(said[0] == status for said in each):
            return status, None, _why(bad[0])
    winners = {winner for _, winner in each}
    if len(winners) == 1:
        winner = winners.pop()
        if winner is not None:
            return "ok", winner, ""
        called = all(vote.winner is None for vote in votes)
        return "tie", None, "the model called a tie" if called else "the votes name no one winner"
    if len({winner for winner in winners if winner is not None}) == 1:
        return "tie", None, "one order names a winner, the other a tie"
    return "tie", None, "the two orders name different winners"


def _order_verdict(votes: Sequence[Vote]) -> tuple[VerdictStatus, int | None]:
    """The most frequent readable verdict of one order; equal counts are a tie."""
    said = Counter(vote.winner for vote in votes if vote.status in ("ok", "tie"))
    if not said:
        return min((vote.status for vote in votes), key=_WORST_FIRST.index), None
    (first, most), *others = said.most_common()
    if first is None or any(count == most for _, count in others):
        return "tie", None
    return "ok", first


def _unserved(votes: Sequence[Vote]) -> tuple[str, ...]:
    """What is to be said of trajectories that had no evidence for want of a service."""
    count = sum(unserved(vote.trajectory) for vote in votes)
    if not count:
        return ()
    of = f"in {count} of {len(votes)} trajectories"
    return (f"{of} every search failed by its service: judged without evidence",)


def _why(vote: Vote) -> str:
    trajectory = vote.trajectory
    if trajectory.error:
        return f"{trajectory.stop_reason}: {trajectory.error}"
    return {
        "cut": "the last turn was cut at its token limit before a verdict",
        "refused": "the engine reported a refusal",
    }.get(trajectory.stop_reason, "the last turn held no verdict, or two different ones")
