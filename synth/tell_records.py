"""The nouns of a tell report: how well a trivial rule picks the grounded answer of a pair."""

from __future__ import annotations

from typing import Literal

from openreward.types import Record

FEWEST = 20  # pairs; with fewer, no accuracy is given

TellName = Literal[
    "longer_words",  # the answer with more words
    "longer_characters",  # the answer with more characters
    "form",  # logistic regression on lengths and form
    "style",  # logistic regression on TF-IDF of style words
    "overlap",  # the answer with more of its words in the document
]
"""The rules; the document is known to the last one only."""


class Told(Record):
    """The share of pairs in which a rule picks the grounded answer, a tie as half; 95 % bounds.

    Those of a rule that learns are a little narrow: on made-up pairs without a tell they held 0.5
    in 87 of 100 sets, since one fold's errors are not independent of another's.
    """

    pairs: int
    accuracy: float
    low: float
    high: float


class Tell(Record):
    """What a rule comes to over all pairs and by source; None where there are too few pairs.

    Rules that learn are learnt on all sources together, and measured on documents left out.
    """

    name: TellName
    all: Told | None
    sources: dict[str, Told | None]


class Sign(Record):
    """A feature that tells. A positive weight speaks for the grounded answer.

    `positive` and `negative` are means over the answers: of a style word, the share that has it.
    """

    feature: str
    weight: float
    positive: float
    negative: float


class Tells(Record):
    """The report; `penalty` is that of the logistic regressions' weights, as in `logistic`."""

    pairs: int
    unlabelled: int = 0
    folds: int
    penalty: float
    seed: int
    tells: tuple[Tell, ...] = ()
    form: tuple[Sign, ...] = ()
    style: tuple[Sign, ...] = ()
