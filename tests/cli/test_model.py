import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from openreward.cli.main import app

runner = CliRunner()


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")


def model(*arguments: str) -> Any:
    return runner.invoke(app, ["model", *arguments])


def gguf(folder: Path, name: str = "mine.gguf") -> Path:
    path = folder / name
    path.write_bytes(b"GGUF" + b"\0" * 96)
    return path


def test_a_file_is_fetched_shown_and_listed(openreward_home: Path, tmp_path: Path) -> None:
    own = gguf(tmp_path)
    done = model("fetch", str(own))
    assert done.exit_code == 0
    assert done.stdout.splitlines()[:4] == [
        "ready",
        f"  file    {openreward_home / 'models' / 'mine.gguf'}",
        f"  source  file {own}",
        "  size    100 bytes",
    ]
    assert model("fetch", str(own)).stdout.startswith("already there and right\n")
    listed = model("list")
    assert listed.exit_code == 0
    assert listed.stdout.startswith(f"mine  0 MB  file {own}  ")


def test_json_is_one_object(openreward_home: Path, tmp_path: Path) -> None:
    done = model("fetch", "--json", str(gguf(tmp_path)))
    shown = json.loads(done.stdout)
    assert shown["name"] == "mine"
    assert shown["size"] == 100
    assert shown["fresh"] is True
    assert shown["path"] == str(openreward_home / "models" / "mine.gguf")
    assert json.loads(model("list", "--json").stdout)["sha256"] == shown["sha256"]


def test_an_empty_home_names_the_next_command(openreward_home: Path) -> None:
    done = model("list")
    assert done.exit_code == 0
    assert "run: openreward model fetch" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["fetch", "nonsense"], 2, "expected a known model"),
        (["fetch", "./none.gguf"], 2, "expected a known model"),
        (["fetch", "--from", "hub"], 3, "HF_HUB_OFFLINE is set"),
        (["fetch", "o/n:file.gguf"], 3, "HF_HUB_OFFLINE is set"),
        (["fetch", "--from", "elsewhere"], 2, "elsewhere"),
    ],
)
def test_what_cannot_be_fetched_ends_with_a_line_and_a_code(
    arguments: list[str], code: int, said: str, openreward_home: Path
) -> None:
    done = model(*arguments)
    assert done.exit_code == code
    assert said in done.stderr
    assert "Traceback" not in done.output
