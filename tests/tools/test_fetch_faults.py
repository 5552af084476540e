"""Faults of the connection and of time, and how long one waits before asking again."""

from __future__ import annotations

import random
import socket
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fetch_runs import FreeBudget, Waits, always, fails, get, in_turn, service
from service_server import Answer, ServiceServer

from openreward.tools.fetch import Reply


def test_a_cut_body_is_asked_again() -> None:
    body = b"x" * 5000
    with ServiceServer(in_turn(Answer(body=body, cut=2000), Answer(body=body))) as server:
        reply = get(service(server.url))
        assert isinstance(reply, Reply)
        assert reply.content == body
    with ServiceServer(always(Answer(body=body, cut=2000))) as server:
        error = fails(service(server.url))
        assert len(server.requests) == 3
    assert error.status == "unavailable"
    assert "the connection failed" in str(error)


def test_nobody_listening_is_unavailable() -> None:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        port = bound.getsockname()[1]
    error = fails(service(f"http://127.0.0.1:{port}"))
    assert error.status == "unavailable"
    assert "the connection failed ('ConnectError" in str(error)


@pytest.mark.parametrize(
    "answer",
    [Answer(delay=30.0), Answer(body=b"x" * 1000, drip=0.05)],
    ids=["nothing", "a byte now and then"],
)
def test_the_timeout_holds_for_the_whole_answer(answer: Answer) -> None:
    budget = FreeBudget()
    with ServiceServer(always(answer)) as server:
        started = time.monotonic()
        error = fails(service(server.url, timeout=0.4, tries=2), budget=budget)
        assert time.monotonic() - started < 20  # the answers would take 30 s and 50 s
        assert len(server.requests) == 2
    assert (error.status, budget.under_way) == ("timeout", 0)
    assert "no whole answer within 0.4 s; after 2 tries" in str(error)


def test_a_server_that_accepts_and_says_nothing_times_out() -> None:
    with socket.create_server(("127.0.0.1", 0)) as bound:
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        assert fails(service(url, timeout=0.2, tries=1)).status == "timeout"


def test_waits_double_and_are_random_parts() -> None:
    waits = Waits()
    with ServiceServer(always(Answer(status=500))) as server:
        fails(service(server.url, tries=6), waits=waits)
    chance = random.Random(0)
    assert waits.seconds == [chance.uniform(0.0, most) for most in (1.0, 2.0, 4.0, 8.0, 10.0)]


@pytest.mark.parametrize("status", [429, 503])
def test_a_service_that_is_asked_too_often_is_left_alone_by_all(status: int) -> None:
    budget, waits = FreeBudget(), Waits()
    with ServiceServer(always(Answer(status=status))) as server:
        fails(service(server.url), budget=budget, waits=waits)
    assert len(budget.pauses) == 3
    assert waits.seconds == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_retry_after_is_what_all_wait(status: int) -> None:
    budget, waits = FreeBudget(), Waits()
    answer = Answer(status=status, headers={"Retry-After": "7"})
    with ServiceServer(always(answer)) as server:
        fails(service(server.url), budget=budget, waits=waits)
    assert (budget.pauses, waits.seconds) == ([7.0, 7.0, 7.0], [])
