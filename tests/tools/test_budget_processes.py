"""One budget over threads and processes, as a service that they ask sees it.

Lower bounds of gaps only: on a busy machine everything takes longer, and nothing may come sooner.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from budget_asker import Job
from service_server import Answer, Asked, ServiceServer

from openreward.errors import ToolError
from openreward.tools.budget import FolderBudget
from openreward.tools.fetch import Fetch, Reply
from openreward.tools.services import RateLimit, Service

ASKER = Path(__file__).parent / "budget_asker.py"


def arxiv(
    url: str,
    *,
    interval: float = 0.15,
    at_once: int = 1,
    patience: float = 120.0,
    timeout: float = 60.0,
    tries: int = 1,
) -> Service:
    return Service(
        name="arxiv",
        url=url,
        contact="ada@example.org",
        limit=RateLimit(interval=interval, at_once=at_once),
        patience=patience,
        timeout=timeout,
        tries=tries,
    )


@contextmanager
def asking(*jobs: Job) -> Iterator[list[subprocess.Popen[str]]]:
    """The processes of some jobs; what still runs at the end is killed."""
    processes = [
        subprocess.Popen(
            [sys.executable, str(ASKER), job.model_dump_json()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for job in jobs
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def outcomes(processes: list[subprocess.Popen[str]]) -> list[str]:
    """What all requests came to, once all processes have ended."""
    lines: list[str] = []
    for process in processes:
        out, err = process.communicate(timeout=200)
        assert (process.returncode, err) == (0, "")
        lines += out.splitlines()
    return sorted(lines)


def gaps(server: ServiceServer) -> list[float]:
    moments = sorted(asked.started for asked in server.requests)
    return [after - before for before, after in pairwise(moments)]


def wait_for(server: ServiceServer, requests: int) -> None:
    end = time.monotonic() + 60
    while len(server.requests) < requests:
        assert time.monotonic() < end
        time.sleep(0.01)


def ok(asked: Asked) -> Answer:
    return Answer(body=b"<feed/>")


def slow(asked: Asked) -> Answer:
    return Answer(body=b"<feed/>", delay=60.0)


@pytest.mark.parametrize(
    ("interval", "requests"),
    [(0.15, 1), pytest.param(3.0, 1, marks=pytest.mark.slow)],
    ids=["0.15 s", "3 s"],
)
def test_four_processes_of_eight_threads_keep_the_interval(
    tmp_path: Path, interval: float, requests: int
) -> None:
    threads = 8 if interval < 1 else 2
    with ServiceServer(ok) as server:
        service = arxiv(server.url, interval=interval)
        job = Job(service=service, budget=str(tmp_path), threads=threads, requests=requests)
        with asking(*[job] * 4) as processes:
            assert outcomes(processes) == ["200"] * 4 * threads
        found = gaps(server)
    assert len(found) == 4 * threads - 1
    assert min(found) >= interval
    sys.stderr.write(f"{len(found) + 1} requests, smallest gap {min(found):.4f} s\n")


def test_processes_that_disagree_keep_the_larger_interval(tmp_path: Path) -> None:
    with ServiceServer(ok) as server:
        strict, hasty = arxiv(server.url, interval=0.3), arxiv(server.url, interval=0.0, at_once=4)
        asyncio.run(ask(strict, tmp_path))
        jobs = [
            Job(service=each, budget=str(tmp_path), threads=2, requests=2)
            for each in (strict, hasty)
        ]
        with asking(*jobs) as processes:
            assert outcomes(processes) == ["200"] * 8
        assert min(gaps(server)) >= 0.3


def test_a_killed_holder_blocks_nobody_for_longer_than_its_lease(tmp_path: Path) -> None:
    answers = iter([slow])
    with ServiceServer(lambda asked: next(answers, ok)(asked)) as server:
        service = arxiv(server.url, timeout=2.0)
        with asking(Job(service=service, budget=str(tmp_path))) as (holder,):
            wait_for(server, 1)
            holder.send_signal(signal.SIGKILL)
            holder.communicate()
        killed = time.monotonic()
        assert asyncio.run(ask(service, tmp_path)) == 200
        (gap,) = gaps(server)
    assert gap >= 2.0  # its request may have been under way for so long
    assert time.monotonic() - killed < 30  # a lease of 3 s, and much room for a busy machine


def test_a_killed_waiter_blocks_nobody(tmp_path: Path) -> None:
    budget = FolderBudget(tmp_path)
    with ServiceServer(ok) as server:
        service = arxiv(server.url, interval=0.0)
        asyncio.run(budget.pause(service, 60.0))
        with asking(Job(service=service, budget=str(tmp_path))) as (waiter,):
            end = time.monotonic() + 60
            while not (budget.lines()["arxiv"].waiting) and time.monotonic() < end:
                time.sleep(0.01)
            assert len(budget.lines()["arxiv"].waiting) == 1
            waiter.send_signal(signal.SIGKILL)
            waiter.communicate()
        end_pause(tmp_path)
        assert asyncio.run(ask(service, tmp_path)) == 200
        assert len(server.requests) == 1


def end_pause(folder: Path) -> None:
    (state,) = folder.glob("arxiv-*.json")
    line = FolderBudget(folder).lines()["arxiv"]
    state.write_text(line.model_copy(update={"paused": 0.0}).model_dump_json())


def test_all_processes_obey_one_retry_after(tmp_path: Path) -> None:
    answers = iter([Answer(status=429, headers={"Retry-After": "2"})])
    with ServiceServer(lambda asked: next(answers, Answer(body=b"<feed/>"))) as server:
        service = arxiv(server.url, interval=0.05, tries=2)
        jobs = [Job(service=service, budget=str(tmp_path), threads=2)] * 3
        with asking(*jobs) as processes:
            assert outcomes(processes) == ["200"] * 6
        found = gaps(server)
    assert len(found) == 6
    assert found[0] >= 2.0
    assert min(found[1:]) >= 0.05


def test_a_pause_beyond_patience_is_refused_in_every_process(tmp_path: Path) -> None:
    with ServiceServer(lambda _: Answer(status=429, headers={"Retry-After": "900"})) as server:
        service = arxiv(server.url, tries=3)
        with pytest.raises(ToolError) as caught:
            asyncio.run(ask(service, tmp_path))
        assert caught.value.status == "rate_limited"
        jobs = [Job(service=service, budget=str(tmp_path), threads=2)] * 2
        with asking(*jobs) as processes:
            said = outcomes(processes)
        assert len(server.requests) == 1
    assert len(said) == 4
    assert all(line.startswith("rate_limited: arxiv asked for a pause") for line in said)


async def ask(service: Service, folder: Path) -> int:
    async with Fetch(service, FolderBudget(folder)) as fetch:
        return await fetch.get({}, status)


def status(reply: Reply) -> int:
    return reply.status
