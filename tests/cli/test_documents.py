from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from document_runs import TEXT, documents, fetch, ids, library, served, start
from live_runs import openreward
from service_server import Answer, Asked, of_type

from openreward.cli.documents import ncbi_rule
from openreward.resume import read_manifest

NAMES = {
    "wikipedia": lambda n: f"wikipedia:Pole {n}",
    "arxiv": lambda n: f"arxiv:2401.{n:05}",
    "pubmed": lambda n: f"pubmed:{n}",
}


def names(source: str, count: int) -> list[str]:
    return [NAMES[source](number) for number in range(1, count + 1)]


@pytest.mark.parametrize("source", NAMES)
def test_documents_come_whole_in_the_services_order(source: str, tmp_path: Path) -> None:
    with served(tmp_path, library(120)):
        run = fetch(tmp_path, source, n=5)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == f"out.jsonl: 5 documents of {source}\n"
    assert ids(tmp_path) == names(source, 5)
    assert {document.text for document in documents(tmp_path)} == {TEXT}
    assert all(
        document.url and document.url.startswith("https:") for document in documents(tmp_path)
    )


def test_an_index_is_built_from_what_was_fetched(tmp_path: Path) -> None:
    with served(tmp_path, library(120)):
        assert fetch(tmp_path, "arxiv", n=5).returncode == 0
    built = openreward(tmp_path, "index", "build", "out.jsonl", "-o", "index")
    assert (built.returncode, built.stderr) == (0, "")
    assert "5 documents of arxiv" in built.stdout


def test_each_query_gives_so_many_that_are_new(tmp_path: Path) -> None:
    with served(tmp_path, library(120)):
        run = fetch(tmp_path, "arxiv", "--json", queries=("poles", "tall poles", "poles"), n=3)
    assert (run.returncode, run.stderr) == (0, "")
    assert ids(tmp_path) == names("arxiv", 6)
    shown = json.loads(run.stdout)
    assert (shown["documents"], shown["left_out"]) == (6, {"met again": 3})
    assert [(q["query"], q["rows"], q["met"]) for q in shown["queries"]] == [
        ("poles", 3, 3),
        ("tall poles", 3, 6),
    ]


def test_too_few_is_said(tmp_path: Path) -> None:
    with served(tmp_path, library(4)):
        run = fetch(tmp_path, "pubmed", queries=("poles", "nothing"), n=9)
    assert (run.returncode, run.stdout) == (0, "out.jsonl: 4 documents of pubmed\n")
    first, second = run.stderr.splitlines()
    assert first == "'poles': 4 of 9 documents: the service has no more"
    assert second.startswith("'nothing': 0 of 9 documents: nothing in PubMed matches 'nothing'; ")


def test_a_query_that_cannot_be_asked_leaves_the_others_be(tmp_path: Path) -> None:
    with served(tmp_path, library(9)):
        run = fetch(tmp_path, "arxiv", queries=("?!", "poles"), n=2)
    assert run.returncode == 4
    assert ids(tmp_path) == names("arxiv", 2)
    assert run.stderr.startswith("'?!': 0 of 2 documents: the query '?!' holds no word")


def test_no_document_at_all_is_an_error(tmp_path: Path) -> None:
    with served(tmp_path, library(9)):
        run = fetch(tmp_path, "arxiv", "--json", queries=("nothing",))
    assert (run.returncode, run.stdout) == (2, "")
    assert json.loads(run.stderr)["error"].startswith(
        "arxiv gave no document: nothing in arXiv matches 'nothing'; "
    )


def test_without_a_contact_nothing_is_asked(tmp_path: Path) -> None:
    with served(tmp_path, library(9)) as server:
        settings = (tmp_path / "tools.toml").read_text().partition("\n")[2]
        (tmp_path / "tools.toml").write_text(settings)
        run = fetch(tmp_path, "arxiv")
        assert server.requests == []
    assert run.returncode == 2
    assert "expected the operator's contact" in run.stderr
    assert not (tmp_path / "out.jsonl").exists()


# --- stopped, killed, gone on with


def wait_for_rows(process: subprocess.Popen[str], path: Path, count: int) -> None:
    end = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < end:
        if path.exists() and path.read_bytes().count(b"\n") >= count:
            return
        time.sleep(0.002)


@pytest.mark.parametrize("source", NAMES)
def test_killed_runs_give_every_document_once(source: str, tmp_path: Path) -> None:
    out, queries = tmp_path / "out.jsonl", ("poles", "tall poles")
    n = 25 if source == "wikipedia" else 150  # one request each, or one for a hundred
    with served(tmp_path, library(400, delay=0.03)):
        for rows in (1, 3, 12):
            with start(tmp_path, source, "--resume", queries=queries, n=n) as process:
                wait_for_rows(process, out, rows)
                process.kill()
                process.communicate()
        with out.open("ab") as file:
            file.write(b'{"id": "arxiv:torn')  # the power fails within a write
        before = ids_of_whole_lines(out)
        end = fetch(tmp_path, source, "--resume", queries=queries, n=n)
    assert end.returncode == 0, end.stderr
    assert ids(tmp_path)[: len(before)] == before
    assert ids(tmp_path) == names(source, 2 * n)


def ids_of_whole_lines(path: Path) -> list[str]:
    lines = path.read_bytes().split(b"\n")[:-1]
    return [json.loads(line)["id"] for line in lines]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_how_to_go_on_and_asks_nothing_twice(
    number: signal.Signals, tmp_path: Path
) -> None:
    with served(tmp_path, library(60, delay=0.05)) as server:
        with start(tmp_path, "wikipedia", n=30) as process:
            wait_for_rows(process, tmp_path / "out.jsonl", 5)
            process.send_signal(number)
            _, stderr = process.communicate(timeout=30)
        assert process.returncode == 130
        assert stderr == (
            "error: interrupted; what is done is in out.jsonl; the same command with --resume "
            "goes on\n"
        )
        done, asked = len(ids(tmp_path)), len(server.requests)
        manifest = read_manifest(tmp_path / "out.jsonl")
        assert manifest is not None
        assert (manifest.state, manifest.totals.rows) == ("stopped", done)
        assert 5 <= done < 30
        assert fetch(tmp_path, "wikipedia", "--resume", n=30).returncode == 0
        later = [each.params for each in server.requests[asked:]]
    assert ids(tmp_path) == names("wikipedia", 30)
    whole = {f"Pole {n}" for n in range(1, done + 1)}
    assert not any(each.get("titles") in whole for each in later)


def test_a_finished_run_asks_nothing_more(tmp_path: Path) -> None:
    with served(tmp_path, library(9)) as server:
        assert fetch(tmp_path, "arxiv").returncode == 0
        asked = len(server.requests)
        again = fetch(tmp_path, "arxiv", "--resume")
        assert len(server.requests) == asked
    assert (again.returncode, again.stdout) == (0, "out.jsonl: 5 documents of arxiv\n")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n": 6}, "config.n: 5 then, 6 now"),
        ({"queries": ("pole",)}, "config.queries: ['poles'] then, ['pole'] now"),
        ({"source": "pubmed"}, "config.source: 'arxiv' then, 'pubmed' now"),
    ],
    ids=["n", "queries", "source"],
)
def test_other_settings_are_refused(change: dict[str, object], said: str, tmp_path: Path) -> None:
    with served(tmp_path, library(9)):
        assert fetch(tmp_path, "arxiv").returncode == 0
        before = (tmp_path / "out.jsonl").read_bytes()
        given: dict[str, object] = {"source": "arxiv", "queries": ("poles",), "n": 5, **change}
        run = fetch(tmp_path, str(given.pop("source")), "--resume", **given)  # type: ignore[arg-type]
    assert run.returncode == 2
    assert said in run.stderr
    assert (tmp_path / "out.jsonl").read_bytes() == before


def test_an_output_that_exists_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "out.jsonl").write_text("mine")
    with served(tmp_path, library(9)) as server:
        run = fetch(tmp_path, "arxiv")
        assert server.requests == []
    assert run.returncode == 2
    assert "exists already; continue it with --resume" in run.stderr
    assert (tmp_path / "out.jsonl").read_text() == "mine"


def test_a_service_that_fails_in_the_middle_is_gone_on_with(tmp_path: Path) -> None:
    broken = True

    def answer(asked: Asked) -> Answer:
        if broken and asked.params.get("start") == "100":
            return of_type("text/html", "down", 503)
        return library(300)(asked)

    with served(tmp_path, answer):
        run = fetch(tmp_path, "arxiv", n=150)
        assert (run.returncode, run.stdout) == (3, "")
        assert run.stderr.endswith("; 100 documents are in out.jsonl; go on with --resume\n")
        assert ids(tmp_path) == names("arxiv", 100)
        broken = False
        assert fetch(tmp_path, "arxiv", "--resume", n=150).returncode == 0
    assert ids(tmp_path) == names("arxiv", 150)


@pytest.mark.parametrize("source", NAMES)
def test_a_query_of_which_any_word_was_asked_for_is_gone_on_with(
    source: str, tmp_path: Path
) -> None:
    def answer(asked: Asked) -> Answer:
        words = asked.params
        said = words.get("srsearch") or words.get("search_query") or words.get("term") or "OR"
        return library(120 if " OR " in said or said == "OR" else 0)(asked)

    out = tmp_path / "out.jsonl"
    with served(tmp_path, answer):
        assert fetch(tmp_path, source, queries=("tall poles",), n=9).returncode == 0
        manifest = out.with_name("out.jsonl.manifest.json")
        manifest.write_text(manifest.read_text().replace('"done": true', '"done": false'))
        out.write_bytes(b"".join(out.read_bytes().splitlines(keepends=True)[:4]))
        assert fetch(tmp_path, source, "--resume", queries=("tall poles",), n=9).returncode == 0
    assert ids(tmp_path) == names(source, 9)


# --- NCBI's hours


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (datetime(2026, 1, 6, 15, 0, tzinfo=UTC), "there it is Tuesday 10:00: it is not: stop"),
        (datetime(2026, 7, 7, 8, 59, tzinfo=UTC), "there it is Tuesday 04:59: as it is"),
        (datetime(2026, 7, 7, 9, 0, tzinfo=UTC), "there it is Tuesday 05:00: it is not: stop"),
        (datetime(2026, 7, 8, 0, 59, tzinfo=UTC), "there it is Tuesday 20:59: it is not: stop"),
        (datetime(2026, 7, 8, 1, 0, tzinfo=UTC), "there it is Tuesday 21:00: as it is"),
        (datetime(2026, 7, 11, 16, 0, tzinfo=UTC), "there it is Saturday 12:00: as it is"),
    ],
)
def test_large_jobs_at_ncbi_have_their_hours(now: datetime, said: str) -> None:
    rule = ncbi_rule(250, now)
    assert rule.startswith("this takes about 250 requests; NCBI asks that jobs of more than 100 ")
    assert said in rule


def test_the_hours_are_told_before_a_large_job_begins(tmp_path: Path) -> None:
    with served(tmp_path, library(3)):
        large = fetch(tmp_path, "pubmed", n=9_100)
    assert large.stderr.startswith("warning: this takes about 101 requests; NCBI asks ")
    assert large.returncode == 0
