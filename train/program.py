"""What the training programs share: words to settings, a dry run, errors in one line, resuming.

A run's resolved settings lie in its output; an output is gone on with only by the same settings,
from its last whole checkpoint.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol, TypeVar

from openreward.errors import OpenRewardError, UserError
from openreward.train.config_files import read_settings, write_settings
from openreward.types import Record

SETTINGS_FILE = "settings.yaml"
MAY_CHANGE = {"max_steps", "num_train_epochs", "save_steps", "logging_steps", "report_to"}


class Prepared(Protocol):
    """A run that was checked and is ready to load its model."""

    def lines(self) -> list[str]:
        """What a dry run says."""
        ...


S = TypeVar("S", bound=Record)
P = TypeVar("P", bound=Prepared)


def run(
    words: Sequence[str],
    kind: type[S],
    prepare: Callable[[S], P],
    train: Callable[[P, bool], None],
) -> int:
    """Read, check, say what was found, and train; the exit codes are those of `openreward`."""
    asked = _parser().parse_intermixed_args(words)
    try:
        prepared = prepare(read_settings(asked.config, asked.settings, kind))
        if is_main():
            sys.stderr.write("\n".join(prepared.lines()) + "\n")
        if not asked.dry_run:
            train(prepared, asked.resume)
    except OpenRewardError as error:
        sys.stderr.write(f"error: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        sys.stderr.write("interrupted; --resume goes on from the last checkpoint\n")
        return 130
    return 0


def last_checkpoint(settings: Record, output: Path, resume: bool) -> str | None:
    """The checkpoint to go on from; raises `UserError` for an output that is not this run's."""
    former = output / SETTINGS_FILE
    if not former.exists():
        return None
    if not resume:
        raise UserError(
            f"{output}: expected a new folder, got one that holds a run; --resume goes on with it, "
            "or name another output"
        )
    changed = _changed(read_settings(former, [], type(settings)), settings)
    if changed:
        raise UserError(
            f"{output}: expected the settings of the run to go on with, got another "
            f"{', '.join(changed)}; take those of {former}, or name another output"
        )
    found: list[tuple[int, str]] = [
        (int(path.name.rpartition("-")[2]), str(path))
        for path in output.glob("checkpoint-*")
        if (path / "trainer_state.json").exists()  # which is written last
    ]
    return max(found)[1] if found else None


def keep_settings(settings: Record, output: Path) -> None:
    """Write the resolved settings beside the output, once."""
    if is_main():
        write_settings(settings, output / SETTINGS_FILE)


def is_main() -> bool:
    """Whether this is the process that speaks for all."""
    return os.environ.get("RANK", "0") == "0"


def _changed(former: Record, now: Record) -> list[str]:
    one, other = former.model_dump(mode="json"), now.model_dump(mode="json")
    found = [key for key in one if key != "trainer" and one[key] != other[key]]
    for key in sorted({*one["trainer"], *other["trainer"]} - MAY_CHANGE):
        if one["trainer"].get(key) != other["trainer"].get(key):
            found.append(f"trainer.{key}")
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="See the head of the file, and docs/TRAINING.md.")
    parser.add_argument("--config", type=Path, required=True, help="a YAML file")
    parser.add_argument("--dry-run", action="store_true", help="check everything, load no model")
    parser.add_argument("--resume", action="store_true", help="go on from the last checkpoint")
    parser.add_argument("settings", nargs="*", metavar="key=value", help="laid over the file")
    return parser
