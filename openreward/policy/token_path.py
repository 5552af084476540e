"""The token path: a conversation is rendered once and then only grows, as token ids.

What was sampled stays as it was sampled. What comes behind it (the rest of the end of turn, tool
and user messages, the opening of the next turn) is found by rendering the whole conversation with a
mark in place of the sampled turn and taking the text behind the mark: so a template that rewrites
earlier turns, as those that drop thinking do, cannot change what the model has already seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from openreward.errors import PolicyError, shorten
from openreward.policy.base import Conversation, Generation, Sampling, ToolStyle
from openreward.policy.engine import Engine
from openreward.policy.template import TemplateRefusal
from openreward.policy.wire import read_finish
from openreward.types import Message, PolicyPath, ToolSpec


class Traits(NamedTuple):
    """What a chat template can do, as tried out when connecting."""

    tools: bool  # takes schemas and tool messages over two turns
    system: bool  # shows a system message; else it goes in front of the first user message
    successive: bool  # takes two user messages in a row; else they are joined
    end_id: int | None  # the token its assistant turns end with


class TokenPolicy:
    """An engine that speaks token ids, as a `Policy`. Made by `endpoint.connect`."""

    path: PolicyPath = "token"

    def __init__(self, engine: Engine, model: str, traits: Traits) -> None:
        self._engine = engine
        self._traits = traits
        self.model = model
        self.engine = engine.name
        self.context: int | None = engine.context
        self.tool_style: ToolStyle = "template" if traits.tools else "prompt"

    async def generate(self, conversation: Conversation, sampling: Sampling) -> Generation:
        """Sample one turn. The conversation changes only when that worked."""
        context = await self._context(conversation)
        ids = [*conversation.token_ids, *context]
        room = self._engine.context - len(ids)
        if room < 1:
            raise PolicyError(
                "context_overflow",
                f"the conversation has {len(ids)} tokens, the model's context is "
                f"{self._engine.context}; give it shorter texts or a server with a larger context",
            )
        made = await self._engine.complete(ids, sampling, min(sampling.max_tokens, room))
        finish = read_finish(made.finish_reason)
        conversation.token_ids = [*ids, *made.ids]
        conversation.rendered = len(conversation.messages) + 1
        return Generation(
            text=made.text,
            finish_reason=finish,
            context_ids=tuple(context),
            token_ids=made.ids,
            logprobs=made.logprobs,
            usage=made.usage,
            forced=sampling.constraint is not None,
        )

    async def count_tokens(self, text: str) -> int:
        """Tokens of `text` by the engine's tokenizer."""
        return len(await self._engine.tokenize(text)) if text else 0

    async def _context(self, conversation: Conversation) -> list[int]:
        """The ids to put behind `conversation.token_ids` before the next turn."""
        try:
            if not conversation.token_ids:
                messages = fit(conversation.messages, self._traits)
                return await self._engine.prompt(messages, conversation.tools)
            return await self._delta(conversation)
        except TemplateRefusal as refusal:
            raise PolicyError(
                "bad_request",
                f"the model's chat template does not take this conversation: {refusal}",
            ) from None

    async def _delta(self, conversation: Conversation) -> list[int]:
        last = conversation.rendered - 1
        if last >= len(conversation.messages) or conversation.messages[last].role != "assistant":
            raise ValueError(f"message {last} must be the assistant turn that was sampled last")
        tail = await tail_behind(
            self._engine, conversation.messages, last, conversation.tools, self._traits
        )
        if conversation.token_ids[-1] != self._traits.end_id:
            return await self._engine.tokenize(tail)
        return (await self._engine.tokenize(tail.lstrip()))[1:]


async def tail_behind(
    engine: Engine,
    messages: Sequence[Message],
    index: int,
    tools: Sequence[ToolSpec],
    traits: Traits,
    *,
    generation: bool = True,
) -> str:
    """What the template writes behind the content of the assistant message at `index`."""
    mark = _mark(messages)
    marked = [*messages[:index], Message(role="assistant", content=mark), *messages[index + 1 :]]
    text = await engine.text(fit(marked, traits), tools, generation=generation)
    before, found, behind = text.rpartition(mark)
    if not found:
        raise TemplateRefusal(f"it leaves out the assistant's turn: {shorten(text)}")
    return behind


def fit(messages: Sequence[Message], traits: Traits) -> list[Message]:
    """The messages in a form the template takes; no text is lost."""
    fitted: list[Message] = []
    held = ""
    for message in messages:
        if message.role == "system" and not traits.system:
            held += message.content + "\n\n"
            continue
        content = message.content
        if held and message.role == "user":
            content, held = held + content, ""
        joins = fitted and fitted[-1].role == message.role == "user" and not traits.successive
        if joins:
            content = f"{fitted.pop().content}\n\n{content}"
        fitted.append(message.model_copy(update={"content": content}))
    return fitted


async def find_traits(engine: Engine) -> Traits:
    """Try the template out. Raises `PolicyError` when it cannot even carry two plain turns."""
    user, said = Message(role="user", content="qwu1"), Message(role="assistant", content="qwa1")
    again, more = Message(role="user", content="qwu2"), Message(role="assistant", content="qwa2")
    result = Message(role="tool", content="qwt1")
    tool = ToolSpec(name="qwtool", description="d", parameters={"type": "object", "properties": {}})
    plain_turns = (user, said, again, more, user)
    refusal = await _refuses(engine, plain_turns)
    if refusal is not None:
        raise PolicyError(
            "bad_request",
            f"the model's chat template takes no conversation of several turns ({refusal}); "
            "use --chat or an instruct model",
        )
    system = Message(role="system", content="qws1")
    used = (user, said, result, more, result, result)
    has_system = await _refuses(engine, (system, user)) is None
    successive = await _refuses(engine, (user, again)) is None
    traits = Traits(
        tools=await _refuses(engine, used, (tool,)) is None,
        system=has_system,
        successive=successive,
        end_id=None,
    )
    end = await tail_behind(engine, (user, said), 1, (), traits, generation=False)
    ids = await engine.tokenize(end.lstrip()) if end.strip() else []
    return traits._replace(end_id=ids[0] if ids else None)


async def _refuses(
    engine: Engine, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()
) -> str | None:
    """Why the template does not show all of this, or None if it does."""
    try:
        text = await engine.text(messages, tools, generation=messages[-1].role != "assistant")
    except TemplateRefusal as refusal:
        return str(refusal)
    wanted = [*(message.content for message in messages), *(tool.name for tool in tools)]
    missing = [word for word in wanted if text.count(word) < wanted.count(word)]
    return f"left out: {missing}" if missing else None


def _mark(messages: Sequence[Message]) -> str:
    """A word that occurs in no message; the same for the same conversation."""
    number = 0
    while any(f"qwturn{number}qw" in message.content for message in messages):
        number += 1
    return f"qwturn{number}qw"
