"""From the settings to TRL's GRPOConfig: its own keys are checked, what is ours is set here."""

from __future__ import annotations

import dataclasses
import difflib
from typing import Any

from openreward.errors import UserError, shorten
from openreward.train.settings import OURS, GrpoSettings


def check_trainer_keys(settings: GrpoSettings) -> None:
    """Raise `UserError` for a key under `trainer` that GRPOConfig lacks or that is ours to set."""
    from trl import GRPOConfig

    known = {field.name for field in dataclasses.fields(GRPOConfig)}
    for key in settings.trainer:
        if key in OURS:
            raise UserError(f"trainer.{key} is set by {OURS[key]}; take it out of trainer")
        if key not in known:
            near = difflib.get_close_matches(key, known - set(OURS), n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else "see TRL's documentation"
            raise UserError(
                f"expected keys of TRL's GRPOConfig under trainer, got {shorten(key)}; {hint}"
            )


def trainer_arguments(settings: GrpoSettings, context: int) -> Any:
    """A GRPOConfig; raises `UserError` for a value that it refuses."""
    from trl import GRPOConfig

    try:
        return GRPOConfig(**arguments(settings, context))
    except (TypeError, ValueError) as error:
        raise UserError(f"trainer: TRL refuses these settings: {shorten(error, 300)}") from None


def arguments(settings: GrpoSettings, context: int) -> dict[str, Any]:
    """The keys of GRPOConfig as they are set; what the user wrote comes over our defaults."""
    defaults: dict[str, Any] = {
        "report_to": [],
        "logging_steps": 1,
        "save_steps": 10,
        "save_total_limit": 2,
        "bf16": settings.model.dtype == "bfloat16",
        "fp16": settings.model.dtype == "float16",
        "log_completions": False,
        "disable_tqdm": True,
    }
    ours: dict[str, Any] = {
        "output_dir": str(settings.output),
        "seed": settings.seed,
        "temperature": settings.rollout.temperature,
        "top_p": settings.rollout.top_p,
        "scale_rewards": settings.advantages,
        "max_completion_length": context,
        "use_cpu": settings.device == "cpu",
        "remove_unused_columns": False,
        **_vllm(settings),
    }
    return {**defaults, **settings.trainer, **ours}


def _vllm(settings: GrpoSettings) -> dict[str, Any]:
    """TRL moves full weights to a vLLM itself; adapters are loaded by our engine."""
    engine, adapter = settings.engine, settings.model.lora or settings.model.adapter
    if engine.name == "vllm-in-process":
        return {"use_vllm": True, "vllm_mode": "colocate"}
    if engine.name == "vllm-server" and not adapter:
        return {"use_vllm": True, "vllm_mode": "server", "vllm_server_base_url": engine.url}
    return {"use_vllm": False}
