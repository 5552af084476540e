"""Tokenizer and model: all of it is trained, a new adapter on it, or one to go on with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from openreward.errors import MissingExtra, UserError, shorten
from openreward.train.settings import ModelSettings


def check_device(device: str) -> None:
    """Raise `UserError` if CUDA is asked for and absent."""
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise UserError(
            "device: expected a CUDA device, got none that torch can use; install a CUDA build of "
            "torch, or set device=cpu"
        )


def load_tokenizer(path: str) -> tuple[Any, Any]:
    """Tokenizer and configuration, without the weights; raises `UserError` for what can't train."""
    from transformers import AutoConfig, AutoTokenizer

    if not Path(path).expanduser().is_dir() and path.startswith((".", "/", "~")):
        raise UserError(f"model.path: expected a folder with a model, got {shorten(path)}")
    try:
        tokenizer = AutoTokenizer.from_pretrained(path)
        config = AutoConfig.from_pretrained(path)
    except ImportError as error:
        raise MissingExtra(f"model.path: {shorten(error, 200)}") from None
    except (OSError, ValueError) as error:
        why = shorten(str(error).split("\n")[0], 200)
        raise UserError(f"model.path: {shorten(path)} cannot be loaded: {why}") from None
    if not tokenizer.chat_template:
        raise UserError(
            f"model.path: expected a tokenizer with a chat template, {shorten(path)} has none; "
            "take an instruct model"
        )
    if tokenizer.pad_token_id is None or tokenizer.pad_token_id == tokenizer.eos_token_id:
        got = "none" if tokenizer.pad_token_id is None else "the end token, which must be learned"
        raise UserError(
            f"model.path: expected a tokenizer with a padding token of its own, got {got}; name "
            "another special token in tokenizer_config.json (pad_token)"
        )
    return tokenizer, config


def load_model(wanted: ModelSettings) -> Any:
    """A causal model of transformers, or of peft where an adapter is gone on with."""
    import torch
    from transformers import AutoModelForCausalLM

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


def adapter_settings(wanted: ModelSettings) -> Any:
    """Peft's settings of a new adapter, or None."""
    lora = wanted.lora
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
