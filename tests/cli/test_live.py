"""Live services as commands open them: contact, budget and caches of a settings file."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from live_runs import openreward, served, variables

from openreward.cli.live import LiveChoice, find_service, open_service
from openreward.errors import ToolError, UserError
from openreward.tools.live_settings import parse_settings
from openreward.types import Document, Passage

SEARCH = ("search", "pubmed", "pole", "--live", "--tools", "tools.toml", "--json")


def first(folder: Path, more: str = "") -> tuple[Passage, Document]:
    """The first passage and the first document of a query, by the settings file in a folder."""
    path = folder / "tools.toml"
    path.write_text(more + path.read_text())

    async def main() -> tuple[Passage, Document]:
        async with open_service("pubmed", LiveChoice(file=path), patience=60.0) as search:
            found = await search.search("pole", 1)
            async for document in search.documents("pole", 1):
                return found.passages[0], document
            raise AssertionError("no document")

    return asyncio.run(main())


def test_a_service_is_opened_for_searches_and_documents(
    tmp_path: Path, openreward_home: Path
) -> None:
    with served(tmp_path):
        passage, document = first(tmp_path)
    assert (passage.document_id, document.id) == ("pubmed:101", "pubmed:102")
    assert (openreward_home / "budget").is_dir()
    assert not (openreward_home / "cache").exists()


def test_the_contact_of_a_flag_comes_before_the_variable_and_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tools.toml"
    path.write_text('contact = "file@example.org"')
    monkeypatch.setenv("OPENREWARD_CONTACT", "variable@example.org")
    flag = LiveChoice("flag@example.org", path)
    assert flag.settings().contact == "flag@example.org"
    assert LiveChoice(None, path).settings().contact == "variable@example.org"
    monkeypatch.delenv("OPENREWARD_CONTACT")
    assert LiveChoice(None, path).settings().contact == "file@example.org"
    assert LiveChoice().settings().contact is None


def test_several_machines_are_served_when_one_budget_is_named() -> None:
    alone = {"contact": "ada@example.org"}
    common = {**alone, "budget": "http://10.0.0.1:7077"}
    nodes = {"WORLD_SIZE": "16", "LOCAL_WORLD_SIZE": "8"}
    with pytest.raises(UserError, match="arxiv: this run spreads over several machines"):
        find_service("arxiv", parse_settings(alone, "test"), nodes)
    assert find_service("arxiv", parse_settings(common, "test"), nodes).name == "arxiv"


@pytest.mark.parametrize("value", ["", " ", "kéy", "a\nb"])
def test_a_key_that_is_none_is_refused_and_not_shown(value: str) -> None:
    named = {"contact": "ada@example.org", "services": {"pubmed": {"api_key_env": "KEY"}}}
    with pytest.raises(UserError, match="expected a key in the variable 'KEY'") as raised:
        find_service("pubmed", parse_settings(named, "test"), {"KEY": value})
    assert value.strip() not in str(raised.value) or not value.strip()


def test_searches_wait_at_the_endpoint_that_the_settings_name(tmp_path: Path) -> None:
    token = {"BUDGET_TOKEN": "long-enough-to-be-a-token"}
    command = [sys.executable, "-m", "openreward.cli.main", "budget", "serve", "--port", "0"]
    endpoint = subprocess.Popen(
        [*command, "--token-env", "BUDGET_TOKEN"],
        cwd=tmp_path,
        env=variables(tmp_path, token),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert endpoint.stdout is not None
        url = endpoint.stdout.readline().split()[-1]
        with served(tmp_path) as server:
            path = tmp_path / "tools.toml"
            named = f'budget = "{url}"\nbudget_token_env = "BUDGET_TOKEN"\n'
            path.write_text(named + path.read_text())
            run = openreward(tmp_path, *SEARCH, SLURM_NNODES="2", **token)
            assert (run.returncode, run.stderr) == (0, "")
            status = ("budget", "status", "--endpoint", url, "--token-env", "BUDGET_TOKEN")
            assert "pubmed: free now" in openreward(tmp_path, *status, **token).stdout
            asked = len(server.requests)
            endpoint.terminate()
            endpoint.wait(30)
            other = (*SEARCH[:2], "other", *SEARCH[3:])
            down = openreward(tmp_path, *other, SLURM_NNODES="2", **token)
            assert len(server.requests) == asked  # no request without a turn
        assert down.returncode == 3
        assert json.loads(down.stdout)["status"] == "unavailable"
        assert "the budget endpoint" in json.loads(down.stderr.splitlines()[-1])["error"]
    finally:
        endpoint.kill()
        endpoint.communicate()


@pytest.mark.parametrize(
    ("setting", "cached", "folder"),
    [("", True, "home/cache/search"), ("cache = false\n", False, None),
     ('cache = {folder = "mine"}\n', True, "mine")],
    ids=["default", "off", "own folder"],
)  # fmt: skip
def test_answers_are_kept_where_the_settings_say(
    tmp_path: Path, setting: str, cached: bool, folder: str | None
) -> None:
    with served(tmp_path):
        path = tmp_path / "tools.toml"
        path.write_text(setting + path.read_text())
        runs = [openreward(tmp_path, *SEARCH) for _ in range(2)]
    assert [json.loads(run.stdout)["cached"] for run in runs] == [False, cached]
    found = {path.parent.parent for path in tmp_path.rglob("*.json")}
    kept = found - {tmp_path / "home"}  # the budget
    assert kept == ({tmp_path / folder} if folder else set())


def test_an_outage_reaches_the_caller_as_itself(tmp_path: Path, openreward_home: Path) -> None:
    with served(tmp_path):
        pass
    with pytest.raises(ToolError) as raised:
        first(tmp_path)
    assert raised.value.status == "unavailable"
