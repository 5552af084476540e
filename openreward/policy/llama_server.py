"""The child process that serves one GGUF model; started by `llama_cpp.LlamaCpp`, never by hand.

Reads one line of JSON from its standard input (so the key is in no process list), loads the model,
prints the address and serves until that input ends, which it does however the parent ends. Imports
xllamacpp and nothing of this project, so that it starts quickly.
"""

from __future__ import annotations

import fcntl
import json
import os
import select
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ServerSettings:
    """What the child is told; `context` is the tokens of one slot."""

    model: str
    alias: str
    slots: int
    context: int
    threads: int | None
    api_key: str
    adapter: str | None = None


def main() -> None:
    """Serve until the parent is gone."""
    parent = os.getppid()
    settings = ServerSettings(**json.loads(_first_line(0)))
    _die_with_input()
    answers = os.dup(1)
    os.dup2(2, 1)  # llama.cpp writes to both: the log is everything but our one line
    server = _serve(settings)
    os.write(answers, f"{server.listening_address}\n".encode())
    os.close(answers)
    while os.getppid() == parent:
        readable, _, _ = select.select([0], [], [], 1.0)
        if readable and not os.read(0, 1):
            break
    os._exit(0)


def _first_line(descriptor: int) -> bytes:
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(descriptor, 65536)
        if not piece:
            os._exit(0)
        line += piece
    return line


def _die_with_input() -> None:
    """Let the kernel end this process when the parent's end of the pipe closes.

    A thread could not: loading a model holds the interpreter's lock. SIGIO, unhandled, ends us.
    """
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | fcntl.FASYNC)


def _serve(settings: ServerSettings) -> Any:  # xllamacpp has no types
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings.model
    if settings.adapter is not None:
        lora = xllamacpp.CommonAdapterLoraInfo()
        lora.path, lora.scale = settings.adapter, 1.0
        params.lora_adapters = [lora]
    params.model_alias = {settings.alias}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.api_keys = [settings.api_key]
    params.ui = False
    params.use_jinja = True
    params.n_parallel = settings.slots
    params.n_ctx = settings.slots * settings.context
    params.fit_params = False  # else a context that does not fit is made smaller without a word
    params.cache_prompt = True
    # Its cache across slots gave conversations the state of another, whose text then came out
    # (measured; llama.cpp issue 27148). What a slot holds of its own prompt stays.
    params.cache_ram_mib = 0
    params.cache_idle_slots = False
    params.verbosity = 1  # errors only: the log is kept for their sake
    cores = settings.threads or len(os.sched_getaffinity(0))
    params.cpuparams_batch.n_threads = cores
    # Its threads spin while they wait for each other: with none to spare for the rest of the
    # machine, a busy neighbour makes single tokens ten times slower (measured).
    params.cpuparams.n_threads = max(1, cores - 1)
    return xllamacpp.Server(params)


if __name__ == "__main__":
    main()
