"""llama.cpp as the engine: the base model as GGUF, and the adapter of each step laid over it.

For CPUs. The server takes adapters only as it starts, so it is started anew for each step (under
two seconds for a small model). The base is quantised: its logprobs are not the trainer's, and the
importance correction has more to do than with other engines. Adapters only, on one machine.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from openreward.errors import UserError
from openreward.policy.base import Conversation, Generation, Policy, Sampling, ToolStyle
from openreward.policy.llama_cpp import LlamaCpp
from openreward.policy.model_file import check_gguf
from openreward.train.adapter_gguf import write_adapter
from openreward.train.engines.base import EngineName
from openreward.types import PolicyPath


class LlamaEngine:
    """A `RolloutEngine`; one server a process of the trainer."""

    name: EngineName = "llama.cpp"
    in_process = True  # each rank starts a server of its own, and so takes the weights itself

    def __init__(self, gguf: Path, *, slots: int = 8, context: int = 4096) -> None:
        self._gguf = gguf
        self._slots = slots
        self._context = context
        self._stack = AsyncExitStack()
        self._served = _Served()
        self._folder: Path | None = None

    async def check(self) -> None:
        """The file is there, and a model."""
        check_gguf(self._gguf)

    async def open(self) -> Policy:
        """The base model, until the first weights come."""
        self._folder = Path(tempfile.mkdtemp(prefix="openreward-adapters-"))
        await self._start(None)
        return self._served

    async def update(self, model: object, step: int, state: object | None = None) -> None:
        """Write the adapter, and start the server with it."""
        assert self._folder is not None
        adapter = await asyncio.to_thread(_write, model, self._folder, state)
        await self._start(adapter)

    def use(self, step: int) -> None:
        """Nothing: the server has one adapter."""

    async def close(self) -> None:
        """End the server; its adapters go."""
        await self._stack.aclose()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _start(self, adapter: Path | None) -> None:
        await self._stack.aclose()
        self._stack = AsyncExitStack()
        server = LlamaCpp(self._gguf, slots=self._slots, context=self._context, adapter=adapter)
        self._served.take(await self._stack.enter_async_context(server))


class _Served:
    """The policy of whichever server runs; tokenizer and template are the same in all."""

    path: PolicyPath = "token"
    model: str
    tool_style: ToolStyle
    context: int | None

    def take(self, policy: Policy) -> None:
        """Ask this one from now on."""
        self._inner = policy
        self.model, self.context = policy.model, policy.context
        self.tool_style = policy.tool_style

    async def generate(self, conversation: Conversation, sampling: Sampling) -> Generation:
        return await self._inner.generate(conversation, sampling)

    async def count_tokens(self, text: str) -> int:
        return await self._inner.count_tokens(text)


def _write(model: Any, folder: Path, state: Any) -> Path:
    if not hasattr(model, "peft_config"):
        raise UserError(
            "engine llama.cpp takes adapters alone, got a model all of whose weights are trained; "
            "set model.lora, or use engine transformers"
        )
    model.save_pretrained(str(folder / "peft"), state_dict=state)
    config = folder / "config.json"
    config.write_text(model.get_base_model().config.to_json_string(), encoding="utf-8")
    return write_adapter(folder / "peft", config, folder / "adapter.gguf")
