"""Whether a text is English, by its script and its small words: a rough rule, without a model.

It counts the words that hold a language's sentences together, English against eleven others in
Latin script. Very short texts hold few of them: under eight words only another language's speak
against a text. Code and tables hold few as well, so a low share is asked for.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

_FEW_WORDS = 8
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_ENGLISH = (
    "the of and to in is that it for you with on as are be this was have not but or from what how "
    "can which your will would does do about an at by if my me i a we they he she his her their "
    "our its there these those when where who why should could has had been were no yes so than "
    "then them into out up all any some more most write make give using use between please i'm "
    "don't it's what's can't i've let's one"
)
_OTHERS = {
    "German": "der die das und ist nicht ein eine mit für auf den dem sich wie ich zu von auch",
    "French": "le la les de des et est une dans que pour pas sur avec qui je vous du au un ce en",
    "Spanish": "el la los las de que y en un una por con para es como se del al qué cómo lo su",
    "Italian": "il di che è per un una con non sono del della gli le la come e nel si qual questo",
    "Portuguese": "os de que e em um uma para com não por é da dos se como qual na ao você eu o",
    "Dutch": "de het een en van dat op te voor met niet zijn ik je hoe wat naar ook aan er",
    "Swedish": "och att det som en på är av för med den till inte om ett jag hur har vad kan",
    "Polish": "w i na z do nie się jest to że jak od po dla co czy o przez są",
    "Turkish": "bir ve bu için ile da de ne nasıl olan gibi daha çok mi ben en nedir",
    "Indonesian": "yang dan di untuk dengan adalah ini itu dari pada apa bagaimana saya tidak ke",
    "Vietnamese": "và là của có không cho một được trong với những các tôi này như để thế nào",
}
_ENGLISH_WORDS = frozenset(_ENGLISH.split())
_OTHER_WORDS = {name: frozenset(words.split()) for name, words in _OTHERS.items()}


class Language(NamedTuple):
    """Whether it is English, and if not why."""

    english: bool
    why: str = ""


def read_language(text: str, latin: float = 0.8, small_words: float = 0.08) -> Language:
    """`latin`: the share of letters in Latin script, `small_words`: of English ones, at least."""
    letters = [char for char in text if char.isalpha()]
    if not letters:
        return Language(False, "no letters")
    share = sum(map(_is_latin, letters)) / len(letters)
    if share < latin:
        return Language(False, f"{share:.2f} of its letters are Latin, at least {latin:g} expected")
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    english = _count(words, _ENGLISH_WORDS)
    name, other = max(
        ((name, _count(words, own)) for name, own in _OTHER_WORDS.items()),
        key=lambda found: found[1],
    )
    if other > english:
        return Language(False, f"{other} small words of {name}, {english} of English")
    if len(words) >= _FEW_WORDS and english < small_words * len(words):
        return Language(
            False,
            f"{english} of {len(words)} words are small English ones, at least "
            f"{small_words:g} of them expected",
        )
    return Language(True)


def _count(words: list[str], known: frozenset[str]) -> int:
    return sum(word in known for word in words)


@lru_cache(maxsize=4096)
def is_western(char: str) -> bool:
    """Whether it is no letter, or one of Latin or Greek, whose letters formulas use."""
    name = unicodedata.name(char, "")
    return not char.isalpha() or char.isascii() or "LATIN" in name or "GREEK" in name


def _is_latin(char: str) -> bool:
    return char.isascii() or "LATIN" in unicodedata.name(char, "")
