"""Whether the limits hold the prompts: tokens of each row as a rollout begins, by the tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from openreward.errors import UserError, shorten
from openreward.train.rollout import RolloutSettings
from openreward.train.rows import TrainingRow


class Lengths(NamedTuple):
    """Tokens of the opening prompts, at most: texts are cut to their budgets."""

    frame: int  # of the prompt without query and answers: instructions and schemas
    longest: int
    mean: float
    row: str  # the longest one's id


def measure_lengths(
    rows: Sequence[TrainingRow],
    frame: int,
    count: Callable[[str], int],
    settings: RolloutSettings,
) -> Lengths:
    """`count` gives the tokens of a text, `frame` those of a prompt with empty texts."""
    sizes = {row.id: frame + _texts(row, count, settings) for row in rows}
    row = max(sizes, key=lambda id: sizes[id])
    return Lengths(frame, sizes[row], sum(sizes.values()) / len(sizes), row)


def check_lengths(found: Lengths, settings: RolloutSettings, context: int) -> None:
    """Raise `UserError` if the longest prompt leaves no room for a search and a verdict."""
    limits = settings.limits
    room = min(limits.total_tokens, context)
    turns = 2 if limits.calls and limits.turns > 1 else 1
    evidence = limits.evidence_tokens if turns > 1 else 0
    needed = found.longest + turns * limits.turn_tokens + evidence
    if needed > room:
        raise UserError(
            f"expected limits that hold the longest prompt (row {shorten(found.row)}: "
            f"{found.longest} tokens, of which {found.frame} are instructions), {turns} turns of "
            f"{limits.turn_tokens} and {evidence} of evidence, {needed} in all; got {room} "
            "(rollout.limits.total_tokens, and the model's context); raise it, or lower "
            "rollout.query_tokens, answer_tokens, limits.turn_tokens or limits.evidence_tokens"
        )


def _texts(row: TrainingRow, count: Callable[[str], int], settings: RolloutSettings) -> int:
    query = min(count(row.pair.query), settings.query_tokens)
    return query + sum(min(count(text), settings.answer_tokens) for text in row.pair.responses)
