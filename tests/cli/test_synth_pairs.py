"""`openreward synth pairs`: shards and Ray give the same, kills and faults lose nothing."""

from __future__ import annotations

import json
import os
import random
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pair_processes import SCRIPTED, SETS, pairs, rows, run, same_set, start
from pair_runs import document, write_documents
from writer_server import Failure, WriterServer, completion

from openreward.resume import read_manifest


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty documents, and the set of one run over them in `one`."""
    folder = tmp_path_factory.mktemp("pairs")
    write_documents(folder / "towns.jsonl", 60)
    ended = run(folder, "pairs", "towns.jsonl", "-o", "one", *SCRIPTED)
    assert (ended.returncode, ended.stderr) == (0, "")
    return folder


def test_documents_become_labelled_pairs_in_three_splits(whole: Path) -> None:
    made = [pair for name in SETS[:3] for pair in pairs(whole / "one", name)]
    assert len(made) >= 30
    for pair in made:
        number = int(pair.id.partition("#")[0].removeprefix("town:"))
        founded = f"founded in {1400 + 13 * number} "
        assert [founded in text for text in pair.responses] == [
            pair.label == 0, pair.label == 1,
        ]  # fmt: skip
        assert pair.source == document(number)["source"]
        assert (pair.meta["document"], pair.meta["writer"], pair.meta["prompts"]) == (
            f"town:{number}", "writer: scripted writer", "1",
        )  # fmt: skip
        assert (pair.meta["start"], pair.meta["end"]) == (0, len(document(number)["text"]))
    summary = json.loads((whole / "one" / "summary.json").read_text())
    assert sum(source["documents"] for source in summary["sources"]) == 60
    assert sum(source["pairs"] for source in summary["sources"]) == len(made)
    assert summary["usage"]["completion_tokens"] > 1000


def test_two_shards_in_two_processes_give_the_same_set(whole: Path) -> None:
    both = [
        start(whole, "pairs", "towns.jsonl", "-o", f"s{k}", *SCRIPTED, "--shard", f"{k}/2")
        for k in (1, 2)
    ]
    for process in both:
        with process:
            assert process.wait(timeout=120) == 0
    halves = [rows(whole / "s1"), rows(whole / "s2")]
    assert halves[0].keys().isdisjoint(halves[1])
    assert min(map(len, halves)) >= 15
    assert halves[0] | halves[1] == rows(whole / "one")
    merged = run(whole, "merge", "s2", "s1", "-o", "merged")
    assert (merged.returncode, merged.stderr) == (0, "")
    assert same_set(whole / "one", whole / "merged")


@pytest.mark.slow
def test_a_local_ray_gives_the_same_set_and_goes_on_with_a_killed_run(whole: Path) -> None:
    pytest.importorskip("ray", reason="Ray is not installed; the extra [scale] brings it")
    half = (whole / "one" / "rows.jsonl").read_bytes().splitlines(keepends=True)[:25]
    folder = whole / "ray"
    folder.mkdir()
    (folder / "rows.jsonl").write_bytes(b"".join(half) + b'{"id": "torn')
    name = "rows.jsonl.manifest.json"
    (folder / name).write_bytes((whole / "one" / name).read_bytes())
    flags = ("--ray", "local", "--ray-actors", "2", "--resume")
    ended = run(whole, "pairs", "towns.jsonl", "-o", "ray", *SCRIPTED, *flags)
    assert ended.returncode == 0, ended.stderr
    assert rows(folder) == rows(whole / "one")
    assert same_set(whole / "one", folder)


@pytest.mark.slow
def test_kills_lose_nothing_and_write_nothing_twice(whole: Path) -> None:
    seed = int(os.environ.get("KILL_SEED", random.SystemRandom().randrange(10**6)))
    sys.stderr.write(f"KILL_SEED={seed}\n")
    chance = random.Random(seed)
    command = ("pairs", "towns.jsonl", "-o", "killed", *SCRIPTED, "--resume")
    for _ in range(4):
        with start(whole, *command, "--policy", "pair_runs:slow_writer") as process:
            path = whole / "killed" / "rows.jsonl"
            before = path.read_bytes().count(b"\n") if path.exists() else 0
            end = time.monotonic() + 30
            while process.poll() is None and time.monotonic() < end:
                if path.exists() and path.read_bytes().count(b"\n") > before + chance.randrange(6):
                    break
                time.sleep(0.005)
            process.kill()
            process.communicate()
    done = len(rows(whole / "killed"))
    assert 0 < done < 60, seed
    with path.open("ab") as file:
        file.write(b'{"id": "town:3", "sour')
    ended = run(whole, *command, "--policy", "pair_runs:slow_writer")
    assert ended.returncode == 0, (seed, ended.stderr)
    slow, fast = rows(whole / "killed"), rows(whole / "one")
    assert slow == fast, seed
    assert same_set(whole / "one", whole / "killed"), seed


def faulty(number: int) -> Failure | None:
    """Of each ten requests: a limit, a broken connection, a cut and an empty answer."""
    return {
        2: Failure(429, {"error": {"message": "slow down"}}, {"Retry-After": "0"}),
        4: Failure(),
        6: Failure(200, completion("The town of Arling was", "length")),
        8: Failure(200, completion("")),
    }.get(number % 10)


def test_limits_cuts_and_empty_answers_are_never_pairs(whole: Path) -> None:
    with WriterServer(faulty) as server:
        ended = run(
            whole, "pairs", "towns.jsonl", "-o", "faulty", "--writer", server.target, "--same", "1",
            "--query-tries", "1",
        )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    found = rows(whole / "faulty")
    assert len(found) == 60
    reasons = {row.drop.reason for row in found.values() if row.drop}
    assert {"cut", "empty"} <= reasons
    assert "error" not in reasons
    for row in found.values():
        if row.drop is None:
            assert row.positive
            assert row.negative
            for text in (row.positive.text, row.negative.text):
                assert text.endswith(("closed.", "autumn."))


def test_a_writer_that_is_down_for_a_while_is_waited_for(whole: Path) -> None:
    with WriterServer(lambda number: None) as first:
        port, target = first.port, first.target
        process = start(
            whole, "pairs", "towns.jsonl", "-o", "down", "--writer", target, "--same", "1",
            "--concurrency", "4",
        )  # fmt: skip
        end = time.monotonic() + 60
        while first.requests < 20 and time.monotonic() < end:
            time.sleep(0.01)
    time.sleep(4)  # longer than the policy itself tries
    with process, WriterServer(lambda number: None, port):
        out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    found = rows(whole / "down")
    assert found.keys() == rows(whole / "one").keys()
    assert [row.drop for row in found.values() if row.drop and row.drop.reason == "error"] == []


def test_a_writer_that_stays_down_stops_the_run_and_resume_goes_on(whole: Path) -> None:
    command = ("pairs", "towns.jsonl", "-o", "gone", "--same", "1", "--concurrency", "2")
    with WriterServer(lambda number: Failure() if number > 30 else None) as server:
        port = server.port
        ended = run(whole, *command, "--writer", server.target, "--patience", "0")
    assert ended.returncode == 3, ended.stderr
    assert "then go on with --resume" in ended.stderr
    assert "Traceback" not in ended.stderr
    done = rows(whole / "gone")
    assert 0 < len(done) < 60
    with WriterServer(lambda number: None, port) as server:
        ended = run(whole, *command, "--writer", server.target, "--resume")
    assert ended.returncode == 0, ended.stderr
    assert rows(whole / "gone").keys() == rows(whole / "one").keys()
    assert {id: row for id, row in rows(whole / "gone").items() if id in done} == done


def test_documents_that_fail_by_the_engine_are_named_and_done_on_resume(whole: Path) -> None:
    command = ("pairs", "towns.jsonl", "-o", "busy", "--same", "1", "--patience", "0")
    with WriterServer(
        lambda number: Failure(500, {"error": {"message": "broken"}}) if number % 3 == 0 else None
    ) as server:
        port = server.port
        ended = run(whole, *command, "--writer", server.target, "--limit", "10")
        manifest = read_manifest(whole / "busy" / "rows.jsonl")
    assert manifest
    if manifest.dropped:
        assert ended.returncode == 4
        assert "left out" in ended.stderr
    with WriterServer(lambda number: None, port) as server:
        ended = run(whole, *command, "--writer", server.target, "--resume")
    assert ended.returncode == 0, ended.stderr
    assert len(rows(whole / "busy")) == 60


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--shard", "3/2"), "--shard: expected K/N with K from 1 to N"),
        (("--sample", "wikipedia"), "--sample: expected SOURCE=N"),
        (("--sample", "medline=3"), "medline"),
        (("--kind", "essay"), "kinds"),
        (("--price", "1"), "--price: expected IN,OUT"),
        (("--answer-words", "90", "60"), "answer_words"),
        (("--dev", "0.6", "--test", "0.5"), "dev + test"),
        (("--ray", "local", "--shard", "1/2"), "--ray takes all documents"),
        (("--avoid", "none.jsonl"), "none.jsonl"),
        (("--writer", "w"), "--writer: expected NAME=TARGET"),
    ],
)
def test_a_users_mistake_is_one_clear_line(
    whole: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    ended = run(whole, "pairs", "towns.jsonl", "-o", str(tmp_path / "wrong"), *SCRIPTED, *arguments)
    assert ended.returncode not in (0, 1)
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "wrong" / "rows.jsonl").exists()
