"""Bodies that are too large, packed to explode, packed badly, and redirects, from real servers."""

from __future__ import annotations

import gzip
import sys
import tracemalloc
import zlib
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fetch_runs import FreeBudget, always, fails, get, in_turn, service
from service_server import Answer, Asked, ServiceServer

from openreward.tools.fetch import Reply

TEXT = b"<feed>" + b"some text " * 3000 + b"</feed>"
LIMIT = 1_000_000


def packed(body: bytes, coding: str) -> Answer:
    return Answer(body=body, headers={"Content-Type": "text/xml", "Content-Encoding": coding})


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(body) + packer.flush()


def bomb(size: int) -> bytes:
    packer = zlib.compressobj(9, wbits=zlib.MAX_WBITS | 16)
    zeros = bytes(1_000_000)
    return b"".join(packer.compress(zeros) for _ in range(size // len(zeros))) + packer.flush()


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (TEXT, "identity"),
        (gzip.compress(TEXT), "gzip"),
        (gzip.compress(TEXT), "X-GZip"),
        (zlib.compress(TEXT), "deflate"),
        (raw_deflate(TEXT), "deflate"),
        (gzip.compress(b""), "gzip"),
        (b"", "gzip"),
    ],
    ids=["plain", "gzip", "x-gzip", "zlib", "raw deflate", "packed nothing", "nothing"],
)
def test_bodies_are_unpacked(body: bytes, coding: str) -> None:
    with ServiceServer(always(packed(body, coding))) as server:
        reply = get(service(server.url))
    assert isinstance(reply, Reply)
    assert reply.content == (TEXT if len(body) > 40 else b"")


def test_a_body_of_just_the_limit_is_taken() -> None:
    body = b"x" * LIMIT
    with ServiceServer(in_turn(Answer(body=body), packed(gzip.compress(body), "gzip"))) as server:
        for _ in range(2):
            reply = get(service(server.url, max_bytes=LIMIT))
            assert isinstance(reply, Reply)
            assert reply.content == body


@pytest.mark.parametrize(
    "answer",
    [
        Answer(body=bytes(20_000_000)),
        Answer(body=bytes(20_000_000), headers={"Content-Length": "9" * 19}),
        Answer(body=bytes(LIMIT + 1)),
        packed(bomb(200_000_000), "gzip"),
        packed(gzip.compress(bytes(LIMIT + 1)), "gzip"),
    ],
    ids=["20 MB", "endless", "one more", "bomb of 200 MB", "one more, packed"],
)
def test_a_body_that_is_too_large_is_stopped_early_and_not_asked_for_again(answer: Answer) -> None:
    with ServiceServer(always(answer)) as server:
        asked = service(server.url, max_bytes=LIMIT)
        fails(asked)  # what is loaded once is loaded
        tracemalloc.start()
        try:
            error = fails(asked)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert len(server.requests) == 2
    assert error.status == "unavailable"
    assert "larger than the limit of 1000000 bytes" in str(error)
    assert peak < 8 * LIMIT


@pytest.mark.parametrize(
    "body",
    [
        gzip.compress(TEXT)[:-20],
        gzip.compress(TEXT)[:12],
        b"<html>not packed</html>",
        b"\x1f\x8b",
        gzip.compress(TEXT) * 2,
        gzip.compress(TEXT) + b"more" * 100_000,
    ],
    ids=["cut", "cut early", "not packed", "two bytes", "two texts", "more after the end"],
)
def test_a_body_that_cannot_be_unpacked_whole_is_asked_for_again(body: bytes) -> None:
    good = packed(gzip.compress(TEXT), "gzip")
    with ServiceServer(in_turn(packed(body, "gzip"), good)) as server:
        reply = get(service(server.url))
        assert isinstance(reply, Reply)
        assert reply.content == TEXT
    with ServiceServer(always(packed(body, "gzip"))) as server:
        error = fails(service(server.url))
        assert len(server.requests) == 3
    assert error.status == "unavailable"
    assert "its answer was cut or is packed wrongly" in str(error)


@pytest.mark.parametrize("coding", ["br", "gzip, gzip", "zstd", "\x7f"])
def test_what_was_not_asked_for_is_not_unpacked(coding: str) -> None:
    with ServiceServer(always(packed(gzip.compress(TEXT), coding))) as server:
        error = fails(service(server.url))
        assert len(server.requests) <= 3
    assert error.status == "unavailable"


def moved(location: str, status: int = 302) -> Answer:
    return Answer(status=status, headers={"Location": location})


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_at_home_is_followed_in_a_turn_of_its_own(status: int) -> None:
    budget = FreeBudget()

    def answer(asked: Asked) -> Answer:
        return Answer(body=b"here") if asked.path == "/new" else moved("/new?q=1", status)

    with ServiceServer(answer) as server:
        reply = get(service(f"{server.url}/old"), budget=budget)
        assert isinstance(reply, Reply)
        assert (reply.content, reply.url) == (b"here", f"{server.url}/new?q=1")
    assert budget.turns == 2


def test_a_named_host_may_be_led_to_and_another_is_never_asked() -> None:
    with (
        ServiceServer(always(Answer(body=b"there"))) as other,
        ServiceServer(always(moved(f"{other.url}/x"))) as server,
    ):
        error = fails(service(server.url))
        assert (len(server.requests), other.requests) == (1, [])
        assert error.status == "unavailable"
        assert "it redirects to '127.0.0.1', but that is not among its hosts" in str(error)
        hosts = (other.url.removeprefix("http://"),)
        reply = get(service(server.url, hosts=hosts))
        assert isinstance(reply, Reply)
        assert reply.content == b"there"


def test_a_circle_of_redirects_ends_after_three() -> None:
    with ServiceServer(always(moved("/round"))) as server:
        error = fails(service(server.url))
        assert len(server.requests) == 4
    assert error.status == "unavailable"
    assert "redirects more than 3 times" in str(error)


def test_no_cookie_is_kept() -> None:
    answer = Answer(body=b"ok", headers={"Set-Cookie": "id=7; Path=/"})
    with ServiceServer(always(answer)) as server:
        get(service(server.url), lambda reply: None)
        get(service(server.url), lambda reply: None)
        assert all("cookie" not in asked.headers for asked in server.requests)
