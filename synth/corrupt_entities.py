"""Wrong names: one name of the answer gives way to another of its class, in all its mentions.

A person's surname alone, and the given name alone, change with the full name. The subject of the
answer (what the query names, or what the answer begins with) stays: its change would be seen
without a source. The new name shares no word with the answer, the query or the document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from openreward.synth import corrupt_lists as lists
from openreward.synth.corrupt_names import Name, NamePool, names_in
from openreward.synth.corrupt_text import Answer, Edit, Proposal, article_fits

_TRIES = 40
_OWN = re.compile(
    r"\b(?:propos\w+|present\w*|introduc\w+|call\w*|nam\w+|dubbed|develop\w*|term\w+|releas\w+)"
    r"\b[^.]{0,40}$"
)


def propose_entities(answer: Answer, random: Random, pool: NamePool) -> Iterator[Proposal]:
    """Each name that can be exchanged, in random order; English only."""
    if not answer.english:
        return
    names = list(names_in(answer.text))
    first = {name.text: name for name in reversed(names)}
    chosen = sorted(first.values())
    random.shuffle(chosen)
    for name in chosen:
        if not _is_usable(name, names, answer):
            continue
        others = pool.like(name.known_as)
        for new in random.sample(others, min(_TRIES, len(others))):
            if not _is_foreign(new, answer):
                continue
            edits = _edits(name, new, names, answer)
            if edits:
                yield Proposal(name.known_as.kind, edits)
                break


def _is_usable(name: Name, names: list[Name], answer: Answer) -> bool:
    text, kind = answer.text, name.known_as.kind
    if name.start < 5 or not answer.borne_out(name.text):
        return False
    words = name.text.split() if kind == "person" else [name.text]
    if any(answer.asked(word) for word in words if len(word) > 2):
        return False
    if kind == "place":
        return not re.search(r"\bon $", text[: name.start]) and not _is_part_of_address(
            name, names, text
        )
    if kind in ("model", "benchmark"):
        return not _OWN.search(text[: name.start][-80:]) and text.count(name.text) < 4
    return True


def _is_part_of_address(name: Name, names: list[Name], text: str) -> bool:
    """Whether it stands beside a place of another class, as in "Paris, France"."""
    beside = [
        other
        for other in names
        if (text[other.end : name.start] == ", " or text[name.end : other.start] == ", ")
        and other.known_as.kind == "place"
    ]
    follows = re.search(r"[A-Z]\w+, $", text[: name.start]) or re.match(
        r", [A-Z]", text[name.end :]
    )
    if not beside:
        return bool(follows)
    return any(other.known_as.head != name.known_as.head for other in beside)


def _is_foreign(new: str, answer: Answer) -> bool:
    """Whether no word of the name stands in the answer, the query or the document."""
    plain = lists.ORGANISATIONS | lists.LANDMARKS | {"of", "the"} | lists.PARTICLES
    words = [word for word in new.split() if word not in plain and len(word) > 2]
    return bool(words) and not any(
        re.search(rf"\b{re.escape(word)}", answer.others, re.IGNORECASE) for word in words
    )


def _edits(name: Name, new: str, names: list[Name], answer: Answer) -> list[Edit]:
    """All mentions changed; none where one stands inside another name."""
    forms = {name.text: new}
    if name.known_as.kind == "person":
        forms |= {name.text.split()[-1]: new.split()[-1], name.text.split()[0]: new.split()[0]}
    pattern = "|".join(sorted(map(re.escape, forms), key=len, reverse=True))
    edits = list[Edit]()
    for match in re.finditer(rf"(?<![\w-])(?:{pattern})(?!\w)", answer.text):
        if match[0] != name.text and _is_inside(match, answer.text):
            return []
        if match[0] == name.text and name.known_as.kind != "person":
            same = [n for n in names if n.start == match.start() and n.text == name.text]
            if not same or same[0].known_as != name.known_as:
                return []
        if not article_fits(answer.text, match.start(), forms[match[0]]):
            return []
        edits.append(_edit(match, forms[match[0]], answer.text))
    if name.known_as.kind == "person" and re.search(
        rf"{re.escape(name.text)}(?:ian|esque|an)\b", answer.text
    ):
        return []
    if name.known_as.kind == "nationality" and len(edits) > 1:
        return []
    return edits


def _is_inside(match: re.Match[str], text: str) -> bool:
    """Whether another capitalised word stands beside it: it is then part of another name."""
    before = re.search(r"([\w.]+) $", text[: match.start()][-30:])
    after = re.match(r"(?:-| )([A-Z]\w*)", text[match.end() :][:30])
    capital = before is not None and before[1][:1].isupper()
    opens = before is not None and re.search(
        rf"(?:^|[.!?] ){re.escape(before[1])} $", text[: match.start()]
    )
    titled = before is not None and before[1].rstrip(".") in lists.TITLES
    return after is not None or (capital and not opens and not titled)


def _edit(match: re.Match[str], new: str, text: str) -> Edit:
    """With the apostrophe of a genitive as the new name needs it."""
    end = match.end()
    if match[0].endswith("s") and re.match(r"['’](?!\w)", text[end:]) and not new.endswith("s"):
        return Edit(match.start(), end + 1, f"{new}{text[end]}s")
    return Edit(match.start(), end, new)
