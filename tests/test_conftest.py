from __future__ import annotations

import asyncio
import http.server
import socket
import threading
import urllib.request
from pathlib import Path

import httpx
import pytest


def test_a_name_look_up_is_blocked() -> None:
    with pytest.raises(RuntimeError, match=r"getaddrinfo of 'example\.org'"):
        socket.getaddrinfo("example.org", 80)


def test_a_connection_by_address_is_blocked() -> None:
    with socket.socket() as link, pytest.raises(RuntimeError, match="only use loopback"):
        link.connect(("192.0.2.1", 80))


def test_a_datagram_is_blocked() -> None:
    with (
        socket.socket(type=socket.SOCK_DGRAM) as link,
        pytest.raises(RuntimeError, match="only use loopback"),
    ):
        link.sendto(b"x", ("192.0.2.1", 53))


def test_an_async_http_client_is_blocked() -> None:
    async def ask() -> None:
        async with httpx.AsyncClient() as client:
            await client.get("http://example.org/")

    with pytest.raises(RuntimeError, match="only use loopback"):
        asyncio.run(ask())


def test_loopback_is_open(tmp_path: Path) -> None:
    handler = http.server.BaseHTTPRequestHandler
    with http.server.HTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.handle_request)
        thread.start()
        with pytest.raises(urllib.error.HTTPError) as answer:
            urllib.request.urlopen(f"http://localhost:{server.server_port}/")
        thread.join(5)
    assert answer.value.code == 501
    answer.value.close()
