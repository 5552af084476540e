"""The oracle: a teacher that writes the form of a judge's work and asks no model.

It searches in the words of the question, names the passages it was shown, and ends with the verdict
that it is told. Its sentences are drawn by a seed that does not know the verdict, so the verdict's
letter is the only thing in a trajectory that depends on the label; training leaves it out of the
loss (`verdict_span`), and teaches to look up without teaching to guess.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from random import Random

from pydantic import JsonValue

from openreward.policy.base import Conversation, Generation, Sampling, ToolStyle
from openreward.policy.chat_path import estimate_tokens
from openreward.synth.oracle_queries import search_queries
from openreward.types import Message, PolicyPath, Usage

ORACLE_VERSION = "1"
_SEARCHES = 2  # the second only where the first brings nothing
_OPEN, _CLOSE = "<answer>", "</answer>"
_MARK = re.compile(r"^### answer A ([0-9a-f]{12})$", re.MULTILINE)  # first: nothing stands before
_READ = (
    "Both answers were checked against {read}.",
    "The facts in {read} were compared with what each answer says.",
    "I read {read} and held the statements of both answers against the facts there.",
    "Going by {read}, one of the two answers fits the facts better than the other.",
    "The verdict rests on {read}, with which the two answers were compared point by point.",
    "With {read} at hand, I compared the names, numbers and claims of the two answers.",
    "According to {read}, the two answers are not equally well supported.",
    "What is said in {read} decides between the two answers.",
)
_UNREAD = "No passage was found, so the two answers were compared as they stand."


class Oracle:
    """The policy of one trajectory; `letter` is the verdict, `tool` the right one to search with.

    It goes the token path, without ids: so it is told what a model on the token path is told.
    """

    path: PolicyPath = "token"
    context: int | None = None
    model = "oracle"

    def __init__(
        self, question: str, tool: str, letter: str, seed: int, tool_style: ToolStyle = "template"
    ) -> None:
        self.tool_style = tool_style
        self._queries = search_queries(question, seed)[:_SEARCHES]
        self._tool, self._letter = tool, letter
        self._sentence = Random(seed).choice(_READ)

    async def generate(self, conversation: Conversation, sampling: Sampling) -> Generation:
        """A search while nothing was found, then the verdict."""
        messages = conversation.messages
        turn = sum(message.role == "assistant" for message in messages)
        numbers = passages_shown(messages)
        if sampling.tools and not numbers and turn < len(self._queries):
            text = call_text(self._tool, {"query": self._queries[turn]})
        else:
            text = f"{self._explain(numbers)}\n{_OPEN}{self._letter}{_CLOSE}"
        told = [*(m.content for m in messages), *(t.model_dump_json() for t in conversation.tools)]
        usage = Usage(
            prompt_tokens=sum(map(estimate_tokens, told)), completion_tokens=estimate_tokens(text)
        )
        return Generation(text=text, usage=usage)

    async def count_tokens(self, text: str) -> int:
        """An estimate that errs upwards: what is shown fits a real tokenizer's budget too."""
        return estimate_tokens(text)

    def _explain(self, numbers: Sequence[int]) -> str:
        if not numbers:
            return _UNREAD
        named = [f"[{number}]" for number in numbers]
        listed = " and ".join(part for part in (", ".join(named[:-1]), named[-1]) if part)
        return self._sentence.format(read=f"passage{'s' * (len(named) > 1)} {listed}")


def call_text(name: str, arguments: Mapping[str, JsonValue]) -> str:
    """A call in the form that Qwen's and Hermes' templates teach, and parse.py reads first."""
    call = json.dumps({"name": name, "arguments": dict(arguments)}, ensure_ascii=False)
    return f"<tool_call>\n{call}\n</tool_call>"


def verdict_span(text: str) -> tuple[int, int]:
    """Where the verdict's letter stands in the oracle's last turn."""
    start = text.rindex(_OPEN) + len(_OPEN)
    return start, text.rindex(_CLOSE)


def passages_shown(messages: Sequence[Message]) -> list[int]:
    """The numbers of the passages in a conversation, by headings that carry its nonce."""
    marks = (_MARK.search(message.content) for message in messages if message.role == "user")
    mark = next((found[1] for found in marks if found), None)
    if mark is None:
        return []
    heading = re.compile(rf"^### passage \[(\d+)\] .*{mark}$", re.MULTILINE)
    told = (message.content for message in messages if message.role in ("tool", "user"))
    return [int(found[1]) for content in told for found in heading.finditer(content)]
