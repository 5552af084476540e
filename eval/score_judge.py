"""The four-dimension score as a judge of a benchmark: each answer's reward, by the item's context.

An item whose answers do not all have a reward has no scores: comparing what is there with what is
missing would be a guess.
"""

from __future__ import annotations

import time

from openreward.agent import Clock
from openreward.errors import PolicyError
from openreward.eval.judges import STOPPING, Asked, Kind, Said
from openreward.scoring.records import DIMENSIONS, Score
from openreward.scoring.scorer import Scorer
from openreward.types import Times, VerdictStatus, total_usage


class ScoreJudge:
    """Gives each answer its reward; answers of one item share what is made of its context."""

    kind: Kind = "points"

    def __init__(self, scorer: Scorer, name: str, clock: Clock = time.monotonic) -> None:
        self._scorer = scorer
        self._clock = clock
        self.name = name

    async def reply(self, asked: Asked) -> Said:
        """The rewards of all answers; `reason` lists the scores behind them."""
        started = self._clock()
        scores = await self._scorer.score_all(
            asked.query, asked.responses, asked.context, id=asked.id
        )
        for score in scores:
            if score.fault in STOPPING and score.fault is not None:
                raise PolicyError(score.fault, f"{score.reason}; then go on with --resume")
        rewards = [score.reward for score in scores if score.reward is not None]
        times = Times(
            total=self._clock() - started,
            policy=sum(score.times.policy for score in scores),
            tools=sum(score.times.tools for score in scores),
        )
        usage = total_usage([score.usage for score in scores])
        if len(rewards) == len(scores):
            said = _listed(scores)
            return Said(status="ok", scores=tuple(rewards), reason=said, usage=usage, times=times)
        bad = next(score for score in scores if score.reward is None)
        return Said(status=_status(scores), reason=bad.reason, usage=usage, times=times)


def _status(scores: tuple[Score, ...]) -> VerdictStatus:
    found = {each.status for score in scores for each in score.dimensions}
    return "error" if "error" in found else "refused" if "refused" in found else "unparsed"


def _listed(scores: tuple[Score, ...]) -> str:
    """`helpfulness 8 6; logicality 10 9`: the scores of the answers as shown."""
    lines = []
    for name in DIMENSIONS:
        parts = [part for score in scores if (part := score.of(name)) is not None]
        if parts:
            values = " ".join(f"{part.score:g}" for part in parts if part.score is not None)
            lines.append(f"{name} {values}")
    return "; ".join(lines)
