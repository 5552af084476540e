"""Preference pairs from scored answers: best against worst, best of N, or over and under a score.

As in LongReward (arXiv 2410.21252): several sampled answers a prompt, and no pair where too few of
them are scored or where the two have the same score. Each rule names the pairs that would do; those
under the margin and those of one text are taken out, and one of the rest is drawn by the seed and
the row's id: so no tie is broken by the place of an answer. A row gives a pair or a reason.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Literal, NamedTuple

from pydantic import Field, model_validator

from openreward.inputs import Message, as_query
from openreward.judge import derive
from openreward.synth.scenario_records import Said
from openreward.types import Record

Rule = Literal["best-worst", "best-of-n", "threshold"]
Rejected = Literal["drawn", "first"]
NoPairReason = Literal[
    "no_scores",  # of any answer
    "too_few",  # scored answers
    "equal_scores",  # nothing is better than anything
    "first_is_best",  # best-of-n against the first sample
    "none_above",  # threshold
    "none_below",
    "under_margin",
    "same_text",  # the better and the worse say the same, word for word
]


class ScoredAnswers(Record):
    """A prompt with answers and their scores, None where there is none to be used."""

    id: str
    prompt: tuple[Said, ...]
    answers: tuple[str, ...]
    scores: tuple[float | None, ...]

    @model_validator(mode="after")
    def _one_length(self) -> ScoredAnswers:
        if len(self.answers) != len(self.scores):
            raise ValueError(f"{len(self.answers)} answers, {len(self.scores)} scores")
        return self


class PreferenceSettings(Record):
    """Which answers make a pair. `rejected` is for best-of-n, `threshold` for that rule."""

    rule: Rule = "best-worst"
    rejected: Rejected = "drawn"
    threshold: float | None = Field(default=None, allow_inf_nan=False)
    fewest: int = Field(default=5, ge=2)  # scored answers
    margin: float = Field(default=0.0, ge=0, allow_inf_nan=False)  # of scores, at least
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _fit(self) -> PreferenceSettings:
        if (self.rule == "threshold") != (self.threshold is not None):
            raise ValueError(
                f"expected a threshold with the rule threshold and with no other, got the rule "
                f"{self.rule} and the threshold {self.threshold}"
            )
        if self.rejected == "first" and self.rule != "best-of-n":
            raise ValueError(f"rejected first goes with the rule best-of-n, got {self.rule}")
        return self


class Preference(NamedTuple):
    """The numbers of two answers, and how many answers have the score of each, itself included."""

    chosen: int
    rejected: int
    tied_chosen: int
    tied_rejected: int


class NoPair(Record):
    """Why a row gives no pair."""

    id: str
    reason: NoPairReason
    detail: str = ""


class PreferenceRow(Record):
    """A pair in TRL's preference format: texts, or with lists of messages (conversational)."""

    id: str
    prompt: str | tuple[Said, ...]
    chosen: str | tuple[Said, ...]
    rejected: str | tuple[Said, ...]
    score_chosen: float
    score_rejected: float
    chosen_index: int  # the answer's number in the row it came from
    rejected_index: int
    tied_chosen: int  # answers with this score; of more than one it was drawn
    tied_rejected: int


class _End(Exception):
    """There is no pair."""

    def __init__(self, reason: NoPairReason, detail: str = "") -> None:
        super().__init__(detail)
        self.reason: NoPairReason = reason
        self.detail = detail


def prefer(row: ScoredAnswers, settings: PreferenceSettings) -> Preference | NoPair:
    """The pair of a row, or why there is none."""
    scores = {at: score for at, score in enumerate(row.scores) if score is not None}
    try:
        if not scores:
            raise _End("no_scores")
        if len(scores) < settings.fewest:
            detail = f"{len(scores)} scored answers, at least {settings.fewest} expected"
            raise _End("too_few", detail)
        pairs = _unlike(_apart(_candidates(scores, settings), scores, settings), row.answers)
    except _End as end:
        return NoPair(id=row.id, reason=end.reason, detail=end.detail)
    drawn = Random(derive(settings.seed, row.id, "preference"))
    chosen, rejected = drawn.choice(pairs)
    return Preference(
        chosen, rejected, len(_like(scores, scores[chosen])), len(_like(scores, scores[rejected]))
    )


def preference_row(
    row: ScoredAnswers, pair: Preference, *, conversational: bool = False
) -> PreferenceRow:
    """The pair as it is written; as text, a conversation of several messages names their roles."""
    better, worse = row.scores[pair.chosen], row.scores[pair.rejected]
    assert better is not None
    assert worse is not None
    texts = row.answers[pair.chosen], row.answers[pair.rejected]
    said = [(Said(role="assistant", content=text),) for text in texts]
    messages = [Message(role=each.role, content=each.content) for each in row.prompt]
    return PreferenceRow(
        id=row.id,
        prompt=row.prompt if conversational else as_query(messages),
        chosen=said[0] if conversational else texts[0],
        rejected=said[1] if conversational else texts[1],
        score_chosen=better,
        score_rejected=worse,
        chosen_index=pair.chosen,
        rejected_index=pair.rejected,
        tied_chosen=pair.tied_chosen,
        tied_rejected=pair.tied_rejected,
    )


def _candidates(scores: dict[int, float], settings: PreferenceSettings) -> list[tuple[int, int]]:
    """The (better, worse) that a rule would take."""
    if settings.threshold is not None:
        above = [at for at, score in scores.items() if score >= settings.threshold]
        below = [at for at, score in scores.items() if score < settings.threshold]
        if not above or not below:
            raise _End("none_below" if above else "none_above", _range(scores))
        return [(better, worse) for better in above for worse in below]
    best = _like(scores, max(scores.values()))
    worst = _like(scores, min(scores.values()))
    if set(best) & set(worst):
        raise _End("equal_scores", _range(scores))
    if settings.rule == "best-worst":
        return [(better, worse) for better in best for worse in worst]
    if settings.rejected == "first":
        first = min(scores)
        if first in best:
            raise _End("first_is_best")
        return [(better, first) for better in best]
    return [(better, worse) for better in best for worse in scores if worse not in best]


def _apart(
    pairs: Sequence[tuple[int, int]], scores: dict[int, float], settings: PreferenceSettings
) -> list[tuple[int, int]]:
    """Those that differ by the margin; without one, those that differ."""
    margins = [scores[better] - scores[worse] for better, worse in pairs]
    kept = [
        pair
        for pair, margin in zip(pairs, margins, strict=True)
        if not math.isclose(scores[pair[0]], scores[pair[1]])
        and (margin >= settings.margin or math.isclose(margin, settings.margin))
    ]
    if not kept:
        detail = f"{max(margins):g}, at least {settings.margin:g} expected"
        raise _End("under_margin" if settings.margin else "equal_scores", detail)
    return kept


def _unlike(pairs: Sequence[tuple[int, int]], answers: Sequence[str]) -> list[tuple[int, int]]:
    kept = [(one, other) for one, other in pairs if answers[one].split() != answers[other].split()]
    if not kept:
        raise _End("same_text")
    return kept


def _like(scores: dict[int, float], wanted: float) -> list[int]:
    """The answers with a score: sums of the same parts may differ in the last bits."""
    return [at for at, score in scores.items() if math.isclose(score, wanted)]


def _range(scores: dict[int, float]) -> str:
    return f"scores from {min(scores.values()):g} to {max(scores.values()):g}"
