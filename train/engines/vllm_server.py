"""A vLLM server as the engine: token ids in and out over HTTP, all rollouts in flight at once.

An adapter (LoRA) is saved into a folder that trainer and server both see, and loaded at run time
under a new name each step, so that no prefix of another step is taken from the cache; the one
before is unloaded and deleted. No NCCL, any number of machines. The server is started with
`--enable-lora --max-lora-rank N` and VLLM_ALLOW_RUNTIME_LORA_UPDATING=1. Full weights are moved by
TRL itself (`trainer_arguments`); then this only asks.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

from openreward.errors import PolicyError, UserError
from openreward.policy.base import Policy
from openreward.policy.endpoint import probe
from openreward.policy.token_path import TokenPolicy
from openreward.policy.transport import HttpSettings, Transport
from openreward.policy.vllm_engine import VllmEngine
from openreward.train.engines.base import EngineName


class VllmServerEngine:
    """A `RolloutEngine`; `adapters` is the shared folder, or None for full weights."""

    name: EngineName = "vllm-server"
    in_process = False

    def __init__(
        self,
        url: str,
        served: str | None = None,
        *,
        adapters: Path | None = None,
        run: str = "openreward",
        api_key: str | None = None,
        settings: HttpSettings | None = None,
    ) -> None:
        """`served` is the base model's name there; `run` begins the names of the adapters."""
        self._url = url
        self._served = served
        self._adapters = adapters
        self._run = run
        self._key = api_key
        self._settings = settings
        self._stack = AsyncExitStack()
        self._transport: Transport | None = None
        self._engine: VllmEngine | None = None
        self._loaded: str | None = None

    async def check(self) -> None:
        """Ask the server what it is."""
        await self.open()
        await self.close()

    async def open(self) -> Policy:
        """Connect; the server must be a vLLM on the token path."""
        transport = Transport(self._url, api_key=self._key, settings=self._settings)
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(transport)
            policy = await probe(transport, self._served)
            engine = policy._engine if isinstance(policy, TokenPolicy) else None
            if not isinstance(engine, VllmEngine):
                raise UserError(
                    f"engine.url: expected a vLLM server that takes and gives token ids at "
                    f"{transport.address.api}, got another one; start vLLM 0.10.2 or later there"
                )
            self._transport, self._engine = transport, engine
            self._stack = stack.pop_all()
        return policy

    async def update(self, model: object, step: int, state: object | None = None) -> None:
        """Save the adapter and load it into the server; the one before goes."""
        if self._adapters is None:
            return
        name = self._name(step)
        if name == self._loaded:
            return
        folder = self._adapters / name
        await asyncio.to_thread(_save, model, folder, state)
        await self._load(name, folder)
        former, self._loaded = self._loaded, name
        if former is not None:
            await self._unload(former)

    def use(self, step: int) -> None:
        """Rollouts ask for the adapter of this step."""
        if self._adapters is not None:
            assert self._engine is not None
            self._engine.ask_for(self._name(step))

    async def close(self) -> None:
        """Unload what was loaded, and close the connections."""
        if self._loaded is not None:
            with suppress(PolicyError, UserError):  # the server may be gone
                await self._unload(self._loaded)
            self._loaded = None
        await self._stack.aclose()

    def _name(self, step: int) -> str:
        return f"{self._run}-step-{step}"

    async def _load(self, name: str, folder: Path) -> None:
        body = {"lora_name": name, "lora_path": str(folder.absolute())}
        try:
            await self._tell("load_lora_adapter", body)
        except PolicyError as error:
            if "already" not in str(error):
                raise self._explained(error, folder) from None
            await self._tell("unload_lora_adapter", {"lora_name": name})  # of a run that was killed
            await self._tell("load_lora_adapter", body)

    async def _unload(self, name: str) -> None:
        assert self._adapters is not None
        await self._tell("unload_lora_adapter", {"lora_name": name})
        await asyncio.to_thread(shutil.rmtree, self._adapters / name, True)

    async def _tell(self, route: str, body: Mapping[str, object]) -> None:
        assert self._transport is not None
        await self._transport.tell(f"{self._transport.address.api}/{route}", body)

    def _explained(self, error: PolicyError, folder: Path) -> UserError:
        if error.fault == "unknown_model" and "Not Found" in str(error):
            return UserError(
                f"{self._url}: expected a vLLM server that loads adapters at run time, got one "
                "that does not; start it with --enable-lora and the environment variable "
                "VLLM_ALLOW_RUNTIME_LORA_UPDATING=1"
            )
        return UserError(
            f"the vLLM server cannot load the adapter in {folder} ({error}); it must see that "
            "folder under the same path (engine.adapters), and be started with --max-lora-rank of "
            "at least model.lora.rank"
        )


def _save(model: Any, folder: Path, state: Any) -> None:
    """As peft saves adapters; first beside, so that no half one is loaded."""
    beside = folder.with_name(folder.name + ".part")
    shutil.rmtree(beside, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(str(beside), state_dict=state)
    beside.rename(folder)
