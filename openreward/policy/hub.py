"""GGUF files from a Hugging Face hub over plain HTTP: find one in a repository, download, resume.

A hub that cannot be reached is `HubUnreachable`, quickly, so that a machine without one goes on
with another source. The sum that the hub states for a file is checked.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import httpx
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from openreward.errors import FetchError, UserError, shorten

Report = Callable[[str, int, int], None]
"""Told what is being done, bytes done, bytes in all (0: not known)."""

BLOCK = 1 << 20
_PREFERRED = ("q4_k_m", "q4_0", "q8_0")


class HubUnreachable(FetchError):
    """No hub answers."""


class HubFile(NamedTuple):
    """One file of a repository as the hub describes it."""

    repository: str
    path: str
    size: int
    sha256: str | None


class _Wire(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class _Large(_Wire):
    sha256: str | None = None


class _Sibling(_Wire):
    rfilename: str
    size: int | None = None
    lfs: _Large | None = None


class _Listing(_Wire):
    siblings: tuple[_Sibling, ...] = Field(default=())


class Hub:
    """One hub. `token` is sent to it alone: it does not follow a redirect to another host."""

    def __init__(
        self,
        endpoint: str = "https://huggingface.co",
        *,
        token: str | None = None,
        offline: bool = False,
        connect_seconds: float = 4.0,
    ) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._offline = offline
        token = (token or "").strip()
        if not (token.isascii() and token.isprintable()):
            raise UserError("the hub's token (HF_TOKEN) holds signs that no header can carry")
        try:
            httpx.URL(self._endpoint)
        except httpx.InvalidURL as error:
            raise UserError(
                f"the hub's address (HF_ENDPOINT) is none: {shorten(endpoint)}: {error}"
            ) from None
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout = httpx.Timeout(30.0, connect=connect_seconds)

    def find(self, repository: str, path: str | None = None) -> HubFile:
        """The named GGUF file of a repository, else its only one or its Q4_K_M."""
        listing = self._listing(repository)
        ggufs = {s.rfilename: s for s in listing.siblings if s.rfilename.endswith(".gguf")}
        chosen = _choose(repository, list(ggufs), path)
        found = ggufs[chosen]
        return HubFile(repository, chosen, found.size or 0, found.lfs.sha256 if found.lfs else None)

    def download(self, file: HubFile, partial: Path, report: Report) -> str:
        """Write the file to `partial`, going on with what is there; returns its sha256."""
        url = f"{self._endpoint}/{file.repository}/resolve/main/{file.path}"
        there = partial.stat().st_size if partial.exists() else 0
        if file.size == 0 or there < file.size:
            self._transfer(url, file, partial, there, report)
        digest = sha256_of(partial)
        size = partial.stat().st_size
        if (file.size and size != file.size) or (file.sha256 and digest != file.sha256):
            partial.unlink()
            raise FetchError(
                f"{url}: expected {file.size} bytes with sha256 {file.sha256}, "
                f"got {size} with {digest}; run the command again"
            )
        return digest

    def _listing(self, repository: str) -> _Listing:
        if self._offline:
            raise HubUnreachable(
                "HF_HUB_OFFLINE is set, so the hub is not asked; unset it for that"
            )
        url = f"{self._endpoint}/api/models/{repository}?blobs=true"
        try:
            with httpx.Client(headers=self._headers, timeout=self._timeout) as client:
                response = client.get(url, follow_redirects=True)
        except httpx.RequestError as error:
            raise HubUnreachable(
                f"the hub at {self._endpoint} cannot be reached ({error})"
            ) from None
        if response.status_code in (401, 403, 404):
            raise UserError(
                f"the hub knows no public repository {shorten(repository)} "
                f"({response.status_code}); check the id, or set HF_TOKEN for a gated one"
            )
        try:
            if response.status_code != 200:
                raise ValueError(f"status {response.status_code}")
            return _Listing.model_validate_json(response.content)
        except (ValueError, ValidationError):
            raise HubUnreachable(
                f"{self._endpoint} does not answer like a hub ({response.status_code}: "
                f"{shorten(response.text[:200])}); is a proxy in between?"
            ) from None

    def _transfer(self, url: str, file: HubFile, partial: Path, there: int, report: Report) -> None:
        headers = {**self._headers, **({"Range": f"bytes={there}-"} if there else {})}
        try:
            with (
                httpx.Client(headers=headers, timeout=self._timeout) as client,
                client.stream("GET", url, follow_redirects=True) as response,
            ):
                if response.status_code not in (200, 206):
                    raise FetchError(f"{url} answered {response.status_code}; run it again later")
                goes_on = response.status_code == 206
                done = there if goes_on else 0
                with partial.open("ab" if goes_on else "wb") as out:
                    for block in response.iter_bytes(BLOCK):
                        out.write(block)
                        done += len(block)
                        report(f"downloading {file.path}", done, file.size)
                    os.fsync(out.fileno())
        except httpx.RequestError as error:
            raise FetchError(
                f"the download of {file.path} broke ({type(error).__name__}); "
                "run the command again: it goes on where it stopped"
            ) from None


def sha256_of(path: Path) -> str:
    """The sum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _choose(repository: str, names: list[str], path: str | None) -> str:
    listed = ", ".join(sorted(names)[:12]) or "none"
    if path is not None:
        if path in names:
            return path
        raise UserError(f"{repository} has no file {shorten(path)}; its GGUF files: {listed}")
    whole = [name for name in names if "-of-0" not in name]
    for wanted in _PREFERRED:
        fitting = [name for name in whole if wanted in name.lower()]
        if len(fitting) == 1:
            return fitting[0]
    if len(whole) == 1:
        return whole[0]
    raise UserError(f"name one GGUF file as {repository}:FILE; there are: {listed}")
