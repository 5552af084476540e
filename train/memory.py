"""What training takes of a device's memory, estimated before anything is loaded.

Weights at their dtype; gradients and AdamW's two moments of what is trained, at 4 bytes; the
activations of one forward and backward: with gradient checkpointing the input of each layer, else
about 16 values of the hidden size a token and layer; and the logits, twice in float32. An estimate,
to see an order of size: engines and fragmentation come on top.
"""

from __future__ import annotations

from typing import Any, NamedTuple

_GIB = 2**30
_VALUES = 16  # of the hidden size, kept for each token and layer without checkpointing


class Memory(NamedTuple):
    """Bytes on one device."""

    parameters: int  # how many, not bytes
    trained: int  # how many of them
    weights: int
    gradients: int
    optimizer: int
    activations: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.weights + self.gradients + self.optimizer + self.activations

    def words(self) -> str:
        """One line."""
        parts = ("weights", "gradients", "optimizer", "activations")
        said = ", ".join(f"{name} {getattr(self, name) / _GIB:.2f}" for name in parts)
        return f"{self.total / _GIB:.2f} GiB a device ({said})"


def estimate(
    config: Any,
    *,
    bytes_each: int,
    lora_rank: int | None,
    lora_targets: int,
    rows: int,
    tokens: int,
    shards: int,
    checkpointing: bool,
) -> Memory:
    """`config` is transformers'; `rows` of `tokens` go forward at once, on one of `shards`."""
    hidden, layers, inner = (
        config.hidden_size,
        config.num_hidden_layers,
        config.intermediate_size,
    )
    heads = config.num_attention_heads
    kept = getattr(config, "num_key_value_heads", heads) / heads
    layer = hidden * hidden * (2 + 2 * kept) + 3 * hidden * inner
    embeddings = config.vocab_size * hidden * (1 if config.tie_word_embeddings else 2)
    parameters = int(layers * layer + embeddings)
    adapter = None if lora_rank is None else layers * lora_targets * 2 * hidden * lora_rank
    trained = parameters if adapter is None else int(adapter)
    activations = rows * tokens * hidden * layers * (1 if checkpointing else _VALUES) * bytes_each
    logits = 2 * rows * tokens * config.vocab_size * 4
    return Memory(
        parameters,
        trained,
        parameters * bytes_each // shards,
        trained * 4 // shards,
        trained * 8 // shards,
        activations + logits,
    )
