"""The embedded engine: a llama.cpp server that the product starts and ends; token path.

It runs in a child process on a free port of 127.0.0.1 behind a random key, so no other user of the
machine can use it, and a crash of the engine is an error here and not the end of the program. The
child ends with its parent, however that ends: it watches its standard input (`llama_server`).
"""

from __future__ import annotations

import asyncio
import importlib.util
import json
import re
import secrets
import signal
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import IO

from openreward.errors import MissingExtra, PolicyError, UserError
from openreward.policy.endpoint import probe
from openreward.policy.llama_server import ServerSettings
from openreward.policy.model_file import check_adapter, check_gguf
from openreward.policy.token_path import TokenPolicy
from openreward.policy.transport import HttpSettings, Transport

_SERVER = Path(__file__).with_name("llama_server.py")
_NO_MEMORY = ("failed to allocate", "unable to allocate", "bad_alloc", "out of memory")


class LlamaCpp:
    """`async with LlamaCpp(path) as policy:`; `slots` turns at once, `context` tokens for each.

    `adapter` is a LoRA adapter as GGUF; the policy's name then holds the adapter's, and its sum.
    Raises `MissingExtra`, `UserError` (no such file, not a GGUF) or `PolicyError`.
    """

    def __init__(
        self,
        model_path: Path,
        *,
        slots: int = 8,
        context: int = 4096,
        threads: int | None = None,
        adapter: Path | None = None,
        settings: HttpSettings | None = None,
        start_seconds: float = 300.0,
    ) -> None:
        if min(slots, context, threads or 1) < 1:
            raise UserError(
                f"slots, context and threads must be at least 1, got {slots}, {context}, {threads}"
            )
        self.model_path = Path(model_path)
        self.slots = slots
        self.context = context
        self._threads = threads
        self._adapter = None if adapter is None else Path(adapter)
        self._settings = settings
        self._start_seconds = start_seconds
        self._process: asyncio.subprocess.Process | None = None
        self._stack = AsyncExitStack()

    @property
    def pid(self) -> int | None:
        """The child's process id while it runs."""
        return self._process.pid if self._process else None

    async def __aenter__(self) -> TokenPolicy:
        check_gguf(self.model_path)
        name = self.model_path.stem
        if self._adapter is not None:
            name += f"+{check_adapter(self._adapter)}"
        if importlib.util.find_spec("xllamacpp") is None:
            raise MissingExtra(
                "the embedded engine needs xllamacpp, which is not installed; `openreward doctor` "
                "names the command that installs [local]; or use --endpoint URL"
            )
        async with AsyncExitStack() as stack:
            key = secrets.token_urlsafe(32)
            stack.push_async_callback(self._stop)
            with tempfile.TemporaryFile() as log:
                url = await self._start(log, key)
            transport = Transport(url, api_key=key, settings=self._settings)
            await stack.enter_async_context(transport)
            policy = await probe(transport, self.model_path.stem, slots=self.slots)
            if not isinstance(policy, TokenPolicy):
                raise PolicyError("bad_response", "the embedded server did not tell its tokenizer")
            policy.model = name
            self._stack = stack.pop_all()
            return policy
        raise AssertionError("unreachable: the block returns or raises")

    async def __aexit__(self, *raised: object) -> None:
        await self._stack.aclose()

    async def _start(self, log: IO[bytes], key: str) -> str:
        """Start the child and wait for the address it prints when the model is loaded."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-P",  # else this folder's modules could hide others
            str(_SERVER),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,  # Ctrl-C is the parent's: it ends the child when it is done
        )
        self._process = process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(asdict(self._child_settings(key))).encode() + b"\n")
        try:
            line = await asyncio.wait_for(process.stdout.readline(), self._start_seconds)
        except TimeoutError:
            raise PolicyError(
                "timeout",
                f"the embedded engine did not load {self.model_path.name} within "
                f"{self._start_seconds:g} s; allow more, or use a smaller model",
            ) from None
        if not line:
            raise self._crash(await process.wait(), log)
        return line.decode().strip()

    def _child_settings(self, key: str) -> ServerSettings:
        return ServerSettings(
            model=str(self.model_path.resolve()),
            alias=self.model_path.stem,
            slots=self.slots,
            context=self.context,
            threads=self._threads,
            api_key=key,
            adapter=str(self._adapter.resolve()) if self._adapter else None,
        )

    def _crash(self, code: int, log: IO[bytes]) -> PolicyError:
        """Why the child ended before it served, as far as its exit code and log tell."""
        log.seek(0)
        said = log.read()[-20_000:].decode("utf-8", "replace")
        if code == -signal.SIGKILL or any(word in said for word in _NO_MEMORY):
            size = self.model_path.stat().st_size / 2**20
            return PolicyError(
                "server_error",
                f"too little memory for {self.model_path.name} ({size:.0f} MiB) with {self.slots} "
                f"slots of {self.context} tokens; use fewer slots, less context or a smaller model",
            )
        errors = re.findall(r" E (.+)", said) or said.split("\n")[-3:]
        tail = " | ".join(line.strip() for line in errors[:3])[:400] or "it wrote no log"
        return PolicyError(
            "server_error",
            f"the embedded engine ended with code {code} while loading "
            f"{self.model_path.name}: {tail}",
        )

    async def _stop(self) -> None:
        """End the child at once: it keeps nothing."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.returncode is None:
            process.kill()
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()
