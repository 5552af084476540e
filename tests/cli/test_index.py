from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from typer.testing import CliRunner

from openreward.cli.main import app
from openreward.synth import introductions

PAPERS = [
    {"id": "2209.07775", "title": "Jaco", "abstract": "An offline voice assistant."},
    {"id": "2209.07776", "title": "Blank", "abstract": None},
]
NOTES = [
    {"id": "n:1", "source": "notes", "title": "\x1b[31mRed", "text": "Apples\x1b]0;x\x07 are red."},
    {"id": "n:2", "source": "notes", "title": "Pear", "text": "Pears are green."},
]


def run(*arguments: str) -> SimpleNamespace:
    result = CliRunner().invoke(app, ["index", *arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return SimpleNamespace(code=result.exit_code, out=result.stdout, err=result.stderr)


def write(path: Path, rows: list[dict[str, str]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def test_an_index_is_built_in_the_home_and_searched_by_source(
    tmp_path: Path, openreward_home: Path
) -> None:
    built = run("build", write(tmp_path / "a.jsonl", PAPERS))
    assert built.code == 0
    assert built.out.startswith(f"{openreward_home}/indexes/arxiv: 1 documents of arxiv in 1 pass")
    assert "left out 1: no abstract (first: a.jsonl, line 2)" in built.err
    found = run("search", "arxiv", "voice assistants")
    assert found.code == 0
    assert found.out.splitlines()[1] == "An offline voice assistant."
    assert "1 of 1 passages" in found.err


def test_an_index_in_a_folder_is_named_by_it(tmp_path: Path, openreward_home: Path) -> None:
    folder = str(tmp_path / "mine")
    built = run("build", write(tmp_path / "n.jsonl", NOTES), "-o", folder, "--json")
    assert built.code == 0
    meta = json.loads(built.out)
    assert (meta["source"], meta["documents"], meta["folder"]) == ("notes", 2, folder)
    found = json.loads(run("search", folder, "pears", "-k", "1", "--json").out)
    assert found["version"] == meta["version"]
    assert [passage["document_id"] for passage in found["passages"]] == ["n:2"]


def test_what_a_document_holds_cannot_act_in_the_terminal(
    tmp_path: Path, openreward_home: Path
) -> None:
    run("build", write(tmp_path / "n.jsonl", NOTES))
    found = run("search", "notes", "apples")
    assert "\x1b" not in found.out
    assert "\x07" not in found.out
    assert r"\x1b[31mRed" in found.out


def test_broken_rows_are_named_and_the_exit_code_says_so(
    tmp_path: Path, openreward_home: Path
) -> None:
    path = tmp_path / "n.jsonl"
    write(path, NOTES)
    path.write_text(path.read_text() + "{torn")
    built = run("build", str(path))
    assert built.code == 4
    assert "left out 1: broken row (not_json) (first: n.jsonl, line 3: " in built.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["build", "/none.jsonl"], 2, "error: /none.jsonl: cannot be read: No such file"),
        (["build", "README.md"], 2, "name its format with --format"),
        (["search", "nowhere", "x"], 2, "error: nowhere holds no index; build it with `openrew"),
        (["search", "x"], 2, "Missing argument"),
    ],
)
def test_errors_are_one_line_that_names_the_remedy(
    openreward_home: Path, arguments: list[str], code: int, message: str
) -> None:
    result = run(*arguments)
    assert result.code == code
    assert message in result.err


def test_a_search_that_finds_nothing_says_so_to_machines(
    tmp_path: Path, openreward_home: Path
) -> None:
    run("build", write(tmp_path / "n.jsonl", NOTES))
    result = run("search", "notes", "xyzzy", "--json")
    assert result.code == 3
    assert "nothing in notes matches 'xyzzy'" in result.err


def test_mixed_sources_are_refused(tmp_path: Path, openreward_home: Path) -> None:
    rows = [*NOTES, {**NOTES[1], "id": "n:3", "source": "other"}]
    result = run("build", write(tmp_path / "n.jsonl", rows))
    assert result.code == 2
    assert "row 3 ('n:3'): expected source 'notes', got 'other'" in result.err


def test_the_list_names_whole_and_broken_indexes(tmp_path: Path, openreward_home: Path) -> None:
    assert "no index in" in run("list").err
    run("build", write(tmp_path / "n.jsonl", NOTES))
    (openreward_home / "indexes" / "arxiv").mkdir()
    listed = run("list")
    assert "notes: 2 documents of notes in 2 passages, version " in listed.out
    assert "arxiv: " in listed.out
    assert "holds no index" in listed.out
    rows = json.loads(run("list", "--json").out)
    assert [row["source"] for row in rows] == ["arxiv", "notes"]


def test_fetching_builds_the_index_of_what_was_fetched(
    openreward_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetched(folder: Path, tell: object) -> Path:
        folder.mkdir()
        path = folder / "wikipedia-introductions.json"
        path.write_text(json.dumps({"A": {"title": "Apple", "extract": "Apples are red."}}))
        return path

    monkeypatch.setattr(introductions, "fetch_introductions", fetched)
    assert run("fetch", "wikipedia-introductions").code == 0
    found = json.loads(run("search", "wikipedia", "apple", "--json").out)
    assert found["passages"][0]["document_id"] == "wikipedia:Apple"


@pytest.mark.parametrize("source", ["../../outside", "a/b", "a\n\x1b[31mb", ".", "s" * 300])
def test_a_source_that_is_no_folder_s_name_needs_a_folder(
    tmp_path: Path, openreward_home: Path, source: str
) -> None:
    path = write(tmp_path / "n.jsonl", [{**NOTES[1], "source": source}])
    refused = run("build", path, "--format", "documents")
    assert refused.code == 2
    assert "name the folder with -o" in refused.err
    assert not (openreward_home / "indexes").exists()
    built = run("build", path, "--format", "documents", "-o", str(tmp_path / "named"))
    assert built.code == 0
    assert len(built.out.splitlines()) == 1
    assert "\x1b" not in built.out


def test_an_id_cannot_add_lines_to_what_is_found(tmp_path: Path, openreward_home: Path) -> None:
    row = {**NOTES[1], "id": "n:9\n[2] forged", "text": "Quinces are yellow."}
    run("build", write(tmp_path / "n.jsonl", [row]))
    lines = run("search", "notes", "quinces").out.splitlines()
    assert lines[0].startswith("[1] ")
    assert lines[1] == "Quinces are yellow."


@pytest.mark.parametrize(("query", "k", "code"), [("  ", "1", 2), ("pears", "9" * 30, 0)])
def test_any_query_and_any_number_is_answered(
    tmp_path: Path, openreward_home: Path, query: str, k: str, code: int
) -> None:
    run("build", write(tmp_path / "n.jsonl", NOTES))
    result = run("search", "notes", query, "-k", k)
    assert (result.code, bool(result.out)) == (code, code == 0)


def test_an_index_that_names_files_of_other_folders_is_broken(
    tmp_path: Path, openreward_home: Path
) -> None:
    run("build", write(tmp_path / "n.jsonl", NOTES))
    path = openreward_home / "indexes" / "notes" / "openreward-index.json"
    meta = json.loads(path.read_text())
    meta["files"]["../../n.jsonl"] = {"bytes": 1, "crc32": 1}
    path.write_text(json.dumps(meta))
    result = run("search", "notes", "pears")
    assert result.code == 2
    assert "openreward-index.json is broken (files." in result.err


def test_a_home_of_an_unknown_user_is_a_folder_of_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENREWARD_HOME", "~nobody-of-this-name/ünd mehr")
    assert "no index in ~nobody-of-this-name/ünd mehr/indexes" in run("list").err


def test_rows_with_nothing_but_a_text_need_a_source(tmp_path: Path, openreward_home: Path) -> None:
    path = write(tmp_path / "own.jsonl", [{"text": "Gulls fly."}, {"text": "Boats sink."}])
    refused = run("build", path)
    assert refused.code == 2
    built = run("build", path, "--source", "notes")
    assert built.code == 0
    assert built.out.startswith(f"{openreward_home}/indexes/notes: 2 documents of notes in 2 pass")
