"""`openreward budget serve` and `status`, as processes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from openreward.cli.budget import describe
from openreward.errors import ToolError
from openreward.tools.budget import FolderBudget
from openreward.tools.budget_client import EndpointBudget
from openreward.tools.budget_line import Line, Place
from openreward.tools.services import RateLimit, Service

TOKEN = "a-token-of-this-test"


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "openreward.cli.main", "budget", *arguments]


def environment(home: Path) -> dict[str, str]:
    return {**os.environ, "OPENREWARD_HOME": str(home), "BUDGET_TOKEN": TOKEN}


def run(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), env=environment(home), capture_output=True, text=True, timeout=120
    )


@contextmanager
def served(home: Path, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A serving process and its address."""
    with subprocess.Popen(
        command("serve", "--port", "0", *arguments),
        env=environment(home),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("budget endpoint at http://"), process.communicate()
            yield process, line.rpartition(" ")[2].strip()
        finally:
            process.kill()
            process.communicate()


def service(interval: float = 30.0, patience: float = 0.0) -> Service:
    return Service(
        name="arxiv",
        url="http://127.0.0.1:9",
        contact="ada@example.org",
        limit=RateLimit(interval=interval, at_once=1),
        patience=patience,
    )


async def one(url: str, token: str | None = None) -> None:
    async with EndpointBudget(url, token) as budget, budget.turn(service()):
        pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly_even_with_connections_open(
    tmp_path: Path, number: signal.Signals
) -> None:
    with served(tmp_path) as (process, url), httpx.Client() as client:
        client.get(f"{url}/status")  # its connection is kept
        with socket.create_connection(("127.0.0.1", int(url.rpartition(":")[2]))) as silent:
            silent.sendall(b"POST /take HTTP/1.1\r\n")
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (0, "", "")


def test_it_keeps_one_budget_with_the_home_it_stands_on(tmp_path: Path) -> None:
    with served(tmp_path) as (_, url):
        asyncio.run(one(url))
        with pytest.raises(ToolError, match="the next free turn is in"):
            asyncio.run(one(url))
        with pytest.raises(ToolError, match="the next free turn is in"):
            asyncio.run(beside(tmp_path / "budget"))
        there = run(tmp_path, "status", "--endpoint", url, "--json")
    here = run(tmp_path, "status", "--json")
    assert (here.returncode, there.returncode) == (0, 0)
    assert json.loads(here.stdout)["lines"] == json.loads(there.stdout)["lines"]
    shown = run(tmp_path, "status").stdout
    assert shown.startswith("arxiv: free in ")
    assert shown.endswith(" s; 0 under way, 0 waiting; 30 s apart, 1 at once\n")


async def beside(folder: Path) -> None:
    async with FolderBudget(folder).turn(service()):
        pass


def test_other_machines_need_a_token(tmp_path: Path) -> None:
    refused = run(tmp_path, "serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 2
    assert "a token is needed" in refused.stderr
    with served(tmp_path, "--host", "0.0.0.0", "--token-env", "BUDGET_TOKEN") as (process, url):
        url = url.replace("0.0.0.0", "127.0.0.1")
        asyncio.run(one(url, TOKEN))
        with pytest.raises(ToolError, match="expected this endpoint's token"):
            asyncio.run(one(url))
        shown = run(tmp_path, "status", "--endpoint", url, "--token-env", "BUDGET_TOKEN")
        assert shown.stdout.startswith("arxiv: free in ")
        process.terminate()
        assert TOKEN not in "".join(process.communicate(timeout=60))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--token-env", "NOT_SET"), "expected a token in the variable 'NOT_SET', got nothing"),
        (("--token-env", "SHORT"), "expected a token of at least 16 printable ASCII characters"),
        (("--host", "192.0.2.1", "--token-env", "BUDGET_TOKEN"), "cannot listen on '192.0.2.1'"),
        (("--host", "a..b", "--token-env", "BUDGET_TOKEN"), "cannot listen on 'a..b'"),
    ],
)
def test_what_cannot_serve_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    monkeypatch.setenv("SHORT", "short")
    refused = run(tmp_path, "serve", *arguments)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert says in refused.stderr


def test_a_port_that_is_taken_is_named(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = run(tmp_path, "serve", "--port", port)
    assert refused.returncode == 2
    assert refused.stderr == (
        f"error: cannot listen on '127.0.0.1' port {port}: Address already in use; name another "
        "--host or --port\n"
    )


def test_nothing_was_asked_yet(tmp_path: Path) -> None:
    shown = run(tmp_path, "status")
    assert (shown.returncode, shown.stdout) == (
        0,
        "no service was asked since this machine started\n",
    )
    assert list(tmp_path.iterdir()) == []


def test_an_endpoint_that_is_down_is_an_error_of_a_service(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
    shown = run(tmp_path, "status", "--endpoint", url)
    assert shown.returncode == 3
    assert "cannot be reached" in shown.stderr


def test_who_runs_and_who_waits_is_told() -> None:
    first = Place(ticket="0" * 16, until=120.0, who="node1 17")
    second = Place(ticket="1" * 16, until=105.0, who="node2\x1b[2J 4")
    third = Place(ticket="2" * 16, until=105.0)
    line = Line(
        last=99.0, interval=3.0, at_once=1, paused=140.0, running=(first,), waiting=(second, third)
    )
    assert describe("arxiv", line, 100.0) == [
        "arxiv: busy, free in 40.0 s at the earliest, paused for 40 s; 1 under way, 2 waiting; "
        "3 s apart, 1 at once",
        "  runs: node1 17",
        "  waits: node2\\x1b[2J 4",
        "  waits: somebody",
    ]
    assert describe("pubmed", Line(last=1.0, interval=0.37, at_once=3), time.monotonic() + 9) == [
        "pubmed: free now; 0 under way, 0 waiting; 0.37 s apart, 3 at once"
    ]
