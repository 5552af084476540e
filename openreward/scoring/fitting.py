"""What of a question and an answer is shown, and what is left for points and pieces.

Where the engine's context is known, all parts are made to fit it; what is cut is noted.
"""

from __future__ import annotations

from typing import NamedTuple

from openreward.errors import UserError
from openreward.evidence import trim
from openreward.policy.base import Policy
from openreward.scoring.prompts import WORDINGS
from openreward.scoring.records import Language, ScoreSettings

_FRAME = 160  # tokens of heads, nonces and a chat template
_LEAST = 256  # tokens for the material, below which nothing can be scored


class Fit(NamedTuple):
    """Texts as they are shown, and the tokens of the other parts."""

    query: str
    answer: str
    points_tokens: int
    extract_tokens: int
    notes: tuple[str, ...]


async def fit(
    policy: Policy, settings: ScoreSettings, language: Language, query: str, answer: str
) -> Fit:
    """Query and answer cut to their budgets. Raises `PolicyError` of an engine that counts.

    Raises `UserError` where the engine's context is too small for any answer.
    """
    room, answer_room = None, settings.answer_tokens
    if policy.context is not None:
        fixed = _FRAME + await policy.count_tokens(WORDINGS[language].longest())
        room = policy.context - fixed - settings.turn_tokens
        answer_room = min(room // 2, policy.context - fixed - settings.statement_tokens)
        if min(room, answer_room * 2) < _LEAST:
            raise UserError(
                f"expected an engine whose context holds the prompts ({fixed} tokens), a reply "
                f"({max(settings.turn_tokens, settings.statement_tokens)}) and the material, got "
                f"one of {policy.context} tokens; take a larger one, or shorter replies"
            )
    query_budget = settings.query_tokens if room is None else min(settings.query_tokens, room // 4)
    answer_budget = min(settings.answer_tokens, answer_room)
    shown_query, query_tokens, query_cut = await trim(query, query_budget, policy)
    shown_answer, answer_tokens, answer_cut = await trim(answer, answer_budget, policy)
    notes = []
    if query_cut:
        notes.append(f"the query was cut to {query_tokens} tokens, of {len(query)} characters")
    if answer_cut:
        notes.append(f"the answer was cut to {answer_tokens} tokens, of {len(answer)} characters")
    points, extract = settings.points_tokens, settings.extract_tokens
    if room is not None:
        points = min(points, room - query_tokens - answer_tokens)
        extract = min(extract, room - query_tokens)
    return Fit(shown_query, shown_answer, points, extract, tuple(notes))
