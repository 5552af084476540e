"""The chat path: messages and native tool calls, for endpoints whose tokenizer is out of reach.

Servers cut a stop string from the text. Where one is a closing tag whose opening tag stands open in
a turn that ended by itself, it is put back, so that a reader of the text sees what the model wrote.
`reasoning_content` is left out of the text: a verdict inside thinking is none.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from openreward.errors import PolicyError, shorten
from openreward.inert import inert
from openreward.loose_json import clean, read_arguments
from openreward.policy.base import Conversation, Generation, Sampling, ToolStyle
from openreward.policy.transport import Transport
from openreward.policy.wire import ChatChoice, ChatCompletion, NativeCall, read_finish
from openreward.types import FinishReason, Message, PolicyPath, ToolCall, Usage

_WORD = re.compile(r" ?[A-Za-z]+")


class ReadCalls(NamedTuple):
    """Native calls that could be read, and what is wrong with the others."""

    calls: tuple[ToolCall, ...]
    problems: tuple[str, ...]


class ChatPolicy:
    """An OpenAI-compatible chat endpoint, as a `Policy`. Made by `endpoint.connect`."""

    path: PolicyPath = "chat"
    tool_style: ToolStyle = "template"

    def __init__(self, transport: Transport, model: str, context: int | None = None) -> None:
        self._transport = transport
        self._limit_field = "max_tokens"
        self.model = model
        self.engine = "chat"
        self.context = context

    async def generate(self, conversation: Conversation, sampling: Sampling) -> Generation:
        """Ask for one turn."""
        answer = await self._ask(self._body(conversation, sampling))
        choice = answer.choices[0]
        taken = {call.id for message in conversation.messages for call in message.tool_calls}
        calls, problems = read_calls(choice.message.tool_calls or (), taken)
        finish = _finish(choice)
        text = choice.message.content or choice.message.refusal or ""
        return Generation(
            text=close_tags(text, sampling.stop) if finish == "stop" and not calls else text,
            finish_reason=finish,
            tool_calls=calls,
            problems=problems,
            usage=answer.usage.usage() if answer.usage else Usage(),
        )

    async def count_tokens(self, text: str) -> int:
        """An estimate that errs upwards, as `estimate_tokens` makes it."""
        return estimate_tokens(text)

    async def _ask(self, body: dict[str, object]) -> ChatCompletion:
        """Post it; reasoning models of OpenAI want another name for `max_tokens`."""
        url = f"{self._transport.address.api}/chat/completions"
        try:
            return await self._transport.post(url, body, ChatCompletion)
        except PolicyError as error:
            renamed = "max_completion_tokens"
            if error.fault != "bad_request" or renamed not in str(error) or renamed in body:
                raise
        self._limit_field = renamed
        body[renamed] = body.pop("max_tokens")
        return await self._transport.post(url, body, ChatCompletion)

    def _body(self, conversation: Conversation, sampling: Sampling) -> dict[str, object]:
        body: dict[str, object] = {
            "model": self.model,
            "messages": [_message(message) for message in conversation.messages],
            self._limit_field: sampling.max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
        }
        if sampling.stop:
            body["stop"] = list(sampling.stop)
        if conversation.tools:  # without tools no tool_choice either: some servers refuse it alone
            body["tools"] = [tool.function() for tool in conversation.tools]
            body["tool_choice"] = "auto" if sampling.tools else "none"
        return body


def read_calls(native: Sequence[NativeCall], taken: set[str]) -> ReadCalls:
    """Calls of one turn; an id that is missing or already in `taken` is replaced."""
    calls: list[ToolCall] = []
    problems: list[str] = []
    used = set(taken)
    for entry in native:
        name = entry.function.name if entry.function else None
        if entry.function is None or not name:
            problems.append("a tool call had no name; name one of the tools")
            continue
        arguments = read_arguments(entry.function.arguments)
        if arguments is None:
            got = shorten(clean(entry.function.arguments))
            problems.append(inert(f"the arguments of {name} must be one JSON object, got {got}"))
            continue
        identity = entry.id if entry.id and entry.id not in used else _new_id(used)
        used.add(identity)
        calls.append(ToolCall(id=identity, name=name, arguments=arguments))
    return ReadCalls(tuple(calls), tuple(problems))


def close_tags(text: str, stops: Sequence[str]) -> str:
    """`text` with the closing tag among `stops` that a server cut off."""
    for stop in stops:
        opening = stop.replace("</", "<", 1)
        if stop.startswith("</") and text.count(opening) > text.count(stop):
            return text + stop
    return text


def estimate_tokens(text: str) -> int:
    """At least as many tokens as common tokenizers make of natural text, code and numbers.

    A word of ASCII letters, with a space before it, counts one for every three letters or part of
    three; other ASCII (digits, signs, other spaces) one each; anything else half a token for each
    UTF-8 byte; and one more.
    """
    words = _WORD.findall(text)
    letters = sum(map(len, words))
    ascii_length = sum(map(str.isascii, text))
    wide = len(text.encode("utf-8", "surrogatepass")) - ascii_length
    pieces = sum(math.ceil(len(word.lstrip(" ")) / 3) for word in words)
    return pieces + (ascii_length - letters) + math.ceil(wide / 2) + 1


def _new_id(used: set[str]) -> str:
    number = len(used) + 1
    while f"call-{number}" in used:
        number += 1
    return f"call-{number}"


def _message(message: Message) -> dict[str, object]:
    sent: dict[str, object] = {"role": message.role, "content": message.content}
    if message.tool_call_id is not None:
        sent["tool_call_id"] = message.tool_call_id
    if message.tool_calls:
        sent["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": call.name,
                    "arguments": json.dumps(call.arguments, ensure_ascii=False),
                },
            }
            for call in message.tool_calls
        ]
    return sent


def _finish(choice: ChatChoice) -> FinishReason:
    if choice.message.refusal and not choice.message.content:
        return "refused"
    return read_finish(choice.finish_reason)
