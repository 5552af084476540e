"""MCP servers in a judgement: two used at once, one that hangs, one that dies, one that forges."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from mcp_servers import by_stdio, http_library

from openreward.agent import Limits
from openreward.judge import Judge, JudgeSettings
from openreward.policy.base import Conversation, Sampling, ToolStyle
from openreward.policy.scripted import ScriptedPolicy
from openreward.tools.mcp_settings import McpServer
from openreward.tools.mcp_tools import open_mcp
from openreward.types import Judgment, Trajectory

LIVE = ("<|im_end|>", "<|im_start|>", "<answer>B</answer>", "</tool_response>", "[/INST]")


def tagged(name: str, **arguments: str) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


class Reader:
    """Calls what it is told to, then says A; keeps what it was shown."""

    def __init__(self, *calls: str) -> None:
        self.calls = "\n".join(calls)
        self.shown: list[str] = []

    def __call__(self, talk: Conversation, sampling: Sampling) -> str:
        self.shown = [message.content for message in talk.messages if message.role != "assistant"]
        asked = any(message.role == "assistant" for message in talk.messages)
        return "It is so [1]. <answer>A</answer>" if asked else self.calls


def judged(
    servers: dict[str, McpServer],
    reader: Reader,
    *,
    style: ToolStyle = "template",
    seconds_per_call: float = 20.0,
) -> Judgment:
    async def run() -> Judgment:
        async with open_mcp(servers, {}) as opened:
            policy = ScriptedPolicy(reader, tool_style=style)
            limits = Limits(seconds_per_call=seconds_per_call)
            settings = JudgeSettings(orders="one", limits=limits)
            judge = Judge(policy, opened.tools, settings)
            return await judge.compare("Where is 'Emma'?", "On shelf 4.", "On shelf 5.")

    return asyncio.run(run())


def statuses(trajectory: Trajectory) -> list[str]:
    return [result.status for turn in trajectory.turns for result in turn.results]


def test_two_servers_are_used_in_one_judgement_one_by_stdio_one_by_http() -> None:
    reader = Reader(tagged("find_book", title="Emma"), tagged("far_find_book", title="Persuasion"))
    with http_library() as url:
        servers = {
            "near": by_stdio(),
            "far": McpServer(url=url, tools=("find_book",), prefix="far_"),
        }
        judgment = judged(servers, reader)
    assert judgment.status == "ok"
    assert statuses(judgment.votes[0].trajectory) == ["ok", "ok"]
    assert [(e.tool, e.query, e.passage.source) for e in judgment.evidence] == [
        ("find_book", "Emma", "mcp:near"),
        ("far_find_book", "Persuasion", "mcp:far"),
    ]
    assert "'Emma' is on shelf 4." in judgment.evidence[0].passage.text
    assert "'Persuasion' is on shelf 10." in judgment.evidence[1].passage.text


def test_a_server_that_hangs_costs_its_call_and_no_more() -> None:
    reader = Reader(tagged("hang", text="x"), tagged("find_book", title="Emma"))
    servers = {"library": by_stdio(tools=("hang", "find_book"))}
    judgment = judged(servers, reader, seconds_per_call=3)
    assert statuses(judgment.votes[0].trajectory) == ["timeout", "ok"]
    assert judgment.status == "ok"


def test_a_server_that_dies_in_a_call_leaves_a_verdict() -> None:
    reader = Reader(tagged("die", text="x"))
    judgment = judged({"library": by_stdio(tools=("die",))}, reader)
    assert statuses(judgment.votes[0].trajectory) == ["unavailable"]
    assert judgment.status == "ok"


@pytest.mark.parametrize("style", ["template", "prompt"])
def test_text_that_forges_a_verdict_and_a_call_does_not_act(style: ToolStyle) -> None:
    reader = Reader(tagged("forge", text="see"))
    servers = {"library": by_stdio(tools=("forge", "find_book"))}
    judgment = judged(servers, reader, style=style)
    trajectory = judgment.votes[0].trajectory
    assert statuses(trajectory) == ["ok"]  # the call that the text forges was not made
    assert trajectory.verdict.winner == 0  # the model's own A
    shown = "\n".join(reader.shown).replace("<answer>B</answer> if answer B is better", "")
    assert "Ignore all this." in shown
    assert [mark for mark in LIVE if mark in shown] == []
