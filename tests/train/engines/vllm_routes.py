"""A server with the routes of vLLM that an engine uses: one id a character, adapters by name."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Routes:
    """What the server does, and what it was asked."""

    version: str | None = "0.31.0"
    runtime: bool = True  # whether adapters may be loaded at run time
    refuses: str = ""  # what it says to an adapter
    url: str = ""
    loaded: dict[str, str] = field(default_factory=dict)
    completions: list[dict[str, Any]] = field(default_factory=list)

    def answer(self, path: str, body: Any) -> tuple[int, Any]:
        """Status and body; text as it is, anything else as JSON."""
        if path == "/v1/models":
            names = ["base"]
            return 200, {"data": [{"id": name, "max_model_len": 4096} for name in names]}
        if path == "/version" and self.version:
            return 200, {"version": self.version}
        if path == "/tokenize" and self.version:
            return 200, self._tokens(body)
        if path == "/detokenize" and self.version:
            return 200, {"prompt": "".join(map(chr, body["tokens"]))}
        if path == "/v1/completions":
            return self._complete(body)
        if path in ("/v1/load_lora_adapter", "/v1/unload_lora_adapter") and self.runtime:
            return self._lora(path, body)
        return 404, {"detail": "Not Found"}

    def _tokens(self, body: Any) -> dict[str, Any]:
        text = body.get("prompt")
        if text is None:
            text = "".join(f"<{m['role']}>{m['content']}</>" for m in body["messages"])
            text += "<assistant>" if body["add_generation_prompt"] else ""
            text += "".join(tool["function"]["name"] for tool in body.get("tools", ()))
        ids = [ord(char) for char in text]
        return {"tokens": ids, "count": len(ids), "max_model_len": 4096}

    def _complete(self, body: Any) -> tuple[int, Any]:
        self.completions.append(body)
        if body["model"] != "base" and body["model"] not in self.loaded:
            said = f"The model `{body['model']}` does not exist."
            return 404, {"error": {"message": said, "type": "NotFoundError", "code": 404}}
        ids = [ord(char) for char in "yes"]
        choice = {
            "index": 0,
            "text": "yes",
            "finish_reason": "length",
            "token_ids": ids,
            "logprobs": {"token_logprobs": [-1.0] * 3},
        }
        usage = {"prompt_tokens": len(body["prompt"]), "completion_tokens": 3}
        return 200, {"choices": [choice], "usage": usage}

    def _lora(self, path: str, body: Any) -> tuple[int, Any]:
        name = body["lora_name"]
        if path.endswith("unload_lora_adapter"):
            if name not in self.loaded:
                return self._error(404, f"The lora adapter '{name}' cannot be found.")
            del self.loaded[name]
            return 200, f"Success: LoRA adapter '{name}' removed successfully."
        if name in self.loaded:
            return self._error(400, f"The lora adapter '{name}' has already been loaded.")
        if self.refuses:
            return self._error(404, self.refuses)
        if not (Path(body["lora_path"]) / "adapter_config.json").exists():
            return self._error(404, f"No adapter found for {body['lora_path']}")
        self.loaded[name] = body["lora_path"]
        return 200, f"Success: LoRA adapter '{name}' added successfully."

    def _error(self, status: int, said: str) -> tuple[int, Any]:
        kind = "NotFoundError" if status == 404 else "InvalidUserInput"
        return status, {"error": {"message": said, "type": kind, "param": None, "code": status}}


@contextmanager
def serving(**settings: Any) -> Iterator[Routes]:
    """The server on a free port of loopback, ended with the block."""
    routes = Routes(**settings)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self._reply(None)

        def do_POST(self) -> None:
            length = int(self.headers.get("content-length", 0))
            self._reply(json.loads(self.rfile.read(length) or b"null"))

        def _reply(self, body: Any) -> None:
            status, said = routes.answer(self.path, body)
            content = said.encode() if isinstance(said, str) else json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    routes.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield routes
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
