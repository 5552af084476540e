"""A GGUF file as a folder of transformers, to train what only exists as GGUF.

    python -m openreward.train.from_gguf MODEL.gguf -o FOLDER

Quantised weights are written out in bfloat16: what the file lost stays lost. For the architectures
whose rows llama.cpp keeps as they are; tokenizer and template are read by transformers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openreward.errors import MissingExtra, OpenRewardError, UserError, shorten
from openreward.policy.model_file import check_gguf

ARCHITECTURES = ("qwen2", "qwen3")


def convert(source: Path, folder: Path) -> Path:
    """Write the folder; raises `UserError` for a file of another architecture."""
    check_gguf(source)
    try:
        import gguf
        import torch
        from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise MissingExtra(
            f"reading GGUF needs {error.name}, which is not installed; install the extra [train]"
        ) from None
    reader = gguf.GGUFReader(source)
    field = reader.get_field("general.architecture")
    architecture = str(field.contents()) if field else "none"
    if architecture not in ARCHITECTURES:
        raise UserError(
            f"{source}: expected a model of {' or '.join(ARCHITECTURES)}, got "
            f"{shorten(architecture)}; take its original from the hub"
        )
    where = {"pretrained_model_name_or_path": str(source.parent), "gguf_file": source.name}
    config = AutoConfig.from_pretrained(**where)
    tokenizer = AutoTokenizer.from_pretrained(**where)
    tensors = {tensor.name: tensor for tensor in reader.tensors}
    config.tie_word_embeddings = "output.weight" not in tensors
    with torch.device("meta"):
        empty = AutoModelForCausalLM.from_config(config, dtype=torch.bfloat16)
    names = gguf.get_tensor_name_map(
        gguf.MODEL_ARCH[architecture.upper()], config.num_hidden_layers
    )
    state = {name: _tensor(name, names, tensors) for name in _wanted(empty, config)}
    model = empty.to_empty(device="cpu")
    model.load_state_dict(state, strict=not config.tie_word_embeddings, assign=True)
    model.tie_weights()
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def _wanted(model: Any, config: Any) -> list[str]:
    """Parameters that the file holds; a tied output is the embeddings."""
    tied = {"lm_head.weight"} if config.tie_word_embeddings else set()
    return [name for name, _ in model.named_parameters() if name not in tied]


def _tensor(name: str, names: Any, tensors: dict[str, Any]) -> Any:
    import gguf
    import torch

    module, _, last = name.rpartition(".")
    base = names.get_name(module)
    found = tensors.get(f"{base}.{last}")
    if base is None or found is None:
        raise UserError(f"expected a tensor for {shorten(name)} in the GGUF file, got none")
    values = gguf.dequantize(found.data, found.tensor_type)
    return torch.from_numpy(values.copy()).to(torch.bfloat16)


def main(words: Sequence[str]) -> int:
    """Convert, and say an error in one line."""
    parser = argparse.ArgumentParser(prog="from_gguf", description="A GGUF file as a folder.")
    parser.add_argument("source", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    asked = parser.parse_args(words)
    try:
        made = convert(asked.source, asked.output)
    except OpenRewardError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    sys.stderr.write(f"wrote {made}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
