"""The public fake of an engine: it says what it is told, in token ids, with logprobs.

For tests, dry runs and benchmarks of a trainer. Its logprobs are the model's own, from a forward
pass, once it was given one; with `logprob`, that number for each token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from openreward.policy.base import Policy, Sampling
from openreward.policy.engine import Completed
from openreward.policy.token_path import TokenPolicy, find_traits
from openreward.train.engines.base import EngineName
from openreward.train.engines.in_process import ModelEngine
from openreward.types import Usage

Say = Callable[[str, int], str]
"""The next turn, from the text of the conversation so far and the seed of the turn."""


class ScriptedEngine:
    """A `RolloutEngine` over a tokenizer alone; `shift` is added to every logprob."""

    name: EngineName = "scripted"
    in_process = True

    def __init__(
        self,
        tokenizer: Any,
        say: Say,
        *,
        context: int = 100_000,
        logprob: float | None = None,
        shift: float = 0.0,
    ) -> None:
        self._engine = _Script(tokenizer, context, say, logprob, shift)
        self.updates: list[int] = []  # the steps whose weights came

    async def check(self) -> None:
        """Nothing stands against it."""

    async def open(self) -> Policy:
        """A token policy over the tokenizer's template."""
        return TokenPolicy(self._engine, "scripted", await find_traits(self._engine))

    async def update(self, model: object, step: int, state: object | None = None) -> None:
        """From now on the logprobs are this model's, if none was given."""
        self.updates.append(step)
        self._engine.model = model

    def use(self, step: int) -> None:
        """Nothing: there is one model."""

    async def close(self) -> None:
        """Let go of the model."""
        self._engine.model = None


class _Script(ModelEngine):
    name = "scripted"

    def __init__(
        self, tokenizer: Any, context: int, say: Say, logprob: float | None, shift: float
    ) -> None:
        super().__init__(tokenizer, context)
        self._say = say
        self._logprob = logprob
        self._shift = shift

    async def complete(self, ids: Sequence[int], sampling: Sampling, max_tokens: int) -> Completed:
        """What the script says, with the end token behind it."""
        text = self._say(self._tokenizer.decode(list(ids)), sampling.seed)
        said = self._tokenizer.encode(text, add_special_tokens=False)
        made = [*said, self._tokenizer.eos_token_id][:max_tokens]
        logprobs = self._logprobs(ids, made)
        ended = len(made) > len(said)
        return Completed(
            text=text if ended else self._tokenizer.decode(made),
            finish_reason="stop" if ended else "length",
            ids=tuple(made),
            logprobs=tuple(each + self._shift for each in logprobs),
            usage=Usage(prompt_tokens=len(ids), completion_tokens=len(made)),
        )

    def _logprobs(self, ids: Sequence[int], made: Sequence[int]) -> list[float]:
        if self._logprob is not None or self.model is None:
            return [self._logprob or -1.0] * len(made)
        import torch

        whole = torch.tensor([[*ids, *made]], device=self.model.device)  # (1, T)
        with torch.no_grad():
            logits = self.model(input_ids=whole).logits[0, len(ids) - 1 : -1]  # (made, V)
        found = logits.float().log_softmax(-1).gather(1, whole[0, len(ids) :].unsqueeze(1))
        return [float(each) for each in found.squeeze(1)]
