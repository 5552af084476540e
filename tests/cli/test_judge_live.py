"""`openreward judge` over live services: what is asked, refused, counted and said."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from judge_runs import judgments, manifest
from live_runs import down, flags, openreward, served

ALL = ("wikipedia", "arxiv", "pubmed")


def test_a_live_service_is_searched_counted_and_cached(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        run = openreward(tmp_path, *flags())
        asked = len(server.requests)
        again = openreward(tmp_path, *flags(output="again.jsonl"))
        assert len(server.requests) == asked  # all from the cache
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[1] == "with a real search: 4 of 4 (100%)"
    assert run.stdout.splitlines()[2] == "searches: 8 ok (4 from the cache)"  # two orders
    assert again.stdout.splitlines()[2] == "searches: 8 ok (8 from the cache)"
    assert {each.params["email"] for each in server.requests} == {"ada@example.org"}
    found = judgments(tmp_path / "out.jsonl")
    assert {each.evidence[0].passage.document_id for each in found} == {"pubmed:101"}
    config = manifest(tmp_path / "out.jsonl").config
    assert config["live"] == {"pubmed": f"live/1 {server.url}/eutils"}
    assert (config["indexes"], config["mcp"], config["tape"]) == ({}, None, None)


def test_a_key_goes_to_the_service_and_nowhere_else(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        with (tmp_path / "tools.toml").open("a") as file:
            file.write('api_key_env = "MY_KEY"\n')  # of pubmed, the last in the file
        command = flags("--tape", "record=tape.jsonl")
        refused = openreward(tmp_path, *command)
        run = openreward(tmp_path, *command, MY_KEY="s3cret")
    assert refused.returncode == 2
    assert "services.pubmed.api_key_env: expected a key in the variable 'MY_KEY'" in refused.stderr
    assert (run.returncode, run.stderr) == (0, "")
    assert {each.params["api_key"] for each in server.requests} == {"s3cret"}
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"s3cret" not in path.read_bytes(), path


def test_without_a_contact_nothing_is_asked(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        path = tmp_path / "tools.toml"
        path.write_text(path.read_text().replace('contact = "ada@example.org"', ""))
        run = openreward(tmp_path, *flags())
        assert run.returncode == 2
        assert "pubmed: expected the operator's contact, got none" in run.stderr
        assert not (tmp_path / "out.jsonl").exists()
        assert server.requests == []
        wrong = openreward(tmp_path, *flags("--contact", "ada"))
        assert wrong.returncode == 2
        assert "--contact: expected a contact like ada@example.org" in wrong.stderr
        by_variable = openreward(tmp_path, *flags(), OPENREWARD_CONTACT="bob@example.org")
        assert by_variable.returncode == 0
        assert {each.params["email"] for each in server.requests} == {"bob@example.org"}


def test_several_machines_without_one_budget_are_refused(tmp_path: Path) -> None:
    with served(tmp_path) as server:
        run = openreward(tmp_path, *flags(), SLURM_NNODES="2")
        assert server.requests == []
    assert run.returncode == 2
    assert "spreads over several machines (SLURM_NNODES=2)" in run.stderr
    assert "`openreward budget serve`" in run.stderr


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--live", "web"), "--live: expected one of wikipedia, arxiv, pubmed, all, got 'web'"),
        (("--index", "pubmed=x"), "pubmed: expected --live or --index for a source, got both"),
        (("--no-tools",), "expected --live or --no-tools, got both; drop one"),
        (("--tape", "rec=x"), "--tape: expected MODE=FILE, MODE one of record, replay, replay-st"),
        (("--tape", "replay="), "--tape: expected MODE=FILE"),
        (("--tape", "replay=none.jsonl"), "none.jsonl: expected a tape, got no such file"),
        (("--tape", "replay-strict=none.jsonl"), "none.jsonl: expected a tape, got no such file"),
        (("--tools", "none.toml"), "none.toml: cannot be read"),
    ],
)
def test_flags_that_cannot_be_meant_are_refused(
    tmp_path: Path, more: tuple[str, ...], said: str
) -> None:
    with served(tmp_path) as server:
        run = openreward(tmp_path, *flags(*more))
        assert server.requests == []
    assert (run.returncode, run.stdout) == (2, "")
    assert said in run.stderr
    assert not (tmp_path / "out.jsonl").exists()


def test_with_all_sources_down_each_trajectory_ends_and_the_summary_says_so(tmp_path: Path) -> None:
    with served(tmp_path, down) as server:
        run = openreward(tmp_path, *flags(live=["all"]), TOOLS=" ".join(ALL))
        assert {each.path.split("/")[1] for each in server.requests} == {"w", "api", "eutils"}
        whole = openreward(
            tmp_path, *flags("--json", live=ALL, output="b.jsonl"), TOOLS=" ".join(ALL)
        )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.splitlines()[1:5] == [
        "with a real search: 0 of 4 (0%)",
        "searches: 24 unavailable",
        "in 4 of 4 rows every search failed by its service: those verdicts were made without "
        "evidence",
        "trajectories in which every search failed by its service: 8",
    ]
    for each in judgments(tmp_path / "out.jsonl"):
        assert [vote.trajectory.stop_reason for vote in each.votes] == ["verdict", "verdict"]
        assert each.notes == (
            "in 2 of 2 trajectories every search failed by its service: judged without evidence",
        )
    summary = json.loads(whole.stdout)
    assert (summary["searches"]["unavailable"], summary["searches"]["ok"]) == (24, 0)
    assert (summary["unserved"], summary["unserved_trajectories"]) == (4, 8)


def test_one_pair_says_so_too(tmp_path: Path) -> None:
    pair = ("--query", "question 1 of poles", "--a", "x", "--b", "y")
    with served(tmp_path, down):
        run = openreward(tmp_path, "judge", *pair, *flags()[4:])
    assert run.returncode == 0
    lines = run.stdout.splitlines()
    assert lines[1] == (
        "note: in 2 of 2 trajectories every search failed by its service: judged without evidence"
    )
    assert "searches: 2 unavailable" in lines
