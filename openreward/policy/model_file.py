"""What a GGUF file looks like from outside."""

from __future__ import annotations

import hashlib
from pathlib import Path

from openreward.errors import UserError, shorten

MAGIC = b"GGUF"


def check_gguf(path: Path) -> None:
    """Raise `UserError` unless `path` is a file that begins like a GGUF model."""
    try:
        with path.open("rb") as file:
            start = file.read(4)
    except FileNotFoundError:
        raise UserError(
            f"no model file at {path}; run: openreward model fetch, or name another file"
        ) from None
    except OSError as error:
        raise UserError(f"cannot read the model file {path}: {error.strerror}") from None
    if start != MAGIC:
        raise UserError(
            f"{path} is not a GGUF model: expected it to begin with {MAGIC!r}, "
            f"got {shorten(start)}; run: openreward model fetch, or convert the model to GGUF"
        )


def check_adapter(path: Path) -> str:
    """The adapter's name with the start of its sum; `UserError` unless it is a LoRA adapter."""
    check_gguf(path)
    content = path.read_bytes()
    if b"adapter.lora.alpha" not in content[: 1 << 20]:
        raise UserError(
            f"{path}: expected a LoRA adapter as GGUF, got a GGUF file that is none; give a whole "
            "model as --model, or export the adapter (python -m openreward.train.export)"
        )
    return f"{path.stem}-{hashlib.sha256(content).hexdigest()[:8]}"
