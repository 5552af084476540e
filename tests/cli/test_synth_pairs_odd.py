"""`openreward synth pairs`: planted faults, folders of others, odd numbers of shards, keys."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pair_processes import SCRIPTED, run, same_set
from pair_runs import document, write_documents


def towns(folder: Path) -> Path:
    (folder / "given").mkdir()
    return write_documents(folder / "given" / "towns.jsonl", 4)


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


def test_files_that_are_not_of_a_run_are_not_written_over(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "train.jsonl").write_text("mine")
    ended = run(tmp_path, "pairs", str(towns(tmp_path)), "-o", "mine", *SCRIPTED)
    assert ended.returncode == 2
    assert "train.jsonl: exists already, without rows.jsonl beside it" in ended.stderr
    assert [each.name for each in mine.iterdir()] == ["train.jsonl"]
    assert (mine / "train.jsonl").read_text() == "mine"


def test_more_shards_than_documents_still_make_the_set(tmp_path: Path) -> None:
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


def test_a_key_given_in_place_of_its_variable_is_not_shown(tmp_path: Path) -> None:
    target = "a=http://127.0.0.1:9,model=m,key=sk-Secret7"
    ended = run(
        tmp_path, "pairs", str(towns(tmp_path)), "-o", str(tmp_path / "x"), "--writer", target
    )
    assert ended.returncode == 2
    assert "expected the name of an environment variable" in ended.stderr
    assert "Secret7" not in ended.stdout + ended.stderr
