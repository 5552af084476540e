"""From a trajectory to what a trainer takes: token-exact traces, and the record for the reward."""

from __future__ import annotations

from openreward.counting import failed_by_service
from openreward.errors import UserError, shorten
from openreward.types import TokenTrace, Trajectory


def trace_of(made: Trajectory, blank: int) -> TokenTrace:
    """Ids, logprobs and mask of a rollout; a failed one is one `blank` token with mask 0.

    Raises `UserError` for any other one that holds no sampled token, or too few logprobs.
    """
    if failed_by_service(made):
        return TokenTrace([blank], [blank], [0.0], [0])
    trace = made.tokens()
    sampled = sum(len(turn.token_ids) for turn in made.turns)
    lengths = {len(trace.completion_ids), len(trace.logprobs), len(trace.mask)}
    if len(lengths) > 1:
        raise UserError(
            f"rollout of {shorten(made.task)}: expected a logprob for every sampled token, got "
            f"{len(trace.logprobs)} for {len(trace.completion_ids)}; the engine must give them"
        )
    if not trace.prompt_ids or not sampled or sum(trace.mask) != sampled:
        raise UserError(
            f"rollout of {shorten(made.task)}: expected sampled tokens, got {sampled} (it "
            f"ended by {made.stop_reason}: {shorten(made.error)}); the limits do not hold the "
            "prompt, or the engine samples nothing"
        )
    return trace


class Attached(str):
    """A trajectory's JSON without ids, shown in a few words: TRL logs the rows without a reward."""

    __slots__ = ()

    def __new__(cls, made: Trajectory) -> Attached:
        """Write it."""
        return super().__new__(cls, made.without_tokens().model_dump_json())

    def __repr__(self) -> str:
        return f"<trajectory of {len(self)} characters>"
