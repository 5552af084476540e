"""Which engine a run's settings name.

A plug-in is `module:factory`; the factory is called with the settings, the tokenizer and the tokens
of the context, and returns a `RolloutEngine`.
"""

from __future__ import annotations

import importlib
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
    raise UserError(f"engine.name: {chosen.name} is not built")


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
