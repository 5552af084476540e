"""The shape of the repository, read from its files: packages, arrows, sizes, a light start."""

from __future__ import annotations

import ast
import importlib.metadata
import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
STAGES = ("tools", "synth", "train", "eval")

# What each room may import besides itself. A module of openreward/ not named here is an error.
NOUNS = {"types", "errors", "records", "parquet", "resume", "inputs"} | {
    "printable",
    "inert",
    "loose_json",
    "wheels",
    "training_rows",
    "seeds",
}
SEAMS = NOUNS | {"tools", "policy"}
PROTOCOL = SEAMS | {"prompts", "parse", "counting", "calls", "evidence"}
JUDGES = PROTOCOL | {"agent", "batch", "judge", "rank", "scoring"}
STAGE = JUDGES | {"filter", "server", "client", "eval", "synth", "train"}
MAY_IMPORT: dict[str, set[str]] = {
    "types": set(),
    "errors": {"types"},
    "inert": set(),
    "printable": set(),
    "wheels": {"errors"},
    "seeds": set(),
    "records": {"types", "errors", "parquet", "loose_json"},
    "parquet": {"types", "errors", "records"},
    "resume": {"types", "errors", "records"},
    "inputs": {"types", "errors", "records"},
    "training_rows": {"types"},
    "batch": NOUNS,
    "tools": NOUNS,
    "policy": NOUNS,
    "prompts": PROTOCOL,
    "parse": PROTOCOL,
    "loose_json": {"errors"},
    "counting": PROTOCOL,
    "calls": PROTOCOL,
    "evidence": PROTOCOL,
    "agent": PROTOCOL,
    "judge": PROTOCOL | {"agent", "scoring"},
    "rank": PROTOCOL | {"agent"},
    "scoring": PROTOCOL | {"agent"},
    "filter": JUDGES,
    "server": JUDGES,
    "client": JUDGES,
    "eval": JUDGES,
    "synth": JUDGES | {"eval"},  # the two exceptions: synth and train may use
    "train": JUDGES | {"eval"},  # eval's formats and its runner
    "cli": STAGE,
    "bench": STAGE | {"cli"},
}
HEAVY = {"torch", "transformers", "trl", "vllm", "peft", "accelerate", "sentence_transformers"}
MAY_IMPORT_HEAVY = ("train/", "eval/scalar", "tools/embed", "bench/")  # and only inside functions
SUBCLASSES = ("train/trainer.py", "train/watch.py")  # loaded late themselves
FILES_OVER_300_LINES: dict[str, str] = {}  # path -> why it may be


class Import(NamedTuple):
    """One imported module, by its full dotted name; `top` when it runs as the module is loaded."""

    name: str
    top: bool


def files(*folders: str) -> list[Path]:
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def room(path: Path) -> str:
    first, *rest = path.relative_to(ROOT).with_suffix("").parts
    return rest[0] if first == "openreward" else first


def imports(tree: ast.AST) -> Iterator[Import]:
    """Every import of a file. `if TYPE_CHECKING:` is not followed: it imports nothing."""
    pending: list[tuple[ast.AST, bool]] = [(tree, True)]
    while pending:
        node, top = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            continue
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, top) for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            yield from (Import(f"{base}.{alias.name}", top) for alias in node.names)
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        pending.extend((child, top and not inside) for child in ast.iter_child_nodes(node))


def imported_room(name: str) -> str | None:
    """`openreward.policy.base.Policy` -> `policy`; None for what is not ours."""
    first, _, rest = name.partition(".")
    return rest.partition(".")[0] if first == "openreward" else None


def python(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """A fresh interpreter that finds the package the way this one does."""
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


PACKAGE_FILES = files("openreward", *STAGES)
SOURCES = [*PACKAGE_FILES, *files("bench")]
FRONT = ROOT / "openreward" / "__init__.py"  # may name whatever the package offers
TEST_FILES = files("tests")
by_path = pytest.mark.parametrize("path", SOURCES, ids=relative)


def test_the_package_table_names_every_folder() -> None:
    table = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    found = set()
    for init in (path for path in PACKAGE_FILES if path.name == "__init__.py"):
        parts = init.relative_to(ROOT).parent.parts
        found.add(".".join(parts if parts[0] == "openreward" else ("openreward", *parts)))
    assert set(table["packages"]) == found
    expected = {"openreward": "openreward"} | {f"openreward.{name}": name for name in STAGES}
    assert table["package-dir"] == expected


def test_every_folder_with_modules_is_a_package() -> None:
    bare = {relative(p.parent) for p in PACKAGE_FILES if not (p.parent / "__init__.py").is_file()}
    assert bare == set()


@pytest.mark.parametrize("path", [p for p in SOURCES if p != FRONT], ids=relative)
def test_imports_follow_the_arrows(path: Path) -> None:
    here = room(path)
    assert here in MAY_IMPORT, f"say in MAY_IMPORT where {relative(path)} stands"
    allowed = MAY_IMPORT[here] | {here, "__version__"}
    used = [f.name for f in imports(ast.parse(path.read_text())) if imported_room(f.name)]
    assert [name for name in used if imported_room(name) not in allowed] == []


@by_path
def test_imports_within_the_package_are_absolute(path: Path) -> None:
    assert [f.name for f in imports(ast.parse(path.read_text())) if f.name.startswith(".")] == []


@by_path
def test_heavy_libraries_are_imported_late_and_only_where_they_may(path: Path) -> None:
    found = [i for i in imports(ast.parse(path.read_text())) if i.name.split(".")[0] in HEAVY]
    where = relative(path)
    assert where in SUBCLASSES or [i.name for i in found if i.top] == []
    assert found == [] or where.startswith(MAY_IMPORT_HEAVY)


@by_path
def test_what_loads_a_heavy_library_is_itself_imported_late(path: Path) -> None:
    late = {"openreward." + name.removesuffix(".py").replace("/", ".") for name in SUBCLASSES}
    found = {i.name for i in imports(ast.parse(path.read_text())) if i.top}
    modules = found | {name.rpartition(".")[0] for name in found}
    assert relative(path) in SUBCLASSES or modules & late == set()


@pytest.mark.parametrize("folder", ["synth", "train", "eval", "bench"])
def test_no_program_hides_a_library(folder: str) -> None:
    """A program's own folder is first on sys.path: train/datasets.py would hide datasets."""
    libraries = {f.name.split(".")[0] for p in SOURCES for f in imports(ast.parse(p.read_text()))}
    libraries |= HEAVY | {"datasets"} | set(sys.stdlib_module_names)
    own = {path.stem for path in files(folder)} - {"__init__"}
    assert own & libraries == set()


@pytest.mark.parametrize("path", [*SOURCES, *TEST_FILES], ids=relative)
def test_files_stay_under_300_lines(path: Path) -> None:
    lines = len(path.read_text().splitlines())
    assert lines <= 300 or relative(path) in FILES_OVER_300_LINES


@pytest.mark.parametrize("path", PACKAGE_FILES, ids=relative)
def test_the_package_does_not_print(path: Path) -> None:
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    assert [c.lineno for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"] == []


def checks_something(node: ast.AST, helpers: set[str]) -> bool:
    for part in ast.walk(node):
        if isinstance(part, ast.Assert):
            return True
        if isinstance(part, ast.Call):
            called = ast.unparse(part.func)
            if called in {"pytest.raises", "pytest.fail", "pytest.warns"} or called in helpers:
                return True
    return False


@pytest.mark.parametrize("path", TEST_FILES, ids=relative)
def test_every_test_checks_something(path: Path) -> None:
    tree = ast.parse(path.read_text())
    defined = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    helpers = {f.name for f in defined if checks_something(f, set())}
    tests = [f for f in defined if f.name.startswith("test_") and path.name != "conftest.py"]
    assert [t.name for t in tests if not checks_something(t, helpers)] == []


def test_the_package_does_not_contain_itself() -> None:
    run = python("-c", "import openreward.openreward")
    assert run.returncode == 1
    assert run.stderr.splitlines()[-1] in (
        "ImportError: import this package as openreward, not as openreward.openreward",
        "ModuleNotFoundError: No module named 'openreward.openreward'",  # outside a checkout
    )


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_imports_under_its_full_name(stage: str) -> None:
    run = python("-c", f"import openreward.{stage} as stage; assert stage.__name__")
    assert (run.returncode, run.stderr) == (0, "")


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_does_not_import_as_a_bare_package(stage: str) -> None:
    run = python("-c", f"import sys; sys.path.insert(0, {str(ROOT)!r}); import {stage}")
    assert run.returncode == 1
    assert f"ImportError: import this package as openreward.{stage}, not as {stage}" in run.stderr


def test_no_other_distribution_owns_the_import_name() -> None:
    owners = set(importlib.metadata.packages_distributions().get("openreward", []))
    if not owners:
        pytest.skip("not installed: the package is found by PYTHONPATH")
    assert owners == {"openreward-rm"}


def test_the_command_line_starts_without_its_heavy_parts() -> None:
    late = "{'pydantic', 'httpx', 'tantivy', 'pyarrow', 'torch', 'numpy', 'mcp'}"
    code = f"import sys, openreward.cli.main; sys.exit(str(sorted({late} & set(sys.modules))))"
    run = python("-c", code)
    assert run.stderr.strip() == "[]"
