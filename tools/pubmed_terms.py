"""From any text to what PubMed is asked: words alone, or the one record that an id names.

Every word is required (PubMed maps them to its own terms); where that finds nothing, any of them
is asked for. Nothing of PubMed's language is let through: no tag, quote, wildcard, range or hyphen
(a hyphenated word is searched as a phrase, past the mapping), no operator but our own OR.
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
_WORD = re.compile(r"\d+(?:\.\d+)+|[^\s.']+(?:'[^\s.']+)*")
_TAG = re.compile(  # of a field; its letters would be words that no record holds
    r"\[(?:all( fields)?|mesh[a-z: ]*|m[hj]|majr|ti(tle)?|ab(stract)?|title/abstract|tiab|t[wa]"
    r"|text words?|author[a-z -]*|(1|last)?au|ad|affiliation|journal|pt|publication type|dp"
    r"|[pec]dat|date[a-z -]*|la(nguage)?|sb|filter|uid|pmid|doi|aid)(:[a-z0-9~]*)?\]"
)
_OPERATORS = frozenset({"and", "or", "not"})
_PMID = re.compile(r"(?:pmid|pubmed)\s*:?\s*(?:id\s*:?\s*)?0*([0-9]{1,8})|([1-9][0-9]{4,7})")
_ADDRESS = re.compile(
    r"(?:https?://)?(?:pubmed\.ncbi\.nlm\.nih\.gov|www\.ncbi\.nlm\.nih\.gov/pubmed)/0*([0-9]{1,8})/?"
)
_PMC = re.compile(r"(?:pmcid\s*:?\s*)?(pmc[0-9]{1,10})")
_DOI = re.compile(
    r"(?:doi\s*:?\s*)?(?:https?://(?:dx\.)?doi\.org/)?(10\.[0-9]{4,9}/[!#-Z\\^-~]{1,200})"
)


class Asked(NamedTuple):
    """A query as PubMed is asked: by `pmid` at once, else by the first of `terms` that matches.

    `name` is the DOI or PMC id that a record must carry to be what was asked for.
    """

    terms: tuple[str, ...] = ()
    pmid: str = ""
    name: str = ""


def read_query(query: str) -> Asked:
    """What to ask for a query; raises `ToolError("bad_query")` for one without a word."""
    text = unicodedata.normalize("NFKC", query[:_QUERY_LIMIT].encode("utf-8", "ignore").decode())
    return _named(text.strip().lower()) or _worded(_TAG.sub(" ", text.lower()), query)


def _named(text: str) -> Asked | None:
    """The record that the whole text is an id of."""
    if found := _ADDRESS.fullmatch(text) or _PMID.fullmatch(text):
        return Asked(pmid=next(group for group in found.groups() if group))
    if found := _PMC.fullmatch(text):
        return Asked(terms=(found[1].upper(),), name=found[1])
    if found := _DOI.fullmatch(text):
        doi = found[1].rstrip(".,;")
        return Asked(terms=(f'"{doi}"[doi]',), name=doi)  # unquoted, other records come too
    return None


def _worded(text: str, query: str) -> Asked:
    every = _bounded([word for word in _words(text) if word not in _OPERATORS])
    if not every:
        raise ToolError(
            "bad_query",
            f"the query {shorten(query)} holds no word to search for; write condition, treatment "
            "and outcome in a few English words",
        )
    telling = [word for word in every if not is_stop(word)] or every
    # One letter may be part of a name (vitamin A); PubMed itself ignores it where it is none.
    required = [word for word in every if word in telling or len(word) == 1]
    if len(telling) == 1:
        return Asked(terms=(" ".join(required),))
    return Asked(terms=(" ".join(required), " OR ".join(telling)))


def _words(text: str) -> list[str]:
    kept = (
        c if unicodedata.category(c)[0] in "LMN" or c in "'." else "'" if c == "’" else " "
        for c in text
    )
    words = (word[:_WORD_LIMIT] for word in _WORD.findall("".join(kept)))
    return list(dict.fromkeys(words))


def _bounded(words: list[str]) -> list[str]:
    """The words in their order; of too many the longest, which tell most."""
    chosen: set[str] = set()
    room = _BYTES
    for word in sorted(words, key=len, reverse=True)[:_WORDS]:
        size = len(word.encode()) + 1
        if size <= room:
            room -= size
            chosen.add(word)
    return [word for word in words if word in chosen]
