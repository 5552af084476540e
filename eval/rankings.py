"""Rankings by a principle, as RABench has them (arXiv 2506.03637): k answers, a reference order.

Accuracy is over the pairs of answers that the reference orders, in each order asked, a predicted
tie wrong; beside it Kendall's tau-b, NDCG, and accuracy over the pairs that enough annotators agree
on. Where people ranked the answers too, agreement with them stands beside agreement with the
reference, which a model may have made. A judge of pairs ranks by its wins, a tie half a win.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from pathlib import Path
from statistics import pvariance
from typing import Literal

from pydantic import Field

from openreward.errors import shorten
from openreward.eval.benchmark import Comparison, Example, Number, Score
from openreward.eval.checked import ORDERS
from openreward.eval.items import Key
from openreward.eval.measures import STRICT, ItemValue, better, by_group, values_of, weighted, worth
from openreward.eval.per_item import PerItem, whole
from openreward.eval.ranked import (
    Tiers,
    gained,
    kendall,
    ordered_pairs,
    over_orders,
    right_pairs,
)
from openreward.eval.reading import At, FormatRow, read_examples
from openreward.eval.sheet import Sheet
from openreward.eval.stats import Stratum, mean, wilson
from openreward.inputs import content_id
from openreward.records import Row, RowError

Name = int | str
"""An answer: its number from 0, or its name where the answers have names."""

RULE = "over the ordered pairs of all prompts; a predicted tie is wrong; the interval by prompts"
TAU = "mean of prompts' tau-b (-1 to 1); 0 where all answers are predicted equal"
NDCG = "mean of prompts' NDCG without a cut; gain: how many answers the ranking puts below"


class RankingRow(FormatRow):
    """A row. `ranking` is best first, equals in a list of their own; `scores` may stand for it."""

    id: str | int | None = None
    principle: str = Field(min_length=1)
    prompt: str
    responses: list[str] | dict[str, str]
    ranking: list[Name | list[Name]] | None = None
    scores: list[float | int] | dict[str, float | int] | None = None
    agreed: list[list[Name]] = []  # [better, worse]
    human: list[Name | list[Name]] | None = None
    source: str | None = None

    def example(self, at: At) -> Example:
        """Names become numbers; without an id the row has a hash of its texts."""
        named = isinstance(self.responses, dict)
        names: list[Name] = [*self.responses] if named else [*range(len(self.responses))]
        answers = self.responses.values() if isinstance(self.responses, dict) else self.responses
        texts, numbers = tuple(answers), {name: at for at, name in enumerate(names)}
        ranking = self.ranking if self.ranking is not None else self._by_scores(names)
        id = content_id([self.principle, self.prompt], texts) if self.id is None else str(self.id)
        return Example(
            id=id,
            query=self.prompt,
            responses=texts,
            groups={"source": self.source} if self.source else {},
            ranking=_tiers("ranking", ranking, numbers),
            human=_tiers("human", self.human, numbers) if self.human is not None else (),
            agreed=_agreed(self.agreed, numbers),
            principle=self.principle,
        )

    def _by_scores(self, names: Sequence[Name]) -> list[Name | list[Name]]:
        """The ranking that the scores say."""
        if self.scores is None:
            raise ValueError("expected ranking or scores, but both are missing")
        scores = self.scores if isinstance(self.scores, dict) else dict(enumerate(self.scores))
        if list(scores.keys() - set(names)) or len(scores) != len(names):
            wanted, got = shorten(names), shorten(list(scores))
            raise ValueError(f"field scores: expected one for each of {wanted}, got {got}")
        if not all(map(math.isfinite, scores.values())):
            raise ValueError(f"field scores: expected finite numbers, got {shorten(scores)}")
        tiers: dict[float, list[Name]] = {}
        for name in names:
            tiers.setdefault(scores[name], []).append(name)  # type: ignore[index]
        return [tiers[score] for score in sorted(tiers, reverse=True)]


def _tiers(field: str, ranking: list[Name | list[Name]], numbers: dict[Name, int]) -> Tiers:
    """Names as numbers, each at most once, at least two of them."""
    lists = [tier if isinstance(tier, list) else [tier] for tier in ranking]
    names = [name for tier in lists for name in tier]
    known = all(name in numbers for name in names)
    if not known or len(set(names)) != len(names) or len(names) < 2 or not all(lists):
        raise ValueError(
            f"field {field}: expected at least two of {shorten([*numbers])}, each at most once, "
            f"best first, got {shorten(ranking)}"
        )
    return tuple(tuple(numbers[name] for name in tier) for tier in lists)


def _agreed(pairs: list[list[Name]], numbers: dict[Name, int]) -> tuple[tuple[int, int], ...]:
    for pair in pairs:
        if len(pair) != 2 or pair[0] == pair[1] or any(name not in numbers for name in pair):
            raise ValueError(
                f"field agreed: expected [better, worse] of {shorten([*numbers])}, "
                f"got {shorten(pair)}"
            )
    return tuple((numbers[better], numbers[worse]) for better, worse in pairs)


class Rankings:
    """Prompts with k answers, a principle and a reference order."""

    name = "rankings"
    title = "rankings by a principle"
    ties = False
    protocol: Literal["one", "both"] = "one"

    def load(self, source: Path | str) -> Iterator[Row[Example] | RowError]:
        """A file, a folder of them, or a hub id."""
        return read_examples(source, RankingRow, RankingRow.example)

    def comparisons(self, example: Example) -> Sequence[Comparison]:
        """Every two answers: part (i, j) with i below j."""
        pairs = combinations(range(len(example.responses)), 2)
        return tuple(Comparison((i, j), i, j) for i, j in pairs)

    def per_item(self, sheet: Sheet) -> PerItem:
        """All pairs alike, so a prompt counts by its pairs."""
        return PerItem(_share_right(sheet), strict_share(sheet), whole(sheet), _pairs_of(sheet))

    def score(self, sheet: Sheet) -> Score:
        """Agreement with the reference, on the agreed pairs, and with people."""
        value, strict, *_ = self.per_item(sheet)
        return Score(
            headline=_accuracy(sheet, "accuracy", RULE, lambda key: ordered_pairs(key.ranking)),
            strict=_mean(sheet, "accuracy", strict, f"mean of prompts; {STRICT}"),
            groups=by_group(sheet, ("source",), value, strict, "mean of prompts"),
            numbers=(
                _accuracy(sheet, "accuracy, agreed pairs", RULE, lambda key: key.agreed),
                _tau(sheet, "Kendall tau-b", "ranking"),
                _mean(sheet, "NDCG", _measured(sheet, gained, "ranking"), NDCG),
                _accuracy(sheet, "people: accuracy", RULE, lambda key: ordered_pairs(key.human)),
                _tau(sheet, "people: Kendall tau-b", "human"),
                _mean(sheet, "people: NDCG", _measured(sheet, gained, "human"), NDCG),
                _mean(sheet, "variance of scores", _variance(sheet), "mean over prompts", None),
            ),
        )


def strict_share(sheet: Sheet) -> ItemValue:
    """The share of a prompt's ordered pairs that are right in both orders."""

    def value(item: int) -> float | None:
        found: list[float] = []
        for at in range(len(sheet.items.shape(item).comparisons)):
            right = better(sheet, item, at)
            if right is None:
                continue
            one, other = (worth(sheet.said(item, at, order), right) for order in ORDERS)
            if one is None or other is None:
                return None
            found.append(one * other)
        return mean(found)

    return value


def _share_right(sheet: Sheet) -> ItemValue:
    def value(item: int) -> float | None:
        return mean(right_pairs(sheet, item, ordered_pairs(sheet.items.key(item).ranking)))

    return value


def _pairs_of(sheet: Sheet) -> Callable[[int], float]:
    return lambda item: len(ordered_pairs(sheet.items.key(item).ranking))


def _accuracy(
    sheet: Sheet, name: str, rule: str, pairs: Callable[[Key], Sequence[tuple[int, int]]]
) -> Number:
    """Over pairs of all prompts; the interval counts prompts, whose pairs hang together."""
    right, asked, prompts = 0.0, 0, 0
    for item in range(len(sheet)):
        found = right_pairs(sheet, item, pairs(sheet.items.key(item)))
        right, asked, prompts = right + sum(found), asked + len(found), prompts + bool(found)
    if not asked:
        return Number(name=name, value=None, n=0, rule=rule)
    low, high = wilson(right / asked * prompts, prompts) or (None, None)
    return Number(name=name, value=right / asked, n=asked, low=low, high=high, rule=rule)


def _measured(
    sheet: Sheet,
    measure: Callable[[Tiers, Sequence[float]], float | None],
    reference: Literal["ranking", "human"],
) -> ItemValue:
    def value(item: int) -> float | None:
        key = sheet.items.key(item)
        tiers = key.ranking if reference == "ranking" else key.human
        return over_orders(sheet, item, lambda values: measure(tiers, values)) if tiers else None

    return value


def _tau(sheet: Sheet, name: str, reference: Literal["ranking", "human"]) -> Number:
    return _mean(sheet, name, _measured(sheet, kendall, reference), TAU, least=-1.0)


def _variance(sheet: Sheet) -> ItemValue:
    def value(item: int) -> float | None:
        listed = [each.values for each in sheet.listings(item) if each.form == "scores"]
        return mean([pvariance(values) for values in listed])

    return value


def _mean(
    sheet: Sheet, name: str, value: ItemValue, rule: str, least: float | None = 0.0
) -> Number:
    return weighted(name, [Stratum(values_of(value, range(len(sheet))))], rule, sheet.seed, least)
