"""From any text to what arXiv is asked: papers by their ids, or words that nothing else can be.

Nothing of arXiv's language is let through: an operator is one in capitals only, so all words go
small; a hyphen would negate what follows it, so hyphenated words are asked for as a phrase; quotes,
colons and brackets are spaces. Accents stay: arXiv finds only the accented form of a word.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from openreward.errors import ToolError, shorten
from openreward.tools.analysis import is_stop

_QUERY_LIMIT = 4000  # characters of a query that are read
_WORD_LIMIT = 100  # characters of a word
_WORDS = 32
_BYTES = 600  # of all words: they go into an address, where a letter may take nine
_IDS = 10
_HYPHENS = "-\u2010\u2011"
_PART = r"[^\s.'-]+(?:['.][^\s.'-]+)*"
_WORD = re.compile(rf"{_PART}(?:-{_PART})*")
_PLAIN = re.compile(r"[a-z0-9]+")
_OPERATORS = frozenset({"and", "or", "not", "andnot"})
_ARCHIVES = (  # whose papers had ids of the old form, until March 2007
    "acc-phys adap-org alg-geom ao-sci astro-ph atom-ph bayes-an chao-dyn chem-ph cmp-lg comp-gas "
    "cond-mat cs dg-ga funct-an gr-qc hep-ex hep-lat hep-ph hep-th math math-ph mtrl-th nlin "
    "nucl-ex nucl-th patt-sol physics plasm-ph q-alg q-bio quant-ph solv-int supr-con"
)
_ID = re.compile(
    r"(?P<said>(?:https?://)?(?:[\w-]{1,30}\.){0,3}arxiv\.org/(?:abs|pdf|html|format)/|(?:abs|pdf)/"
    r"|(?:https?://(?:dx\.)?doi\.org/)?(?:10\.48550/)?arxiv\s?[.:]?\s?)?(?(said)|(?<![\w./-]))"
    r"(?:(?P<new>\d{2}(?P<month>\d\d)\.\d{4,5})"
    rf"|(?P<archive>{_ARCHIVES.replace(' ', '|')})(?:\.[a-z]{{2}})?/(?P<old>\d{{7}}))"
    r"(?P<version>v[1-9]\d{0,2})?(?!\w|[/-]\w|\.\d)",
    re.ASCII,
)
_FIELD = re.compile(r"\b(?:ti|au|abs|co|jr|cat|rn|all):(?=\S)")  # asked for, it would match little
_ABOUT_IDS = frozenset({"arxiv", "id", "ids", "doi", "paper", "papers", "preprint", "pdf"})


class Asked(NamedTuple):
    """A query as arXiv is asked: for `ids`, else for the first of `terms` that matches."""

    ids: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()


def read_query(query: str) -> Asked:
    """What to ask for a query; raises `ToolError("bad_query")` for one without a word."""
    text = unicodedata.normalize("NFKC", query[:_QUERY_LIMIT].encode("utf-8", "ignore").decode())
    text = text.lower()
    ids, rest = _ids(text)
    every = _bounded([word for word in _words(_FIELD.sub(" ", rest)) if word not in _OPERATORS])
    if ids and all(word in _ABOUT_IDS or is_stop(word) for word in every):
        return Asked(ids)
    if not every:
        raise ToolError(
            "bad_query",
            f"the query {shorten(query)} holds no word to search for; write a paper's title, or "
            "its method and problem in a few words, or its id, as 2401.00001",
        )
    telling = [word for word in every if not is_stop(word)] or every
    required = " AND ".join(map(_term, telling))
    parts = dict.fromkeys(part for word in telling for part in word.split("-"))
    any_of = " OR ".join(_term(part) for part in parts if not is_stop(part)) or required
    return Asked(ids, tuple(dict.fromkeys((required, any_of))))


def _ids(text: str) -> tuple[tuple[str, ...], str]:
    """The papers that a text names, and the text without them."""
    ids: list[str] = []
    alone = _ID.fullmatch(text.strip()) is not None

    def taken(found: re.Match[str]) -> str:
        likely = found["old"] or found["said"] or "01" <= found["month"] <= "12"
        if not (alone or likely):
            return found[0]  # some other number
        paper = found["new"] or f"{found['archive']}/{found['old']}"
        ids.append(paper + (found["version"] or ""))
        return " "

    rest = _ID.sub(taken, text)
    return tuple(dict.fromkeys(ids))[:_IDS], rest


def _words(text: str) -> list[str]:
    words = (word[:_WORD_LIMIT].rstrip("-.'") for word in _WORD.findall("".join(map(_kept, text))))
    return [word for word in dict.fromkeys(words) if any(map(str.isalnum, word))]


def _kept(char: str) -> str:
    """A character as it may stand in a word; a space for what may not."""
    if unicodedata.category(char)[0] in "LMN" or char in "'.":
        return char
    return "-" if char in _HYPHENS else "'" if char == "’" else " "


def _bounded(words: list[str]) -> list[str]:
    """The first words, as many as an address holds."""
    chosen: list[str] = []
    room = _BYTES
    for word in words:
        room -= len(word.encode()) + 1
        if room < 0 or len(chosen) == _WORDS:
            break
        chosen.append(word)
    return chosen


def _term(word: str) -> str:
    """A word in any field; in quotes what is not plainly one word."""
    return f"all:{word}" if _PLAIN.fullmatch(word) else f'all:"{word.replace("-", " ")}"'
