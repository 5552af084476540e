"""What a run has trained, in the forms that judges take: merged weights, an adapter, GGUF, a card.

    python -m openreward.train.export RUN -o FOLDER            # the adapter, or all weights
    python -m openreward.train.export RUN -o FOLDER --merge    # one model, for any server
    python -m openreward.train.export RUN -o FOLDER --gguf     # openreward judge --adapter FILE

Tokenizer and chat template go along; README.md is the model's card, manifest.json what it says.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from openreward.errors import OpenRewardError, UserError, shorten
from openreward.train.model_card import card, read_manifest

_TOKENIZER = ("tokenizer", "special_tokens", "chat_template", "vocab", "merges", "added_tokens")


def export(run: Path, folder: Path, *, merge: bool = False, gguf: bool = False) -> Path:
    """Write the folder; raises `UserError` for a run that has nothing to export."""
    final = run / "final"
    if not final.is_dir():
        raise UserError(f"{run}: expected the output of a finished run (with final/), got none")
    if folder.exists() and any(folder.iterdir()):
        raise UserError(f"{folder}: expected a new folder, got one with files; name another")
    manifest = read_manifest(run)
    adapter = (final / "adapter_config.json").exists()
    if (merge or gguf) and not adapter:
        raise UserError(f"{run}: expected an adapter to merge or to write as GGUF, got all weights")
    folder.mkdir(parents=True, exist_ok=True)
    if merge:
        _merge(final, manifest.base, folder)
    elif adapter and not gguf:
        _copy(final, folder, ("adapter_",))
    elif not adapter:
        _copy(final, folder, ("model", "config", "generation_config"))
    if gguf:
        from openreward.train.adapter_gguf import write_adapter

        write_adapter(final, _config_of(manifest.base, folder), folder / "adapter.gguf")
    _copy(final, folder, _TOKENIZER)
    form = "merged" if merge else "gguf" if gguf else "adapter" if adapter else "weights"
    (folder / "manifest.json").write_text(manifest.model_dump_json(indent=1), encoding="utf-8")
    (folder / "README.md").write_text(card(manifest, form), encoding="utf-8")
    return folder


def _merge(final: Path, base: str, folder: Path) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    try:
        model: Any = AutoModelForCausalLM.from_pretrained(base, dtype="auto")
        merged = PeftModel.from_pretrained(model, str(final)).merge_and_unload()
    except (OSError, ValueError, RuntimeError) as error:
        why = shorten(str(error).split("\n")[0], 200)
        raise UserError(f"the base model {shorten(base)} cannot be merged with: {why}") from None
    merged.save_pretrained(str(folder))


def _config_of(base: str, folder: Path) -> Path:
    """The base model's configuration as a file, also where it is of the hub."""
    if Path(base).is_dir():
        return Path(base)
    from transformers import AutoConfig

    path = folder / "base-config.json"
    AutoConfig.from_pretrained(base).to_json_file(str(path))
    return path


def _copy(source: Path, folder: Path, begins: Sequence[str]) -> None:
    for path in sorted(source.iterdir()):
        if path.is_file() and path.name.startswith(tuple(begins)):
            shutil.copy2(path, folder / path.name)


def main(words: Sequence[str]) -> int:
    """Export, and say an error in one line."""
    parser = argparse.ArgumentParser(prog="export", description="Export what a run has trained.")
    parser.add_argument("run", type=Path, help="the output of train/grpo.py, sft.py or dpo.py")
    parser.add_argument("-o", "--output", type=Path, required=True, help="a new folder")
    parser.add_argument("--merge", action="store_true", help="merge an adapter into its base")
    parser.add_argument("--gguf", action="store_true", help="write an adapter as GGUF")
    asked = parser.parse_args(words)
    try:
        made = export(asked.run, asked.output, merge=asked.merge, gguf=asked.gguf)
    except OpenRewardError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    sys.stderr.write(f"wrote {made}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
