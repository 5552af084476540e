"""The command's entry: a light help, errors as one line or one object, codes as documented."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from openreward import __version__
from openreward.cli.main import COMMANDS, load_command


def openreward(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "openreward.cli.main", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_help_lists_every_command_with_its_line_and_the_exit_codes() -> None:
    run = openreward("--help")
    lines = [" ".join(line.split()) for line in run.stdout.splitlines()]
    for name, line in COMMANDS.items():
        assert f"{name} {line}" in lines
    codes = (
        "Exit codes: 0 done; 1 unexpected, a bug; 2 your input or a setting; 3 an engine or a "
        "service; 4 done, but some rows failed; 130 interrupted."
    )
    assert codes in " ".join(run.stdout.split())
    assert (run.returncode, run.stderr) == (0, "")


def test_help_imports_none_of_the_heavy_parts() -> None:
    code = """
import sys
from openreward.cli.main import app
try:
    app(["--help"])
finally:
    late = {"pydantic", "httpx", "tantivy", "pyarrow", "numpy", "mcp", "rich", "asyncio"}
    commands = {f"openreward.cli.{name}" for name in ("judge", "show", "doctor", "index", "model")}
    sys.stderr.write(str(sorted((late | commands) & set(sys.modules))))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "[]")


def test_no_command_shows_the_help() -> None:
    assert "Judge pairs of answers" in openreward().stdout + openreward().stderr


def test_the_version_is_shown() -> None:
    run = openreward("--version")
    assert (run.returncode, run.stdout) == (0, f"openreward {__version__}\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_loads_with_a_help_of_its_own(name: str) -> None:
    command = load_command(name)
    assert command.name == name
    assert command.get_short_help_str(200) not in ("", None)


def test_a_wrong_name_is_answered_with_the_right_one() -> None:
    run = openreward("jugde")
    assert run.returncode == 2
    assert "No such command 'jugde'. Did you mean 'judge'?" in run.stderr


def test_an_error_is_one_line_and_a_code(tmp_path: Path) -> None:
    run = openreward("show", "none.jsonl", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        "error: none.jsonl: cannot be read: No such file or directory; "
        "check the path and its permissions\n"
    )


def test_an_error_is_one_object_with_json(tmp_path: Path) -> None:
    run = openreward("show", "none.jsonl", "--json", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert json.loads(run.stderr) == {
        "error": "none.jsonl: cannot be read: No such file or directory; "
        "check the path and its permissions",
        "kind": "RecordError",
        "exit_code": 2,
    }


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("synth", "--help"), ("doctor",), ("doctor", "--json")],
)
def test_a_full_output_is_one_line_and_code_2(arguments: tuple[str, ...], tmp_path: Path) -> None:
    command = [sys.executable, "-m", "openreward.cli.main", *arguments]
    with Path("/dev/full").open("w") as full:
        run = subprocess.run(
            command, stdout=full, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False
        )
    said = "standard output: cannot be written: No space left on device; make room"
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1
    assert said in run.stderr
    assert run.stderr.startswith('{"error": ' if "--json" in arguments else "error: ")


@pytest.mark.parametrize("arguments", [("--help",), ("doctor",), ("show", "rows.jsonl")])
def test_an_output_whose_reader_has_gone_ends_silently(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "openreward.cli.main", *arguments]
    read, written = os.pipe()
    os.close(read)
    try:
        run = subprocess.run(
            command, stdout=written, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False
        )
    finally:
        os.close(written)
    assert "Traceback" not in run.stderr
    assert "BrokenPipe" not in run.stderr
    assert (run.returncode, run.stderr.count("\n")) == ((2, 1) if "show" in arguments else (1, 0))
