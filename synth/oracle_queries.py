"""What to search for a question: a few honest forms, made of the question's own words alone.

A form is the thing the question names, its words of weight, or the question without what only asks.
They are words and spaces, inert by what is left out, so that no text of a pair can act from within
a call. Nothing is known of the document that answers the question.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from random import Random

from openreward.inert import inert
from openreward.tools.analysis import is_stop

MOST_WORDS = 12
MOST_CHARACTERS = 160
_READ = 4000  # characters of a question that are looked at
_ASKING_WORDS = """
advice advise analyse analyze answer assess became become brief briefly came clarify classify come
comment compare comparison concise contrast create define describe detail detailed develop
difference differences differ discuss distinguish draft elaborate evaluate examine explain
explanation explore give guide help identify illustrate importance important investigate key know
known list main matter matters must name need outline overview please prepare present produce
propose provide reason reasons report review say sets short should significance significant state
suggest summarise summarize summary tell using write
"""
_LINKING_WORDS = "of the de del della la le von van der den du di da al el bin ibn"
_ASKING, _LINKING = frozenset(_ASKING_WORDS.split()), frozenset(_LINKING_WORDS.split())
_WITHIN = "-'’.&+#/"  # what may stand inside a word
_SENTENCE_END = ".!?。！？"

Phrase = list[str]


def search_queries(question: str, seed: int) -> list[str]:
    """The forms that the question allows, each once, in an order drawn by the seed."""
    phrases = _phrases(question[:_READ])
    words = [word for phrase in phrases for word in phrase]
    weighty = _once(word for word in words if not _only_asks(word))
    name = _name(phrases)
    rest = [word for word in weighty if word not in name]
    found = [_joined(form) for form in (name, name + rest[:3], weighty, weighty[:5], _asked(words))]
    forms = [form for form in dict.fromkeys(found) if form] or [_joined(words)]
    Random(seed).shuffle(forms)
    return [form for form in forms if form]


def _phrases(text: str) -> list[Phrase]:
    """The words of a text; signs between words, line ends too, end a phrase."""
    spaced = "".join(char if _of_a_word(char) or char in " \t" else "\n" for char in text)
    phrases: list[Phrase] = [[]]
    for line in spaced.split("\n"):
        for raw in line.split():
            word = raw.strip("-'’.&/")
            if any(map(str.isalnum, word)):
                phrases[-1].append(word)
            if raw[-1] in _SENTENCE_END and len(word) > 1:  # not an initial
                phrases.append([])
        phrases.append([])
    return [phrase for phrase in phrases if phrase]


def _of_a_word(char: str) -> bool:
    mark = not char.isascii() and unicodedata.category(char) in ("Mn", "Mc")  # vowels of Hindi
    return char.isalnum() or mark or char in _WITHIN


def _only_asks(word: str) -> bool:
    return word.casefold() in _ASKING or is_stop(word)


def _name(phrases: Sequence[Phrase]) -> Phrase:
    """The longest run of capitalised words; one at the start of the question only for want of."""
    runs = [run for phrase in phrases for run in _runs(phrase)]
    first = phrases[0][0] if phrases else ""
    later = [run for run in runs if run != [first]]
    return max(later or runs, key=len, default=[])[:MOST_WORDS]


def _runs(phrase: Phrase) -> Iterator[Phrase]:
    """Capitalised words that follow each other, small words between two of them included."""
    run: Phrase = []
    linked: Phrase = []
    for word in phrase:
        capital = word[0].isupper() or (bool(run) and word[0].isdigit())
        if capital and (run or not _only_asks(word)):
            run, linked = [*run, *linked, word], []
        elif run and word in _LINKING:
            linked.append(word)
        else:
            if run:
                yield run
            run, linked = [], []
    if run:
        yield run


def _asked(words: Phrase) -> Phrase:
    """The question as it stands, from its first word of weight on."""
    begins = next((n for n, word in enumerate(words) if not _only_asks(word)), len(words))
    return words[begins:]


def _once(words: Iterable[str]) -> Phrase:
    found = dict[str, str]()
    for word in words:
        found.setdefault(word.casefold(), word)
    return list(found.values())


def _joined(words: Sequence[str]) -> str:
    return inert(" ".join(words[:MOST_WORDS])[:MOST_CHARACTERS].strip())
