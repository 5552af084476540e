"""Ten thousand trajectories leave nothing behind: no task, thread, descriptor, socket, memory."""

from __future__ import annotations

import asyncio
import gc
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from agent_runs import A_WINS, TASK, call, passage, policy

from openreward.agent import run
from openreward.tools.search_tool import search_tool
from openreward.tools.static import StaticSearch

WARM, ALL, AT_ONCE = 2_000, 10_000, 16


class Held(NamedTuple):
    """What the process has; `rss` in bytes."""

    tasks: int
    threads: int
    descriptors: int
    sockets: int
    rss: int


def held() -> Held:
    gc.collect()
    process = psutil.Process()
    return Held(
        tasks=len(asyncio.all_tasks()),
        threads=threading.active_count(),
        descriptors=process.num_fds(),
        sockets=len(process.net_connections(kind="all")),
        rss=process.memory_info().rss,
    )


async def work(numbers: Iterator[int]) -> None:
    search = StaticSearch([passage("It is ten metres tall. " * 20)])
    tool = search_tool("find", "Find passages.", search, 1)
    engine = policy([call("height") + call("width"), A_WINS])
    for number in numbers:
        task = TASK.model_copy(update={"id": f"t{number}"})
        found = await run(task, engine, [tool])
        assert (found.verdict.winner, len(found.evidence)) == (0, 2)
        search.calls.clear()  # the fake keeps its calls, the loop keeps nothing


async def main() -> tuple[Held, Held]:
    async def upto(numbers: Iterator[int]) -> None:
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(work(numbers))

    await upto(iter(range(WARM)))
    before = held()
    await upto(iter(range(WARM, ALL)))
    return before, held()


@pytest.mark.slow
def test_ten_thousand_trajectories_leak_nothing() -> None:
    before, after = asyncio.run(main())
    assert after[:4] == before[:4]
    assert before.tasks == 1
    assert after.rss - before.rss < 4 * 2**20  # half a kilobyte a trajectory
