"""Passages as the model sees them: numbered through the trajectory, trimmed to a token budget.

A passage is cut at a sentence border (at a word where one sentence is too long already); the cut is
marked. What was shown goes into the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from openreward.inert import inert
from openreward.policy.base import Policy
from openreward.types import Evidence, Passage

CUT = "[... cut here]"
_SENTENCE_END = re.compile(r"[.!?。！？]['\")\]”’]*(?=\s|$)|[。！？]|\n")


async def show(
    passages: Sequence[Passage], tool: str, query: str, already: int, budget: int, policy: Policy
) -> list[tuple[Evidence, str]]:
    """Ledger lines with the text to show for each; at most `budget` tokens over all of them."""
    shown = []
    left = budget
    for index, passage in enumerate(passages):
        text, used, cut = await trim(passage.text, left // (len(passages) - index), policy)
        left = max(0, left - used)
        evidence = Evidence(
            number=already + index + 1, tool=tool, query=query, passage=passage, cut=cut
        )
        shown.append((evidence, text))
    return shown


async def trim(text: str, budget: int, policy: Policy) -> tuple[str, int, bool]:
    """The text within `budget` tokens, the tokens it takes, and whether it was cut.

    It comes out inert, for that is the form that is counted: text full of control strings grows.
    Where the budget does not even hold the mark of the cut, the mark alone is the text.
    """
    text = inert(text)
    tokens = await policy.count_tokens(text)
    if tokens <= budget:
        return text, tokens, False
    kept = text
    while tokens > budget and kept:
        kept = sentences_of(kept, int(len(kept) * budget / tokens * 0.97))
        tokens = await policy.count_tokens(f"{kept} {CUT}".lstrip())
    return f"{kept} {CUT}".lstrip(), tokens, True


def sentences_of(text: str, characters: int) -> str:
    """The longest run of whole sentences within so many characters, else of whole words."""
    if len(text) <= characters:
        return text
    head = text[:characters]
    one_more = text[: characters + 1]  # shows whether a stop at the end is one: "3." of "3.14"
    ends = [m.end() for m in _SENTENCE_END.finditer(one_more) if m.end() <= characters]
    if ends and ends[-1] >= characters // 3:
        return head[: ends[-1]].rstrip()
    words = head.rsplit(None, 1)
    return words[0] if len(words) == 2 else head
