"""A web service on loopback that answers as a test says, and writes down what it was asked.

Its faults are real ones: a body cut in the middle, bytes that drip, an answer that comes late.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import SHUT_RDWR, socket
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

import httpx
from service_answers import (
    Answer,
    Asked,
    Unrecorded,
    of_feed,
    of_html,
    of_json,
    of_type,
    of_xml,
)
from service_replays import arxiv_replay, pubmed_replay, wikipedia_replay
from service_worlds import arxiv_world, pubmed_listing, pubmed_world, wikipedia_world

__all__ = [
    "Answer",
    "Asked",
    "ServiceServer",
    "Unrecorded",
    "arxiv_replay",
    "arxiv_world",
    "of_feed",
    "of_html",
    "of_json",
    "of_type",
    "of_xml",
    "pubmed_listing",
    "pubmed_replay",
    "pubmed_world",
    "wikipedia_replay",
    "wikipedia_world",
]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # lines are kept open, as the services keep them
    server: _Server

    def do_GET(self) -> None:
        started = time.monotonic()
        parts = urlsplit(self.path)
        pairs = parse_qsl(parts.query, keep_blank_values=True, errors="surrogateescape")
        asked = Asked(parts.path, dict(pairs), httpx.Headers(self.headers.items()), started)
        self.server.note(asked)
        try:
            answer = self.server.answer(asked)
        except Unrecorded as error:
            answer = of_type("text/plain", f"not recorded: {error}", status=500)
        try:
            self._send(answer)
        except OSError:  # the one who asked has gone
            self.close_connection = True

    def _send(self, answer: Answer) -> None:
        if self.server.closing.wait(answer.delay) or answer.cut is not None:
            self.close_connection = True
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        if "content-length" not in {name.lower() for name in answer.headers}:
            self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        body = answer.body[: answer.cut]
        if not answer.drip:
            self.wfile.write(body)
            return
        for index in range(len(body)):
            if self.server.closing.wait(answer.drip):
                break
            self.wfile.write(body[index : index + 1])

    def log_message(self, format: str, *args: Any) -> None:
        return None


class _Server(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for them
    request_queue_size = 64

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answer = answer
        self.closing = threading.Event()
        self._lock = threading.Lock()
        self._asked: list[Asked] = []
        self._lines: set[socket] = set()

    def note(self, asked: Asked) -> None:
        with self._lock:
            self._asked.append(asked)

    def asked(self) -> list[Asked]:
        with self._lock:
            return list(self._asked)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._lines.add(request)
        super().process_request(request, client_address)

    def close_request(self, request: Any) -> None:
        with self._lock:
            self._lines.discard(request)
        super().close_request(request)

    def hang_up(self) -> None:
        """End every line, so that no thread of ours goes on reading or writing."""
        self.closing.set()
        with self._lock:
            for line in self._lines:
                try:
                    line.shutdown(SHUT_RDWR)
                except OSError:
                    continue  # ended by the other side


class ServiceServer:
    """Serves `answer` while its block runs; leaving the block breaks off what is under way."""

    def __init__(self, answer: Callable[[Asked], Answer]) -> None:
        self._server = _Server(answer)
        host, port = self._server.server_address[:2]
        self.url = f"http://{host!s}:{port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def requests(self) -> list[Asked]:
        """What was asked so far, in the order in which it came."""
        return self._server.asked()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *ended: object) -> None:
        self._server.closing.set()
        self._server.shutdown()
        self._thread.join()
        self._server.hang_up()
        self._server.server_close()
