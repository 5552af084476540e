"""The budget of one machine within one process: turns, pauses, cancellations."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from budget_runs import Clock, budget, one, service

from openreward.errors import ToolError
from openreward.tools.budget import FolderBudget
from openreward.tools.services import Service


def test_turns_are_an_interval_apart_and_one_at_a_time(tmp_path: Path) -> None:
    spans: list[tuple[float, float]] = []

    async def ask(asked: Service) -> None:
        async with FolderBudget(tmp_path).turn(asked):
            started = time.monotonic()
            await asyncio.sleep(0.02)
            spans.append((started, time.monotonic()))

    async def all_of_them() -> None:
        await asyncio.gather(*(ask(service()) for _ in range(6)))

    asyncio.run(all_of_them())
    spans.sort()
    # Counted from its end: when the block is left, so after the time we took.
    assert [b[0] - a[1] >= 0.1 for a, b in zip(spans, spans[1:], strict=False)] == [True] * 5


def test_as_many_as_allowed_are_under_way_and_no_more(tmp_path: Path) -> None:
    under_way, most = 0, 0

    async def ask(budget: FolderBudget) -> None:
        nonlocal under_way, most
        async with budget.turn(service("pubmed", interval=0.0, at_once=3)):
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.1)
            under_way -= 1

    async def all_of_them() -> None:
        budget = FolderBudget(tmp_path)
        await asyncio.gather(*(ask(budget) for _ in range(7)))

    asyncio.run(all_of_them())
    assert most == 3


def test_services_do_not_wait_for_each_other(tmp_path: Path) -> None:
    clock = Clock()
    turns = budget(tmp_path, clock)

    async def both() -> None:
        async with turns.turn(service("arxiv")), turns.turn(service("pubmed")):
            assert sorted(turns.lines()) == ["arxiv", "pubmed"]

    asyncio.run(both())
    assert clock.slept == 0.0


def test_a_wait_beyond_patience_is_refused_before_waiting(tmp_path: Path) -> None:
    clock = Clock()
    turns = budget(tmp_path, clock)

    async def ask() -> None:
        await one(turns, service(interval=40.0))
        with pytest.raises(ToolError) as caught:
            await one(turns, service(interval=40.0, patience=15.0))
        assert caught.value.status == "rate_limited"
        assert str(caught.value) == (
            "arxiv is asked by many just now: the next free turn is in 40 s, and a call may wait "
            "15 s; go on with what you have, or search elsewhere"
        )

    asyncio.run(ask())
    assert clock.slept == 0.0


def test_a_wait_of_unknown_length_ends_with_patience(tmp_path: Path) -> None:
    clock = Clock()
    turns = budget(tmp_path, clock)

    async def ask() -> None:
        async with turns.turn(service(interval=0.0)):
            with pytest.raises(ToolError, match="not yet known"):
                await one(turns, service(interval=0.0, patience=5.0))

    asyncio.run(ask())
    assert 5.0 <= clock.slept < 6.0


def test_a_pause_is_seen_by_every_budget_of_the_folder(tmp_path: Path) -> None:
    clock = Clock()

    async def ask() -> None:
        await budget(tmp_path, clock).pause(service(), 30.0)
        with pytest.raises(ToolError, match="arxiv asked for a pause: .* in 30 s"):
            await one(budget(tmp_path, clock), service(patience=15.0))
        await one(budget(tmp_path, clock), service(patience=60.0))

    asyncio.run(ask())
    assert 30.0 <= clock.slept < 30.2


@pytest.mark.parametrize("where", ["waiting", "requesting"])
def test_a_cancelled_caller_leaves_nothing_behind(tmp_path: Path, where: str) -> None:
    turns = FolderBudget(tmp_path)

    async def ask() -> None:
        if where == "waiting":
            await turns.pause(service(), 60.0)
        inside = asyncio.Event()

        async def call() -> None:
            async with turns.turn(service(interval=0.0, patience=90.0)):
                inside.set()
                await asyncio.sleep(60)

        task = asyncio.create_task(call())
        if where == "requesting":
            await inside.wait()
        while not (turns.lines()["arxiv"].running or turns.lines()["arxiv"].waiting):
            await asyncio.sleep(0.001)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert (turns.lines()["arxiv"].running, turns.lines()["arxiv"].waiting) == ((), ())

    asyncio.run(ask())
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json", ".lock"]


def test_cancelled_at_any_moment_the_turn_is_free_again(tmp_path: Path) -> None:
    turns = FolderBudget(tmp_path)
    quick = service(interval=0.0, patience=90.0)

    async def ask(steps: int) -> None:
        tasks = [asyncio.create_task(one(turns, quick)) for _ in range(3)]
        for _ in range(steps):
            await asyncio.sleep(0)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        line = turns.lines().get("arxiv")
        assert line is None or (line.running, line.waiting) == ((), ())

    for steps in range(12):
        asyncio.run(ask(steps))
    asyncio.run(one(turns, service(interval=0.0, patience=0.0)))


def test_an_error_within_a_turn_gives_it_back(tmp_path: Path) -> None:
    turns = FolderBudget(tmp_path)

    async def fail() -> None:
        async with turns.turn(service(interval=0.0)):
            raise LookupError("the request failed")

    with pytest.raises(LookupError):
        asyncio.run(fail())
    assert turns.lines()["arxiv"].running == ()


def test_waiting_does_not_hold_up_the_event_loop(tmp_path: Path) -> None:
    turns = FolderBudget(tmp_path)
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0.01)

    async def ask() -> None:
        await turns.pause(service(), 0.5)
        ticking = asyncio.create_task(beat())
        await one(turns, service())
        ticking.cancel()

    asyncio.run(ask())
    assert beats >= 5
