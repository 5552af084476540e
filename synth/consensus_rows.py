"""Judged rows in, consensus rankings out: the rows, and what all of them add up to.

A row has `principle`, `prompt`, `responses` (by name, or a list) and `judges`: for each judge its
scores, or what it returned, with `scores` in it. What comes out is read by `openreward eval
rankings`; people's rankings (`human`), where given, are passed on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from openreward.eval.reading import FormatRow
from openreward.eval.stats import kendall_tau_b
from openreward.inputs import content_id
from openreward.synth.consensus import MOST_ANSWERS, Consensus, PairVotes, Tail, consensus
from openreward.synth.consensus import Scores as JudgeScores
from openreward.synth.scored import GivenScores, Name, Ranking, Scores, align, read_tiers
from openreward.types import Record

Tiers = tuple[tuple[int, ...], ...]
DropReason = Literal["too_few_judges", "no_agreed_pair"]


class JudgedRow(FormatRow):
    """A row as it is handed over; other fields are passed over."""

    id: str | int | None = None
    principle: str | None = None
    prompt: str
    responses: list[str] | dict[str, str]
    judges: dict[str, GivenScores] = {}
    human: Ranking | None = None
    source: str | None = None  # the domain

    def key(self) -> str:
        """The id, or a hash of the texts."""
        texts = self.responses if isinstance(self.responses, list) else [*self.responses.values()]
        if self.id is None:
            return content_id([self.principle, self.prompt], texts)
        return str(self.id)


class Judged(NamedTuple):
    """A row that was checked: names of answers, and a score or None of each by each judge."""

    id: str
    principle: str
    row: JudgedRow
    names: list[Name]
    judges: dict[str, tuple[float | None, ...]]
    human: Tiers | None


class OpenPair(Record):
    """A pair that is not supported: votes for each, ties, and judges who did not score both."""

    pair: tuple[Name, Name]
    votes: tuple[int, int]
    tied: int
    missing: int
    too_few: bool  # fewer judges scored both than would have to agree


class RankedRow(Record):
    """A row with its agreed order, as `openreward eval rankings` reads it.

    `ranking` and `scores` cover the agreed answers (with the tail: the source judge's all);
    `agreed` holds every supported pair, [better, worse], within that order or not.
    """

    id: str
    principle: str
    prompt: str
    responses: list[str] | dict[str, str]
    ranking: Ranking
    scores: dict[str, float]  # of the source judge
    agreed: list[tuple[Name, Name]]
    human: Ranking | None
    source: str | None
    judge: str | None  # whose order and scores they are
    judges: tuple[str, ...]
    support: int
    supported: float | None  # share of all pairs
    unsupported: tuple[OpenPair, ...]
    human_tau: float | None  # tau-b of the agreed order and people's
    drop: DropReason | None = None


class TrainingRow(Record):
    """A row of which every answer that is shown has its label."""

    id: str
    principle: str
    prompt: str
    responses: dict[str, str]
    scores: dict[str, float]
    ranking: list[str | list[str]]
    source: str | None


class Ranked(NamedTuple):
    """What became of a row: the order found, and the row that is written."""

    judged: Judged
    found: Consensus
    row: RankedRow


def check_row(row: JudgedRow, more: Mapping[str, Scores], principle: str | None) -> Judged:
    """The row with `more` judges; `principle` is for rows without. Raises `ValueError`."""
    names: list[Name] = (
        [*row.responses] if isinstance(row.responses, dict) else [*range(len(row.responses))]
    )
    said = row.principle or principle
    if not said:
        raise ValueError("expected a principle; add one, or give one for all by --principle")
    if not 2 <= len(names) <= MOST_ANSWERS:
        raise ValueError(f"field responses: expected 2 to {MOST_ANSWERS}, got {len(names)}")
    judges = dict[str, tuple[float | None, ...]]()
    for name, scores in {**row.judges, **more}.items():
        try:
            judges[name] = align(scores, names)
        except ValueError as error:
            raise ValueError(f"judge {name}: {error}") from None
    human = read_tiers("field human", row.human, names) if row.human is not None else None
    return Judged(row.key(), said, row, names, judges, human)


def rank(judged: Judged, support: int, tail: Tail, seed: int) -> Ranked:
    """The consensus of a row; judges that scored nothing are left out."""
    scored = {
        name: scores
        for name, scores in judged.judges.items()
        if any(score is not None for score in scores)
    }
    given: JudgeScores = [*scored.values()] or [[None] * len(judged.names)]
    found = consensus(given, support, tail=tail, seed=seed, id=judged.id)
    drop: DropReason | None = None
    if not found.order:
        drop = "too_few_judges" if len(scored) < support else "no_agreed_pair"
    names, row = judged.names, judged.row
    places = {answer: -float(at) for at, answer in enumerate(found.order)}
    return Ranked(
        judged,
        found,
        RankedRow(
            id=judged.id,
            principle=judged.principle,
            prompt=row.prompt,
            responses=row.responses,
            ranking=[_named(tier, names) for tier in found.ranking],
            scores={str(names[answer]): score for answer, score in found.scores.items()},
            agreed=[_in_order(pair, names) for pair in found.pairs if pair.winner is not None],
            human=row.human,
            source=row.source,
            judge=None if found.source is None else [*scored][found.source],
            judges=tuple(scored),
            support=support,
            supported=round(found.supported / len(found.pairs), 4) if found.pairs else None,
            unsupported=tuple(
                _open(pair, names, len(given), support)
                for pair in found.pairs
                if pair.winner is None
            ),
            human_tau=tau_with(judged.human, places) if judged.human else None,
            drop=drop,
        ),
    )


def training_row(ranked: Ranked) -> TrainingRow:
    """The row as a trainer takes it: the answers that have a label, in the order they came in."""
    row, found = ranked.row, ranked.found
    texts = [*row.responses.values()] if isinstance(row.responses, dict) else row.responses
    names = [str(name) for name in ranked.judged.names]
    return TrainingRow(
        id=row.id,
        principle=row.principle,
        prompt=row.prompt,
        responses={
            name: text
            for at, (name, text) in enumerate(zip(names, texts, strict=True))
            if at in found.scores
        },
        scores=row.scores,
        ranking=[_tier(tier, names) for tier in found.ranking],
        source=row.source,
    )


def _named(tier: Sequence[int], names: Sequence[Name]) -> Name | list[Name]:
    return names[tier[0]] if len(tier) == 1 else [names[answer] for answer in tier]


def _tier(tier: Sequence[int], names: Sequence[str]) -> str | list[str]:
    return names[tier[0]] if len(tier) == 1 else [names[answer] for answer in tier]


def _in_order(pair: PairVotes, names: Sequence[Name]) -> tuple[Name, Name]:
    loser = pair.second if pair.winner == pair.first else pair.first
    winner = pair.first + pair.second - loser
    return names[winner], names[loser]


def _open(pair: PairVotes, names: Sequence[Name], judges: int, support: int) -> OpenPair:
    return OpenPair(
        pair=(names[pair.first], names[pair.second]),
        votes=(pair.for_first, pair.for_second),
        tied=pair.tied,
        missing=pair.missing,
        too_few=judges - pair.missing < support,
    )


def tau_with(human: Tiers, values: Mapping[int, float]) -> float | None:
    """Kendall's tau-b of people and of answers' values, over the answers that have both."""
    places = {answer: -float(at) for at, tier in enumerate(human) for answer in tier}
    both = [answer for answer in values if answer in places]
    return kendall_tau_b([values[answer] for answer in both], [places[answer] for answer in both])
