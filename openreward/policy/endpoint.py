"""Connect to any OpenAI-compatible server: find out what it is, and give the fitting policy.

llama.cpp and vLLM are taken on the token path; everything else, and any server with `chat=True`, on
the chat path. The address may end in /v1 or not.

    async with connect("http://127.0.0.1:8000", "my-model") as policy:
        generation = await policy.generate(conversation, Sampling())
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Sequence
from contextlib import asynccontextmanager
from typing import TypeVar

from openreward.errors import PolicyError, shorten
from openreward.policy.chat_path import ChatPolicy
from openreward.policy.engine import Engine
from openreward.policy.llama_engine import LlamaCppEngine
from openreward.policy.token_path import TokenPolicy, find_traits
from openreward.policy.transport import HttpSettings, Transport
from openreward.policy.vllm_engine import VllmEngine
from openreward.policy.wire import Props, ServedModel, ServedModels, Tokens, Version

Answer = TypeVar("Answer")

_PROBES = 3  # attempts of one question while connecting: about 2 s until "nothing answers"


@asynccontextmanager
async def connect(
    url: str,
    model: str | None = None,
    *,
    api_key: str | None = None,
    chat: bool = False,
    settings: HttpSettings | None = None,
) -> AsyncIterator[TokenPolicy | ChatPolicy]:
    """A policy over the server at `url`; its connections are closed at the end.

    Without `model` the server must serve exactly one. Raises `PolicyError`.
    """
    async with Transport(url, api_key=api_key, settings=settings) as transport:
        yield await probe(transport, model, chat=chat)


async def probe(
    transport: Transport, model: str | None = None, *, chat: bool = False, slots: int = 0
) -> TokenPolicy | ChatPolicy:
    """Ask the server what it is and serves; `slots` of a llama.cpp server that is ours alone."""
    served = await served_models(transport)
    name = choose(served, model, transport.address.api)
    context = _context(served, name)
    engine = None if chat else await _engine(transport, name, context, slots)
    if engine is None:
        return ChatPolicy(transport, name, context)
    return TokenPolicy(engine, name, await find_traits(engine))


async def served_models(transport: Transport) -> tuple[ServedModel, ...]:
    """What /v1/models lists; empty where the server has no such route."""
    url = f"{transport.address.api}/models"
    try:
        return (await transport.get(url, ServedModels, attempts=_PROBES)).data
    except PolicyError as error:
        if error.fault == "unknown_model":
            return ()
        raise


def choose(served: Sequence[ServedModel], model: str | None, url: str) -> str:
    """The name to ask for. Raises `PolicyError` unknown_model listing what is served."""
    names = [entry.id for entry in served]
    known = {alias for entry in served for alias in (entry.id, *entry.aliases)}
    if model is not None and (model in known or not names):
        return model
    if model is None and len(names) == 1:
        return names[0]
    listed = ", ".join(names[:10]) + (f" and {len(names) - 10} more" if names[10:] else "")
    if model is None:
        what = (
            f"serves {len(names)} models; name one of them"
            if names
            else "lists no models; name one"
        )
        raise PolicyError("unknown_model", f"{url} {what}" + (f": {listed}" if names else ""))
    raise PolicyError("unknown_model", f"{url} serves no {shorten(model)}; it serves: {listed}")


async def _engine(
    transport: Transport, name: str, context: int | None, slots: int
) -> Engine | None:
    """The engine of the token path, or None where ids cannot be had."""
    root = transport.address.root
    props = await _if_known(transport.get(f"{root}/props", Props, attempts=_PROBES))
    if props is not None:
        return LlamaCppEngine(transport, name, props, slots)
    version = await _if_known(transport.get(f"{root}/version", Version, attempts=_PROBES))
    if version is None:
        return None
    body = {"model": name, "prompt": "a", "add_special_tokens": False}
    tokens = await _if_known(transport.post(f"{root}/tokenize", body, Tokens, attempts=_PROBES))
    size = context or (tokens.max_model_len if tokens else None)
    if tokens is None or size is None:
        return None
    return VllmEngine(transport, name, version.version, size)


async def _if_known(question: Awaitable[Answer]) -> Answer | None:
    """The answer, or None from a server that does not know the question."""
    try:
        return await question
    except PolicyError as error:
        if error.fault in ("unreachable", "timeout"):
            raise
        return None


def _context(served: Sequence[ServedModel], name: str) -> int | None:
    for entry in served:
        if name == entry.id or name in entry.aliases:
            return entry.max_model_len or (entry.meta.n_ctx if entry.meta else None)
    return None
