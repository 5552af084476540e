"""`openreward search`: what a model would get, by hand."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from live_runs import Serve, down, library, openreward, served, world
from service_server import Answer, Asked, of_xml

from openreward.tools.index_builder import build
from openreward.types import Document

LIVE = ("--live", "--tools", "tools.toml")
COUNTS = "<Count>0</Count><RetMax>0</RetMax><RetStart>0</RetStart><IdList/>"
EMPTY = f"<eSearchResult>{COUNTS}</eSearchResult>"


def empty(asked: Asked) -> Answer:
    """PubMed, where nothing matches."""
    assert asked.path.endswith("esearch.fcgi")
    return of_xml(EMPTY)


def test_a_live_service_is_searched_as_the_model_does(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        run = openreward(tmp_path, "search", "pubmed", "ten", "metre", "pole", *LIVE, "-k", "1")
        assert server.requests[0].params["term"] == "ten metre pole"
    assert run.returncode == 0
    assert run.stdout.splitlines()[:2] == [
        "[1] Poles in medicine. (pubmed:101, 2020-01-02)",
        "    https://pubmed.ncbi.nlm.nih.gov/101/",
    ]
    assert "They were ten metres tall." in run.stdout
    assert "[2]" not in run.stdout
    assert run.stderr.startswith("pubmed_search: ok, 1 passages, ")


def test_for_machines_there_is_one_object_and_the_cache_is_shown(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        runs = [openreward(tmp_path, "search", "pubmed", "pole", *LIVE, "--json") for _ in range(2)]
        version = f"live/1 {server.url}/eutils"
    first, second = (json.loads(run.stdout) for run in runs)
    assert (first["status"], first["cached"], second["cached"]) == ("ok", False, True)
    assert first["passages"] == second["passages"] != []
    assert (first["tool"], first["arguments"]) == ("pubmed_search", {"query": "pole"})
    assert first["depends"]["live"] == {"pubmed": version}
    assert [run.stderr for run in runs] == ["", ""]
    text = openreward(tmp_path, "search", "pubmed", "POLE", *LIVE)
    assert text.stderr.rstrip().endswith("s, from the cache")  # though the service is gone


@pytest.mark.parametrize(
    ("serve", "query", "code", "status", "said"),
    [
        (empty, "pole", 0, "no_result", ""),
        (world, "?!", 2, "bad_query", "error: pubmed: the query '?!' holds no word"),
        (down, "pole", 3, "unavailable", "error: pubmed: unavailable: "),
    ],
    ids=["no result", "bad query", "down"],
)
def test_what_is_not_found_is_a_line_and_a_code(
    tmp_path: Path, serve: Serve, query: str, code: int, status: str, said: str
) -> None:
    with served(tmp_path, serve):
        run = openreward(tmp_path, "search", "pubmed", query, *LIVE)
        machine = openreward(tmp_path, "search", "pubmed", query, *LIVE, "--json")
    assert (run.returncode, machine.returncode) == (code, code)
    assert run.stderr.splitlines()[-1].startswith(said or "pubmed_search: no_result, ")
    assert (run.stdout.strip() != "") == (status == "no_result")
    found = json.loads(machine.stdout)
    assert (found["status"], found["passages"]) == (status, [])
    assert (json.loads(machine.stderr)["exit_code"] if code else 0) == code


def test_the_local_index_is_the_default(tmp_path: Path) -> None:
    ada = Document(id="Ada", source="wikipedia", title="Ada", text="Ada wrote.", revision="7")
    build([ada], tmp_path / "home" / "indexes" / "wikipedia", "wikipedia")
    run = openreward(tmp_path, "search", "wikipedia", "ada")
    assert (run.returncode, run.stdout) == (0, "[1] Ada (Ada, 7)\nAda wrote.\n\n")
    named = str(tmp_path / "home" / "indexes" / "wikipedia")
    other = openreward(tmp_path, "search", "wikipedia", "ada", "--index", named)
    assert other.stdout == run.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("wikipedia", "ada"), "no index of 'wikipedia' in "),
        (("web", "ada", "--live"), "expected SOURCE among wikipedia, arxiv, pubmed, or SERVER"),
        (("all", "ada", "--live"), "expected SOURCE among wikipedia, arxiv, pubmed, or SERVER"),
        (("pubmed", "ada", "--live"), "expected the operator's contact"),
        (("pubmed", "ada", "--live", "--index", "x"), "expected --live or --index, got both"),
        (("pubmed", "ada", "--index", "x"), "x"),
        (("a/b", "x=1", "--live"), "leave them out for SERVER/TOOL"),
    ],
)
def test_what_cannot_be_searched_is_refused(
    tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    run = openreward(tmp_path, "search", *arguments)
    assert (run.returncode, run.stdout) == (2, "")
    assert said in run.stderr


def test_a_tool_of_an_mcp_server_is_called_with_its_arguments(tmp_path: Path) -> None:
    (tmp_path / "tools.toml").write_text(library())
    call = ("search", "books/lend", "title=007", "days=3", "--tools", "tools.toml")
    run = openreward(tmp_path, *call)
    assert (run.returncode, run.stdout.splitlines()[0]) == (0, "[1] lend (books/lend#1)")
    assert "'007' is lent for 3 days." in run.stdout
    machine = json.loads(openreward(tmp_path, *call, "--json").stdout)
    assert machine["arguments"] == {"title": "007", "days": 3}
    assert machine["depends"] == {"mcp": {"books": "library 1.2"}}
    find = ("search", "books/find_book", "title=Ada", "--tools", "tools.toml", "--json")
    answers = [json.loads(openreward(tmp_path, *find).stdout) for _ in range(2)]
    assert [answer["cached"] for answer in answers] == [False, True]  # it only reads


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("books/none", "a=1"), 2, "mcp.books.tools: expected tools of that server, got 'non"),
        (("other/find_book", "a=1"), 2, "there: books), got 'other'"),
        (("books/find_book", "Ada"), 2, "expected NAME=VALUE, got 'Ada'; names: title"),
        (("books/find_book", "name=Ada"), 2, "title"),
        (("books/hang", "text=x", "--seconds", "0.5"), 3, "did not answer within 0.5 s"),
        (("books/die", "text=x"), 3, "books/die: unavailable: "),
    ],
)
def test_what_an_mcp_server_cannot_do_is_a_line_and_a_code(
    tmp_path: Path, arguments: tuple[str, ...], code: int, said: str
) -> None:
    (tmp_path / "tools.toml").write_text(library())
    run = openreward(tmp_path, "search", *arguments, "--tools", "tools.toml")
    assert (run.returncode, run.stdout) == (code, "")
    assert said in run.stderr
    assert len(run.stderr.splitlines()) == 1
