"""Names of a text and what they name, by simple rules, and the pool that wrong names come from.

A name is known by a given name or a role before it (a person), by lists of countries, states and
cities, or by its head (University, Lake, Party): the rest stays unclassified and is not touched.
Only names of one class, length and use of "the" stand in for each other; persons also by whether
the given name is a man's or a woman's, so that pronouns still fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from openreward.synth import corrupt_lists as lists
from openreward.synth.corrupt_words import word_set

_CAP = r"(?:(?:[A-Z]|St|Dr|Mt|Mr|Mrs|Ms|Prof)\.|[A-ZÀ-ÖØ-Þ][\w'’]*(?:-[\w'’]+)*(?<!'s)(?<!’s))"
_JOIN = r"(?: (?:of the|of|de la|de|da|di|del|van der|van|von|bin|al|du|le|la))?"
_NAME = re.compile(rf"(?<![\w@#/.-]){_CAP}(?:{_JOIN} {_CAP})*")
_MIXED = re.compile(r"(?<![\w@#/.\\{-])[A-Z][A-Za-z]*(?:[A-Z0-9]|-[A-Z0-9])[\w.-]*\w(?![\w/])")
_LEADING = word_set(
    "The A An In On At By For From With After Before During Since As Its His Her Their This "
    "These Those When While Although Though Both If Like Under Following Known Born And But "
    "However He She It They We Our Another Many Most Some Other Former Early Late"
)
_MOST_NAMES = 5_000  # of one class that a pool keeps


class NameClass(NamedTuple):
    """What makes two names exchangeable; `use` is m, f or empty of persons."""

    kind: str  # person | place | organisation | nationality | model | benchmark
    head: str
    words: int
    the: bool
    use: str


class Name(NamedTuple):
    """A name in a text and its class."""

    start: int
    end: int
    text: str
    known_as: NameClass


class NamePool:
    """Names of other texts by class; the same whatever order the texts came in."""

    def __init__(self, texts: Iterable[str] = ()) -> None:
        self._names: dict[NameClass, set[str]] = {}
        for text in texts:
            self.add(text)

    def add(self, text: str) -> None:
        """Take the names of a text."""
        for name in names_in(text):
            kept = self._names.setdefault(name.known_as, set())
            kept.add(name.text)
            if len(kept) > 2 * _MOST_NAMES:
                self._names[name.known_as] = set(sorted(kept, key=_digest)[:_MOST_NAMES])

    def like(self, known_as: NameClass) -> list[str]:
        """The names of a class, sorted; for persons of unknown use any, for longer ones shorter."""
        found = set(self._names.get(known_as, ()))
        if not found and known_as.words > 2:
            found = set(self._names.get(known_as._replace(words=2), ()))
        return sorted(found, key=_digest)[:_MOST_NAMES]


def names_in(text: str) -> Iterator[Name]:
    """The names whose class is known, left to right."""
    for match in _NAME.finditer(text):
        start, end = _without_edges(text, *match.span())
        if start < end and (name := _named(text, start, end)) is not None:
            yield name
    for match in _MIXED.finditer(text):
        if (kind := _technical(match[0])) is not None:
            kind, _, head = kind.partition(" ")
            yield Name(*match.span(), match[0], NameClass(kind, head, 1, False, ""))


def _digest(name: str) -> bytes:
    return blake2b(name.encode("utf-8", "replace"), digest_size=8).digest()


def _without_edges(text: str, start: int, end: int) -> tuple[int, int]:
    """Without a first word that only opens a sentence, a title, or a stop that ends one."""
    while start < end:
        word = re.match(r"\S+", text[start:end])
        if word is None or word[0] not in _LEADING:
            break
        start += word.end()
        start += len(text[start:end]) - len(text[start:end].lstrip())
    if text[start:end].endswith(("'", "’")):
        end -= 1
    if text[start:end].endswith(".") and not re.search(r"\b[A-Z]\.$", text[start:end]):
        end -= 1
    return start, end


def _named(text: str, start: int, end: int) -> Name | None:
    """The name as it stands, or behind a title."""
    known_as = _classified(text, start, end)
    if known_as is not None:
        return Name(start, end, text[start:end], known_as)
    title, _, rest = text[start:end].partition(" ")
    if title.rstrip(".") not in lists.TITLES or not rest:
        return None
    known_as = _classified(text, end - len(rest), end)
    return Name(end - len(rest), end, rest, known_as) if known_as is not None else None


def _classified(text: str, start: int, end: int) -> NameClass | None:
    name = text[start:end]
    words = name.split()
    before = re.findall(r"[\w']+", text[max(0, start - 30) : start])
    the = bool(before) and before[-1].lower() == "the"
    if name in lists.PLACES:
        if (name in lists.WITH_THE) != the:
            return None
        return NameClass("place", lists.PLACES[name], 0, the, "")
    if name in lists.NATIONALITIES and before[-1:] != ["in"]:
        after = re.match(
            r" (?!(?:and|or|for|words?|languages?|names?|terms?|translation)\b)[a-z]+",
            text[end : end + 20],
        )
        return NameClass("nationality", lists.NATIONALITIES[name], 1, the, "") if after else None
    for kind, heads in (("organisation", lists.ORGANISATIONS), ("place", lists.LANDMARKS)):
        sides = (words[-1], words[0]) if "of" in words or kind == "place" else (words[-1],)
        head = next((word for word in sides if word in heads), None)
        if head is not None and len(words) > 1:
            form = f"{head} {words[0] == head} {'of' in words}"
            return NameClass(kind, form, len(words), the, "")
    return _person(words, before, the)


def _person(words: list[str], before: list[str], the: bool) -> NameClass | None:
    capitals = [word for word in words if word not in lists.PARTICLES]
    plain = all(re.fullmatch(r"[^\W\d_][\w'’-]+|[A-Z]\.", word) for word in capitals)
    if words[0].rstrip(".") in lists.TITLES:
        return None  # the name is what follows
    if the or not plain or not 2 <= len(words) <= 4 or "of" in words or len(capitals[-1]) < 3:
        return None
    use = "m" if words[0] in lists.MEN else "f" if words[0] in lists.WOMEN else ""
    by_role = bool(before) and before[-1] in lists.ROLES and words[0] not in lists.NATIONALITIES
    return NameClass("person", "", len(words), False, use) if use or by_role else None


def _technical(word: str) -> str | None:
    if re.search(r"-[a-z]{4,}$", word) and not word.endswith(("-mini", "-turbo", "-flash")):
        return None  # GPT-based
    for head, starts in (("language", lists.LANGUAGE_MODELS), ("vision", lists.VISION_MODELS)):
        if word.startswith(starts):
            return f"model {head}"
    end = next((end for end in lists.BENCHMARK_ENDS if word.endswith(end)), "")
    return f"benchmark {end}" if end and len(word) > len(end) + 1 else None
