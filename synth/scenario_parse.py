"""Read what the judge wrote about a prompt or an answer: total, never raises, never guesses.

What counts stands in `<answer>…</answer>`, which quoted material cannot contain (`inert` breaks
it); two different ones say nothing. Whether an answer is a refusal is read from its first words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from openreward.parse import said
from openreward.synth.scenario_labels import Label

FEATURES = 5
_SCORE = re.compile(r"([1-5](?:[.,][0-9]{1,2})?)(?:\s*(?:/|out of)\s*5)?", re.ASCII)
_NUMBERED = re.compile(r"\s*(?:[0-9]{1,2}\s*[.):]|[-*•])\s*(.*\S)", re.ASCII)
_EDGES = " \t\r\n\"'`*.:"
_CANNOT = r"i(?: can['’]?t| cannot| can not| won['’]t|(?: am|['’]m) (?:unable|not able) to)\b"
_REFUSALS = re.compile(
    r"(?:(?:(?:i['’]?m|i am) (?:very |so |really )?)?sorry|i apologi[sz]e|unfortunately|as an ai\b)"
    rf"[^.!?\n]{{0,80}}\b{_CANNOT}"
    rf"|(?:{_CANNOT}|i must decline to) "
    r"(?:assist|help|answer|provide|fulfill?|comply|do that|engage|create|write|generate|discuss)"
)


def read_label(text: str, labels: Sequence[Label]) -> str | None:
    """The one label that a turn names."""
    word = _only(text)
    if word is None:
        return None
    wanted = " ".join(word.strip(_EDGES).casefold().split())
    named = [label.name for label in labels if label.name.strip(_EDGES).casefold() == wanted]
    return named[0] if len(named) == 1 else None


def read_score(text: str) -> float | None:
    """The one number from 1 to 5 that a turn gives."""
    word = _only(text)
    match = _SCORE.fullmatch(word.strip(_EDGES)) if word is not None else None
    value = float(match.group(1).replace(",", ".")) if match else 0.0
    return value if 1 <= value <= 5 else None


def read_features(text: str) -> tuple[str, ...] | None:
    """The five different lines that a turn lists."""
    block = _only(text)
    if block is None:
        return None
    lines = [line for line in block.splitlines() if line.strip()]
    found = [match.group(1) for line in lines if (match := _NUMBERED.fullmatch(line))]
    different = {" ".join(line.casefold().split()) for line in found}
    whole = len(lines) == len(found) == len(different) == FEATURES
    return tuple(found) if whole else None


def is_refusal(text: str) -> bool:
    """Whether an answer begins by saying that it will not be given: a rough rule."""
    return _REFUSALS.match(" ".join(text[:400].casefold().split())) is not None


def _only(text: str) -> str | None:
    """What stands in the tags of the visible text, if it is one thing."""
    different = {each.strip() for each in said(text)}
    return different.pop() if len(different) == 1 else None
