"""From any text to what a wiki is asked: plain words for its search, and titles it may name.

CirrusSearch acts on colons (insource:, prefix:, a namespace), quotes, signs such as - ! ~ * ? and
AND, OR, NOT in capitals, and refuses more than 300 characters: only words in small letters are let
through. A title has at most 255 bytes and none of # < > [ ] { } |; what can be none is not asked.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable
from typing import NamedTuple

import tantivy

from openreward.errors import ToolError, shorten
from openreward.tools.analysis import analyzer, fold, stop_terms

_QUERY_LIMIT = 4000  # characters of a query that are read
_SEARCH_LIMIT = 300  # characters that CirrusSearch takes
_TITLE_BYTES = 255
_ACRONYM = 6  # letters of a word that may be an abbreviation
_WORD = re.compile(r"[^\s'.-]+(?:['.-][^\s'.-]+)*")
_NO_TITLE = re.compile(r"[#<>\[\]{}|\ufffd]|^:")
_AROUND = " \t\"'“”„‘’«»?!.,;"


class Asked(NamedTuple):
    """A query as a wiki is asked: `words`, all of them; where nothing has all, any (`loose`)."""

    words: str
    loose: str  # "" where it would ask for nothing else
    titles: tuple[str, ...]  # the nearest to the query first


def read_query(query: str) -> Asked:
    """What to ask for; raises `ToolError("bad_query")` for one without a word."""
    text = query[:_QUERY_LIMIT].encode("utf-8", "ignore").decode("utf-8")
    words = _words(text)
    if not words:
        raise ToolError(
            "bad_query",
            f"the query {shorten(query)} holds no word to search for; write the name of the "
            "subject and a few words of what you want to know",
        )
    telling = [word for word in dict.fromkeys(words) if not _is_stop(word)]
    loose = _joined(telling, " OR ") if len(telling) > 1 else ""
    return Asked(_joined(words, " "), loose, tuple(_titles(text)))


def unique_titles(titles: Iterable[str]) -> list[str]:
    """The first of each that a wiki takes for one title: it raises first letters."""
    unique: dict[str, str] = {}
    for title in titles:
        unique.setdefault(title[:1].lower() + title[1:], title)
    return list(unique.values())


def query_terms(text: str) -> frozenset[str]:
    """The terms of a text as passages are compared by; stop words only where there is no other."""
    chain, stop = _chain()
    terms = frozenset(chain.analyze(fold(text)))
    return terms - stop or terms


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    kept = (c if c in "'.-" or unicodedata.category(c)[0] in "LMN" else " " for c in plain)
    return _WORD.findall("".join(kept))


def _joined(words: list[str], between: str) -> str:
    """As many words as are taken, from the first on; of one that is too long, its beginning."""
    joined = words[0][:_SEARCH_LIMIT]
    for word in words[1:]:
        if len(joined) + len(between) + len(word) > _SEARCH_LIMIT:
            break
        joined += between + word
    return joined


def _titles(text: str) -> list[str]:
    written = "".join(" " if unicodedata.category(c)[0] in "CZ" else c for c in text)
    written = " ".join(unicodedata.normalize("NFC", written).replace("_", " ").split())
    forms: list[str] = []
    for form in (written, written.strip(_AROUND)):
        capital = " ".join(word[:1].upper() + word[1:] for word in form.split())
        forms += [form, capital]
        if form.isalpha() and len(form) <= _ACRONYM:
            forms.append(form.upper())
    return unique_titles(form for form in forms if _may_be_title(form))


def _may_be_title(form: str) -> bool:
    return 0 < len(form.encode()) <= _TITLE_BYTES and not _NO_TITLE.search(form)


def _is_stop(word: str) -> bool:
    chain, stop = _chain()
    terms = chain.analyze(fold(word))
    return bool(terms) and stop.issuperset(terms)


@functools.cache
def _chain() -> tuple[tantivy.TextAnalyzer, frozenset[str]]:
    chain = analyzer()
    return chain, stop_terms(chain)
