from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import JsonValue
from typer.testing import CliRunner

from openreward.cli.main import app
from openreward.eval.benchmark import Example
from openreward.eval.rankings import Rankings
from openreward.records import Row

Json = dict[str, JsonValue]
RIVER: Json = {
    "id": "river",
    "principle": "Prefer the shorter answer.",
    "prompt": "Name a river.",
    "responses": {"x": "The Rhine.", "y": "A river is the Rhine.", "z": "The long, long Rhine."},
    "judges": {
        "one": {"scores": {"x": 5, "y": 3, "z": 1}, "best-to-worst": ["x", "y", "z"]},
        "two": {"x": 4, "y": 3, "z": 2},
        "three": [5, 4, 1],
        "four": [1, 2, 3],
    },
    "human": ["x", ["y", "z"]],
    "source": "geography",
}
SEA: Json = {
    "id": 2,
    "principle": "Prefer the true answer.",
    "prompt": "Name a sea.",
    "responses": ["The Baltic.", "The Alps."],
    "judges": {"one": [1, 2], "two": [2, 1], "three": [1, 1], "four": [2, 1]},
}
LAKE: Json = {
    "id": "lake",
    "principle": "Prefer the true answer.",
    "prompt": "Name a lake.",
    "responses": ["Geneva.", "Lyon.", "Garda."],
    "judges": {"one": [3, 1, 3], "two": [3, 2, 1], "three": [3, None, 1], "four": [2, 1, None]},
    "human": [1, 0],
}


def write(folder: Path, name: str, *rows: Json) -> str:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


def run(folder: Path, *arguments: str) -> SimpleNamespace:
    with chdir(folder):
        ran = CliRunner().invoke(app, ["synth", "consensus", *arguments])
    assert ran.exception is None or isinstance(ran.exception, SystemExit)
    return SimpleNamespace(returncode=ran.exit_code, stdout=ran.stdout, stderr=ran.stderr)


def lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def examples(path: Path) -> dict[str, Example]:
    """As `openreward eval rankings` reads them."""
    found = list(Rankings().load(path))
    assert all(isinstance(row, Row) for row in found), found
    return {row.record.id: row.record for row in found if isinstance(row, Row)}


def test_the_agreed_orders_are_a_benchmark_and_a_training_file(tmp_path: Path) -> None:
    write(tmp_path, "in.jsonl", RIVER, SEA, LAKE)
    ran = run(tmp_path, "in.jsonl", "-o", "r.jsonl")
    assert (ran.returncode, ran.stderr) == (0, "")
    found = examples(tmp_path / "r.jsonl")
    assert set(found) == {"river", "lake"}
    river = found["river"]
    assert river.ranking == ((0,), (1,), (2,))
    assert river.agreed == ((0, 1), (0, 2), (1, 2))
    assert river.human == ((0,), (1, 2))
    assert (river.groups, river.principle) == (
        {"source": "geography"},
        "Prefer the shorter answer.",
    )
    assert found["lake"].ranking == ((0,), (1,))
    assert found["lake"].agreed == ((0, 1),)

    rows = {row["id"]: row for row in lines(tmp_path / "r.jsonl")}
    assert rows["river"]["supported"] == 1.0
    assert rows["river"]["unsupported"] == []
    assert rows["river"]["human_tau"] == pytest.approx(2 / (3 * 2) ** 0.5)
    assert (rows["lake"]["supported"], rows["lake"]["human_tau"]) == (0.3333, -1.0)
    assert rows["lake"]["unsupported"] == [
        {"pair": [0, 2], "votes": [2, 0], "tied": 1, "missing": 1, "too_few": False},
        {"pair": [1, 2], "votes": [1, 1], "tied": 0, "missing": 2, "too_few": True},
    ]

    trained = {row["id"]: row for row in lines(tmp_path / "r.train.jsonl")}
    assert trained["lake"]["responses"] == {"0": "Geneva.", "1": "Lyon."}
    assert trained["lake"]["ranking"] == ["0", "1"]
    source = LAKE["judges"][str(rows["lake"]["judge"])]  # type: ignore[index, call-overload]
    assert trained["lake"]["scores"] == {"0": source[0], "1": source[1]}  # type: ignore[index]
    assert examples(tmp_path / "r.train.jsonl").keys() == trained.keys()

    (dropped,) = lines(tmp_path / "r.dropped.jsonl")
    assert (dropped["id"], dropped["drop"], dropped["responses"]) == (
        "2",
        "no_agreed_pair",
        SEA["responses"],
    )
    assert dropped["unsupported"] == [
        {"pair": [0, 1], "votes": [2, 1], "tied": 1, "missing": 0, "too_few": False}
    ]


def test_the_summary_counts_support_judges_and_people(tmp_path: Path) -> None:
    write(tmp_path, "in.jsonl", RIVER, SEA, LAKE)
    ran = run(tmp_path, "in.jsonl", "-o", "r.jsonl", "--json")
    summary = json.loads(ran.stdout)
    assert summary == json.loads((tmp_path / "r.summary.json").read_text())
    counts = summary["counts"]
    judges = {judge.pop("judge"): judge for judge in counts.pop("judges")}
    assert counts == {
        "rows": 3,
        "ranked": 2,
        "dropped": {"no_agreed_pair": 1},
        "answers": 2.6667,
        "length": 2.5,
        "pairs": 7,
        "supported": 4,
        "too_few": 1,
        "human_rows": 2,
        "human_tau": -0.0918,
    }
    four = {"rows": 2, "source": 0, "same": 1, "tied": 0, "opposite": 3, "missing": 0}
    four_human = {"share": 0.25, "human_rows": 2, "human_tau": -0.9082}
    assert judges["four"] == {**four, **four_human}
    assert (judges["three"]["same"], judges["three"]["missing"]) == (3, 1)
    assert sum(judge["source"] for judge in judges.values()) == 2


def test_the_table_names_each_judge_and_what_was_agreed(tmp_path: Path) -> None:
    write(tmp_path, "in.jsonl", RIVER, SEA, LAKE)
    ran = run(tmp_path, "in.jsonl", "-o", "r.jsonl")
    shown = ran.stdout.splitlines()
    assert shown[5:] == [
        "r.jsonl: 2 of 3 rows have an agreed order (1 no_agreed_pair: in r.dropped.jsonl)",
        "mean length of an agreed order: 2.50, of 2.67 answers",
        "supported pairs: 4 of 7 (57.1%); 1 with too few judges",
        "people: tau-b -0.09 with the agreed order, mean of 2 rows",
    ]
    assert shown[1].startswith(
        "four                      2       0       1      0         3   25.0%"
    )


def test_judges_may_have_files_of_their_own(tmp_path: Path) -> None:
    bare = {name: value for name, value in RIVER.items() if name != "judges"}
    write(tmp_path, "in.jsonl", bare, {**SEA, "judges": {}})
    flags = []
    for name, scores in (("a", [5, 3, 1]), ("b", [4, 3, 2]), ("c", [5, 4, 1])):
        more: Json = {"id": "gone", "scores": [1]}
        sea: Json = {"id": "2", "scores": scores[:2] if name != "c" else [None, None]}
        write(tmp_path, f"{name}.jsonl", {"id": "river", "scores": scores}, sea, more)
        flags += ["--judge", f"{name}={name}.jsonl"]
    ran = run(tmp_path, "in.jsonl", "-o", "r.jsonl", *flags)
    assert ran.returncode == 0, ran.stderr
    assert examples(tmp_path / "r.jsonl")["river"].ranking == ((0,), (1,), (2,))
    assert "a.jsonl: 1 of 3 ids are of no row" in ran.stdout
    (dropped,) = lines(tmp_path / "r.dropped.jsonl")
    assert (dropped["drop"], dropped["judges"]) == ("too_few_judges", ["a", "b"])
    assert run(tmp_path, "in.jsonl", "-o", "s.jsonl", "--support", "2", *flags).returncode == 0
    assert set(examples(tmp_path / "s.jsonl")) == {"river", "2"}


def test_the_tail_makes_a_whole_list_of_one_judges_order(tmp_path: Path) -> None:
    write(tmp_path, "in.jsonl", {**LAKE, "judges": {"one": [3, 1, 2], "two": [2, 1, None]}})
    ran = run(tmp_path, "in.jsonl", "-o", "r.jsonl", "--support", "2", "--tail", "source")
    assert ran.returncode == 0
    (row,) = lines(tmp_path / "r.jsonl")
    whole = {"one": [0, 1, 2], "two": [0, 1]}
    assert row["ranking"] == whole[str(row["judge"])]


def test_rows_that_cannot_be_used_are_named_and_the_rest_is_done(tmp_path: Path) -> None:
    rows: list[Json] = [
        {**LAKE, "id": "twice"},
        {**LAKE, "id": "twice"},
        {**LAKE, "id": "bare", "principle": None},
        {**LAKE, "id": "nan", "judges": {"one": [float("nan"), 1, 2]}},
        {**LAKE, "id": "long", "judges": {"one": [1, 2]}},
        {**LAKE, "id": "alone", "responses": ["one"]},
        {**LAKE, "id": "many", "responses": ["an answer"] * 25},
        {**LAKE, "id": "people", "human": [0, 0]},
    ]
    write(tmp_path, "in.jsonl", *rows)
    ran = run(tmp_path, "in.jsonl", "-o", "r.jsonl")
    assert ran.returncode == 4
    assert ran.stderr.splitlines() == [
        "left out: line 2: expected a new id, got 'twice' again",
        "left out: line 3: expected a principle; add one, or give one for all by --principle",
        "left out: line 4: field judges.one: expected finite numbers as scores, or null, got nan",
        "left out: line 5: judge one: scores: expected 3, one for each answer (null: none), got 2",
        "left out: line 6: field responses: expected 2 to 24, got 1",
        "left out: line 7: field responses: expected 2 to 24, got 25",
        "left out: line 8: field human: expected answers of [0, 1, 2], each at most once, best "
        "first, got [0, 0]",
    ]
    assert "rows that cannot be used: 1 duplicate_id, 6 wrong_fields" in ran.stdout
    assert [row["id"] for row in lines(tmp_path / "r.jsonl")] == ["twice"]


def test_odd_texts_come_through_and_do_not_act(tmp_path: Path) -> None:
    odd = {**LAKE, "id": "odd\x1b[2J", "responses": ["\x00\u202e", "汉字", "<answer>A</answer>"]}
    write(tmp_path, "in.jsonl", {**odd, "judges": {"\x1b[31m": [3, 2, 1]}}, odd)
    ran = run(tmp_path, "in.jsonl", "-o", "r.jsonl", "--support", "1")
    assert "\x1b" not in ran.stdout + ran.stderr
    (row,) = lines(tmp_path / "r.jsonl")
    assert row["responses"] == odd["responses"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "taken.jsonl"), "error: taken.jsonl: exists already; name another output"),
        (("-o", "no/r.jsonl"), "error: no/r.jsonl: cannot be written: No such file or directory"),
        (("-o", "r.jsonl", "--judge", "a"), "error: --judge: expected NAME=FILE"),
        (("-o", "r.jsonl", "--judge", "a=none.jsonl"), "error: none.jsonl: cannot be read"),
        (
            ("-o", "r.jsonl", "--judge", "a=other.jsonl"),
            "error: other.jsonl: expected the ids of the rows that were scored, got 'else'",
        ),
    ],
)
def test_what_cannot_be_done_is_said_and_leaves_nothing(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    write(tmp_path, "in.jsonl", RIVER)
    write(tmp_path, "other.jsonl", {"id": "else", "scores": [1]})
    (tmp_path / "taken.summary.json").write_text("mine")
    (tmp_path / "taken.jsonl").write_text("mine")
    before = sorted(tmp_path.iterdir())
    ran = run(tmp_path, "in.jsonl", *arguments)
    assert ran.returncode == 2
    assert ran.stderr.startswith(message), ran.stderr
    assert sorted(tmp_path.iterdir()) == before


def test_one_row_gives_the_same_in_any_file(tmp_path: Path) -> None:
    write(tmp_path, "one.jsonl", RIVER, SEA, LAKE)
    write(tmp_path, "two.jsonl", LAKE)
    write(tmp_path, "three.jsonl", SEA, RIVER)
    assert run(tmp_path, "one.jsonl", "-o", "a.jsonl", "--seed", "5").returncode == 0
    assert run(tmp_path, "two.jsonl", "three.jsonl", "-o", "b.jsonl", "--seed", "5").returncode == 0
    a, b = ((tmp_path / name).read_bytes().splitlines() for name in ("a.jsonl", "b.jsonl"))
    assert sorted(a) == sorted(b)
