import asyncio
import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from openreward.errors import PolicyError
from openreward.policy.base import Conversation, Sampling
from openreward.policy.chat_path import ChatPolicy
from openreward.policy.transport import HttpSettings, Transport
from openreward.types import Message

KEY = "sk-very-secret-0123456789"
ANSWER = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
QUICK = HttpSettings(attempts=2, backoff_seconds=0.01, read_seconds=2)


def ask(url: str, settings: HttpSettings = QUICK, **named: Any) -> Any:
    """One chat turn from a server that lists no models."""

    async def run() -> Any:
        async with Transport(url, api_key=KEY, settings=settings, **named) as transport:
            policy = ChatPolicy(transport, "m")
            conversation = Conversation([Message(role="user", content="q")])
            return await policy.generate(conversation, Sampling())

    return asyncio.run(run())


def failing(reply: Any, *first: Any) -> Callable[[Any], Any]:
    """Answer with each of `first` once, then well."""
    queue = list(first)
    return lambda asked: queue.pop(0) if queue else reply(ANSWER)


class Sleeps(list[float]):
    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def test_a_server_that_recovers_is_asked_again_with_growing_waits(serve: Any, reply: Any) -> None:
    sleeps = Sleeps()
    server = serve(failing(reply, reply(b"", 503), reply(b"", 500), reply(b"", 429)))
    settings = HttpSettings(attempts=5, backoff_seconds=1.0)
    assert ask(server.url, settings, sleep=sleeps).text == "hi"
    assert len(server.asked) == 4
    assert [low <= s <= 3 * low for s, low in zip(sleeps, (0.5, 1.0, 2.0), strict=True)] == [
        True,
        True,
        True,
    ]


def test_retry_after_is_honoured_in_both_forms(serve: Any, reply: Any) -> None:
    sleeps = Sleeps()
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=20), usegmt=True)
    server = serve(
        failing(
            reply,
            reply(b"", 429, {"Retry-After": "7"}),
            reply(b"", 503, {"Retry-After": date}),
            reply(b"", 429, {"Retry-After": "soon"}),
        )
    )
    assert ask(server.url, HttpSettings(), sleep=sleeps).text == "hi"
    assert sleeps[0] == 7
    assert 15 < sleeps[1] <= 20
    assert sleeps[2] <= 3


def test_a_wait_longer_than_the_limit_is_not_begun(serve: Any, reply: Any) -> None:
    server = serve(lambda asked: reply(b"", 429, {"Retry-After": "3600"}))
    started = time.monotonic()
    with pytest.raises(PolicyError, match="asked to wait 3600 s") as caught:
        ask(server.url, HttpSettings(retry_seconds=10))
    assert caught.value.fault == "rate_limited"
    assert time.monotonic() - started < 5


def hang_up(handler: Any) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


def test_a_connection_that_breaks_is_tried_again(serve: Any, reply: Any) -> None:
    server = serve(failing(reply, reply(b"", before=hang_up)))
    assert ask(server.url).text == "hi"
    assert len(server.asked) == 2


def test_a_connection_that_always_breaks_is_unreachable(serve: Any, reply: Any) -> None:
    server = serve(lambda asked: reply(b"", before=hang_up))
    with pytest.raises(PolicyError, match="broke.*is the server alive") as caught:
        ask(server.url)
    assert caught.value.fault == "unreachable"


def test_a_body_shorter_than_announced_is_a_broken_connection(serve: Any, reply: Any) -> None:
    headers = {"Content-Length": "500", "Connection": "close"}
    server = serve(lambda asked: reply(b'{"choices"', 200, headers))
    with pytest.raises(PolicyError, match="broke") as caught:
        ask(server.url)
    assert caught.value.fault == "unreachable"


def test_a_silent_server_is_a_timeout_and_is_asked_once(serve: Any, reply: Any) -> None:
    release = threading.Event()
    server = serve(lambda asked: reply(ANSWER, before=lambda handler: release.wait(5) and None))
    settings = HttpSettings(read_seconds=0.2, attempts=3, backoff_seconds=0.01)
    with pytest.raises(PolicyError, match=r"nothing for 0.2 s.*allow more seconds") as caught:
        ask(server.url, settings)
    release.set()
    assert caught.value.fault == "timeout"
    assert len(server.asked) == 1
