"""The loop and the judge with a tape: a recorded run comes back word for word, or stops."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from pydantic import JsonValue

sys.path.insert(0, str(Path(__file__).parent))

from agent_runs import A_WINS, TASK, call, passage, policy

from openreward.agent import run
from openreward.errors import ToolError
from openreward.judge import Judge, JudgeSettings
from openreward.policy.base import Conversation, Sampling
from openreward.tools.base import Found, Tool, tool
from openreward.tools.tape import Tape, TapeHeader, TapeMiss
from openreward.types import Judgment, Pair, Trajectory

PAIRS = [Pair(id=f"p{n}", query=f"question {n}?", responses=("yes", "no")) for n in range(6)]
SETTINGS = JudgeSettings(votes=2, seed=3)


def without_times(value: JsonValue) -> JsonValue:
    """The same without what a clock said: the times of a record, not those of a taped result."""
    if isinstance(value, dict):
        return {name: without_times(v) for name, v in value.items() if name != "times"}
    return [without_times(item) for item in value] if isinstance(value, list) else value


class World:
    """A tool whose answers change with every call, as the web's do."""

    def __init__(self) -> None:
        self.calls = 0

    def tool(self) -> Tool:
        async def find(query: str) -> Found:
            """Find passages."""
            self.calls += 1
            number = self.calls  # others are called while this one waits
            await asyncio.sleep(0.001 * (number % 3))
            if number % 4 == 0:
                raise ToolError("unavailable", f"down at call {number}")
            return Found((passage(f"{query}, as of call {number}"),), cached=number % 2 == 0)

        return tool(find)


def script(talk: Conversation, sampling: Sampling) -> str:
    """Two calls at once, then one that depends on what they brought, then a verdict."""
    said = [message.content for message in talk.messages]
    turn = sum(message.role == "assistant" for message in talk.messages)
    if turn == 0:
        return call("one") + call("two")
    if turn == 1:
        return call(f"more of {len(said[-1])} {said[-1].count('as of call')}")
    return A_WINS


def header(tools: Sequence[Tool]) -> TapeHeader:
    return TapeHeader(tools=tuple(each.spec for each in tools))


def judged(tools: Sequence[Tool], tape: Tape) -> list[Judgment]:
    judge = Judge(policy(script), tools, SETTINGS, tape=tape)

    async def main() -> list[Judgment]:
        return await asyncio.gather(*map(judge.judge, PAIRS))

    return asyncio.run(main())


def written(judgments: list[Judgment]) -> str:
    return json.dumps([without_times(each.model_dump(mode="json")) for each in judgments])


def test_a_recorded_run_replays_with_the_same_bytes(tmp_path: Path) -> None:
    world, path = World(), tmp_path / "tape"
    tools = [world.tool()]
    with Tape(path, "record", header(tools)) as tape:
        recorded = judged(tools, tape)
    assert world.calls == 6 * 4 * 3  # pairs, trajectories, calls
    assert len({each.model_dump_json() for each in recorded}) == 6
    with Tape(path, "replay-strict") as tape:
        strict = judged(tape.tools(), tape)
    with Tape(path, "replay", header(tools)) as tape:
        replayed = judged(tools, tape)
    assert world.calls == 6 * 4 * 3
    assert written(strict) == written(recorded)
    assert written(replayed) == written(recorded)
    taped = [r for each in recorded for v in each.votes for t in v.trajectory.turns
             for r in t.results]  # fmt: skip
    assert {result.status for result in taped} == {"ok", "unavailable"}
    assert {result.cached for result in taped} == {True, False}


def test_another_run_of_the_same_world_is_not_the_same(tmp_path: Path) -> None:
    world = World()
    tools = [world.tool()]
    runs = []
    for name in ("a", "b"):
        with Tape(tmp_path / name, "record", header(tools)) as tape:
            runs.append(written(judged(tools, tape)))
    assert runs[0] != runs[1]


def one(tape: Tape, *turns: str) -> Trajectory:
    return asyncio.run(run(TASK, policy(turns), tape.tools(), tape=tape))


def test_a_strict_replay_of_another_engine_stops_with_the_query(tmp_path: Path) -> None:
    path = tmp_path / "tape"
    tools = [World().tool()]
    with Tape(path, "record", header(tools)) as tape:
        asyncio.run(run(TASK, policy([call("height"), A_WINS]), tools, tape=tape))
    with Tape(path, "replay-strict") as tape:
        assert one(tape, call("height"), A_WINS).stop_reason == "verdict"
        with pytest.raises(TapeMiss, match=r"trajectory 't1/0', call 1: .*find .*width.*height"):
            one(tape, call("width"), A_WINS)
        with pytest.raises(TapeMiss, match=r"call 2: asked find .*width.*no call there"):
            one(tape, call("height") + call("width"), A_WINS)
