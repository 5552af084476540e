"""What `openreward eval` is given besides judges: the principle, and the folder for results."""

from __future__ import annotations

import os
import re
from pathlib import Path

from openreward.cli.eval_report import REPORT, check_new
from openreward.errors import UserError, shorten

LONGEST_PRINCIPLE = 20_000
_FILE_NAME = re.compile(r"\S*\w\.\w{1,5}")  # no words, and an ending


def read_principle(given: str | None) -> str | None:
    """The principle itself, or what the file of that name holds."""
    if given is None:
        return None
    text = given
    if os.path.isfile(given):
        try:
            text = Path(given).read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"--principle {given}: expected text in UTF-8: {error}") from None
    elif os.path.exists(given) or _FILE_NAME.fullmatch(given):
        raise UserError(
            f"--principle {shorten(given)}: expected a principle in words, or a file of it; there "
            "is no such file"
        )
    text = text.strip()
    if not text:
        raise UserError("--principle: expected a principle in words, got none; leave it out")
    if len(text) > LONGEST_PRINCIPLE:
        raise UserError(
            f"--principle: expected at most {LONGEST_PRINCIPLE} characters, since every question "
            f"holds it, got {len(text)}"
        )
    return text


def check_folder(folder: Path, source: Path | str, resume: bool) -> None:
    """Refuse a folder whose report would be lost, or whose files would be read as data."""
    if not resume:
        check_new(folder / REPORT, "continue it with --resume")
    inside = isinstance(source, Path) and source.is_dir()
    if inside and folder.resolve().is_relative_to(Path(source).resolve()):
        raise UserError(
            f"{folder}: expected a folder outside the data in {source}, where results would be "
            "read as data; name another"
        )
