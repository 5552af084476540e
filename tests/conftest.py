"""What all tests share: no network but loopback; the optional data and the small model."""

from __future__ import annotations

import ipaddress
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pytest

ROOT = Path(__file__).resolve().parent.parent

# Set here and not in a fixture: libraries read it when they are imported.
os.environ["HF_HUB_OFFLINE"] = "1"

# A shell's background job ignores Ctrl-C, and so would every process that a test starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

hypothesis.settings.register_profile("any machine", deadline=None)  # a busy one is slow
hypothesis.settings.load_profile("any machine")


class NetworkBlocked(RuntimeError):
    """A test reached for the network. Not an OSError, so that no code takes it for an outage."""


def is_loopback(host: object) -> bool:
    """Whether a host, as sockets take it, is this machine; nothing is resolved to find out."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if host is None or host in ("", "localhost"):
        return True
    try:
        address = ipaddress.ip_address(str(host).partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _guarded(real: Callable[..., Any], name: str) -> Callable[..., Any]:
    def call(self: socket.socket, *arguments: Any) -> Any:
        address = arguments[-1]  # connect(address), sendto(data[, flags], address)
        if self.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(address[0]):
            raise NetworkBlocked(f"{name} to {address!r}: tests may only use loopback")
        return real(self, *arguments)

    return call


def _guarded_lookup(real: Callable[..., Any], name: str) -> Callable[..., Any]:
    def lookup(host: object, *arguments: Any, **named: Any) -> Any:
        if not is_loopback(host):
            raise NetworkBlocked(f"{name} of {host!r}: tests may only use loopback")
        return real(host, *arguments, **named)

    return lookup


@pytest.fixture(autouse=True)
def _no_network(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections and name look-ups leave this machine only in tests marked `live`."""
    if request.node.get_closest_marker("live"):
        return
    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, _guarded(getattr(socket.socket, name), name))
    for name in ("getaddrinfo", "gethostbyname", "gethostbyname_ex"):
        monkeypatch.setattr(socket, name, _guarded_lookup(getattr(socket, name), name))


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of released data sets and recorded answers that is not part of the repository."""
    named = os.environ.get("OPENREWARD_TEST_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip(f"no test data at {folder}; OPENREWARD_TEST_DATA names another folder")
    return folder


@pytest.fixture(scope="session")
def small_model() -> Path:
    """The small default model; with OPENREWARD_REQUIRE_MODEL=1, as in CI, it must be there."""
    from openreward.cli.home import home
    from openreward.policy.models import SMALL

    path = home() / "models" / SMALL.file
    if not path.is_file():
        reason = f"no small model at {path}; `openreward model fetch` brings it"
        if os.environ.get("OPENREWARD_REQUIRE_MODEL") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    return path


@pytest.fixture
def openreward_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty OpenReward home of this test's own."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("OPENREWARD_HOME", str(home))
    return home
