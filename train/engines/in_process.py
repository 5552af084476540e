"""The trainer's own model as the engine of its rollouts, through transformers: no server.

The tokenizer's chat template renders the conversation once, as everywhere on the token path. Turns
are sampled in batches; nothing is kept between them: a long conversation is read again each turn.
For models that are whole on every rank (`base.check_parallelism`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from openreward.errors import PolicyError, UserError
from openreward.policy.base import Policy, Sampling
from openreward.policy.engine import Completed
from openreward.policy.template import ChatTemplate
from openreward.policy.token_path import TokenPolicy, find_traits
from openreward.train.engines.base import EngineName
from openreward.train.engines.decoding import Prompt, Sampled, decode
from openreward.train.engines.micro_batch import MicroBatcher, Request
from openreward.types import Message, ToolSpec, Usage


class InProcessEngine:
    """A `RolloutEngine`; the model comes with the first `update`."""

    name: EngineName = "transformers"
    in_process = True

    def __init__(self, tokenizer: Any, model_name: str, context: int, *, batch: int = 64) -> None:
        """`context` is the tokens of prompt and completion together, `batch` the rows at once."""
        self._engine = ModelEngine(tokenizer, context, batch)
        self._model_name = model_name

    async def check(self) -> None:
        """Nothing stands against it."""

    async def open(self) -> Policy:
        """A token policy over the tokenizer's template."""
        traits = await find_traits(self._engine)
        return TokenPolicy(self._engine, self._model_name, traits)

    async def update(self, model: object, step: int, state: object | None = None) -> None:
        """The model is sampled from as it stands at each turn."""
        self._engine.model = model

    def use(self, step: int) -> None:
        """Nothing: there is one model."""

    async def close(self) -> None:
        """Let go of the model."""
        self._engine.model = None


class ModelEngine:
    """What the token path needs of an engine, from a tokenizer and a model."""

    name = "transformers"

    def __init__(self, tokenizer: Any, context: int, batch: int = 64) -> None:
        self.context = context
        self.model: Any = None
        self._tokenizer = tokenizer
        self._pad = tokenizer.pad_token_id
        if not tokenizer.chat_template:
            raise UserError(
                "expected a tokenizer with a chat template, got one without; use an instruct model"
            )
        bos, eos = tokenizer.bos_token or "", tokenizer.eos_token or ""
        self._template = ChatTemplate(tokenizer.chat_template, bos=bos, eos=eos)
        self._batcher: MicroBatcher[Prompt, Sampled] = MicroBatcher(self._decode, most=batch)

    async def text(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, generation: bool
    ) -> str:
        """By the tokenizer's template."""
        return self._template.render(messages, tools, generation=generation)

    async def prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[int]:
        """The rendered text as ids."""
        return await self.tokenize(self._template.render(messages, tools))

    async def tokenize(self, text: str) -> list[int]:
        """The template writes every control token; the tokenizer adds none."""
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    async def complete(self, ids: Sequence[int], sampling: Sampling, max_tokens: int) -> Completed:
        """Sample in the next batch."""
        if self.model is None:
            raise PolicyError("unreachable", "the trainer has not given its model yet")
        prompt = Prompt(
            tuple(ids), max_tokens, sampling.temperature, sampling.top_p, sampling.seed, bool
        )
        made = await self._batcher.ask(prompt)
        said = made.ids[:-1] if made.ended else made.ids
        return Completed(
            text=self._tokenizer.decode(said, skip_special_tokens=False),
            finish_reason="stop" if made.ended else "length",
            ids=tuple(made.ids),
            logprobs=tuple(made.logprobs),
            usage=Usage(prompt_tokens=len(ids), completion_tokens=len(made.ids)),
        )

    def _decode(self, batch: Sequence[Request[Prompt, Sampled]]) -> Sequence[Sampled]:
        def watched(request: Request[Prompt, Sampled]) -> Prompt:
            return request.question._replace(gone=lambda: request.gone)

        return decode(self.model, [watched(each) for each in batch], self._end_ids(), self._pad)

    def _end_ids(self) -> set[int]:
        """The tokens that end a turn, as model and tokenizer know them."""
        own = self.model.generation_config.eos_token_id if self.model.generation_config else None
        listed = own if isinstance(own, list) else [own]
        return {int(id) for id in (*listed, self._tokenizer.eos_token_id) if id is not None}
