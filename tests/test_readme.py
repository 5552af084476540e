"""What the README tells people to type works: each command is run, or at least parsed."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from openreward import errors
from openreward.cli.main import COMMANDS, load_command
from openreward.types import Document, Judgment

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")

# Not run here, for they need the model, the network or a server; the rest is.
NOT_RUN = (
    "openreward judge ",
    "openreward score ",
    "openreward model fetch",
    "openreward index fetch ",
    "openreward doctor --endpoint ",
    "openreward search wikipedia ",
    "openreward documents fetch ",
    "openreward eval ",
    "openreward synth ",
)
EXIT_CODES = {"openreward doctor": (0, 2)}  # 2: it found something missing, and said what


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def words(line: str) -> list[str]:
    return shlex.split(line, comments=True)


COMMAND_LINES = [line for block in blocks("bash") for line in block.splitlines() if words(line)]
OURS = [line for line in COMMAND_LINES if line.startswith("openreward ")]


def parse(line: str) -> Any:
    """The command as typer takes it, not invoked; a wrong flag or number of arguments raises."""
    _, name, *rest = words(line)
    command = load_command(name)
    if hasattr(command, "commands"):
        command = command.commands[rest.pop(0)]
    return command.make_context(name, rest)


def test_every_shell_command_is_ours_or_make() -> None:
    assert len(COMMAND_LINES) >= 12
    assert {words(line)[0] for line in COMMAND_LINES} == {"make", "openreward"}


@pytest.mark.parametrize("line", OURS)
def test_its_flags_and_arguments_are_right(line: str) -> None:
    assert parse(line).params


@pytest.mark.parametrize(
    "line", ["openreward judge --no-such-flag", "openreward show", "openreward show a b"]
)
def test_a_command_that_is_wrong_would_be_noticed(line: str) -> None:
    with pytest.raises(
        Exception, match=r"No such option|Missing parameter|Missing argument|unexpected extra"
    ):
        parse(line)


@pytest.mark.parametrize("line", [line for line in COMMAND_LINES if line.startswith("make ")])
def test_what_is_to_be_made_can_be_made(line: str) -> None:
    run = subprocess.run(
        ["make", "--dry-run", *words(line)[1:]], cwd=ROOT, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr


def test_what_needs_no_model_runs_in_the_order_of_the_readme(tmp_path: Path) -> None:
    document = Document(
        id="1", source="wikipedia", title="Eiffel Tower", text="A tower in Paris, France."
    )
    (tmp_path / "documents.jsonl").write_text(document.model_dump_json() + "\n")
    judgment = Judgment(id="a", status="error", reason="the answers are empty")
    (tmp_path / "judgments.jsonl").write_text(judgment.model_dump_json() + "\n")
    lines = [line for line in OURS if not line.startswith(NOT_RUN)]
    assert len(lines) >= 4
    for line in lines:
        run = subprocess.run(
            [sys.executable, "-m", "openreward.cli.main", *words(line)[1:]],
            cwd=tmp_path,
            env={**os.environ, "OPENREWARD_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert run.returncode in EXIT_CODES.get(line, (0,)), f"{line}\n{run.stdout}{run.stderr}"


@pytest.mark.parametrize("block", blocks("python"))
def test_python_examples_import_what_exists(block: str) -> None:
    imports = [n for n in ast.walk(ast.parse(block)) if isinstance(n, ast.ImportFrom)]
    assert imports
    for node in imports:
        module = importlib.import_module(str(node.module))
        assert [a.name for a in node.names if not hasattr(module, a.name)] == []


@pytest.mark.model
@pytest.mark.parametrize("block", blocks("python"))
def test_python_examples_run(block: str, small_model: Path) -> None:
    if not (small_model.parent.parent / "indexes" / "wikipedia").is_dir():
        pytest.skip("no Wikipedia index; `openreward index fetch wikipedia-introductions`")
    block = block.replace(
        'Path.home() / ".cache/openreward"', f"Path({str(small_model.parents[1])!r})"
    )
    run = subprocess.run([sys.executable, "-c", block], capture_output=True, text=True, timeout=250)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split()[0] in ("ok", "tie", "unparsed")


def test_the_exit_codes_are_those_of_the_errors() -> None:
    table = {int(code) for code in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.exit_code for kind in kinds if issubclass(kind, errors.OpenRewardError)}
    assert codes | {0, 4, 130} == table


def test_every_command_is_in_the_readme() -> None:
    assert {words(line)[1] for line in OURS} >= set(COMMANDS) - {"demo"}


@pytest.mark.parametrize("target", re.findall(r"\]\((?!https?:)([^)#]+)\)", README))
def test_its_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()
