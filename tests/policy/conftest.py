"""Servers to test engines against: real HTTP on loopback, in a thread.

`FakeEngine` speaks as llama.cpp or as vLLM with a tokenizer of one id a character (its code point)
and one a control token (from 900000000 on), so that ids can be read; one rare character is three.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from openreward.policy.template import ChatTemplate
from openreward.types import Message, ToolSpec

CONTROL = (
    "<|im_start|>",
    "<|im_end|>",
    "<|begin_of_text|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eot_id|>",
    "<bos>",
    "<start_of_turn>",
    "<end_of_turn>",
    "<s>",
    "</s>",
    "[INST]",
    "[/INST]",
)
RARE = "𓂀"
RARE_IDS = [2_000_001, 2_000_002, 2_000_003]
_PIECES = re.compile("|".join(re.escape(word) for word in CONTROL) + "|.", re.DOTALL)


def piece_ids(piece: str) -> list[int]:
    if piece == RARE:
        return RARE_IDS
    return [900_000_000 + CONTROL.index(piece) if piece in CONTROL else ord(piece)]


def encode(text: str) -> list[int]:
    return [i for piece in _PIECES.findall(text) for i in piece_ids(piece)]


def decode(ids: list[int]) -> str:
    """The text of whole characters; a part of the rare one is nothing."""
    words = {RARE_IDS[2]: RARE, RARE_IDS[0]: "", RARE_IDS[1]: ""}
    return "".join(
        CONTROL[i - 900_000_000] if i >= 900_000_000 else words[i] if i in words else chr(i)
        for i in ids
    )


@dataclass
class Reply:
    """What a server answers; `body` is JSON, or a stream of events, unless it is bytes."""

    body: Any
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    before: Callable[[BaseHTTPRequestHandler], None] | None = None


@dataclass
class Asked:
    """What a server was asked."""

    method: str
    path: str
    body: Any
    headers: dict[str, str]


class QuietServer(ThreadingHTTPServer):
    """Clients of these tests break off on purpose, and come many at once."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


class FakeServer:
    """Answers by a function of the request, and remembers what it was asked."""

    def __init__(self, answer: Callable[[Asked], Reply]) -> None:
        self.answer = answer
        self.asked: list[Asked] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 65536  # one packet an answer: two wait 40 ms for an acknowledgement

            def do_GET(self) -> None:
                self.reply(None)

            def do_POST(self) -> None:
                length = int(self.headers.get("content-length", 0))
                self.reply(json.loads(self.rfile.read(length) or b"null"))

            def reply(self, body: Any) -> None:
                headers = {key.lower(): value for key, value in self.headers.items()}
                asked = Asked(self.command, self.path, body, headers)
                fake.asked.append(asked)
                reply = fake.answer(asked)
                if reply.before is not None:
                    reply.before(self)
                content = reply.body
                if reply.headers.get("Content-Type") == "text/event-stream":
                    lines = [f"data: {json.dumps(event)}\n\n" for event in content]
                    content = "".join([*lines, "data: [DONE]\n\n"]).encode()
                elif not isinstance(content, bytes):
                    content = json.dumps(content).encode()
                try:
                    self.send_response(reply.status)
                    for key, value in reply.headers.items():
                        self.send_header(key, value)
                    if "content-length" not in {key.lower() for key in reply.headers}:
                        self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)
                except OSError:
                    self.close_connection = True

            def log_message(self, *arguments: Any) -> None:
                pass

        self._server = QuietServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]


class FakeEngine(FakeServer):
    """llama.cpp or vLLM with a given chat template, saying the given turns."""

    def __init__(
        self,
        kind: str,
        template: str,
        turns: list[str],
        end: str,
        *,
        bos: str = "",
        context: int = 9000,
    ) -> None:
        self.kind = kind
        self.template = ChatTemplate(template, bos=bos, eos=end)
        self.source = template
        self.turns = turns
        self.end = end
        self.bos = bos
        self.context = context
        self.prompts: list[list[int]] = []
        super().__init__(self._route)

    def _route(self, asked: Asked) -> Reply:
        llama = self.kind == "llama.cpp"
        size = {"meta": {"n_ctx": self.context}} if llama else {"max_model_len": self.context}
        if asked.path == "/v1/models":
            return Reply({"object": "list", "data": [{"id": "tiny", "object": "model", **size}]})
        if asked.path == "/props" and llama:
            settings = {"n_ctx": self.context}
            return Reply(
                {
                    "default_generation_settings": settings,
                    "chat_template": self.source,
                    "bos_token": self.bos,
                    "eos_token": self.end,
                }
            )
        if asked.path == "/version" and not llama:
            return Reply({"version": "0.31.0"})
        if asked.path == "/tokenize":
            return self._tokenize(asked.body)
        if asked.path == "/detokenize":
            return Reply({"prompt": decode(asked.body["tokens"])})
        if asked.path == "/v1/completions":
            return self._complete(asked.body)
        return Reply({"error": {"message": "File Not Found", "code": 404}}, 404)

    def _tokenize(self, body: Any) -> Reply:
        if "messages" not in body:
            text = body["content"] if self.kind == "llama.cpp" else body["prompt"]
            return Reply({"tokens": encode(text), "max_model_len": self.context})
        messages = [Message(role=m["role"], content=m["content"]) for m in body["messages"]]
        tools = [ToolSpec(**tool["function"]) for tool in body.get("tools", ())]
        try:
            text = self.template.render(messages, tools, generation=body["add_generation_prompt"])
        except Exception as error:  # as a server does: whatever the template raises is a 400
            return Reply({"error": {"message": str(error), "type": "BadRequestError"}}, 400)
        return Reply({"tokens": encode(text), "max_model_len": self.context})

    def _complete(self, body: Any) -> Reply:
        if body.get("grammar") == 'root ::= ""':
            return Reply({"choices": [{"text": "", "logprobs": {"content": [self._place()]}}]})
        self.prompts.append(body["prompt"])
        said = encode(self.turns[len(self.prompts) - 1])
        cut = len(said) > body["max_tokens"] - 1
        ids = said[: body["max_tokens"]] + ([] if cut else encode(self.end))
        numbers = [-0.5 - index / 100 for index in range(len(ids))]
        finish = "length" if cut else "stop"
        usage = {"prompt_tokens": len(body["prompt"]), "completion_tokens": len(ids)}
        if body.get("stream"):
            return self._stream(ids, numbers, finish, usage)
        choice = {
            "text": decode(ids if cut else ids[:-1]),
            "index": 0,
            "finish_reason": finish,
            "token_ids": ids,
            "logprobs": {"token_logprobs": numbers, "tokens": ["?"] * len(ids)},
        }
        return Reply({"object": "text_completion", "choices": [choice], "usage": usage})

    def _place(self) -> dict[str, Any]:
        """What is likely at any place: parts of the rare character."""
        likely = [{"id": i, "logprob": -7.0 - place} for place, i in enumerate(RARE_IDS)]
        return {"id": encode(self.end)[0], "logprob": -9.0, "bytes": [], "top_logprobs": likely}

    def _stream(self, ids: list[int], numbers: list[float], finish: str, usage: Any) -> Reply:
        """As llama.cpp streams: a token that ends inside a character has no event."""
        events: list[dict[str, Any]] = []
        for token, number in zip(ids, numbers, strict=True):
            if token in RARE_IDS[:2]:
                continue
            text = "" if token >= 900_000_000 else decode([token])
            content = [{"id": token, "logprob": number, "bytes": list(text.encode())}]
            choice = {"text": text, "logprobs": {"content": content}, "finish_reason": None}
            events.append({"choices": [choice]})
        last = {"text": "", "logprobs": None, "finish_reason": finish}
        events.append({"choices": [last], "usage": usage})
        return Reply(events, headers={"Content-Type": "text/event-stream"})


@pytest.fixture
def serve() -> Iterator[Callable[[Callable[[Asked], Reply]], FakeServer]]:
    """Start servers by a function from `Asked` to `Reply`; they end with the test."""
    servers: list[FakeServer] = []

    def start(answer: Callable[[Asked], Reply]) -> FakeServer:
        servers.append(FakeServer(answer))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def engine() -> Iterator[Callable[..., FakeEngine]]:
    """Start `FakeEngine`s; they end with the test."""
    servers: list[FakeEngine] = []

    def start(*arguments: Any, **named: Any) -> FakeEngine:
        servers.append(FakeEngine(*arguments, **named))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def reply() -> type[Reply]:
    return Reply


@pytest.fixture(scope="session")
def tokens() -> Callable[[str], list[int]]:
    return encode
