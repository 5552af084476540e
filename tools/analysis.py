"""From text to index terms: the one place that documents and queries both go through.

Accents, case and width are folded, English endings stemmed. Scripts without spaces give one term a
character (a query also asks for its neighbouring pairs), since a model's query in Chinese must find
a Chinese page without a dictionary. A change here is a change of `index_meta.FORMAT`.
"""

from __future__ import annotations

import functools
import re
import unicodedata

import tantivy

_UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"  # Rust's names
)
_TERM = rf"[{_UNSPACED}]|[\p{{L}}\p{{N}}\p{{M}}&&[^{_UNSPACED}]]+"
_ACCENT = re.compile("[\u0300-\u036f]+")
_WORD = re.compile(r"\w+")
_STOP = """
a about after all also am an and any are as at be because been before being both but by can
could did do does during each for from had has have he her here him his how i if in into is it
its just me more most my no nor not of on or other our out over own s she so some such t than
that the their them then there these they this those to too under until up was we were what when
where which while who whom why will with would you your
"""


def analyzer() -> tantivy.TextAnalyzer:
    """The chain from folded text to terms."""
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(_TERM))
        .filter(tantivy.Filter.remove_long(100))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.ascii_fold())
        .filter(tantivy.Filter.stemmer("English"))
        .build()
    )


def stop_terms(chain: tantivy.TextAnalyzer) -> frozenset[str]:
    """Terms that a query with better ones does without."""
    return frozenset(chain.analyze(" ".join(_STOP.split())))


def is_stop(word: str) -> bool:
    """Whether a word as written is one that a query with better ones does without."""
    chain, stop = _stops()
    terms = chain.analyze(fold(word))
    return word.endswith("n't") or (bool(terms) and stop.issuperset(terms))


@functools.cache
def _stops() -> tuple[tantivy.TextAnalyzer, frozenset[str]]:
    chain = analyzer()
    return chain, stop_terms(chain)


def fold(text: str) -> str:
    """Text without case, width and accents, in a form that can be encoded."""
    if text.isascii():
        return text.lower()
    whole = text.encode("utf-8", "ignore").decode("utf-8")  # a lone surrogate is not text
    plain = _ACCENT.sub("", unicodedata.normalize("NFKD", whole).casefold())
    return unicodedata.normalize("NFC", plain)


def title_keys(folded: str) -> list[str]:
    """The forms under which a folded title is found whole: as written, and by its words alone."""
    written = " ".join(folded.split())
    words = " ".join(_WORD.findall(folded))
    return [key for key in dict.fromkeys((written, words)) if key]


def is_unspaced(term: str) -> bool:
    """Whether a term is one character of a script without spaces."""
    return len(term) == 1 and term >= "\u0e00"
