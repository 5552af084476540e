from __future__ import annotations

import json
import random
import signal
import sys
import time
from pathlib import Path

import pytest
from pydantic import JsonValue

from openreward.eval.rmb import RMB
from openreward.records import Row

sys.path.insert(0, str(Path(__file__).parent))

from scenario_cli_runs import SCRIPTED, build, lines, rows, start, write_rows

OUT = ("in.jsonl", "-o", "set", *SCRIPTED)
PLANTED: list[dict[str, JsonValue]] = [
    {"id": "first", "prompt": "How do I bake a good loaf of bread at home?"},
    {"id": "same", "prompt": "How do I bake a good loaf of bread  at home?"},
    {"id": "near", "prompt": "So how do I bake a good loaf of bread at home?"},
    {"id": "german", "prompt": "Wie backe ich ein gutes Brot und was ist der Teig?"},
    {"id": "short", "prompt": "Why me?"},
    {"id": "torn", "prompt": "An undecided request about the colour of the sky."},
    {"id": "easy", "prompt": "A simple request about the colour of the sea."},
    {"id": "kept", "query": "What should I see in Rome in three days?"},
]
TABLE = """\
step            came  dropped    left  why
length             8        1       7  1 too_short
language           7        1       6  1 not_english
duplicates         6        2       4  1 near_duplicate, 1 same_text
classes            4        1       3  1 disagree
difficulty         3        1       2  1 easy
answers            2        0       2  none
features           2        0       2  none
scores             2        0       2  none
pairs              2        0       2  none
answers: 6 ok; scores: 6 ok
set: 2 of 8 prompts, 6 pairs, 2 best-of-N items
scenarios: 2 Chat
3 writers are samples of one engine, not models of their own
"""


def dropped(folder: Path) -> list[tuple[JsonValue, ...]]:
    found = lines(folder / "set" / "dropped.jsonl")
    return [tuple(row[name] for name in ("id", "step", "reason", "detail")) for row in found]


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_what_is_planted_is_dropped_with_its_reason_and_the_rest_is_a_set(tmp_path: Path) -> None:
    write_rows(tmp_path, PLANTED)
    run = build(tmp_path, *OUT)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith(TABLE)
    assert dropped(tmp_path) == [
        ("easy", "difficulty", "easy", "weak scores 5, from 4.5 on it is easy"),
        ("german", "language", "not_english", "6 small words of German, 1 of English"),
        ("near", "duplicates", "near_duplicate", "0.90 in common with first"),
        ("same", "duplicates", "same_text", "the same as first"),
        ("short", "length", "too_short", "7 characters, at least 10 expected"),
        ("torn", "classes", "disagree", "Chat, Chat, Code"),
    ]
    found = list(RMB().load(tmp_path / "set" / "rmb"))
    examples = {row.record.id: row.record for row in found if isinstance(row, Row)}
    assert len(found) == len(examples) == 8
    best = examples["bon/kept"]
    assert best.query == "What should I see in Rome in three days?"
    assert best.responses == tuple(f"An answer worth {n} points." for n in ("4.5", "3.5", "2.5"))
    item = json.loads((tmp_path / "set/rmb/BoN_set/Helpfulness/Chat/Chat.json").read_text("utf-8"))[
        0
    ]
    assert item["bon_best"]["llm_name"] == "a (a sample of scripted, temperature 0.1, seed 0)"
    manifest = json.loads((tmp_path / "set/rows.jsonl.manifest.json").read_text())
    assert manifest["totals"]["marks"]["drop:classes:disagree"] == 1
    assert manifest["config"]["writers"][2] == {
        "name": "c",
        "model": "scripted",
        "plugin": "plugin:policy",
        "temperature": 0.3,
        "seed": 2,
    }


def test_for_machines_there_is_one_object(tmp_path: Path) -> None:
    write_rows(tmp_path, PLANTED)
    run = build(tmp_path, *OUT, "--json", "--limit", "5")
    assert run.returncode == 0
    summary = json.loads(run.stdout)
    assert summary == json.loads((tmp_path / "set" / "summary.json").read_text())
    counts = summary["counts"]
    assert (counts["prompts"], counts["kept"], counts["pairs"], counts["best_of"]) == (5, 1, 3, 1)
    assert counts["steps"][2] == {
        "step": "duplicates",
        "came": 3,
        "dropped": 2,
        "left": 1,
        "reasons": {"near_duplicate": 1, "same_text": 1},
    }


def test_workers_do_not_change_a_set(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(30) + PLANTED)
    for folder, workers in (("one", "1"), ("many", "16")):
        out = ("in.jsonl", "-o", folder, *SCRIPTED, "--concurrency", workers)
        assert build(tmp_path, *out, DELAY="0.001").returncode == 0
    one, many = files(tmp_path / "one"), files(tmp_path / "many")
    assert one.keys() == many.keys()
    same = [name for name in one if name.startswith("rmb/") or name == "dropped.jsonl"]
    assert len(same) == 3
    assert {name: one[name] for name in same} == {name: many[name] for name in same}


def without_seconds(found: list[dict[str, JsonValue]]) -> list[dict[str, JsonValue]]:
    kept = [{name: v for name, v in row.items() if name != "seconds"} for row in found]
    return sorted(kept, key=lambda row: str(row["id"]))


@pytest.mark.slow
def test_kills_lose_nothing_and_the_set_is_the_same(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(10**6)
    sys.stderr.write(f"seed {seed}\n")
    chance = random.Random(seed)
    write_rows(tmp_path, rows(100) + PLANTED)
    out = tmp_path / "set" / "rows.jsonl"
    whole = build(tmp_path, "in.jsonl", "-o", "whole", *SCRIPTED)
    assert whole.returncode == 0
    kills = 0
    while kills < 8 and len(out.read_bytes().splitlines() if out.exists() else b"") < 100:
        wanted = (out.read_bytes().count(b"\n") if out.exists() else 0) + chance.randrange(1, 12)
        with start(tmp_path, *OUT, "--resume", "--concurrency", "4", DELAY="0.05") as process:
            end = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < end:
                if out.exists() and out.read_bytes().count(b"\n") >= wanted:
                    break
                time.sleep(0.005)
            process.kill()
            process.communicate()
        kills += 1
        if chance.random() < 0.5:
            with out.open("ab") as file:
                file.write(b'{"id": "torn')
    assert kills == 8
    last = build(tmp_path, *OUT, "--resume")
    assert (last.returncode, last.stderr) == (0, "")
    assert without_seconds(lines(out)) == without_seconds(lines(tmp_path / "whole/rows.jsonl"))
    ours, theirs = files(tmp_path / "set"), files(tmp_path / "whole")
    same = [name for name in theirs if name.startswith("rmb/") or name == "dropped.jsonl"]
    assert {name: ours[name] for name in same} == {name: theirs[name] for name in same}
    assert [name for name in ours if name.endswith(".tmp")] == []
    counts = [json.loads(each["summary.json"])["counts"] for each in (ours, theirs)]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_how_to_go_on(tmp_path: Path, number: signal.Signals) -> None:
    write_rows(tmp_path, rows(60))
    out = tmp_path / "set" / "rows.jsonl"
    with start(tmp_path, *OUT, "--concurrency", "2", DELAY="0.05") as process:
        end = time.monotonic() + 60
        while process.poll() is None and len(lines(out)) < 3 and time.monotonic() < end:
            time.sleep(0.01)
        process.send_signal(number)
        stdout, stderr = process.communicate(timeout=30)
    assert (process.returncode, stdout) == (130, "")
    assert stderr == (
        "error: interrupted; what is done is in set/rows.jsonl; "
        "the same command with --resume goes on\n"
    )
    assert build(tmp_path, *OUT, "--resume").returncode == 0
    assert len(lines(out)) == 60


def test_rows_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    path = write_rows(tmp_path, rows(2))
    with path.open("a") as file:
        file.write('{"id": "p001", "prompt": "What is it all about?"}\n{"text": 1}\nnonsense\n')
    run = build(tmp_path, *OUT)
    assert run.returncode == 4
    assert run.stderr.count("left out: ") == 3
    assert "rows that cannot be used: 1 duplicate_id, 1 wrong_fields, 1 not_json" in run.stdout
    assert [row[:3] for row in dropped(tmp_path)] == [
        ("line 3", "input", "duplicate_id"),
        ("line 4", "input", "wrong_fields"),
        ("line 5", "input", "not_json"),
    ]


def test_an_engine_that_fails_at_a_prompt_is_told_and_the_rest_is_done(tmp_path: Path) -> None:
    write_rows(tmp_path, [*rows(2), {"id": "x", "prompt": "What is a broken thing?"}])
    run = build(tmp_path, *OUT)
    assert run.returncode == 4
    assert dropped(tmp_path) == [("x", "classes", "error", "the engine is broken")]
    assert "set: 2 of 3 prompts, 6 pairs, 2 best-of-N items" in run.stdout


def test_an_engine_that_fails_at_all_prompts_stops_the_run(tmp_path: Path) -> None:
    write_rows(tmp_path, [*rows(2), {"id": "x", "prompt": "What is a broken thing?"}])
    run = build(tmp_path, *OUT, "--concurrency", "1", FAULT="unreachable")
    assert (run.returncode, run.stdout) == (3, "")
    assert run.stderr == "error: the engine is broken; then go on with --resume\n"
    assert len(lines(tmp_path / "set" / "rows.jsonl")) == 2


def test_people_are_asked_later(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(2))
    assert build(tmp_path, *OUT).returncode == 0
    human = tmp_path / "human.jsonl"
    human.write_text(
        '{"pair_uid": "p001/0-1", "label": 0}\n{"pair_uid": "p001/0-2", "label": 1}\n'
        '{"pair_uid": "p002/0-1", "label": 0}\n{"pair_uid": "p009/0-1", "label": 0}\n'
    )
    run = build(tmp_path, *OUT, "--resume", "--human", "human.jsonl")
    assert run.returncode == 0
    assert (
        "people: 66.7% (20.8% to 93.9%): 2 agree, 1 disagree, 0 ties, "
        "1 of no pair or answer here, 0 unreadable"
    ) in run.stdout
    agreement = json.loads((tmp_path / "set" / "summary.json").read_text())["agreement"]
    assert (agreement["agree"], agreement["first_unknown"]) == (2, ["p009/0-1"])


def test_writers_of_their_own_engine_keep_their_names(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(1))
    run = build(
        tmp_path,
        *("in.jsonl", "-o", "set", "--policy", "plugin:policy"),
        *("--writer", "mine=engine,temperature=0.3", "--writer", "theirs=plugin:other"),
    )
    assert (run.returncode, run.stderr) == (0, "")
    path = tmp_path / "set/rmb/Pairwise_set/Helpfulness/Chat/Chat.json"
    (item,) = json.loads(path.read_text())
    assert (item["chosen"]["llm_name"], item["reject"]["llm_name"]) == ("theirs", "mine")
    assert "samples of one engine" not in run.stdout


def test_labels_of_the_users_own_become_folders(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(1))
    (tmp_path / "labels.jsonl").write_text('{"label": "Chat"}\n{"label": "Trade/Rail"}\n')
    run = build(tmp_path, *OUT, "--labels", "labels.jsonl")
    assert run.returncode == 0
    assert (tmp_path / "set/rmb/BoN_set/Helpfulness/Chat/Chat.json").is_file()


def test_other_settings_and_an_existing_set_are_refused(tmp_path: Path) -> None:
    write_rows(tmp_path, rows(2))
    assert build(tmp_path, *OUT).returncode == 0
    before = files(tmp_path / "set")
    again = build(tmp_path, *OUT)
    assert again.returncode == 2
    assert again.stderr.startswith("error: set/rows.jsonl: exists already; continue it with")
    other = build(tmp_path, *OUT, "--resume", "--easy", "4", "--seed", "3")
    assert other.returncode == 2
    assert "(config.settings.easy: 4.5 then, 4.0 now; seed: 0 then, 3 now)" in other.stderr
    assert files(tmp_path / "set") == before


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--writer", "a=engine"), "expected at least two --writer (three for best-of-N items)"),
        (("--writer", "a=engine", "--writer", "a=local"), "expected unlike names"),
        (("--easy", "0", *SCRIPTED), "settings: field easy"),
        (("--shortest", "9", "--longest", "8", *SCRIPTED), "settings: expected shortest up to"),
        (("--labels", "none.jsonl", *SCRIPTED), "none.jsonl: cannot be read"),
        (("--human", "none.jsonl", *SCRIPTED), "--human none.jsonl: expected a file, got none"),
        (("--human", "plugin.py", *SCRIPTED), "plugin.py: expected a file that ends in .jsonl"),
        (("--weak", "x", *SCRIPTED), "--writer: expected NAME=TARGET"),
    ],
)
def test_a_setting_that_cannot_be_is_named_before_anything_is_made(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    write_rows(tmp_path, rows(1))
    run = build(tmp_path, "in.jsonl", "-o", "set", *arguments)
    assert run.returncode == 2
    assert message in run.stderr
    assert not (tmp_path / "set").exists()
