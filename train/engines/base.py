"""The seam to what generates rollouts: it opens as a policy and takes the trainer's new weights.

`update` is called between two generations, never while a rollout runs: on the main process alone,
but on every process for an engine that is `in_process`. On every process `use` then says the
weights of which step are wanted, so that ranks which do not send them ask for the right ones.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, Protocol

from openreward.errors import UserError
from openreward.policy.base import Policy

EngineName = Literal["transformers", "vllm-server", "llama.cpp", "scripted"]


class RolloutEngine(Protocol):
    """An engine whose weights change. `in_process`: it runs the trainer's own model or device."""

    name: EngineName
    in_process: bool

    async def check(self) -> None:
        """Raise `PolicyError` or `UserError` for what stands against opening it; nothing stays."""
        ...

    async def open(self) -> Policy:
        """Connect or start; a policy on the token path. Raises `PolicyError` or `UserError`."""
        ...

    async def update(self, model: object, step: int, state: object | None = None) -> None:
        """Give the engine the model's weights as those of `step`; its prefix cache is reset.

        The model is unwrapped. Where its own parameters are sharded, `state` is the state dict of
        the whole ones.
        """
        ...

    def use(self, step: int) -> None:
        """From now on this process's rollouts ask for the weights of `step`."""
        ...

    async def close(self) -> None:
        """End what `open` started."""
        ...


class Parallelism(NamedTuple):
    """How a model lies on several processes, as the launcher was told; nothing is loaded yet."""

    processes: int = 1
    fsdp: bool = False
    zero_stage: int = 0  # of DeepSpeed; from 3 on parameters are sharded
    tensor_parallel: int = 1


def check_parallelism(name: EngineName, in_process: bool, how: Parallelism) -> None:
    """Refuse what would wait for ever; raises `UserError`.

    With sharded parameters every forward needs all ranks, and ranks whose rollouts take unlike
    numbers of turns make unlike numbers of forwards.
    """
    if not in_process:
        return
    reasons = []
    if how.fsdp:
        reasons.append("FSDP")
    if how.zero_stage >= 3:
        reasons.append(f"DeepSpeed ZeRO stage {how.zero_stage}")
    if how.tensor_parallel > 1:
        reasons.append(f"tensor parallelism of {how.tensor_parallel}")
    if reasons:
        raise UserError(
            f"engine {name} generates in the trainer's process: expected a model that is whole on "
            f"every rank, got {' and '.join(reasons)}, under which ranks would wait for each other "
            "for ever; use engine vllm-server"
        )
