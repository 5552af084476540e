"""Cancelling the loop, and faults within it, leave nothing behind."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from agent_runs import A_WINS, TASK, call, find_tool, go, policy, statuses

from openreward.agent import Limits, run
from openreward.policy.scripted import ScriptedPolicy
from openreward.types import Trajectory


class Waiting:
    """Answers that never come; counts how many began and how many were cancelled."""

    def __init__(self) -> None:
        self.begun = 0
        self.cancelled = 0

    async def __call__(self, query: str) -> str:
        self.begun += 1
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return query


def others() -> set[asyncio.Task[object]]:
    return {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}


async def cancel_when(
    trajectory: Awaitable[Trajectory], ready: Callable[[], bool]
) -> asyncio.Task[Trajectory]:
    task: asyncio.Task[Trajectory] = asyncio.ensure_future(trajectory)  # type: ignore[assignment]
    while not ready():
        await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.wait([task], timeout=1)
    return task


def test_cancelling_a_generation_ends_it_and_leaves_no_task() -> None:
    wait = Waiting()

    class Engine(ScriptedPolicy):
        async def generate(self, conversation: object, sampling: object) -> object:  # type: ignore[override]
            return await wait("turn")

    async def main() -> None:
        task = await cancel_when(run(TASK, Engine(["x"]), [find_tool()]), lambda: wait.begun == 1)
        assert task.cancelled()
        assert wait.cancelled == 1
        assert others() == set()

    asyncio.run(main())


def test_cancelling_the_tool_phase_cancels_every_call_and_leaves_no_task() -> None:
    wait = Waiting()

    async def main() -> None:
        engine = policy([call("a") + call("b") + call("c"), A_WINS])
        task = await cancel_when(run(TASK, engine, [find_tool(wait)]), lambda: wait.begun == 3)
        assert task.cancelled()
        assert wait.cancelled == 3
        assert others() == set()

    asyncio.run(main())


def test_the_time_limit_cancels_every_call_and_leaves_no_task() -> None:
    wait = Waiting()

    async def main() -> Trajectory:
        engine = policy([call("a") + call("b"), A_WINS])
        found = await run(TASK, engine, [find_tool(wait)], Limits(seconds=0.1))
        assert others() == set()
        return found

    assert asyncio.run(main()).stop_reason == "time_limit"
    assert (wait.begun, wait.cancelled) == (2, 2)


def test_the_timeout_of_a_call_cancels_it_and_leaves_no_task() -> None:
    wait = Waiting()

    async def main() -> Trajectory:
        engine = policy([call("a"), A_WINS])
        found = await run(TASK, engine, [find_tool(wait)], Limits(seconds_per_call=0.05))
        assert others() == set()
        return found

    assert statuses(asyncio.run(main())) == [["timeout"], []]
    assert wait.cancelled == 1


def test_a_bug_in_a_tool_is_raised_as_itself_and_the_other_calls_are_cancelled() -> None:
    wait = Waiting()

    async def answer(query: str) -> str:
        if query == "bug":
            await asyncio.sleep(0.02)
            raise ZeroDivisionError("a bug")
        return await wait(query)

    async def main() -> None:
        engine = policy([call("a") + call("bug") + call("b"), A_WINS])
        with pytest.raises(ZeroDivisionError, match="a bug"):
            await run(TASK, engine, [find_tool(answer)])
        assert others() == set()

    asyncio.run(main())
    assert (wait.begun, wait.cancelled) == (2, 2)


def test_a_bug_in_the_policy_is_raised_as_itself() -> None:
    def script(*_: object) -> str:
        raise ZeroDivisionError("a bug")

    with pytest.raises(ZeroDivisionError, match="a bug"):
        go(script)


def test_a_tool_that_swallows_its_cancellation_once_does_not_hold_the_loop() -> None:
    async def stubborn(query: str) -> str:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            await asyncio.sleep(60)
        return query

    started = time.monotonic()
    found = go([call("a") + call("b"), A_WINS], [find_tool(stubborn)], Limits(seconds_per_call=0.1))
    assert 1.1 <= time.monotonic() - started < 2.0  # its timeout, and the second it was given
    assert statuses(found) == [["timeout", "timeout"], []]
    assert found.stop_reason == "verdict"


def test_a_tool_that_was_cancelled_from_within_is_a_result_not_a_cancellation() -> None:
    async def answer(query: str) -> str:
        gone: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        gone.cancel()
        return await gone

    found = go([call("a"), A_WINS], [find_tool(answer)])
    assert statuses(found) == [["unavailable"], []]
    assert found.turns[0].results[0].message == "find broke off; try once more or go on without it"
