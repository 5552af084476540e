"""What is kept in the folder of a budget: broken states, other clocks, full disks, stuck locks."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import json
import os
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from budget_runs import Clock, budget, one, service, state

from openreward.errors import ToolError, UserError
from openreward.tools.budget import FolderBudget


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
