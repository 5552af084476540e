"""What consensus rankings add up to: lengths, support, and who agrees with them.

The judges made the consensus, so that their agreement with it is no merit of theirs; what people
say, where they ranked the answers, stands beside it.
"""

from __future__ import annotations

from itertools import combinations

from openreward.synth.consensus_rows import Ranked, tau_with
from openreward.types import Record


class JudgeAgreement(Record):
    """One judge over the pairs within the agreed orders: it says the same, a tie, the opposite.

    `human_tau` is the mean tau-b with people, over the agreed answers as that of the consensus is.
    """

    judge: str
    rows: int = 0
    source: int = 0  # rows in which the order is its own
    same: int = 0
    tied: int = 0
    opposite: int = 0
    missing: int = 0
    share: float | None = None  # same, of those it scored
    human_rows: int = 0
    human_tau: float | None = None


class ConsensusCounts(Record):
    """What rows add up to; lengths and shares are over all rows, with an agreed pair or not."""

    rows: int = 0
    ranked: int = 0
    dropped: dict[str, int] = {}
    answers: float | None = None  # mean of a row
    length: float | None = None  # mean of agreed orders, of the rows that have one
    pairs: int = 0
    supported: int = 0
    too_few: int = 0  # pairs that too few judges scored
    human_rows: int = 0  # that people ranked and that have an agreed order
    human_tau: float | None = None  # mean tau-b of the consensus and people
    judges: tuple[JudgeAgreement, ...] = ()


class ConsensusTally:
    """Counts that grow row by row."""

    def __init__(self) -> None:
        self._rows = self._ranked = self._answers = self._lengths = 0
        self._pairs = self._supported = self._too_few = 0
        self._dropped = dict[str, int]()
        self._taus = list[float]()
        self._judges = dict[str, _JudgeTally]()

    def add(self, ranked: Ranked) -> None:
        """Count a row."""
        row, found = ranked.row, ranked.found
        self._rows += 1
        self._answers += len(ranked.judged.names)
        self._pairs += len(found.pairs)
        self._supported += found.supported
        self._too_few += sum(pair.too_few for pair in row.unsupported)
        if row.drop is not None:
            self._dropped[row.drop] = self._dropped.get(row.drop, 0) + 1
            return
        self._ranked += 1
        self._lengths += len(found.order)
        if row.human_tau is not None:
            self._taus.append(row.human_tau)
        for name in row.judges:
            self._judges.setdefault(name, _JudgeTally()).add(ranked, name)

    def counts(self) -> ConsensusCounts:
        """All of it."""
        return ConsensusCounts(
            rows=self._rows,
            ranked=self._ranked,
            dropped=dict(sorted(self._dropped.items())),
            answers=_share(self._answers, self._rows),
            length=_share(self._lengths, self._ranked),
            pairs=self._pairs,
            supported=self._supported,
            too_few=self._too_few,
            human_rows=len(self._taus),
            human_tau=_share(sum(self._taus), len(self._taus)),
            judges=tuple(tally.agreement(name) for name, tally in sorted(self._judges.items())),
        )


class _JudgeTally:
    def __init__(self) -> None:
        self.rows = self.source = self.same = self.tied = self.opposite = self.missing = 0
        self.taus = list[float]()

    def add(self, ranked: Ranked, name: str) -> None:
        scores = ranked.judged.judges[name]
        self.rows += 1
        self.source += ranked.row.judge == name
        for better, worse in combinations(ranked.found.order, 2):
            one, other = scores[better], scores[worse]
            if one is None or other is None:
                self.missing += 1
            elif one == other:
                self.tied += 1
            else:
                self.same += one > other
                self.opposite += one < other
        if ranked.judged.human is not None:
            own = {at: s for at in ranked.found.order if (s := scores[at]) is not None}
            tau = tau_with(ranked.judged.human, own)
            self.taus += [] if tau is None else [tau]

    def agreement(self, name: str) -> JudgeAgreement:
        return JudgeAgreement(
            judge=name,
            rows=self.rows,
            source=self.source,
            same=self.same,
            tied=self.tied,
            opposite=self.opposite,
            missing=self.missing,
            share=_share(self.same, self.same + self.tied + self.opposite),
            human_rows=len(self.taus),
            human_tau=_share(sum(self.taus), len(self.taus)),
        )


def _share(part: float, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None
