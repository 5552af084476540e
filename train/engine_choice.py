"""Which engine a run's settings name.

A plug-in is `module:factory`; the factory is called with the settings, the tokenizer and the tokens
of the context, and returns a `RolloutEngine`.
"""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path
from typing import Any

from openreward.errors import OpenRewardError, UserError, shorten
from openreward.train.engines.base import RolloutEngine
from openreward.train.settings import GrpoSettings


def make_engine(settings: GrpoSettings, tokenizer: Any, context: int) -> RolloutEngine:
    """The engine, not yet opened; raises `UserError` for what it cannot do."""
    chosen = settings.engine
    if chosen.plugin is not None:
        return _plugin(chosen.plugin, settings, tokenizer, context)
    if chosen.name == "transformers":
        from openreward.train.engines.in_process import InProcessEngine

        return InProcessEngine(tokenizer, settings.model.path, context, batch=chosen.batch)
    if chosen.name == "vllm-server":
        from openreward.train.engines.vllm_server import VllmServerEngine

        trained = settings.model.lora or settings.model.adapter
        return VllmServerEngine(
            chosen.url or "",
            chosen.served,
            adapters=_shared(settings) if trained else None,
            run=_run_name(settings),
        )
    if chosen.name == "llama.cpp" and chosen.gguf is not None:
        from openreward.train.engines.llama import LlamaEngine

        _adapters_only(settings)
        return LlamaEngine(chosen.gguf, slots=chosen.slots, context=min(context, 1 << 15))
    raise UserError(f"engine.name: {chosen.name} is not built")


def _adapters_only(settings: GrpoSettings) -> None:
    if settings.model.lora is None and settings.model.adapter is None:
        raise UserError(
            "engine llama.cpp takes adapters alone: expected model.lora or model.adapter, got "
            "neither; set one, or use engine transformers"
        )


def _shared(settings: GrpoSettings) -> Path:
    return settings.engine.adapters or settings.output / "adapters"


def _run_name(settings: GrpoSettings) -> str:
    """The same on every rank and machine, and another for another output."""
    digest = hashlib.sha256(str(settings.output.absolute()).encode()).hexdigest()
    return f"openreward-{digest[:8]}"


def check_sampling(settings: GrpoSettings) -> None:
    """Raise `UserError` for sampling whose logprobs the engine does not give."""
    raw = settings.engine.name in ("vllm-server", "llama.cpp") and settings.engine.plugin is None
    heat, top_p = settings.rollout.temperature, settings.rollout.top_p
    if raw and (heat != 1 or top_p != 1):
        raise UserError(
            f"engine {settings.engine.name} gives the logprobs of temperature 1 and top_p 1, got "
            f"rollout.temperature {heat:g} and rollout.top_p {top_p:g}; set both to 1, or take "
            "engine transformers"
        )


def _plugin(named: str, settings: GrpoSettings, tokenizer: Any, context: int) -> RolloutEngine:
    module, _, name = named.partition(":")
    try:
        factory = getattr(importlib.import_module(module), name)
        engine: RolloutEngine = factory(settings, tokenizer, context)
    except OpenRewardError:
        raise
    except Exception as error:  # theirs, whatever it is
        why = f"{type(error).__name__}: {shorten(error, 200)}"
        raise UserError(
            f"engine.plugin: expected module:factory of an engine, got {shorten(named)} ({why})"
        ) from None
    return engine
