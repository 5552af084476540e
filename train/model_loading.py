"""The model that is trained: all of it, a new adapter on it, or an adapter to go on with."""

from __future__ import annotations

from typing import Any

from openreward.errors import UserError, shorten
from openreward.train.settings import GrpoSettings


def load_model(settings: GrpoSettings) -> Any:
    """A causal model of transformers, or of peft where an adapter is gone on with."""
    import torch
    from transformers import AutoModelForCausalLM

    wanted = settings.model
    more = {} if wanted.attention is None else {"attn_implementation": wanted.attention}
    try:
        model = AutoModelForCausalLM.from_pretrained(
            wanted.path, dtype=getattr(torch, wanted.dtype), **more
        )
    except (OSError, ValueError) as error:
        why = shorten(str(error).split("\n")[0], 200)
        raise UserError(f"model.path: {shorten(wanted.path)} cannot be loaded: {why}") from None
    if wanted.adapter is None:
        return model
    from peft import PeftModel

    try:
        return PeftModel.from_pretrained(model, str(wanted.adapter), is_trainable=True)
    except (OSError, ValueError, RuntimeError) as error:
        why = shorten(str(error).split("\n")[0], 200)
        raise UserError(f"model.adapter: {wanted.adapter} cannot be loaded: {why}") from None


def adapter_settings(settings: GrpoSettings) -> Any:
    """Peft's settings of a new adapter, or None."""
    lora = settings.model.lora
    if lora is None:
        return None
    from peft import LoraConfig

    return LoraConfig(
        r=lora.rank,
        lora_alpha=lora.alpha,
        lora_dropout=lora.dropout,
        target_modules=list(lora.targets),
        task_type="CAUSAL_LM",
    )
