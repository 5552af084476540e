"""How far a document bears out an answer, by words alone: no model, no guess at meaning.

Facts are looked up one by one: numbers, dates, names, and what a sentence denies or turns round
against the sentence of the document that says the most alike. What the query says is no claim of
the answer's. A paraphrase in other words lowers the share; an invented fact without number or name
is not seen, nor is what an answer leaves out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from openreward.loose_json import clean_text
from openreward.synth.pair_records import Support
from openreward.synth.support_dates import Dates, Day, read_dates
from openreward.synth.support_denials import Statements
from openreward.synth.support_names import Names, read_names
from openreward.synth.support_numbers import Numbers, read_numbers
from openreward.synth.support_words import Sentence, read_sentences, weights


class Source:
    """A document and a query, read once for the answers that are held against them."""

    def __init__(self, document: str, query: str = "") -> None:
        told = read_sentences(clean_text(document))
        both = [*told, *read_sentences(clean_text(query))]
        self._weights = {key for sentence in told for key in weights(sentence.words)}
        self._asked = {key for sentence in both[len(told) :] for key in weights(sentence.words)}
        self._names = Names(both)
        self._numbers = Numbers(n for sentence in both for n in read_numbers(sentence.words))
        self._dates = Dates([date for sentence in both for date in read_dates(sentence.text)])
        self._statements = Statements(told, both[len(told) :])

    def support(self, answer: str) -> Support:
        """What the document bears out of an answer."""
        sentences = read_sentences(clean_text(answer))
        keys = [key for sentence in sentences for key in weights(sentence.words)]
        claimed = [key for key in keys if key not in self._asked or key in self._weights]
        held = sum(key in self._weights for key in claimed)
        facts = [fact for sentence in sentences for fact in self._facts(sentence)]
        missing = dict.fromkeys(text for text, known in facts if not known)
        share = round(held / len(claimed), 4) if claimed else 0.0
        return Support(share=share, facts=len(facts), missing=tuple(missing))

    def _facts(self, sentence: Sentence) -> Iterator[tuple[str, bool]]:
        """What a sentence claims that can be looked up, and whether it was found."""
        dates = list(read_dates(sentence.text))
        for date in dates:
            yield date.text, self._dates.have(date)
        for number in read_numbers(sentence.words):
            if number.kind != "idle" and not _is_day(number.text, dates):
                yield number.text, self._numbers.have(number)
        for name in read_names(sentence.words):
            yield name.text, self._names.have(name)
        turned = self._statements.turned(sentence)
        if turned is not None:
            yield turned


def support(answer: str, document: str, query: str = "") -> Support:
    """How far the document bears out the answer; `query` holds what was given, not claimed."""
    return Source(document, query).support(answer)


def _is_day(text: str, dates: Sequence[Day]) -> bool:
    """Whether a number is the day in one of the dates, which is looked up with its month."""
    digits = "".join(filter(str.isdecimal, text))
    return any(date.day is not None and digits == str(date.day) for date in dates)
