"""What `openreward doctor` checks: each function looks at one thing and returns one `Check`.

Those of the installation use the standard library alone: what else we need may be missing.
"""

from __future__ import annotations

import asyncio
import dataclasses
import importlib.metadata
import json
import os
import platform
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import openreward

DISTRIBUTION = "openreward-rm"
FREE_GIGABYTES = 2.0  # the small model, its parts while they are joined, an index
FIRST_MODEL = "openreward model fetch"
FIRST_INDEX = "openreward index fetch wikipedia-introductions"

Status = Literal["ok", "absent", "wrong"]


@dataclasses.dataclass(frozen=True)
class Check:
    """What one check found. `needed`: without it no pair can be judged; `remedy` is a command."""

    name: str
    status: Status
    detail: str
    remedy: str = ""
    needed: bool = False
    seconds: float = 0.0


def check_python() -> Check:
    """The interpreter, which needs to be 3.11 or newer."""
    detail = f"{platform.python_version()} at {sys.executable}"
    status: Status = "ok" if sys.version_info >= (3, 11) else "wrong"
    return Check("python", status, detail, "install Python 3.11 or newer", needed=True)


def check_owner() -> Check:
    """Which distributions install the import name `openreward`; PyPI has another project of it."""
    owners = set(importlib.metadata.packages_distributions().get("openreward", []))
    others = ", ".join(sorted(owners - {DISTRIBUTION}))
    where = f"{openreward.__version__} at {Path(openreward.__file__).parent}"
    if others:
        return Check(
            "openreward",
            "wrong",
            f"{where}; another distribution installs the same import name: {others}",
            f"{sys.executable} -m pip uninstall -y {others} {DISTRIBUTION} && {install_line()}",
            needed=True,
        )
    return Check("openreward", "ok", where if owners else f"{where} (on the path, not installed)")


def requirements() -> dict[str, tuple[str, ...]]:
    """The packages that the core ("") and each extra ask for, as installed or as checked out."""
    try:
        lines = importlib.metadata.requires(DISTRIBUTION) or []
    except importlib.metadata.PackageNotFoundError:
        lines = _checked_out()
    found: dict[str, tuple[str, ...]] = {"": ()}
    for line in lines:
        name = re.split(r"[^\w.-]", line, maxsplit=1)[0]
        marker = re.search(r"""extra == ["']([\w-]+)["']""", line)
        extra = marker[1] if marker else ""
        found[extra] = (*found.get(extra, ()), name)
    return found


def _checked_out() -> list[str]:
    path = Path(openreward.__file__).parent.parent / "pyproject.toml"
    if not path.is_file():
        return []
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].items()
    marked = [f'{line}; extra == "{extra}"' for extra, lines in extras for line in lines]
    return [*project["dependencies"], *marked]


def check_packages(extra: str, names: Sequence[str], *, needed: bool) -> Check:
    """The packages of one extra, or of the core where `extra` is ""."""
    versions = {name: _version(name) for name in names}
    missing = [name for name, version in versions.items() if version is None]
    title = f"[{extra}]" if extra else "core"
    remedy = install_line(extra)
    if missing:
        lacking = f"missing: {', '.join(missing)}" + ("" if needed else " (optional)")
        return Check(title, "absent", lacking, remedy, needed=needed)
    detail = ", ".join(f"{name} {version}" for name, version in versions.items())
    return Check(title, "ok", detail, remedy, needed=needed)


def install_line(extra: str = "") -> str:
    """The pip command that installs us: from the checkout, or from where pip once had us."""
    wanted = f"[{extra}]" if extra else ""
    root = Path(openreward.__file__).parent.parent
    if (root / "pyproject.toml").is_file():
        return f'{sys.executable} -m pip install -e "{root}{wanted}"'
    address = origin()
    where = f" @ {address}" if address else ""
    return f'{sys.executable} -m pip install "{DISTRIBUTION}{wanted}{where}"'


def origin() -> str | None:
    """The address that pip wrote down (PEP 610), None where we came from an index."""
    try:
        text = importlib.metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        found = json.loads(text or "{}")
        vcs = found.get("vcs_info", {})
        url = f"{vcs['vcs']}+{found['url']}" if vcs else found["url"]
    except (importlib.metadata.PackageNotFoundError, ValueError, KeyError, AttributeError):
        return None
    revision = vcs.get("requested_revision")
    return f"{url}@{revision}" if revision else str(url)


def check_machine(home: Path) -> Check:
    """Cores, and room where models and indexes are kept."""
    there = next(path for path in (home, *home.absolute().parents) if path.is_dir())
    free = shutil.disk_usage(there).free / 1e9
    detail = f"{_cores()} cores, {free:.1f} GB free for {home}"
    if free < FREE_GIGABYTES:
        wanted = f"expected at least {FREE_GIGABYTES:g} GB"
        remedy = f"free some space, or set OPENREWARD_HOME to a folder with {FREE_GIGABYTES:g} GB"
        return Check("machine", "wrong", f"{detail}; {wanted}", remedy)
    return Check("machine", "ok", detail)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def check_endpoint(url: str, model: str | None, key_variable: str | None) -> Check:
    """A named server: whether it answers, what it serves, and on which path it is taken."""
    from openreward.cli.engine import read_key
    from openreward.errors import OpenRewardError
    from openreward.policy.endpoint import connect
    from openreward.policy.transport import HttpSettings

    async def ask() -> str:
        settings, key = HttpSettings(read_seconds=20.0), read_key(key_variable)
        async with connect(url, model, api_key=key, settings=settings) as policy:
            return f"{policy.model}, {policy.path} path, context {policy.context or 'unknown'}"

    try:
        return Check("endpoint", "ok", asyncio.run(ask()), needed=True)
    except OpenRewardError as error:
        remedy = "start the server, or correct --endpoint, --model or the API key"
        return Check("endpoint", "wrong", str(error), remedy, needed=True)


def check_model(name: str | None) -> Check:
    """The local model that `openreward judge` would use, held to its recorded sum."""
    from openreward.cli.engine import find_model
    from openreward.cli.home import model_files
    from openreward.errors import OpenRewardError
    from openreward.policy.hub import sha256_of
    from openreward.policy.model_file import check_gguf
    from openreward.policy.models import read_record

    try:
        path = find_model(name)
        check_gguf(path)
    except OpenRewardError as error:
        several = len(model_files()) > 1 and name is None
        remedy = "openreward doctor --model NAME" if several else FIRST_MODEL
        return Check("model", "absent", str(error), remedy, needed=True)
    detail = f"{path.name}, {path.stat().st_size / 1e6:.0f} MB"
    record = read_record(path)
    if record is None:
        return Check("model", "ok", f"{detail}, no recorded sum", needed=True)
    digest = sha256_of(path)
    if digest != record.sha256:
        wrong = f"{detail}: expected sha256 {record.sha256}, got {digest}"
        return Check("model", "wrong", wrong, FIRST_MODEL, needed=True)
    return Check("model", "ok", f"{detail}, sha256 as recorded ({digest[:12]})", needed=True)


def check_no_index(home: Path) -> Check:
    """What is said where there is no index at all."""
    detail = f"none in {home / 'indexes'}"
    return Check("index", "absent", detail, FIRST_INDEX, needed=True)


def check_index(source: str, folder: Path) -> Check:
    """One local index, opened as its tool opens it."""
    from openreward.errors import OpenRewardError
    from openreward.tools.index_meta import read_meta
    from openreward.tools.sources import SOURCES, local_tools

    if source not in SOURCES:
        detail = f"{source}: no tool searches this source, so judging asks which indexes to use"
        remedy = f"move {folder} elsewhere, or name the others: openreward judge --index SOURCE=DIR"
        return Check("index", "wrong", detail, remedy, needed=True)
    try:
        local_tools({source: folder})
        meta = read_meta(folder, source)
    except OpenRewardError as error:
        remedy = f"rm -r {shlex.quote(str(folder))}, and fetch or build it again"
        return Check("index", "wrong", str(error), remedy, needed=True)
    counts = f"{meta.documents} documents, {meta.passages} passages"
    return Check("index", "ok", f"{source}: {counts}, version {meta.version}", needed=True)


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None
