import asyncio
import gzip
import socket
import threading
import time
from typing import Any

import httpx
import pytest

from openreward.errors import PolicyError, UserError
from openreward.policy.base import Conversation, Sampling
from openreward.policy.chat_path import ChatPolicy
from openreward.policy.endpoint import connect
from openreward.policy.transport import Address, HttpSettings, Transport
from openreward.types import Message, PolicyFault

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


@pytest.mark.parametrize(
    ("url", "api", "root"),
    [
        ("http://h:1", "http://h:1/v1", "http://h:1"),
        ("http://h:1/", "http://h:1/v1", "http://h:1"),
        ("http://h:1/v1", "http://h:1/v1", "http://h:1"),
        ("http://h:1/v1/", "http://h:1/v1", "http://h:1"),
        ("127.0.0.1:8911", "http://127.0.0.1:8911/v1", "http://127.0.0.1:8911"),
        ("https://h/proxy/llm", "https://h/proxy/llm/v1", "https://h/proxy/llm"),
        ("https://h/v1beta/openai/", "https://h/v1beta/openai", "https://h/v1beta/openai"),
        ("https://h/api/v3", "https://h/api/v3", "https://h/api/v3"),
    ],
)
def test_an_address_may_end_in_its_version_or_not(url: str, api: str, root: str) -> None:
    address = Address(url)
    assert (address.api, address.root) == (api, root)


@pytest.mark.parametrize("url", ["ftp://h/v1", "http://", "", "file:///etc/passwd"])
def test_an_address_that_is_none_says_what_one_looks_like(url: str) -> None:
    with pytest.raises(UserError, match="like http://127.0.0.1:8000/v1"):
        Address(url)


def test_a_password_in_the_address_is_refused_without_being_repeated() -> None:
    with pytest.raises(UserError, match="apart from it") as caught:
        Address("http://me:hunter2@h/v1")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("key", ["two words\n", "späm", " padded"])
def test_a_key_that_no_header_carries_is_refused_without_being_repeated(key: str) -> None:
    with pytest.raises(UserError, match="the API key holds") as caught:
        Transport("http://h", api_key=key)
    assert key.strip() not in str(caught.value)


def error(message: str, **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, "type": "invalid_request_error", **more}}


LLAMA_OVERFLOW = {
    "error": {
        "code": 400,
        "message": "request (5000 tokens) exceeds the available context size (4096 tokens)",
        "type": "exceed_context_size_error",
    }
}
VLLM_OVERFLOW = error("This model's maximum context length is 4096 tokens. However, you requested")
OPENAI_OVERFLOW = error("Please reduce the length", code="context_length_exceeded")


@pytest.mark.parametrize(
    ("status", "body", "fault", "said"),
    [
        (401, error("Invalid API Key"), "unauthorized", "Invalid API Key.*give a valid key"),
        (403, {"detail": "Forbidden"}, "unauthorized", "Forbidden"),
        (404, error("The model `m` does not exist"), "unknown_model", "check the model's name"),
        (400, LLAMA_OVERFLOW, "context_overflow", "5000 tokens"),
        (400, VLLM_OVERFLOW, "context_overflow", "larger context"),
        (400, OPENAI_OVERFLOW, "context_overflow", "does not fit"),
        (400, error("failed to parse grammar"), "bad_request", "failed to parse grammar"),
        (422, {"detail": [{"msg": "Field required"}]}, "bad_request", "Field required"),
        (405, b"Method Not Allowed", "bad_request", "Method Not Allowed"),
        (429, error("slow down"), "rate_limited", r"slow down.*gave up, attempt 2"),
        (500, b"Internal Server Error", "server_error", "Internal Server Error"),
        (502, b"<html>Bad Gateway</html>", "server_error", "Bad Gateway"),
        (503, error("Loading model"), "server_error", "Loading model"),
        (200, b"<!DOCTYPE html><html>Welcome to nginx", "bad_response", "web page.*ends in /v1"),
        (200, b"hello", "bad_response", "no JSON: 'hello'"),
        (200, b'{"choices": [{"mess', "bad_response", "cut or broken JSON"),
        (200, b"", "bad_response", "no JSON: ''"),
        (200, b"\xff\xfe\x00", "bad_response", "no JSON"),
        (200, {"object": "chat.completion"}, "bad_response", "choices: Field required"),
        (200, {"choices": []}, "bad_response", "choices"),
        (200, {"choices": [{}]}, "bad_response", "choices.0.message"),
        (200, {"choices": None}, "bad_response", "choices"),
        (200, [1, 2], "bad_response", "another shape"),
        (200, {"choices": [{"message": {"content": 7}}]}, "bad_response", "content"),
    ],
)
def test_every_faulty_answer_has_its_fault_and_its_words(
    status: int, body: Any, fault: PolicyFault, said: str, serve: Any, reply: Any
) -> None:
    server = serve(lambda asked: reply(body, status))
    with pytest.raises(PolicyError, match=f"(?s){said}") as caught:
        ask(server.url)
    assert caught.value.fault == fault
    repeated = fault in ("rate_limited", "server_error")
    assert len(server.asked) == (2 if repeated else 1)


def test_the_key_is_sent_and_is_in_no_error_even_if_the_server_repeats_it(
    serve: Any, reply: Any
) -> None:
    for status, body in ((401, error(f"bad key {KEY}")), (200, f"got {KEY}".encode())):
        server = serve(lambda asked, b=body, s=status: reply(b, s))
        with pytest.raises(PolicyError) as caught:
            ask(server.url)
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
        assert KEY not in str(caught.value)
        assert "[key]" in str(caught.value)


def test_a_redirect_is_not_followed(serve: Any, reply: Any) -> None:
    other = serve(lambda asked: reply(ANSWER))
    headers = {"Location": f"{other.url}/v1/chat/completions"}
    server = serve(lambda asked: reply(b"", 307, headers))
    with pytest.raises(PolicyError, match="redirects to 127.0.0.1:.*give that address") as caught:
        ask(server.url)
    assert caught.value.fault == "bad_response"
    assert other.asked == []


def test_an_answer_that_is_too_long_is_cut_off(serve: Any, reply: Any) -> None:
    server = serve(lambda asked: reply(b" " * 50_000))
    with pytest.raises(PolicyError, match="more than 10000 bytes") as caught:
        ask(server.url, HttpSettings(max_bytes=10_000))
    assert caught.value.fault == "bad_response"


def test_a_compressed_answer_is_measured_unpacked(serve: Any, reply: Any) -> None:
    headers = {"Content-Encoding": "gzip"}
    server = serve(lambda asked: reply(gzip.compress(b" " * 500_000), 200, headers))
    with pytest.raises(PolicyError, match="more than 10000 bytes"):
        ask(server.url, HttpSettings(max_bytes=10_000))


def test_a_body_that_its_encoding_does_not_fit_is_a_bad_response(serve: Any, reply: Any) -> None:
    server = serve(lambda asked: reply(b"plain", 200, {"Content-Encoding": "gzip"}))
    with pytest.raises(PolicyError, match="Content-Encoding") as caught:
        ask(server.url)
    assert caught.value.fault == "bad_response"


def test_nothing_listening_is_unreachable_within_seconds() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        started = time.monotonic()

        async def run() -> None:
            async with connect(url):
                pass

        with pytest.raises(PolicyError, match=f"nothing answers at {url}.*start the server") as e:
            asyncio.run(run())
    assert e.value.fault == "unreachable"
    assert time.monotonic() - started < 6


def test_cancelling_closes_the_connection(serve: Any, reply: Any) -> None:
    arrived, gone = threading.Event(), threading.Event()

    def wait_for_the_end(handler: Any) -> None:
        arrived.set()
        handler.connection.settimeout(5)
        if handler.connection.recv(1) == b"":
            gone.set()

    server = serve(lambda asked: reply(ANSWER, before=wait_for_the_end))

    async def run() -> None:
        async with Transport(server.url, settings=HttpSettings()) as transport:
            conversation = Conversation([Message(role="user", content="q")])
            turn = asyncio.create_task(
                ChatPolicy(transport, "m").generate(conversation, Sampling())
            )
            await asyncio.to_thread(arrived.wait, 5)
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            assert await asyncio.to_thread(gone.wait, 5)

    asyncio.run(run())


def test_the_environments_proxy_is_used_only_when_asked(
    serve: Any, reply: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    proxy = serve(lambda asked: reply(ANSWER))
    server = serve(lambda asked: reply(ANSWER))
    monkeypatch.setenv("HTTP_PROXY", proxy.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    ask(server.url)
    assert (len(server.asked), len(proxy.asked)) == (1, 0)
    ask(server.url, HttpSettings(trust_env=True))
    assert (len(server.asked), len(proxy.asked)) == (1, 1)


def test_one_pool_serves_many_turns_at_once(serve: Any, reply: Any) -> None:
    gate = threading.Barrier(40)
    server = serve(lambda asked: reply(ANSWER, before=lambda handler: gate.wait(20) and None))

    async def run() -> int:
        async with Transport(server.url) as transport:
            policy = ChatPolicy(transport, "m")
            turns = (
                policy.generate(Conversation([Message(role="user", content="q")]), Sampling())
                for _ in range(40)
            )
            return len(await asyncio.gather(*turns))

    assert asyncio.run(run()) == 40


def test_settings_that_cannot_work_are_refused_when_made() -> None:
    with pytest.raises(UserError, match="must be positive"):
        HttpSettings(attempts=0)


def test_a_key_is_in_no_repr() -> None:
    async def run() -> str:
        async with Transport("http://127.0.0.1:1", api_key=KEY) as transport:
            return repr(transport) + repr(transport.settings) + repr(httpx.Headers())

    assert KEY not in asyncio.run(run())
