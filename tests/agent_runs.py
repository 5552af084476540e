"""Runs of the agent loop with scripted policies and tools made up on the spot."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence

from openreward.agent import Limits, run
from openreward.errors import ToolError
from openreward.policy.base import Conversation, Generation, Sampling, ToolStyle
from openreward.policy.scripted import Script, ScriptedPolicy
from openreward.tools.base import Found, Tool, tool
from openreward.types import Message, Passage, PolicyPath, Task, ToolStatus, Trajectory

TASK = Task(id="t1", query="How tall is it?", responses=("Ten metres.", "Twelve metres."))
A_WINS = "It is ten [1]. <answer>A</answer>"


def call(query: str, name: str = "find") -> str:
    """A tagged call, as a model writes it."""
    return f"<tool_call>{json.dumps({'name': name, 'arguments': {'query': query}})}</tool_call>"


def passage(text: str) -> Passage:
    return Passage(document_id="d1", source="s", title="T", text=text, start=0, end=len(text))


def find_tool(answer: Callable[[str], Awaitable[str]] | None = None) -> Tool:
    """`find(query)`: a passage with the text that `answer` gives, else "about <query>"."""

    async def find(query: str) -> Found:
        """Find passages."""
        return Found((passage(await answer(query) if answer else f"about {query}"),))

    return tool(find)


def failing_tool(status: ToolStatus) -> Tool:
    async def broken(query: str) -> Found:
        """Fail."""
        raise ToolError(status, f"it was {status}")

    return tool(broken)


def policy(
    script: Sequence[str | Generation] | Script,
    style: ToolStyle = "prompt",
    path: PolicyPath = "chat",
    context: int | None = None,
) -> ScriptedPolicy:
    """A scripted policy; in a list, whole generations may stand beside texts."""
    texts = script

    def listed(talk: Conversation, sampling: Sampling) -> str | Generation:
        assert not callable(texts)
        return texts[sum(message.role == "assistant" for message in talk.messages)]

    made = ScriptedPolicy(script if callable(script) else listed, tool_style=style)
    made.path = path
    made.context = context
    return made


class Seen:
    """A script that keeps what the policy was handed at each turn."""

    def __init__(self, *turns: str | Generation) -> None:
        self.turns = turns
        self.samplings: list[Sampling] = []
        self.messages: list[Message] = []

    def __call__(self, talk: Conversation, sampling: Sampling) -> str | Generation:
        self.samplings.append(sampling)
        self.messages = list(talk.messages)
        return self.turns[len(self.samplings) - 1]

    @property
    def last(self) -> str:
        """What the model read before its last turn."""
        return self.messages[-1].content


def go(
    script: Sequence[str | Generation] | Script,
    tools: Sequence[Tool] | None = None,
    limits: Limits = Limits(),  # noqa: B008 - frozen
    task: Task = TASK,
    style: ToolStyle = "prompt",
    path: PolicyPath = "chat",
    context: int | None = None,
) -> Trajectory:
    """One whole trajectory; by default with `find`."""
    used = [find_tool()] if tools is None else tools
    return asyncio.run(run(task, policy(script, style, path, context), used, limits))


def statuses(trajectory: Trajectory) -> list[list[str]]:
    """Of each turn, how its calls ended."""
    return [[result.status for result in turn.results] for turn in trajectory.turns]
