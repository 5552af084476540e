"""The reward as OpenRLHF's reward function or remote reward model (read at OpenRLHF 0.11.2).

`--reward.remote_url my_reward.py`, where that file says
`reward_func = RewardFunction(reward_settings({"gate": "no_tool"}))`; or the address of
`reward_app(settings)`. Labels are targets' JSON. OpenRLHF's own executor gives the text of one
completion, for which no tool ran; an executor of your own that runs the agent loop also gives
`trajectories`, and only then can there be a tool term.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from pydantic import ValidationError

from openreward.errors import UserError, shorten
from openreward.records import explain
from openreward.train.reward_inputs import (
    NoReward,
    measures,
    parts_of_text,
    read_target,
    read_trajectory,
    rewarded,
)
from openreward.train.rewards import RewardParts, RewardSettings, Target, reward_parts
from openreward.types import Record

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse


class Rewards(NamedTuple):
    """One value a row each; `scores` are accuracies, by which OpenRLHF filters groups."""

    rewards: list[float]
    scores: list[float]
    extra_logs: dict[str, list[float]]


class RewardRequest(Record):
    """What OpenRLHF posts, and `trajectories` as JSON where an executor adds them."""

    query: tuple[str, ...]
    prompts: tuple[str, ...]
    labels: tuple[str, ...]
    trajectories: tuple[str, ...] | None = None


@dataclass(frozen=True)
class RewardFunction:
    """`reward_func` of a file that OpenRLHF loads; the values are tensors of one value a row."""

    settings: RewardSettings = RewardSettings()

    def __call__(
        self,
        queries: Sequence[str],
        prompts: Sequence[str],
        labels: Sequence[str],
        trajectories: Sequence[object] | None = None,
        **more: object,
    ) -> dict[str, object]:
        """Raises `NoReward` for a failed rollout: OpenRLHF has no row without a reward."""
        import torch

        found = rewards_of(queries, prompts, labels, trajectories, self.settings)
        logs = {name: torch.tensor(values) for name, values in found.extra_logs.items()}
        return {
            "rewards": torch.tensor(found.rewards),  # (B,)
            "scores": torch.tensor(found.scores),  # (B,)
            "extra_logs": logs,
        }


def reward_app(settings: RewardSettings) -> Starlette:
    """The remote reward model: what OpenRLHF posts to `/get_reward` gets the same as JSON."""
    from starlette.applications import Starlette
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def answer(request: Request) -> JSONResponse:
        try:
            asked = RewardRequest.model_validate_json(await request.body())
            found = rewards_of(
                asked.query, asked.prompts, asked.labels, asked.trajectories, settings
            )
        except ValidationError as error:
            return JSONResponse({"error": f"request: {explain(error)}"}, status_code=400)
        except (UserError, NoReward) as error:
            return JSONResponse({"error": str(error)}, status_code=422)
        return JSONResponse(found._asdict())

    return Starlette(routes=[Route("/get_reward", answer, methods=["POST"])])


def rewards_of(
    queries: Sequence[str],
    prompts: Sequence[str],
    labels: Sequence[str],
    trajectories: Sequence[object] | None,
    settings: RewardSettings,
) -> Rewards:
    """Rewards, scores and logs of rows; a query is the prompt and the completion as one text."""
    made = [None] * len(queries) if trajectories is None else trajectories
    lengths = [len(queries), len(prompts), len(labels), len(made)]
    if len(set(lengths)) > 1:
        raise UserError(
            "expected as many queries as prompts, labels and trajectories, got "
            f"{', '.join(map(str, lengths))}; send one of each a row"
        )
    targets = [read_target(label) for label in labels]
    parts = [
        _parts(query, prompt, target, attached, settings)
        for query, prompt, target, attached in zip(queries, prompts, targets, made, strict=True)
    ]
    rewards = [rewarded(each, target) for each, target in zip(parts, targets, strict=True)]
    rows: list[Mapping[str, float]] = [measures(each) for each in parts]
    logs = {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}
    return Rewards(rewards, [float(each.correct) for each in parts], logs)


def completion_of(query: str, prompt: str) -> str:
    """A query without its prompt, which itself shows what a verdict looks like."""
    if not query.startswith(prompt):
        raise UserError(
            f"expected a query that begins with its prompt, got {shorten(query)}; the tokenizer "
            "spells the prompt otherwise or it was cut to the length limit: raise the limit"
        )
    return query[len(prompt) :]


def _parts(
    query: str, prompt: str, target: Target, attached: object, settings: RewardSettings
) -> RewardParts:
    if attached is not None:
        return reward_parts(read_trajectory(attached), target, settings)
    return parts_of_text(completion_of(query, prompt), target, settings)
