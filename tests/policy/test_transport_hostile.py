import asyncio
import gzip
import time
from typing import Any

import pytest

from openreward.errors import PolicyError, UserError
from openreward.policy.base import Conversation, Sampling
from openreward.policy.chat_path import ChatPolicy
from openreward.policy.endpoint import connect
from openreward.policy.transport import Address, HttpSettings, Transport
from openreward.types import Message

KEY = "sk-very-secret-0123456789"
ANSWER = {"choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}]}
QUICK = HttpSettings(attempts=2, backoff_seconds=0.01, read_seconds=2)


def ask(url: str, settings: HttpSettings = QUICK) -> Any:
    async def run() -> Any:
        async with Transport(url, api_key=KEY, settings=settings) as transport:
            conversation = Conversation([Message(role="user", content="q")])
            return await ChatPolicy(transport, "m").generate(conversation, Sampling())

    return asyncio.run(run())


@pytest.mark.parametrize(
    "url", ["http://[::1", "http://h:port", "http://h\x1b[31m", "http://\udcff", "http://h:99x/v1"]
)
def test_an_address_that_no_url_parser_takes_is_a_users_error(url: str) -> None:
    with pytest.raises(UserError, match="like http://127.0.0.1:8000/v1"):
        Address(url)


@pytest.mark.parametrize("url", ["http://me:hunter2@[::1", "http://me:hunter2@h:port"])
def test_a_password_in_a_broken_address_is_not_repeated(url: str) -> None:
    with pytest.raises(UserError) as caught:
        Address(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("status", [200, 400, 401, 500])
def test_no_quotation_of_a_servers_words_holds_half_a_key(
    serve: Any, reply: Any, status: int
) -> None:
    for before in range(0, 320, 23):
        said = "x" * before + KEY + " tail" * 60
        for body in ({"error": {"message": said}}, said.encode(), b"<html>" + said.encode()):
            server = serve(lambda asked, b=body: reply(b, status))
            with pytest.raises(PolicyError) as caught:
                ask(server.url, HttpSettings(attempts=1))
            assert not any(KEY[i : i + 6] in str(caught.value) for i in range(len(KEY) - 5))


@pytest.mark.parametrize("location", [f"http://{KEY}.example/", "http://[::1"])
def test_a_redirect_to_anywhere_is_told_without_the_key(
    serve: Any, reply: Any, location: str
) -> None:
    server = serve(lambda asked: reply(b"", 302, {"Location": location}))
    with pytest.raises(PolicyError) as caught:
        ask(server.url)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("coding", ["gzip, gzip", "br", "zstd"])
def test_a_body_packed_more_than_once_is_not_unpacked(serve: Any, reply: Any, coding: str) -> None:
    bomb = gzip.compress(gzip.compress(b" " * 5_000_000))
    server = serve(lambda asked: reply(bomb, 200, {"Content-Encoding": coding}))
    with pytest.raises(PolicyError, match="Content-Encoding.*expected gzip or none") as caught:
        ask(server.url)
    assert caught.value.fault == "bad_response"
    assert server.asked[0].headers["accept-encoding"] == "gzip, deflate"


def drip(handler: Any) -> None:
    """An answer that never ends, though a byte of it comes all the time."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
    for _ in range(200):
        handler.wfile.write(b" ")
        handler.wfile.flush()
        time.sleep(0.02)


def test_an_answer_that_trickles_for_ever_is_a_timeout(serve: Any, reply: Any) -> None:
    server = serve(lambda asked: reply(ANSWER, before=drip))
    with pytest.raises(PolicyError, match=r"did not finish its answer within 0.3 s") as caught:
        ask(server.url, HttpSettings(whole_seconds=0.3))
    assert caught.value.fault == "timeout"
    assert len(server.asked) == 1


def test_connecting_to_a_server_that_trickles_ends_too(serve: Any, reply: Any) -> None:
    server = serve(lambda asked: reply(ANSWER, before=drip))

    async def run() -> None:
        async with connect(server.url, settings=HttpSettings(probe_seconds=0.3)):
            pass

    with pytest.raises(PolicyError, match="did not finish its answer within 0.3 s"):
        asyncio.run(run())


@pytest.mark.parametrize(
    "value",
    ["-5", "1e9", "nan", "Mon, 1 Jan 2026 00:00:00 -99999999999999999999", "9" * 400],
)
def test_an_absurd_retry_after_never_breaks_a_request(serve: Any, reply: Any, value: str) -> None:
    server = serve(lambda asked: reply(b"", 429, {"Retry-After": value}))
    with pytest.raises(PolicyError, match="limits the rate") as caught:
        ask(server.url)
    assert caught.value.fault == "rate_limited"
