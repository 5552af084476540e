"""llama.cpp on the token path: its chat template is rendered here, its ids are made whole.

Answers are streamed: otherwise the server goes on when the connection closes. It does not list a
token that ends inside a character (rare signs are several tokens). Such a gap is filled with the
character's own ids, whose number and last one must fit, and their logprobs are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

from openreward.policy.base import Sampling
from openreward.policy.engine import Completed, incomplete, known_numbers
from openreward.policy.slots import Slots
from openreward.policy.template import ChatTemplate
from openreward.policy.transport import Transport
from openreward.policy.wire import Completion, CompletionChoice, Props, Scored, Tokens
from openreward.types import Message, ToolSpec, Usage

_NOTHING = 'root ::= ""'  # the grammar that lets a model only end its turn
_LONGEST = 4  # tokens of one character: a byte each at worst
_TOPS = (100, 10_000)  # how many of the likeliest tokens are asked for, to find one's logprob


class LlamaCppEngine:
    """A llama.cpp server; `slots` where nobody else asks it, so that their caches can be kept."""

    name = "llama.cpp"

    def __init__(self, transport: Transport, model: str, props: Props, slots: int = 0) -> None:
        self._slots = Slots(slots)
        self._transport = transport
        self._model = model
        self._template = ChatTemplate(props.chat_template, bos=props.bos_token, eos=props.eos_token)
        self._url = f"{transport.address.api}/completions"
        self.context = props.default_generation_settings.n_ctx

    async def text(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, generation: bool
    ) -> str:
        """The conversation as the template writes it."""
        return self._template.render(messages, tools, generation=generation)

    async def prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[int]:
        """Ids of the rendered text."""
        return await self.tokenize(await self.text(messages, tools, generation=True))

    async def tokenize(self, text: str) -> list[int]:
        """Ids by /tokenize."""
        body = {"content": text, "add_special": False, "parse_special": True}
        url = f"{self._transport.address.root}/tokenize"
        return list((await self._transport.post(url, body, Tokens)).tokens)

    async def complete(self, ids: Sequence[int], sampling: Sampling, max_tokens: int) -> Completed:
        """Sample by /v1/completions, streamed."""
        body = self.body(ids, sampling, max_tokens)
        with self._slots.take(ids) as slot:
            if slot is not None:
                body["id_slot"] = slot
            events = await self._transport.post_events(self._url, body, Completion)
        usage = events[-1].usage.usage() if events and events[-1].usage else Usage()
        choices = [event.choices[0] for event in events]
        finish = next((c.finish_reason for c in reversed(choices) if c.finish_reason), None)
        tokens = _listed(choices)
        if len(tokens) < usage.completion_tokens:
            tokens = await self._whole(choices)
        missing = usage.completion_tokens - len(tokens)
        ends_inside_a_character = finish == "length" and 0 < missing <= _LONGEST - 1
        if missing and not ends_inside_a_character:
            raise incomplete(
                f"{usage.completion_tokens} tokens were sampled, {len(tokens)} are listed with ids"
            )
        logprobs = await self._fill(ids, tokens)
        text = "".join(choice.text for choice in choices)
        sampled = tuple(token.id for token in tokens)
        return Completed(text, finish, sampled, known_numbers(logprobs), usage)

    def body(self, ids: Sequence[int], sampling: Sampling, max_tokens: int) -> dict[str, object]:
        """A completion request without the server's own samplers; its seed 2**32-1 means random."""
        body: dict[str, object] = {
            "model": self._model,
            "prompt": list(ids),
            "max_tokens": max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "top_k": 0,
            "min_p": 0.0,
            "repeat_penalty": 1.0,
            "seed": sampling.seed % (2**32 - 1),
            "logprobs": 1,
            "cache_prompt": True,
        }
        if sampling.constraint:
            body["grammar"] = sampling.constraint.grammar
        return body

    async def _whole(self, choices: Sequence[CompletionChoice]) -> list[Scored]:
        """The tokens with those put in that were not listed; their logprobs are None for now."""
        tokens: list[Scored] = []
        for choice in choices:
            listed = _listed([choice])
            if not choice.text.isascii():
                ids = await self.tokenize(choice.text)
                if ids[-len(listed) :] == [token.id for token in listed]:
                    tokens.extend(Scored(id=i, logprob=None) for i in ids[: -len(listed)])
            tokens.extend(listed)
        return tokens

    async def _fill(self, ids: Sequence[int], tokens: Sequence[Scored]) -> list[float | None]:
        """The logprobs of all tokens, those of unlisted ones asked for."""
        logprobs: list[float | None] = []
        for index, token in enumerate(tokens):
            if token.logprob is None:
                before = [*ids, *(earlier.id for earlier in tokens[:index])]
                logprobs.append(await self._score(before, token.id))
            else:
                logprobs.append(token.logprob)
        return logprobs

    async def _score(self, before: Sequence[int], token: int) -> float:
        """The logprob of a token behind `before`: among the likeliest where a turn must end."""
        body = self.body(before, Sampling(), 1)
        for top in _TOPS:
            asked = {**body, "grammar": _NOTHING, "logprobs": top}
            answer = await self._transport.post(self._url, asked, Completion)
            logprobs = answer.choices[0].logprobs
            for place in (logprobs.content if logprobs else None) or ():
                for likely in place.top_logprobs:
                    if likely.id == token and likely.logprob is not None:
                        return likely.logprob
        raise incomplete(f"the logprob of token {token} is not among the first {_TOPS[-1]}")


def _listed(choices: Sequence[CompletionChoice]) -> list[Scored]:
    """The tokens as the server lists them, each with a logprob."""
    tokens: list[Scored] = []
    for choice in choices:
        content = choice.logprobs.content if choice.logprobs else None
        if choice.text and not content:
            raise incomplete("the completion has no logprobs.content; is llama.cpp too old?")
        tokens.extend(content or ())
    if any(token.logprob is None for token in tokens):
        raise incomplete("a sampled token has the logprob null")
    return tokens
