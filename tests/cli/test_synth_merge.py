from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer

from openreward.cli.pair_summary import ROWS, finish_pairs
from openreward.cli.synth_merge import merge
from openreward.errors import RecordError, UserError
from openreward.eval.pairs import Pairs
from openreward.records import DataFile, Row
from openreward.resume import Manifest, Totals, write_manifest
from openreward.synth.pair_records import PairSettings

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "synth"))

from pair_cli_runs import FILES, SETTINGS, contents, manifest, shard, shards, summary
from pair_rows import many, row, write


def merged(folders: Sequence[Path], output: Path, price: str | None = None) -> int:
    """The exit code."""
    with pytest.raises(typer.Exit) as ended:
        merge(list(folders), output, price)
    return ended.value.exit_code


@pytest.mark.parametrize("count", [2, 3])
def test_merged_shards_equal_one_run_byte_for_byte(tmp_path: Path, count: int) -> None:
    rows = many(150)
    whole = shard(tmp_path / "whole", rows, manifest())
    one = finish_pairs(whole, [whole / ROWS], SETTINGS, [manifest()])
    folders = shards(tmp_path, list(reversed(rows)), count)
    assert merged(folders[::-1], tmp_path / "set") == 0
    assert contents(tmp_path / "set") == contents(whole)
    assert sum(text.count(b"\n") for text in contents(whole).values()) == 150
    found = summary(tmp_path / "set")
    expected = json.loads(one.model_dump_json())
    for name in ("sources", "tells", "usage", "seconds", "left_out", "notes", "cost"):
        assert found[name] == expected[name], name
    assert (found["runs"], found["rows"]) == (count, [str(f / ROWS) for f in folders])


def test_the_files_are_read_as_pairs_to_judge(tmp_path: Path) -> None:
    assert merged(shards(tmp_path, many(60), 2), tmp_path / "set") == 0
    examples = [
        found.record
        for name in FILES[:3]
        for found in Pairs().load(tmp_path / "set" / name)
        if isinstance(found, Row)
    ]
    assert len(examples) == sum(
        len((tmp_path / "set" / name).read_bytes().splitlines()) for name in FILES[:3]
    )
    assert {example.groups["source"] for example in examples} == {"arxiv", "pubmed", "wikipedia"}


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (manifest("2/2", prompts="4"), "config.prompts: '3' there, '4' here"),
        (
            manifest("2/2", settings=PairSettings(near=0.5).model_dump(mode="json")),
            "config.settings.near: 0.7 there, 0.5 here",
        ),
        (manifest("2/2").model_copy(update={"seed": 6}), "seed: 5 there, 6 here"),
        (
            manifest("2/2").model_copy(update={"data": DataFile(path="x", sha256="cd", bytes=1)}),
            "data.sha256: 'ab' there, 'cd' here",
        ),
        (manifest("2/3"), "shard: 1/2 there, 2/3 here"),
    ],
)
def test_shards_that_were_made_otherwise_are_refused(
    tmp_path: Path, made: Manifest, said: str
) -> None:
    one = shard(tmp_path / "one", [row("a")], manifest("1/2"))
    other = shard(tmp_path / "other", [row("b")], made)
    with pytest.raises(RecordError) as caught:
        merge([one, other], tmp_path / "set")
    assert f"{other}: cannot be merged with {one}" in str(caught.value)
    assert said in str(caught.value)
    assert not (tmp_path / "set").exists()


def test_a_document_of_two_folders_is_named(tmp_path: Path) -> None:
    folders = [
        shard(tmp_path / "one", [row("a"), row("b")], manifest("1/2")),
        shard(tmp_path / "two", [row("c"), row("b")], manifest("2/2")),
    ]
    with pytest.raises(RecordError, match=r"expected each document once, got 'b' again"):
        merge(folders, tmp_path / "set")
    assert list((tmp_path / "set").iterdir()) == []


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (None, "rows.jsonl.manifest.json, got none"),
        (manifest().model_copy(update={"program": "judge"}), "got one of `openreward judge`"),
        (manifest("x/y"), "expected a shard K/N in its manifest, got 'x/y'"),
        (manifest(settings={"near": 7}), "settings of its manifest: field near"),
    ],
)
def test_a_folder_of_something_else_is_refused(
    tmp_path: Path, made: Manifest | None, said: str
) -> None:
    write(tmp_path / "run" / ROWS, [row("a")])
    if made is not None:
        write_manifest(tmp_path / "run" / ROWS, made)
    with pytest.raises(UserError) as caught:
        merge([tmp_path / "run"], tmp_path / "set")
    assert said in str(caught.value)
    assert str(tmp_path / "run") in str(caught.value)


def test_a_set_is_not_written_over(tmp_path: Path) -> None:
    folders = shards(tmp_path, many(10), 2)
    with pytest.raises(RecordError, match="expected a folder for the set, got that of a run"):
        merge(folders, folders[0])
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "dev.jsonl").write_text("mine")
    with pytest.raises(RecordError, match=r"dev\.jsonl: exists already"):
        merge(folders, tmp_path / "set")
    assert [path.name for path in (tmp_path / "set").iterdir()] == ["dev.jsonl"]


def test_what_is_missing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = manifest("2/4").model_copy(
        update={"state": "stopped", "dropped": {"not_done": 2, "not_json": 1}}
    )
    folders = [
        shard(
            tmp_path / "a",
            [row("a")],
            manifest("4/4").model_copy(update={"dropped": {"not_done": 1, "not_json": 1}}),
        ),
        shard(tmp_path / "b", [row("b")], made),
    ]
    assert merged(folders, tmp_path / "set") == 4
    out = capsys.readouterr().out
    assert f"not finished: {tmp_path / 'b'} (stopped); go on with it by --resume\n" in out
    assert "shards not given: 1/4, 3/4\n" in out
    assert "left out: 3 not_done, 1 not_json; named in the manifest beside the rows\n" in out


def test_the_command_merges_and_tells_errors_for_machines(tmp_path: Path) -> None:
    shards(tmp_path, many(12), 2)
    command = [sys.executable, "-m", "openreward.cli.main", "synth", "merge"]
    done = subprocess.run(
        [*command, "part1", "part2", "-o", "set", "--price", "1,1", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["cost"] == 0.0144
    failed = subprocess.run(
        [*command, "part1", "part1", "-o", "twice", "--json"],
        cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert failed.returncode == 2
    assert json.loads(failed.stderr)["kind"] == "RecordError"


def test_a_shard_with_a_limit_is_not_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = manifest("1/1")
    limited = made.model_copy(update={"setup": {"limit": 1}, "totals": Totals(rows=1)})
    folder = shard(tmp_path / "a", [row("a")], limited)
    assert merged([folder], tmp_path / "set") == 4
    assert f"not whole: {folder} (--limit 1); go on" in capsys.readouterr().out
    enough = made.model_copy(update={"setup": {"limit": 9}, "totals": Totals(rows=1)})
    assert merged([shard(tmp_path / "b", [row("b")], enough)], tmp_path / "other") == 0


def test_a_document_twice_in_one_file_is_named(tmp_path: Path) -> None:
    folder = shard(tmp_path / "a", [row("a"), row("a")], manifest())
    with pytest.raises(RecordError, match="got 'a' again, which it has before; take the line out"):
        merge([folder], tmp_path / "set")
