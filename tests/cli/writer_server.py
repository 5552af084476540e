"""An OpenAI-compatible server that answers as `pair_runs.writer` does, or fails as it is told."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple, Self

from pair_runs import writer

from openreward.policy.base import Conversation, Sampling
from openreward.types import Message


class Failure(NamedTuple):
    """What a request gets instead of its answer; `body` None closes the connection."""

    status: int = 200
    body: dict[str, Any] | None = None
    headers: dict[str, str] = {}  # noqa: RUF012


def completion(text: str, reason: str = "stop") -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {
        "id": "x",
        "object": "chat.completion",
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 9, "completion_tokens": len(text.split())},
    }


class WriterServer:
    """`fail` is asked for each request by its number, from 1 on. Close it by `with`."""

    def __init__(self, fail: Callable[[int], Failure | None], port: int = 0) -> None:
        self.requests, self._fail, self._lock = 0, fail, threading.Lock()
        self.closed = False  # connections that are open already must be closed as well
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._reply(200, {"object": "list", "data": [{"id": "m", "object": "model"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                failure = Failure() if outer.closed else outer.next_failure()
                if failure is None:
                    self._reply(200, completion(outer.answer(body)))
                elif failure.body is None:
                    self.close_connection = True
                else:
                    self._reply(failure.status, failure.body, failure.headers)

            def _reply(
                self, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
            ) -> None:
                data = json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def target(self) -> str:
        return f"w=http://127.0.0.1:{self.port}/v1,model=m"

    def next_failure(self) -> Failure | None:
        with self._lock:
            self.requests += 1
            return self._fail(self.requests)

    def answer(self, body: dict[str, Any]) -> str:
        messages = [Message(role=m["role"], content=m["content"]) for m in body["messages"]]
        sampling = Sampling(seed=body.get("seed", 0))
        return asyncio.run(writer().generate(Conversation(messages), sampling)).text

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.closed = True
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
