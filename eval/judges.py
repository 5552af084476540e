"""The kinds of judge that a benchmark measures, behind one seam: `Asked` in, `Said` out.

A judge compares two answers ("pairs"), orders k of them ("list"), or gives each a number
("points"). It sees answers in the order SHOWN and speaks of that order; the runner undoes it.
The controls at the end know nothing of the answers: what they reach is what placing, length and
luck are worth on a benchmark.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from random import Random
from typing import Annotated, Literal, NamedTuple, Protocol

from pydantic import Strict

from openreward.errors import PolicyError
from openreward.eval.benchmark import Index
from openreward.judge import Judge, derive
from openreward.types import (
    Pair,
    PolicyFault,
    Record,
    Times,
    Trajectory,
    Usage,
    VerdictStatus,
)

Kind = Literal["pairs", "list", "points"]
STOPPING: frozenset[PolicyFault] = frozenset({"unreachable", "unauthorized", "unknown_model"})
"""Faults that every question would share: they stop a run and are not written."""


class Asked(NamedTuple):
    """One question to a judge. `responses` stand in the order shown: `order` of `original`."""

    id: str  # of the question, not of the example: an example may be asked many
    query: str
    original: tuple[str, ...]
    order: tuple[int, ...]
    seed: int
    principle: str | None = None
    context: str | None = None

    @property
    def responses(self) -> tuple[str, ...]:
        """The answers as shown."""
        return tuple(self.original[index] for index in self.order)


class Said(Record):
    """A judge's reply; indices are places SHOWN. Status "ok" needs winner, scores or ranking."""

    status: VerdictStatus
    winner: Index | None = None
    scores: tuple[Annotated[float, Strict()], ...] | None = None
    ranking: tuple[tuple[Index, ...], ...] | None = None
    reason: str = ""
    trajectory: Trajectory | None = None
    usage: Usage = Usage()
    times: Times = Times()


class MeasuredJudge(Protocol):
    """A judge as the runner takes it."""

    name: str
    kind: Kind

    async def reply(self, asked: Asked) -> Said:
        """Its reply. A failure is a status; a fault that all questions share is raised."""
        ...


class PairJudge:
    """The judge of pairs, with tools or without, one order at a time."""

    kind: Kind = "pairs"

    def __init__(self, judge: Judge, name: str) -> None:
        self.judge = judge
        self.name = name

    async def reply(self, asked: Asked) -> Said:
        """One trajectory's verdict."""
        if asked.original[0] == asked.original[1]:
            reason = "the two answers are identical; the model was not asked"
            return Said(status="tie", reason=reason)
        first, second = asked.original
        pair = Pair(id=asked.id, query=asked.query, responses=(first, second))
        try:
            vote = await self.judge.once(
                pair, (asked.order[0], asked.order[1]), principle=asked.principle
            )
        except PolicyError as error:  # a server counts the tokens of what is cut to fit
            if error.fault in STOPPING:
                raise
            return Said(status="error", reason=f"policy_error: {error}")
        done = vote.trajectory
        if done.fault in STOPPING:
            raise PolicyError(done.fault, f"{done.error}; then go on with --resume")
        return Said(
            status=vote.status,
            winner=done.verdict.winner,
            reason=f"{done.stop_reason}: {done.error}" if done.error else "",
            trajectory=done.without_tokens(),
            usage=done.usage,
            times=done.times,
        )


class Control:
    """A judge without a model, which a measured judge should beat."""

    def __init__(self, name: str, kind: Kind, rule: Callable[[Asked], Said]) -> None:
        self.name = name
        self.kind: Kind = kind
        self._rule = rule

    async def reply(self, asked: Asked) -> Said:
        """What its rule says."""
        return self._rule(asked)


def _first(asked: Asked) -> Said:
    return Said(status="ok", winner=0)


def _tie(asked: Asked) -> Said:
    return Said(status="tie")


def _random(asked: Asked) -> Said:
    """A fair coin for each question and each order of it."""
    seed = derive(asked.seed, asked.id, f"coin {asked.order}")
    return Said(status="ok", winner=Random(seed).randrange(len(asked.order)))


def _longer(asked: Asked) -> Said:
    return Said(status="ok", scores=tuple(float(len(text)) for text in asked.responses))


CONTROLS: Mapping[str, Control] = {
    "first": Control("always the first shown", "pairs", _first),
    "tie": Control("always a tie", "pairs", _tie),
    "random": Control("a coin", "pairs", _random),
    "longer": Control("the longer answer", "points", _longer),
}


def checked(said: Said, asked: Asked) -> Said:
    """The reply as it may be scored: one that does not fit the question is `unparsed`, with why."""
    wrong = _misfit(said, len(asked.order))
    if not wrong:
        return said
    bare = {"status": "unparsed", "winner": None, "scores": None, "ranking": None}
    return said.model_copy(update={**bare, "reason": f"{wrong}; {said.reason}".rstrip("; ")})


def _misfit(said: Said, k: int) -> str:
    if said.status != "ok":
        return ""
    if said.winner is not None and not 0 <= said.winner < k:
        return f"expected a winner below {k}, got {said.winner}"
    if said.scores is not None:
        finite = all(math.isfinite(score) for score in said.scores)
        if len(said.scores) != k or not finite:
            return f"expected {k} finite scores, got {said.scores!r:.80}"
    if said.ranking is not None:
        ranked = sorted(index for tier in said.ranking for index in tier)
        if ranked != list(range(k)):
            return f"expected each of {k} answers once in a ranking, got {said.ranking!r:.80}"
    if said.winner is None and said.scores is None and said.ranking is None:
        return "expected a winner, scores or a ranking, got none"
    return ""
