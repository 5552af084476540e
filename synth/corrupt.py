"""Hard pairs without a model: an answer, and the same answer with one fact made wrong.

The label is exact by construction, for the two differ in one place alone. Five kinds: a number, a
date or a name exchanged, a statement denied (or a denial taken out, or a word turned into its
opposite), and a sentence or clause left out: there the whole answer is better for completeness.
The rules are those of English; in other languages numbers alone are changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Literal, get_args

from openreward.synth.corrupt_dates import propose_dates
from openreward.synth.corrupt_denials import propose_denials
from openreward.synth.corrupt_entities import propose_entities
from openreward.synth.corrupt_names import NamePool
from openreward.synth.corrupt_numbers import propose_numbers
from openreward.synth.corrupt_omission import propose_omissions
from openreward.synth.corrupt_text import Answer, Proposal
from openreward.types import Record

CorruptionKind = Literal["number", "date", "entity", "negation", "omission"]
CORRUPTION_KINDS: tuple[CorruptionKind, ...] = get_args(CorruptionKind)
MOST_CHARACTERS = 10_000  # of an answer; a longer one offers no place


class Corruption(Record):
    """A text with one fact made wrong: `text[start:end]` is `after`, and was `before`.

    Where a name changes in several mentions the span holds them all. `form` is the form within its
    kind: percent, century, person, antonym, clause ...
    """

    kind: CorruptionKind
    form: str
    text: str
    start: int
    end: int
    before: str
    after: str

    def undone(self) -> str:
        """The text as it was."""
        return self.text[: self.start] + self.before + self.text[self.end :]


def corrupt(
    text: str,
    kind: CorruptionKind,
    *,
    seed: int,
    pool: NamePool,
    document: str = "",
    query: str = "",
) -> Corruption | None:
    """The text with one fact of a kind made wrong; None where it has no place for it.

    With a document only facts that it bears out are changed, and never into one that it holds;
    what the query names stays as it is.
    """
    if len(text) > MOST_CHARACTERS:
        return None
    answer, random = Answer(text, document, query), Random(seed)
    for proposal in _proposals(answer, kind, random, pool):
        made = _made(text, kind, proposal)
        if made.text.strip() and made.text != text:
            return made
    return None


def _proposals(
    answer: Answer, kind: CorruptionKind, random: Random, pool: NamePool
) -> Iterator[Proposal]:
    if kind == "number":
        return propose_numbers(answer, random)
    if kind == "date":
        return propose_dates(answer, random)
    if kind == "entity":
        return propose_entities(answer, random, pool)
    return (
        propose_denials(answer, random) if kind == "negation" else propose_omissions(answer, random)
    )


def _made(text: str, kind: CorruptionKind, proposal: Proposal) -> Corruption:
    """The edits done, and the one span that holds them."""
    edits = sorted(proposal.edits)
    start, end = edits[0].start, edits[-1].end
    parts, place = list[str](), start
    for edit in edits:
        parts += [text[place : edit.start], edit.new]
        place = edit.end
    after = "".join(parts)
    return Corruption(
        kind=kind,
        form=proposal.form,
        text=text[:start] + after + text[end:],
        start=start,
        end=start + len(after),
        before=text[start:end],
        after=after,
    )
