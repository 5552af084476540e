"""How well trivial rules tell the grounded answer from the other, which only reading should.

Four rules do not know the document: the longer answer in words, and in characters, logistic
regression on form, and on TF-IDF of style words. A fifth counts words found in the document. What
is learnt is measured on documents left out (five folds), never on those it was learnt on; intervals
are Wilson's. An accuracy much over 0.5 of the first four is a flaw of the set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from openreward.eval.stats import wilson
from openreward.judge import derive
from openreward.synth.logistic import Array, cross_validated, fit
from openreward.synth.pair_table import words_in
from openreward.synth.tell_features import FORM, form_of, style_of
from openreward.synth.tell_records import FEWEST, Sign, Tell, TellName, Tells, Told
from openreward.types import Pair

FOLDS = 5
PENALTY = 1.0  # of half the squared weights, against the sum of the pairs' losses
_SHOWN = 10  # signs of each kind
_FEWEST_WITH = 3  # answers that have a style word; rarer ones are no sign


class _Seen(NamedTuple):
    """What is kept of a pair: features, and no text. The grounded answer is first."""

    document: str
    source: str
    lengths: tuple[tuple[int, int], tuple[int, int]]  # words and characters
    form: tuple[list[float], list[float]]
    style: tuple[Counter[str], Counter[str]]
    support: tuple[float, float] | None


def tells(pairs: Iterable[Pair], seed: int = 0) -> Tells:
    """The report of labelled pairs; one without a label is only counted."""
    seen, unlabelled = list[_Seen](), 0
    for pair in pairs:
        if pair.label in (0, 1):
            seen.append(_see(pair, int(pair.label)))
        else:
            unlabelled += 1
    report = Tells(
        pairs=len(seen),
        unlabelled=unlabelled,
        folds=FOLDS,
        penalty=PENALTY,
        seed=seed,
    )
    if len(seen) < FEWEST:
        return report
    form, style = _Form(seen), _Style(seen)
    folds = _folds(seen, seed)
    margins: dict[TellName, Sequence[float | None]] = {
        "longer_words": [float(s.lengths[0][0] - s.lengths[1][0]) for s in seen],
        "longer_characters": [float(s.lengths[0][1] - s.lengths[1][1]) for s in seen],
        "form": _learnt(form.scaled, folds),
        "style": _learnt(style.scaled, folds),
        "overlap": [s.support[0] - s.support[1] if s.support else None for s in seen],
    }
    return report.model_copy(
        update={
            "tells": tuple(_tell(name, margin, seen) for name, margin in margins.items()),
            "form": form.signs(),
            "style": style.signs(),
        }
    )


class _Form:
    """Features of form as differences of logarithms, of unit spread."""

    def __init__(self, seen: Sequence[_Seen]) -> None:
        self._both = np.array([s.form for s in seen])  # (N, 2, F)
        logs = np.log1p(self._both)
        self._rows = logs[:, 0] - logs[:, 1]  # (N, F)

    def scaled(self, known: NDArray[np.bool_]) -> Array:
        spread = np.sqrt((self._rows[known] ** 2).mean(axis=0))  # (F,)
        return np.asarray(self._rows / np.where(spread > 0, spread, 1.0))

    def signs(self) -> tuple[Sign, ...]:
        means = self._both.mean(axis=0)  # (2, F)
        return _signs(FORM, self.scaled(_everyone(self._rows)), means)


class _Style:
    """Style words as differences of TF-IDF vectors of unit length."""

    def __init__(self, seen: Sequence[_Seen]) -> None:
        answers = Counter(word for s in seen for counts in s.style for word in counts)
        self._words = sorted(word for word, n in answers.items() if n >= _FEWEST_WITH)
        at = {word: place for place, word in enumerate(self._words)}
        self._both = np.zeros((len(seen), 2, len(at)))  # (N, 2, F)
        for number, each in enumerate(seen):
            for side, counts in enumerate(each.style):
                for word in counts.keys() & at.keys():
                    self._both[number, side, at[word]] = 1.0 + np.log(counts[word])

    def scaled(self, known: NDArray[np.bool_]) -> Array:
        """Weights of rare words come from the known answers alone."""
        having = (self._both[known] > 0).sum(axis=(0, 1))  # (F,)
        rarity = np.log((1.0 + 2 * known.sum()) / (1.0 + having)) + 1.0
        vectors = self._both * rarity
        lengths = np.linalg.norm(vectors, axis=2, keepdims=True)
        vectors /= np.where(lengths > 0, lengths, 1.0)
        return np.asarray(vectors[:, 0] - vectors[:, 1])

    def signs(self) -> tuple[Sign, ...]:
        shares = (self._both > 0).mean(axis=0)  # (2, F)
        return _signs(self._words, self.scaled(_everyone(self._both)), shares)


def _see(pair: Pair, label: int) -> _Seen:
    texts = (pair.responses[label], pair.responses[1 - label])
    document = pair.meta.get("document")
    return _Seen(
        document=document if isinstance(document, str) else pair.id,
        source=pair.source or "none",
        lengths=(_lengths(texts[0]), _lengths(texts[1])),
        form=(form_of(texts[0]), form_of(texts[1])),
        style=(style_of(texts[0]), style_of(texts[1])),
        support=_support(pair),
    )


def _lengths(text: str) -> tuple[int, int]:
    return words_in(text), len(text)


def _support(pair: Pair) -> tuple[float, float] | None:
    given = pair.meta.get("support")
    if not isinstance(given, Mapping):
        return None
    shares = [given.get(name) for name in ("positive", "negative")]
    found = [float(share) for share in shares if isinstance(share, int | float)]
    return (found[0], found[1]) if len(found) == 2 else None


def _folds(seen: Sequence[_Seen], seed: int) -> NDArray[np.int64]:
    """A fold for each pair, the same for all of a document."""
    documents = sorted({s.document for s in seen}, key=lambda id: (derive(seed, id, "fold"), id))
    fold = {id: place % FOLDS for place, id in enumerate(documents)}
    return np.array([fold[s.document] for s in seen])


def _learnt(
    scaled: Callable[[NDArray[np.bool_]], Array], folds: NDArray[np.int64]
) -> list[float | None]:
    """How far each pair's grounded answer is ahead; nothing where a fold cannot be left out."""
    if len(np.unique(folds)) < FOLDS:
        return [None] * len(folds)
    return list(cross_validated(scaled, folds, PENALTY))


def _tell(name: TellName, margins: Sequence[float | None], seen: Sequence[_Seen]) -> Tell:
    by_source: dict[str, list[float | None]] = {
        source: [] for source in sorted({s.source for s in seen})
    }
    for margin, each in zip(margins, seen, strict=True):
        by_source[each.source].append(margin)
    return Tell(
        name=name,
        all=_told(margins),
        sources={source: _told(values) for source, values in by_source.items()},
    )


def _told(margins: Sequence[float | None]) -> Told | None:
    known = [margin for margin in margins if margin is not None]
    right = sum(0.5 if margin == 0 else float(margin > 0) for margin in known)
    interval = wilson(right, len(known))
    if interval is None or len(known) < FEWEST:
        return None
    return Told(
        pairs=len(known),
        accuracy=round(right / len(known), 4),
        low=round(interval.low, 4),
        high=round(interval.high, 4),
    )


def _signs(names: Sequence[str], rows: Array, means: Array) -> tuple[Sign, ...]:
    """The features that move the sum most, by weights learnt from all pairs."""
    weights = fit(rows, PENALTY)
    moves = np.abs(weights) * np.sqrt((rows**2).mean(axis=0))
    strongest = sorted(range(len(names)), key=lambda at: (-moves[at], names[at]))[:_SHOWN]
    return tuple(
        Sign(
            feature=names[at],
            weight=round(float(weights[at]), 3),
            positive=round(float(means[0, at]), 3),
            negative=round(float(means[1, at]), 3),
        )
        for at in strongest
        if moves[at] > 0
    )


def _everyone(rows: Array) -> NDArray[np.bool_]:
    return np.ones(len(rows), dtype=np.bool_)
