import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from openreward.errors import FetchError
from openreward.wheels import pip_download


def wheel_folder(tmp_path: Path) -> Path:
    """A folder that pip can search: one wheel, and one source distribution that would run code."""
    folder = tmp_path / "links"
    folder.mkdir()
    name = "openreward_test_part-1.0"
    code = (
        "import sys, zipfile\n"
        "with zipfile.ZipFile(sys.argv[1], 'w') as z:\n"
        f" z.writestr('{name}.dist-info/METADATA', 'Metadata-Version: 2.1\\n"
        "Name: openreward-test-part\\nVersion: 1.0\\n')\n"
        f" z.writestr('{name}.dist-info/WHEEL', 'Wheel-Version: 1.0\\nTag: py3-none-any\\n')\n"
        f" z.writestr('{name}.dist-info/RECORD', '')\n"
    )
    subprocess.run(
        [sys.executable, "-c", code, str(folder / f"{name}-py3-none-any.whl")], check=True
    )
    (folder / "openreward_test_source-1.0.tar.gz").write_bytes(b"never opened")
    return folder


@pytest.fixture
def links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel_folder(tmp_path)))
    monkeypatch.setenv("PIP_NO_INDEX", "1")


def test_pip_brings_one_wheel_into_the_folder(links: None, tmp_path: Path) -> None:
    target = tmp_path / "incoming"
    target.mkdir()
    pip_download("openreward-test-part==1.0", target)
    assert [path.name for path in target.iterdir()] == ["openreward_test_part-1.0-py3-none-any.whl"]


def test_a_source_distribution_is_never_taken(links: None, tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="pip could not download openreward-test-source==1.0"):
        pip_download("openreward-test-source==1.0", tmp_path / "incoming")


def test_a_python_without_pip_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def run(*arguments: Any, **named: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess([], 1, "", "python: No module named pip\n")

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(FetchError, match="python -m ensurepip"):
        pip_download("a==1", tmp_path)
