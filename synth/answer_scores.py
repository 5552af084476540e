"""Scores for the sampled answers of a row, by any of four judges, for preference pairs.

LongReward scores each answer by the row's context; a scalar reward model gives each a number, and
so does a judge of pairs, by the share of its games an answer wins; contrast takes a strong writer's
answers for the better ones, without a judge. An answer without a score has a reason.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from openreward.agent import Clock, together
from openreward.batch import Measure, NotDone
from openreward.errors import PolicyError
from openreward.eval.judges import STOPPING, Asked, MeasuredJudge
from openreward.judge import Judge
from openreward.loose_json import clean_text
from openreward.scoring.records import Score
from openreward.scoring.scorer import Scorer
from openreward.synth.scored_answers import ScoredRow
from openreward.types import Judgment, Pair, PolicyFault, Record, Usage, total_usage

By = Literal["longreward", "scalar", "contrast", "judge"]
_OF_THE_ROW: tuple[PolicyFault, ...] = ("context_overflow", "bad_request")


class AnswerScores(Record):
    """The scores of a row's answers, in their order; `reasons` are empty where there is a score."""

    id: str
    by: By
    scores: tuple[float | None, ...]
    reasons: tuple[str, ...]
    dimensions: tuple[dict[str, float | None], ...] = ()  # LongReward's, for each answer
    requests: int = 0  # to the engine, or games of a judge of pairs
    usage: Usage = Usage()
    seconds: float = 0.0


class _Given(NamedTuple):
    """What became of the usable answers."""

    scores: Sequence[float | None]
    reasons: Sequence[str]
    requests: int = 0
    usage: Usage = Usage()
    dimensions: Sequence[dict[str, float | None]] = ()


class AnswerJudge(Protocol):
    """Scores the answers of a row."""

    by: By

    async def give(self, id: str, row: ScoredRow, answers: Sequence[str]) -> _Given:
        """Scores and reasons for the usable answers.

        Raises `PolicyError` for faults that every row would share, `NotDone` for one that passes.
        """
        ...


async def score_answers(
    judge: AnswerJudge, row: ScoredRow, clock: Clock = time.monotonic
) -> AnswerScores:
    """The scores of a row; answers that came to nothing when they were sampled have none."""
    started = clock()
    usable = [at for at, ok in enumerate(row.answers.usable) if ok]
    given = await judge.give(row.key(), row, [row.answers.texts[at] for at in usable])
    count = len(row.answers.texts)
    scores: list[float | None] = [None] * count
    reasons = ["the answer is not ok"] * count
    dimensions: list[dict[str, float | None]] = [
        {} for _ in range(count if given.dimensions else 0)
    ]
    for place, at in enumerate(usable):
        scores[at], reasons[at] = given.scores[place], clean_text(given.reasons[place])
        if dimensions:
            dimensions[at] = given.dimensions[place]
    return AnswerScores(
        id=row.key(),
        by=judge.by,
        scores=tuple(scores),
        reasons=tuple(reasons),
        dimensions=tuple(dimensions),
        requests=given.requests,
        usage=given.usage,
        seconds=round(clock() - started, 3),
    )


def measured(row: AnswerScores) -> Measure:
    """What a row adds to the totals."""
    scored = sum(score is not None for score in row.scores)
    status = "scored" if scored == len(row.scores) else "partly_scored" if scored else "unscored"
    return Measure(row.id, status, row.usage, row.seconds, ("request",) * row.requests)


class LongRewards:
    """The reward of each answer by the row's context; without one the facts are looked up."""

    by: By = "longreward"

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer

    async def give(self, id: str, row: ScoredRow, answers: Sequence[str]) -> _Given:
        """All answers at once; they share the extraction."""
        scores = await self._scorer.score_all(row.query, answers, row.context, id=id)
        for score in scores:
            _check_fault(score.fault, score.reason)
        return _Given(
            [score.reward for score in scores],
            [score.reason for score in scores],
            sum(score.calls for score in scores),
            total_usage([score.usage for score in scores]),
            [_by_name(score) for score in scores],
        )


class PointScores:
    """The numbers of a pointwise judge, such as a scalar reward model; it sees no context."""

    by: By = "scalar"

    def __init__(self, judge: MeasuredJudge) -> None:
        self._judge = judge

    async def give(self, id: str, row: ScoredRow, answers: Sequence[str]) -> _Given:
        """One number an answer."""
        if not answers:
            return _Given((), ())
        asked = Asked(id, row.query, tuple(answers), tuple(range(len(answers))), seed=0)
        said = await self._judge.reply(asked)
        if said.scores is None or len(said.scores) != len(answers):
            why = said.reason or f"the judge gave no scores ({said.status})"
            return _Given([None] * len(answers), [why] * len(answers), 1, said.usage)
        return _Given(said.scores, [""] * len(answers), 1, said.usage)


class Games:
    """A judge of pairs: the share of its games that an answer wins, a tie being half of one.

    In each of `rounds` every answer plays once (all but one, where their number is odd), against
    another each time; without `rounds` each plays all others.
    """

    by: By = "judge"

    def __init__(self, judge: Judge, rounds: int | None = None) -> None:
        self._judge, self._rounds = judge, rounds

    async def give(self, id: str, row: ScoredRow, answers: Sequence[str]) -> _Given:
        """All games at once; one without a verdict counts for neither."""
        games = schedule(len(answers), self._rounds)
        done = await together([self._play(id, row.query, answers, game) for game in games])
        points: list[list[float]] = [[] for _ in answers]
        for (one, other), judgment in zip(games, done, strict=True):
            _check_fault(judgment.fault, judgment.reason)
            if judgment.status == "tie":
                points[one].append(0.5)
                points[other].append(0.5)
            elif judgment.winner is not None:
                points[one].append(float(judgment.winner == 0))
                points[other].append(float(judgment.winner == 1))
        return _Given(
            [sum(each) / len(each) if each else None for each in points],
            ["" if each else "no game of it has a verdict" for each in points],
            len(games),
            total_usage([judgment.usage for judgment in done]),
        )

    async def _play(
        self, id: str, query: str, answers: Sequence[str], game: tuple[int, int]
    ) -> Judgment:
        one, other = game
        pair = Pair(id=f"{id}/{one}-{other}", query=query, responses=(answers[one], answers[other]))
        return await self._judge.judge(pair)


class Contrast:
    """1 for the answers of the strong writer, 0 for all others: nobody is asked."""

    by: By = "contrast"

    def __init__(self, strong: str) -> None:
        self._strong = strong

    async def give(self, id: str, row: ScoredRow, answers: Sequence[str]) -> _Given:
        """By who wrote them."""
        listed = row.answers
        writers = [writer for writer, ok in zip(listed.writers, listed.usable, strict=True) if ok]
        if self._strong not in listed.writers:
            why = f"no answer of {self._strong!r}"
            return _Given([None] * len(answers), [why] * len(answers))
        return _Given([float(writer == self._strong) for writer in writers], [""] * len(answers))


def schedule(count: int, rounds: int | None = None) -> list[tuple[int, int]]:
    """Who plays whom, by the circle method: nobody meets another twice."""
    ring: list[int | None] = [*range(count), *([None] if count % 2 else [])]
    games: list[tuple[int, int]] = []
    for _ in range(max(0, len(ring) - 1) if rounds is None else min(rounds, len(ring) - 1)):
        half = len(ring) // 2
        for one, other in zip(ring[:half], reversed(ring[half:]), strict=True):
            if one is not None and other is not None:
                games.append((min(one, other), max(one, other)))
        ring = [ring[0], ring[-1], *ring[1:-1]]
    return games


def _check_fault(fault: PolicyFault | None, reason: str) -> None:
    if fault in STOPPING and fault is not None:
        raise PolicyError(fault, f"{reason}; then go on with --resume")
    if fault is not None and fault not in _OF_THE_ROW:
        raise NotDone(reason)


def _by_name(score: Score) -> dict[str, float | None]:
    return {each.name: each.score for each in score.dimensions}
