"""From the settings to TRL's configs: their own keys are checked, what is ours is set here."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from typing import Any

from openreward.errors import UserError, shorten
from openreward.train.settings import OURS, GrpoSettings


def check_trainer_keys(settings: GrpoSettings) -> None:
    """Raise `UserError` for a key under `trainer` that GRPOConfig lacks or that is ours to set."""
    check_keys_of("GRPOConfig", settings.trainer, OURS)


def check_keys_of(config: str, given: Mapping[str, object], ours: Mapping[str, str]) -> None:
    """The same for a config class of TRL; `ours` are keys with what sets them."""
    import trl

    known = {field.name for field in dataclasses.fields(getattr(trl, config))}
    for key in given:
        if key in ours:
            raise UserError(f"trainer.{key} is set by {ours[key]}; take it out of trainer")
        if key not in known:
            near = difflib.get_close_matches(key, known - set(ours), n=1, cutoff=0.5)
            hint = f"did you mean {near[0]}?" if near else "see TRL's documentation"
            raise UserError(
                f"expected keys of TRL's {config} under trainer, got {shorten(key)}; {hint}"
            )


def made(config: Any, arguments: Mapping[str, Any]) -> Any:
    """A config of TRL; raises `UserError` for a value that it refuses."""
    try:
        return config(**arguments)
    except (TypeError, ValueError) as error:
        raise UserError(f"trainer: TRL refuses these settings: {shorten(error, 300)}") from None


def common_arguments(dtype: str) -> dict[str, Any]:
    """Our defaults for every trainer."""
    return {
        "report_to": [],
        "logging_steps": 1,
        "save_steps": 10,
        "save_total_limit": 2,
        "bf16": dtype == "bfloat16",
        "fp16": dtype == "float16",
        "disable_tqdm": True,
    }


def trainer_arguments(settings: GrpoSettings, context: int) -> Any:
    """A GRPOConfig; what the user wrote comes over our defaults, what is ours over that."""
    from trl import GRPOConfig

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
    common = common_arguments(settings.model.dtype)
    return made(GRPOConfig, {**common, **settings.trainer, **ours})


def _vllm(settings: GrpoSettings) -> dict[str, Any]:
    """TRL moves full weights to a vLLM itself; adapters are loaded by our engine."""
    engine, adapter = settings.engine, settings.model.lora or settings.model.adapter
    if engine.name == "vllm-server" and not adapter:
        return {"use_vllm": True, "vllm_mode": "server", "vllm_server_base_url": engine.url}
    return {"use_vllm": False}
