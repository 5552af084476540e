"""Whether a sentence says the opposite of the sentence of a document that is most like it.

Alike are sentences that share most of their words of weight. Opposite are those of which one denies
what the other states ("not", "never", "no longer", "unable"), and those of which one holds the
opposite of a word ("increased", "decreased") where the rest is alike. A denial reaches as far as
the next few words: what a long sentence denies in another clause says nothing of this one. A plain
denial in a sentence that is like no other asks for one in the document that has words of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from openreward.synth.corrupt_antonyms import OPPOSITES
from openreward.synth.support_words import Sentence, Word, stem, weights

_DENIALS = frozenset(
    ["not", "no", "never", "none", "neither", "nor", "nobody", "nothing", "cannot", "without"]
    + ["unable", "hardly", "rarely", "lacks", "lacked", "fails", "failed", "unlikely"]
    + ["uncommon", "unrelated", "ineffective", "insufficient", "insignificant"]
)
_FLAT = frozenset(["not", "never", "cannot", "no"])
_LESSENING = frozenset(
    ["less", "fewer", "few", "little", "only", "rather", "instead", "except", "unlike", "absent"]
    + ["absence", "lack", "lacking", "fail", "failure", "avoid", "avoids", "avoided", "prevent"]
    + ["prevents", "prevented", "refused", "rejected", "denied", "stopped", "ceased", "barely"]
    + ["independent", "regardless", "free"]
)
"""Words that may stand for a denial, or may not: they bear one out, and stating is at odds with
neither."""
_NO_DENIAL = frozenset(["only", "just", "merely", "least", "doubt"])  # behind a denial
_REACH = 4  # words behind a denial that it speaks of
_CLAUSE_ENDS = frozenset(",;:()[]—")
_HYPHENS = ("-", "\u2010", "\u2011")
_ALIKE = 0.75  # of a sentence's words of weight, in the other
_LEAST_WORDS = 3
_STEMMED = {stem(word): {stem(other)} for word, other in OPPOSITES.items() if " " not in word}


class Statement(NamedTuple):
    """A sentence by its words of weight, and those of them that it denies or lessens."""

    words: frozenset[str]
    denied: tuple[frozenset[str], ...]
    flatly: tuple[frozenset[str], ...]  # of what is denied, that by a plain "not" or "never"
    lessened: frozenset[str]


class Statements:
    """The sentences of a document, and those of a query, whose denials are borne out by it."""

    def __init__(self, sentences: Sequence[Sentence], asked: Sequence[Sentence] = ()) -> None:
        self._known = [_read(sentence.words) for sentence in sentences]
        both = [*self._known, *(_read(sentence.words) for sentence in asked)]
        self._denying = [each for each in both if each.denied or each.lessened]

    def turned(self, sentence: Sentence) -> tuple[str, bool] | None:
        """The sentence and whether it is borne out, if it or one like it denies or turns round."""
        own = _read(sentence.words)
        alike = [(_in_common(own, other), other) for other in self._known]
        best = max((count for count, _ in alike), default=0)
        if best < max(_ALIKE * len(own.words), _LEAST_WORDS):
            return (sentence.text, self._denies(own)) if own.flatly else None
        turns = [_turns(own, other) for count, other in alike if count == best]
        if all(turns):
            return sentence.text, False
        return (sentence.text, True) if own.denied else None

    def _denies(self, own: Statement) -> bool:
        """Whether the document denies or lessens anything of what is denied here."""
        return all(
            any(
                reach & other.words or len(own.words & other.words) >= _LEAST_WORDS
                for other in self._denying
            )
            for reach in own.flatly
        )


def _in_common(own: Statement, other: Statement) -> int:
    """How many words of the first the other holds, or the opposites of."""
    return sum(key in other.words or _opposed(key, other) for key in own.words)


def _opposed(key: str, other: Statement) -> bool:
    return bool(_STEMMED.get(key, set()) & other.words)


def _turns(own: Statement, other: Statement) -> bool:
    """Whether one denies what the other states, or says the opposite of a word of it."""
    if any(_opposed(key, other) for key in own.words - other.words):
        return True
    denied = sum(bool(reach & other.words) for reach in own.denied)
    denying = sum(bool(reach & own.words) for reach in other.denied)
    if denied % 2 == denying % 2:
        return False
    at_odds = frozenset[str]().union(*own.denied, *other.denied)
    return not at_odds & (own.lessened | other.lessened)


def _read(words: Sequence[Word]) -> Statement:
    denied: list[frozenset[str]] = []
    flatly: list[frozenset[str]] = []
    lessened: set[str] = set()
    said = Counter(weights(words))  # what is said with and without a denial is not denied
    for at, word in enumerate(words):
        following = _following(words, at)
        if _is_denial(words, at):
            reach = Counter(weights(following))
            denied.append(frozenset(key for key in reach if said[key] <= reach[key]))
            if word.key in _FLAT or word.key.endswith("n't"):
                flatly += denied[-1:] if denied[-1] else []
        elif word.key in _LESSENING:
            lessened.update(weights(following))
    return Statement(frozenset(said), tuple(denied), tuple(flatly), frozenset(lessened))


def _is_denial(words: Sequence[Word], at: int) -> bool:
    """Whether a word denies what follows: not that of "not only", "no-reference", "or without"."""
    word = words[at]
    if word.key not in _DENIALS and not word.key.endswith("n't"):
        return False
    before, after = words[max(0, at - 1) : at], words[at + 1 : at + 2]
    if after and (after[0].key in _NO_DENIAL or after[0].gap in _HYPHENS):
        return False
    return word.key != "without" or all(each.key != "or" for each in (*before, *after))


def _following(words: Sequence[Word], at: int) -> Sequence[Word]:
    """The next few words, up to where a clause ends behind a word of weight."""
    end = at + 1
    while end < min(len(words), at + 1 + _REACH):
        if _CLAUSE_ENDS & set(words[end].gap) and weights(words[at + 1 : end]):
            break
        end += 1
    return words[at + 1 : end]
