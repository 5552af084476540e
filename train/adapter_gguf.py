"""A peft adapter (LoRA) as a GGUF file, for llama.cpp: `openreward judge --adapter FILE`.

Tensor names are gguf's own map of transformers' names. Llama's query and key rows are turned as
llama.cpp's rotary embedding wants them; other architectures keep theirs. What the format or this
writer can't hold (DoRA, rsLoRA, biases, whole modules, per-layer ranks' own alphas) is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from openreward.errors import MissingExtra, UserError, shorten

KEPT = ("qwen2", "qwen3")  # architectures whose rows stay as they are
TURNED = ("llama", "mistral")
_NAME = re.compile(
    r"^base_model\.model\.(?P<module>.+)\.lora_(?P<side>[AB])(?:\.default)?\.weight$"
)


class Shape(NamedTuple):
    """What of the base model the file depends on."""

    architecture: str
    layers: int
    heads: int
    kv_heads: int


def write_adapter(adapter: Path, base_config: Path, output: Path) -> Path:
    """Write `output`; `base_config` is the base model's folder or its config.json.

    Raises `UserError` for an adapter that the file cannot hold.
    """
    try:
        import gguf
        from safetensors.torch import load_file
    except ImportError as error:
        raise MissingExtra(
            f"writing GGUF needs {error.name}, which is not installed; install the extra [train]"
        ) from None
    settings = _json(adapter / "adapter_config.json")
    _check(settings, adapter)
    shape = _shape(_json(base_config if base_config.is_file() else base_config / "config.json"))
    tensors = load_file(adapter / "adapter_model.safetensors")
    names = _names(tensors, shape)
    beside = output.with_name(output.name + ".part")
    output.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(
        beside, "llama" if shape.architecture in TURNED else shape.architecture
    )
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, float(settings["lora_alpha"]))
    for name, (target, turned_heads) in names.items():
        values = tensors[name].float().numpy()
        if turned_heads:
            values = _turned(values, turned_heads)
        writer.add_tensor(target, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    beside.replace(output)
    return output


def _json(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); name peft's folder") from None
    except ValueError as error:
        raise UserError(f"{path}: expected JSON, got {shorten(error)}") from None
    if not isinstance(found, dict):
        raise UserError(f"{path}: expected an object, got {shorten(found)}")
    return found


def _check(settings: Mapping[str, Any], adapter: Path) -> None:
    if settings.get("peft_type") != "LORA":
        got = shorten(settings.get("peft_type"))
        raise UserError(f"{adapter}: expected a LoRA adapter (peft_type LORA), got {got}")
    unlike = {
        "use_dora": "DoRA",
        "use_rslora": "rank-stabilised scaling",
        "modules_to_save": "whole modules beside the adapter",
        "rank_pattern": "ranks of their own for some layers",
        "alpha_pattern": "alphas of their own for some layers",
    }
    found = [words for key, words in unlike.items() if settings.get(key)]
    if settings.get("bias", "none") != "none":
        found.append("trained biases")
    if found:
        raise UserError(
            f"{adapter}: expected a plain LoRA adapter, got one with {', '.join(found)}, which a "
            "GGUF adapter cannot hold; merge it into the model instead (export --merge)"
        )


def _shape(config: Mapping[str, Any]) -> Shape:
    kind = str(config.get("model_type"))
    if kind not in (*KEPT, *TURNED):
        raise UserError(
            f"expected a base model of {', '.join((*KEPT, *TURNED))}, got {shorten(kind)}, whose "
            "tensors this writer does not know; merge the adapter instead (export --merge)"
        )
    heads = int(config["num_attention_heads"])
    kv_heads = int(config.get("num_key_value_heads") or heads)
    return Shape(kind, int(config["num_hidden_layers"]), heads, kv_heads)


def _names(tensors: Mapping[str, Any], shape: Shape) -> dict[str, tuple[str, int]]:
    """Each tensor's name in the file, and the heads by which its rows are turned (0: not)."""
    import gguf

    arch = gguf.MODEL_ARCH.LLAMA if shape.architecture in TURNED else None
    arch = arch or gguf.MODEL_ARCH[shape.architecture.upper()]
    known = gguf.get_tensor_name_map(arch, shape.layers)
    found = {}
    for name in tensors:
        parts = _NAME.match(name)
        target = known.get_name(parts["module"]) if parts else None
        if parts is None or target is None:
            raise UserError(
                f"expected adapters of the layers of {shape.architecture}, got {shorten(name)}, "
                "which has no name in a GGUF file; train without it (model.lora.targets)"
            )
        turned = 0
        if shape.architecture in TURNED and parts["side"] == "B":
            turned = {"q_proj": shape.heads, "k_proj": shape.kv_heads}.get(
                parts["module"].rpartition(".")[2], 0
            )
        found[name] = (f"{target}.weight.lora_{parts['side'].lower()}", turned)
    return found


def _turned(values: Any, heads: int) -> Any:
    """Rows from transformers' order of a head's halves to the pairs that llama.cpp rotates."""
    rows, rank = values.shape
    halves = values.reshape(heads, 2, rows // heads // 2, rank)
    return halves.swapaxes(1, 2).reshape(rows, rank)
