"""The public fake: a policy that says what it is told, for tests, dry runs and benchmarks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from openreward.policy.base import Conversation, Generation, Sampling, ToolStyle
from openreward.types import PolicyPath, Usage

Script = Callable[[Conversation, Sampling], str | Generation]


class ScriptedPolicy:
    """Answers turn by turn from a list of texts, or from a function of the conversation.

    The turn's number is read from the conversation, so one policy serves any number at once. A list
    that is too short repeats its last text. `delay` is the seconds a turn takes.
    """

    path: PolicyPath = "chat"
    context: int | None = None

    def __init__(
        self,
        script: Sequence[str] | Script,
        *,
        model: str = "scripted",
        delay: float = 0.0,
        tool_style: ToolStyle = "prompt",
    ) -> None:
        self.script = script if callable(script) else _from_list(script)
        self.model = model
        self.delay = delay
        self.tool_style = tool_style

    async def generate(self, conversation: Conversation, sampling: Sampling) -> Generation:
        """The next scripted turn; tokens are counted as words."""
        if self.delay:
            await asyncio.sleep(self.delay)
        said = self.script(conversation, sampling)
        if isinstance(said, Generation):
            return said
        prompt = sum(len(message.content.split()) for message in conversation.messages)
        usage = Usage(prompt_tokens=prompt, completion_tokens=len(said.split()))
        return Generation(text=said, usage=usage)

    async def count_tokens(self, text: str) -> int:
        """Words, as a stand-in for tokens."""
        return len(text.split())


def _from_list(texts: Sequence[str]) -> Script:
    if not texts:
        raise ValueError("a script needs at least one turn")

    def script(conversation: Conversation, sampling: Sampling) -> str:
        turn = sum(message.role == "assistant" for message in conversation.messages)
        return texts[min(turn, len(texts) - 1)]

    return script
