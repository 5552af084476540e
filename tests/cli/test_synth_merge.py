from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from pydantic import JsonValue

from openreward.cli.pair_report import Pace
from openreward.cli.pair_summary import (
    ROWS,
    Price,
    finish_pairs,
    read_price,
    show_pairs,
)
from openreward.cli.synth_merge import merge
from openreward.errors import RecordError, UserError
from openreward.eval.pairs import Pairs
from openreward.records import DataFile, Row
from openreward.resume import Manifest, write_manifest
from openreward.synth.pair_records import PairRow, PairSettings
from openreward.types import Usage

sys.path.insert(0, str(Path(__file__).parent.parent / "synth"))

from pair_rows import many, row, write

FILES = ("train.jsonl", "dev.jsonl", "test.jsonl", "dropped.jsonl")
SETTINGS = PairSettings(seed=5)


def manifest(shard: str = "1/1", **changed: JsonValue) -> Manifest:
    """The manifest of a run; `changed` are parts of its config."""
    config: dict[str, JsonValue] = {
        "shard": shard,
        "writers": [{"name": "writer", "model": "small"}],
        "prompts": "3",
        "settings": SETTINGS.model_dump(mode="json", exclude={"seed"}),
    }
    return Manifest(
        program="synth pairs",
        state="finished",
        config=config | changed,
        setup={"concurrency": 4},
        seed=5,
        versions={},
        data=DataFile(path="documents.jsonl", sha256="ab", bytes=1),
    )


def shard(folder: Path, rows: Sequence[PairRow], made: Manifest) -> Path:
    """The folder of a run that wrote the rows."""
    write_manifest(write(folder / ROWS, rows), made)
    return folder


def shards(folder: Path, rows: Sequence[PairRow], count: int) -> list[Path]:
    return [
        shard(folder / f"part{n + 1}", rows[n::count], manifest(f"{n + 1}/{count}"))
        for n in range(count)
    ]


def merged(folders: Sequence[Path], output: Path, price: str | None = None) -> int:
    """The exit code."""
    with pytest.raises(typer.Exit) as ended:
        merge(list(folders), output, price)
    return ended.value.exit_code


def contents(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES}


def summary(folder: Path) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = json.loads((folder / "summary.json").read_text())
    return found


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


def test_a_second_finish_takes_the_place_of_the_first(tmp_path: Path) -> None:
    rows = many(30)
    folder = shard(tmp_path / "run", rows[:15], manifest())
    finish_pairs(folder, [folder / ROWS], SETTINGS, [manifest()])
    write(folder / ROWS, rows)
    finish_pairs(folder, [folder / ROWS], SETTINGS, [manifest()])
    assert sum(text.count(b"\n") for text in contents(folder).values()) == 30
    assert sorted(path.name for path in folder.iterdir()) == sorted(
        [*FILES, "summary.json", ROWS, f"{ROWS}.manifest.json"]
    )


def test_an_error_leaves_the_files_as_they_were(tmp_path: Path) -> None:
    folder = shard(tmp_path / "run", many(30), manifest())
    finish_pairs(folder, [folder / ROWS], SETTINGS, [manifest()])
    before = contents(folder)
    (folder / ROWS).write_text("torn")
    with pytest.raises(RecordError, match="line 1: expected one JSON object"):
        finish_pairs(folder, [folder / ROWS], SETTINGS, [manifest()])
    assert contents(folder) == before
    assert not list(folder.glob(".*"))


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


TABLE = """\
                                       arxiv   wikipedia         all
documents                                  1           5           6
  document: document_too_short             0           1           1
  checks: tell                             0           1           1
  set: length_matching                     0           1           1
pairs                                      1           2           3
  train                                    1           2           3
  dev                                      0           0           0
  test                                     0           0           0

what tells the grounded answer: 3 pairs are too few, 20 needed

set: 3 pairs of 6 documents: 3 train, 0 dev, 0 test
6000 tokens read, 1200 written, 9.0 s of work in 1 run, cost 0.0078; 2.50 rows/s, 3000 tokens/s
"""


def test_the_summary_is_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        row("a", drop=("document", "document_too_short", "12 words")),
        row("b", drop=("checks", "tell", "as an AI")),
        row("c", 90, 60),
        row("d"),
        row("e"),
        row("f", source="arxiv"),
    ]
    folder = shard(Path("set"), rows, manifest())
    settings = PairSettings(dev=0, test=0)
    made = finish_pairs(
        folder,
        [folder / ROWS],
        settings,
        [manifest()],
        read_price("0.5,4"),
        pace=Pace(rows_per_second=2.5, tokens_per_second=3000),
    )
    show_pairs(made, as_json=False)
    assert capsys.readouterr().out == TABLE
    assert [json.loads(line) for line in (folder / "dropped.jsonl").read_text().splitlines()] == [
        {"id": "a", "source": "wikipedia", "step": "document",
         "reason": "document_too_short", "detail": "12 words"},
        {"id": "b", "source": "wikipedia", "step": "checks", "reason": "tell",
         "detail": "as an AI"},
        {"id": "c", "source": "wikipedia", "step": "set", "reason": "length_matching",
         "detail": "90 words with the document, 60 without"},
    ]  # fmt: skip
    show_pairs(made, as_json=True)
    assert json.loads(capsys.readouterr().out) == summary(folder)


def test_the_tells_are_shown_with_intervals_and_signs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = many(120)
    assert merged(shards(tmp_path, rows, 2), tmp_path / "set") == 0
    out = capsys.readouterr().out
    assert "what tells the grounded answer, of " in out
    assert "  longer in words         0.500 (" in out
    assert "  words of the document   1.000 (" in out
    assert "  strongest in form (grounded/other): " in out


def test_names_of_sources_cannot_act_and_many_are_cut(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row(f"d{n}", source=f"\x1b]0;title\x07 \n source {n}") for n in range(9)]
    folder = shard(tmp_path / "run", rows, manifest())
    show_pairs(finish_pairs(folder, [folder / ROWS], SETTINGS, [manifest()]), as_json=False)
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\x07" not in out
    assert "3 more sources are in summary.json\n" in out
    assert max(map(len, out.splitlines())) < 300


@pytest.mark.parametrize(
    ("text", "price"),
    [(None, None), ("0.15,0.6", Price(0.15, 0.6)), ("0,0", Price(0, 0)), (" 1 , 2", Price(1, 2))],
)
def test_a_price_is_read(text: str | None, price: Price | None) -> None:
    assert read_price(text) == price


@pytest.mark.parametrize("text", ["", "1", "1,2,3", "a,b", "-1,2", "nan,1", "inf,1", "1;2"])
def test_a_price_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(UserError, match="--price: expected IN,OUT"):
        read_price(text)


def test_a_cost_is_that_of_tokens_read_and_written() -> None:
    usage = Usage(prompt_tokens=2_000_000, completion_tokens=500_000, cached_tokens=1_000_000)
    assert Price(0.25, 2.0).cost(usage) == 1.5


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
