"""vLLM on the token path: it renders, completes from ids and names every sampled id itself.

A conversation is rendered by /tokenize and its text shown by /detokenize.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from openreward.errors import PolicyError
from openreward.policy.base import Sampling
from openreward.policy.engine import Completed, incomplete, known_numbers
from openreward.policy.template import TemplateRefusal, plain
from openreward.policy.transport import Transport
from openreward.policy.wire import Completion, Text, Tokens
from openreward.types import Message, ToolSpec, Usage


class VllmEngine:
    """A vLLM server, 0.10.2 or later (`return_token_ids`)."""

    name = "vllm"

    def __init__(self, transport: Transport, model: str, version: str, context: int) -> None:
        self._transport = transport
        self._model = model
        self._sampled = model
        self._regex_field = _structured(version)
        self.context = context

    def ask_for(self, adapter: str) -> None:
        """From now on turns are sampled by an adapter that the server has loaded."""
        self._sampled = adapter

    async def text(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, generation: bool
    ) -> str:
        """The rendered ids turned back into text, control tokens included."""
        ids = await self._render(messages, tools, generation)
        body = {"model": self._model, "tokens": ids}
        return (await self._transport.post(self._url("detokenize"), body, Text)).prompt

    async def prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[int]:
        """Ids as the server renders them."""
        return await self._render(messages, tools, True)

    async def tokenize(self, text: str) -> list[int]:
        """Ids by /tokenize."""
        body = {"model": self._model, "prompt": text, "add_special_tokens": False}
        return list((await self._transport.post(self._url("tokenize"), body, Tokens)).tokens)

    def body(self, ids: Sequence[int], sampling: Sampling, max_tokens: int) -> dict[str, object]:
        """A completion request; everything a model's generation_config could set is set here."""
        body: dict[str, object] = {
            "model": self._sampled,
            "prompt": list(ids),
            "max_tokens": max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": -1,
            "min_p": 0.0,
            "repetition_penalty": 1.0,
            "seed": sampling.seed,
            "logprobs": 1,
            "return_token_ids": True,
            "skip_special_tokens": False,
            "spaces_between_special_tokens": False,
        }
        if sampling.constraint:
            regex = sampling.constraint.regex
            old = self._regex_field == "guided_regex"
            body[self._regex_field] = regex if old else {"regex": regex}
        return body

    async def complete(self, ids: Sequence[int], sampling: Sampling, max_tokens: int) -> Completed:
        """Sample by /v1/completions. The server stops when the connection closes."""
        url = f"{self._transport.address.api}/completions"
        answer = await self._transport.post(url, self.body(ids, sampling, max_tokens), Completion)
        choice = answer.choices[0]
        if choice.token_ids is None:
            raise incomplete("the completion has no token_ids; vLLM 0.10.2 or later gives them")
        logprobs = choice.logprobs.token_logprobs if choice.logprobs else None
        if logprobs is None or len(logprobs) != len(choice.token_ids):
            got = "none" if logprobs is None else str(len(logprobs))
            raise incomplete(f"{len(choice.token_ids)} token ids, but {got} logprobs")
        usage = answer.usage.usage() if answer.usage else Usage()
        numbers = known_numbers(logprobs)
        return Completed(choice.text, choice.finish_reason, choice.token_ids, numbers, usage)

    def _url(self, route: str) -> str:
        return f"{self._transport.address.root}/{route}"

    async def _render(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], generation: bool
    ) -> list[int]:
        body: dict[str, object] = {
            "model": self._model,
            "messages": [plain(message) for message in messages],
            "add_generation_prompt": generation,
            "add_special_tokens": False,
        }
        if tools:
            body["tools"] = [tool.function() for tool in tools]
        try:
            answer = await self._transport.post(self._url("tokenize"), body, Tokens)
        except PolicyError as error:
            if error.fault == "bad_request":
                raise TemplateRefusal(str(error)) from None
            raise
        return list(answer.tokens)


def _structured(version: str) -> str:
    """The field that holds a regular expression: renamed in 0.11, the old name gone in 0.12."""
    found = re.match(r"v?(\d+)\.(\d+)", version)
    old = found is not None and (int(found[1]), int(found[2])) < (0, 11)
    return "guided_regex" if old else "structured_outputs"
