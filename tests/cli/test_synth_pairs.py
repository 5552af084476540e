"""`openreward synth pairs`: shards and Ray give the same, kills and faults lose nothing."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from pair_runs import document, write_documents
from writer_server import Failure, WriterServer, completion

from openreward.records import Row, read_jsonl
from openreward.resume import read_manifest
from openreward.synth.pair_records import PairRow
from openreward.types import Pair

HERE = Path(__file__).parent
SETS = ("train.jsonl", "dev.jsonl", "test.jsonl", "dropped.jsonl")
SCRIPTED = ("--policy", "pair_runs:writer", "--same", "1")


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "openreward.cli.main", "synth", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(HERE), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    with start(folder, *arguments, **environment) as process:
        try:
            out, err = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def rows(folder: Path) -> dict[str, PairRow]:
    found = [row.record for row in read_jsonl(folder / "rows.jsonl", PairRow)
             if isinstance(row, Row)]  # fmt: skip
    assert len({row.id for row in found}) == len(found)
    return {row.id: row.model_copy(update={"seconds": 0.0}) for row in found}


def pairs(folder: Path, name: str) -> list[Pair]:
    return [row.record for row in read_jsonl(folder / name, Pair) if isinstance(row, Row)]


def same_set(one: Path, other: Path) -> bool:
    return all((one / name).read_bytes() == (other / name).read_bytes() for name in SETS)


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


PLANTED = {
    "town:1": ("query", "self_revealing"),
    "town:4": ("checks", "refusal"),
    "town:5": ("checks", "copied"),
    "town:6": ("checks", "positive_unsupported"),
    "town:7": ("checks", "negative_supported"),
    "town:8": ("checks", "tell"),
    "town:9": ("checks", "length_ratio"),
    "town:10": ("document", "evaluation_overlap"),
}


def test_planted_faults_are_caught_and_named(tmp_path: Path) -> None:
    write_documents(tmp_path / "towns.jsonl", 40)
    leaked = "Before that, nobody knew that the " + document(10)["text"][:90]
    (tmp_path / "bench.jsonl").write_text(json.dumps({"rows": [{"answer": leaked}]}) + "\n")
    ended = run(
        tmp_path, "pairs", "towns.jsonl", "-o", "set", "--policy", "pair_runs:planting_writer",
        "--same", "1", "--ratio", "1.5", "--unsupported", "0.8", "--avoid", "bench.jsonl",
    )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    lines = (tmp_path / "set" / "dropped.jsonl").read_text().splitlines()
    dropped = {row["id"]: (row["step"], row["reason"]) for row in map(json.loads, lines)}
    twins = {dropped.pop(id) for id in ("town:2", "town:3") if id in dropped}
    assert ("set", "duplicate_query") in twins
    by_lengths = {id for id, why in dropped.items() if why == ("set", "length_matching")}
    assert {id: why for id, why in dropped.items() if id not in by_lengths} == PLANTED
    summary = json.loads((tmp_path / "set" / "summary.json").read_text())
    counted = {drop["reason"] for source in summary["sources"] for drop in source["dropped"]}
    assert {reason for _, reason in PLANTED.values()} <= counted


def test_files_that_are_not_of_a_run_are_not_written_over(whole: Path, tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("mine")
    ended = run(whole, "pairs", "towns.jsonl", "-o", str(tmp_path), *SCRIPTED)
    assert ended.returncode == 2
    assert "train.jsonl: exists already, without rows.jsonl beside it" in ended.stderr
    assert [each.name for each in tmp_path.iterdir()] == ["train.jsonl"]
    assert (tmp_path / "train.jsonl").read_text() == "mine"


def test_more_shards_than_documents_still_make_the_set(whole: Path, tmp_path: Path) -> None:
    write_documents(tmp_path / "few.jsonl", 3)
    parts = [f"{number}/5" for number in range(1, 6)]
    for number, part in enumerate(parts):
        ended = run(
            tmp_path, "pairs", "few.jsonl", "-o", f"part{number}", "--shard", part, *SCRIPTED
        )
        assert ended.returncode == 0, ended.stderr
    ended = run(tmp_path, "merge", *(f"part{number}" for number in range(5)), "-o", "merged")
    assert (ended.returncode, ended.stderr) == (0, "")
    run(tmp_path, "pairs", "few.jsonl", "-o", "one", *SCRIPTED)
    assert same_set(tmp_path / "one", tmp_path / "merged")


def test_a_key_given_in_place_of_its_variable_is_not_shown(whole: Path, tmp_path: Path) -> None:
    target = "a=http://127.0.0.1:9,model=m,key=sk-Secret7"
    ended = run(whole, "pairs", "towns.jsonl", "-o", str(tmp_path / "x"), "--writer", target)
    assert ended.returncode == 2
    assert "expected the name of an environment variable" in ended.stderr
    assert "Secret7" not in ended.stdout + ended.stderr
