"""The budget of one machine within one process: turns, faults of the folder, cancellations."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import time
from pathlib import Path

import pytest

from openreward.errors import ToolError, UserError
from openreward.tools.budget import FolderBudget
from openreward.tools.services import RateLimit, Service, ServiceName


def service(
    name: ServiceName = "arxiv",
    *,
    interval: float = 0.1,
    at_once: int = 1,
    patience: float = 60.0,
    timeout: float = 60.0,
) -> Service:
    return Service(
        name=name,
        url="http://127.0.0.1:9",
        contact="ada@example.org",
        limit=RateLimit(interval=interval, at_once=at_once),
        patience=patience,
        timeout=timeout,
    )


class Clock:
    """A clock that a test sets; sleeping moves it on."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now
        self.slept = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.slept += seconds
        await asyncio.sleep(0)


def budget(folder: Path, clock: Clock) -> FolderBudget:
    return FolderBudget(folder, clock=clock, sleep=clock.sleep)


def state(folder: Path, name: str = "arxiv") -> Path:
    (found,) = folder.glob(f"{name}-*.json")
    return found


async def one(budget: FolderBudget, asked: Service) -> None:
    async with budget.turn(asked):
        pass


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


def test_the_wall_clock_is_not_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set back by an operator or by NTP, it changes nothing; file times do not count either."""
    clock = Clock()
    turns = budget(tmp_path, clock)
    asyncio.run(one(turns, service(interval=3.0)))
    monkeypatch.setattr(time, "time", lambda: 0.0)
    os.utime(state(tmp_path), (0, 0))
    asyncio.run(one(turns, service(interval=3.0)))
    assert 3.0 <= clock.slept < 3.1


def test_a_clock_that_starts_anew_holds_nobody_up(tmp_path: Path) -> None:
    """As after a reboot, where the system has no name for a boot."""
    asyncio.run(one(budget(tmp_path, Clock(9e6)), service(interval=3.0)))
    clock = Clock(50.0)
    asyncio.run(one(budget(tmp_path, clock), service(interval=3.0)))
    assert clock.slept <= 3.0


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"last": 12',
        b"\x00" * 4096,
        b"[]",
        b"\xff\xfe\xfa",
        b'{"last": 1e400}',
        b"[" * 100_000,
        b'{"running": "' + b"x" * 2_000_000 + b'"}',
    ],
    ids=["empty", "torn", "zeros", "list", "bytes", "huge number", "nested", "2 MB"],
)
def test_a_broken_state_counts_as_a_request_just_made(tmp_path: Path, content: bytes) -> None:
    clock = Clock()
    turns = budget(tmp_path, clock)
    asyncio.run(one(turns, service(interval=3.0)))
    clock.now += 100
    state(tmp_path).write_bytes(content)
    asyncio.run(one(turns, service(interval=3.0)))
    assert 3.0 <= clock.slept < 3.1
    assert json.loads(state(tmp_path).read_bytes())["interval"] == 3.0


def test_a_state_of_far_times_holds_nobody_up(tmp_path: Path) -> None:
    clock = Clock()
    turns = budget(tmp_path, clock)
    asyncio.run(one(turns, service()))
    place = {"ticket": "0" * 16, "until": 1e15}
    far = {"last": 1e15, "paused": 0.0, "running": [place], "waiting": [place] * 50}
    state(tmp_path).write_text(json.dumps(far))
    asyncio.run(one(turns, service(interval=3.0)))
    assert clock.slept <= 3.1


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


@pytest.mark.parametrize("path", ["file/budget", "nul\0/budget", "x" * 300])
def test_a_folder_that_cannot_be_used_is_refused_at_once(tmp_path: Path, path: str) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(UserError, match="cannot keep the request budget in .*name another"):
        FolderBudget(tmp_path / path)


def no_room(*arguments: object) -> int:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_full_disk_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "write_bytes", no_room)
    with pytest.raises(UserError, match=r"No space left on device.*make room"):
        FolderBudget(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_fills_up_is_an_outage_and_never_a_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = FolderBudget(tmp_path)
    asyncio.run(one(turns, service(interval=0.0)))
    before = state(tmp_path).read_bytes()
    monkeypatch.setattr(Path, "write_bytes", no_room)
    with pytest.raises(ToolError, match="No space left on device") as caught:
        asyncio.run(one(turns, service(interval=0.0)))
    assert caught.value.status == "unavailable"
    assert state(tmp_path).read_bytes() == before


def test_a_folder_that_is_taken_away_is_an_outage(tmp_path: Path) -> None:
    turns = FolderBudget(tmp_path / "budget")
    (tmp_path / "budget").rmdir()
    with pytest.raises(ToolError, match="cannot be kept") as caught:
        asyncio.run(one(turns, service()))
    assert caught.value.status == "unavailable"


def test_a_lock_that_nobody_lets_go_is_an_outage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("openreward.tools.budget_files._LOCKED", 0.2)
    turns = FolderBudget(tmp_path)
    with (tmp_path / "arxiv.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(ToolError, match="does not let go") as caught:
            asyncio.run(one(turns, service()))
    assert caught.value.status == "unavailable"
    asyncio.run(one(turns, service()))
