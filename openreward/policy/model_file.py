"""What a GGUF file looks like from outside."""

from __future__ import annotations

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
