"""PandaLM's test set (arXiv 2306.05087): three annotators a pair, labels 0 tie, 1, 2.

The label is the majority's; where all three differ it is a tie. Reported: accuracy, and precision,
recall and F1 over the three classes, macro and weighted. No verdict is no class: it is wrong, and
lowers recall alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from openreward.eval.benchmark import Comparison, Example, Number, Score
from openreward.eval.cells import MISSING
from openreward.eval.measures import STRICT, by_group, share, values_of, won, won_twice
from openreward.eval.per_item import PerItem, whole
from openreward.eval.reading import At, FormatRow, ZeroToTwo, read_examples
from openreward.eval.sheet import Sheet
from openreward.eval.stats import ClassScores, averaged, by_class
from openreward.records import Row, RowError

Label = Literal[0, 1, 2]
CLASSES: tuple[Label, ...] = (0, 1, 2)
RULE = "one drawn order; a tie is right where the majority says tie; no verdict is wrong"


class PandaLMRow(FormatRow):
    """A row as its authors write it; six answers in the released file are bare truth values."""

    idx: int | str
    instruction: str
    input: str = ""
    response1: str | bool
    response2: str | bool
    annotator1: ZeroToTwo
    annotator2: ZeroToTwo
    annotator3: ZeroToTwo
    motivation_app: str = ""

    def example(self, at: At) -> Example:
        """The pair with the majority's label."""
        label = majority((self.annotator1, self.annotator2, self.annotator3))
        asked = f"{self.instruction}\n\n{self.input}" if self.input else self.instruction
        return Example(
            id=str(self.idx),
            query=asked,
            responses=(str(self.response1), str(self.response2)),
            right=(label - 1,) if label else (),
            groups={"application": self.motivation_app} if self.motivation_app else {},
        )


def majority(labels: Sequence[Label]) -> Label:
    """The label of two or three; 0, a tie, where all differ."""
    label, votes = Counter(labels).most_common(1)[0]
    return label if votes > 1 else 0


class PandaLM:
    """999 pairs, judged by three people each."""

    name = "pandalm"
    title = "PandaLM"
    ties = True
    protocol: Literal["one", "both"] = "one"

    def load(self, source: Path | str) -> Iterator[Row[Example] | RowError]:
        """testset-v1.json, or the folder that holds it."""
        return read_examples(source, PandaLMRow, PandaLMRow.example, pattern="testset*")

    def comparisons(self, example: Example) -> Sequence[Comparison]:
        """The one pair."""
        return (Comparison(None, 0, 1),)

    def per_item(self, sheet: Sheet) -> PerItem:
        """All pairs alike."""
        return PerItem(won(sheet), won_twice(sheet), whole(sheet))

    def score(self, sheet: Sheet) -> Score:
        """Accuracy, then the averages over classes."""
        (value, strict, *_), items = self.per_item(sheet), range(len(sheet))
        return Score(
            headline=share("accuracy", values_of(value, items), RULE),
            strict=share("accuracy", values_of(strict, items), STRICT),
            groups=by_group(sheet, ("application",), value, strict, RULE),
            numbers=_class_numbers(sheet),
        )


def _class_numbers(sheet: Sheet) -> tuple[Number, ...]:
    labels, named = bytearray(), bytearray()
    for item in range(len(sheet)):
        outcome = sheet.one(item, 0)
        if outcome is MISSING:
            continue
        right = sheet.items.key(item).right
        labels.append(right[0] + 1 if right else 0)
        winner = outcome.winner
        decided = 0 if outcome.status == "tie" else len(CLASSES)  # a class that no label has
        named.append(decided if winner is None else winner + 1)
    scores, counts = by_class(labels, named, CLASSES), Counter(labels)
    macro = averaged(scores, [1.0] * len(CLASSES)) if labels else None
    weighted = averaged(scores, [counts[each] for each in CLASSES]) if labels else None
    return (
        *_numbers("macro", macro, len(labels), "plain mean over tie, 1 and 2"),
        *_numbers("weighted", weighted, len(labels), "mean over tie, 1 and 2 by their counts"),
    )


def _numbers(kind: str, scores: ClassScores | None, n: int, rule: str) -> Iterator[Number]:
    for at, name in enumerate(ClassScores._fields):
        yield Number(name=f"{kind} {name}", value=scores and scores[at], n=n, rule=rule)
