from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import JsonValue
from typer.testing import CliRunner

from openreward.cli.main import app
from openreward.inputs import PairRow
from openreward.records import Row, read_rows
from openreward.synth.answer_sampling import AnswerRow, SampledAnswer
from openreward.synth.preferences import PreferenceRow
from openreward.synth.scenario_records import Said

Json = dict[str, JsonValue]
ROWS: list[Json] = [
    {"id": "plain", "prompt": "Name a river.", "answers": ["Rhine.", "A rock."], "scores": [4, 1]},
    {
        "id": "messages",
        "prompt": [{"role": "user", "content": "Name a sea."}],
        "answers": ["No, no, no.", "Baltic.", "The Baltic."],
        "scores": [1, 5, 5],
    },
    {"id": "even", "prompt": "Name a lake.", "answers": ["Garda.", "Como."], "scores": [3, 3]},
    {"id": "few", "prompt": "Name a lake.", "answers": ["Garda.", "Como."], "scores": [3, None]},
    {"id": "bare", "prompt": "Name a lake.", "answers": ["Garda.", "Como."]},
    {"id": "ranked", "prompt": "Name a lake.", "answers": ["Garda.", "Como."], "ranking": [1, 0]},
]


def write(folder: Path, name: str, *rows: Json) -> str:
    (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return name


def run(folder: Path, *arguments: str) -> SimpleNamespace:
    with chdir(folder):
        ran = CliRunner().invoke(app, ["synth", "preferences", *arguments])
    assert ran.exception is None or isinstance(ran.exception, SystemExit)
    return SimpleNamespace(returncode=ran.exit_code, stdout=ran.stdout, stderr=ran.stderr)


def lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_scored_answers_become_pairs_and_the_rest_has_its_reason(tmp_path: Path) -> None:
    write(tmp_path, "in.jsonl", *ROWS)
    ran = run(tmp_path, "in.jsonl", "-o", "p.jsonl", "--fewest", "2")
    assert (ran.returncode, ran.stderr) == (0, "")
    plain, messages, ranked = lines(tmp_path / "p.jsonl")
    assert plain == {
        "id": "plain",
        "prompt": "Name a river.",
        "chosen": "Rhine.",
        "rejected": "A rock.",
        "score_chosen": 4.0,
        "score_rejected": 1.0,
        "chosen_index": 0,
        "rejected_index": 1,
        "tied_chosen": 1,
        "tied_rejected": 1,
    }
    assert (messages["tied_chosen"], messages["rejected"]) == (2, "No, no, no.")
    assert (ranked["chosen"], ranked["score_chosen"], ranked["score_rejected"]) == ("Como.", 1, 0)
    assert [(row["id"], row["reason"]) for row in lines(tmp_path / "p.dropped.jsonl")] == [
        ("even", "equal_scores"),
        ("few", "too_few"),
        ("bare", "no_scores"),
    ]
    assert ran.stdout.splitlines()[:3] == [
        "p.jsonl: 3 pairs of 6 rows",
        "no pair: 1 equal_scores, 1 no_scores, 1 too_few; in p.dropped.jsonl",
        "an answer was drawn from several with the same score in 1",
    ]


def test_the_summary_is_written_and_printed_for_machines(tmp_path: Path) -> None:
    write(tmp_path, "in.jsonl", *ROWS)
    ran = run(tmp_path, "in.jsonl", "-o", "p.jsonl", "--fewest", "2", "--json")
    summary = json.loads(ran.stdout)
    assert summary == json.loads((tmp_path / "p.summary.json").read_text())
    del summary["words_chosen"], summary["chosen_longer"]  # which of two tied ones was drawn
    assert summary == {
        "output": "p.jsonl",
        "settings": {
            "rule": "best-worst",
            "rejected": "drawn",
            "threshold": None,
            "fewest": 2,
            "margin": 0.0,
            "seed": 0,
        },
        "rows": 6,
        "pairs": 3,
        "no_pair": {"equal_scores": 1, "no_scores": 1, "too_few": 1},
        "drawn": 1,
        "margin": 2.6667,
        "words_rejected": 2.0,
        "left_out": {},
        "notes": [],
        "errors": [],
    }


@pytest.mark.parametrize("conversational", [False, True])
def test_pairs_are_read_back_as_pairs_to_judge(tmp_path: Path, conversational: bool) -> None:
    write(tmp_path, "in.jsonl", *ROWS)
    flags = ["--conversational"] if conversational else []
    assert run(tmp_path, "in.jsonl", "-o", "p.jsonl", "--fewest", "2", *flags).returncode == 0
    found = [row.record for row in read_rows(tmp_path / "p.jsonl", PairRow) if isinstance(row, Row)]
    assert [(pair.id, pair.query, pair.label) for pair in found] == [
        ("plain", "Name a river.", 0),
        ("messages", "Name a sea.", 0),
        ("ranked", "Name a lake.", 0),
    ]
    assert found[0].responses == ("Rhine.", "A rock.")


@pytest.mark.parametrize("conversational", [False, True])
def test_the_datasets_library_loads_them_in_the_form_trl_knows(
    tmp_path: Path, conversational: bool
) -> None:
    datasets = pytest.importorskip("datasets")
    write(tmp_path, "in.jsonl", *ROWS)
    flags = ["--conversational"] if conversational else []
    assert run(tmp_path, "in.jsonl", "-o", "p.jsonl", "--fewest", "2", *flags).returncode == 0
    files, cache = str(tmp_path / "p.jsonl"), str(tmp_path / "cache")
    loaded = datasets.load_dataset("json", data_files=files, split="train", cache_dir=cache)
    assert {"prompt", "chosen", "rejected", "score_chosen", "score_rejected", "id"} <= set(
        loaded.column_names
    )
    first = loaded[0]
    if conversational:
        assert first["prompt"] == [{"role": "user", "content": "Name a river."}]
        assert first["chosen"] == [{"role": "assistant", "content": "Rhine."}]
    else:
        assert (first["prompt"], first["chosen"], first["rejected"]) == (
            "Name a river.",
            "Rhine.",
            "A rock.",
        )
    trl = pytest.importorskip("trl.data_utils")
    assert trl.is_conversational(first) == conversational
    assert trl.maybe_extract_prompt(dict(first)) == first


def test_sampled_answers_are_scored_by_a_file_and_only_good_ones_count(tmp_path: Path) -> None:
    texts = ("Rhine.", "Po.", "", "Elbe.")
    sampled = tuple(
        SampledAnswer(writer="w", status="ok" if text else "empty", text=text, seed=at)
        for at, text in enumerate(texts)
    )
    asked = (Said(role="user", content="Name a river."),)
    rows = [AnswerRow(id=id, prompt=asked, answers=sampled) for id in ("r1", "r2")]
    written = "".join(row.model_dump_json() + "\n" for row in rows)
    (tmp_path / "answers.jsonl").write_text(written)
    scores: list[Json] = [{"id": "r1", "scores": [2, 3, 0, 1]}, {"id": "gone", "scores": []}]
    write(tmp_path, "scores.jsonl", *scores)
    out = ("answers.jsonl", "-o", "p.jsonl", "--scores", "scores.jsonl", "--fewest", "3")
    ran = run(tmp_path, *out)
    assert ran.returncode == 0
    (row,) = lines(tmp_path / "p.jsonl")
    assert (row["chosen"], row["rejected"], row["score_rejected"]) == ("Po.", "Elbe.", 1)
    assert "no pair: 1 no_scores" in ran.stdout
    assert "scores.jsonl: 1 of 2 ids are of no row" in ran.stdout


def test_best_of_n_and_threshold_are_rules_of_their_own(tmp_path: Path) -> None:
    answers: list[JsonValue] = [f"answer {number}" for number in range(6)]
    many: list[Json] = [
        {"id": n, "prompt": "x", "answers": answers, "scores": [3, 1, 4, 9, 5, 2]}
        for n in range(40)
    ]
    write(tmp_path, "in.jsonl", *many)
    assert run(tmp_path, "in.jsonl", "-o", "n.jsonl", "--rule", "best-of-n").returncode == 0
    pairs = [(row["chosen_index"], row["rejected_index"]) for row in lines(tmp_path / "n.jsonl")]
    assert set(pairs) == {(3, 0), (3, 1), (3, 2), (3, 4), (3, 5)}
    first = ("--rule", "best-of-n", "--rejected", "first")
    assert run(tmp_path, "in.jsonl", "-o", "f.jsonl", *first).returncode == 0
    assert {row["rejected_index"] for row in lines(tmp_path / "f.jsonl")} == {0}
    over = ("--rule", "threshold", "--threshold", "5", "--margin", "3")
    assert run(tmp_path, "in.jsonl", "-o", "t.jsonl", *over).returncode == 0
    found = {(row["chosen_index"], row["rejected_index"]) for row in lines(tmp_path / "t.jsonl")}
    assert found == {(3, 0), (3, 1), (3, 2), (3, 5), (4, 1), (4, 5)}


def test_rows_that_cannot_be_used_are_named_and_the_rest_is_done(tmp_path: Path) -> None:
    rows: list[Json] = [
        ROWS[0],
        ROWS[0],
        {"id": "long", "prompt": "x", "answers": ["a"], "scores": [1, 2]},
        {"id": "none", "prompt": "x"},
        {"id": "odd\x1b[2J", "prompt": "\x00\u202e", "answers": ["a", "汉字"], "scores": [1, 2]},
    ]
    write(tmp_path, "in.jsonl", *rows)
    ran = run(tmp_path, "in.jsonl", "-o", "p.jsonl", "--fewest", "2")
    assert ran.returncode == 4
    assert ran.stderr.splitlines() == [
        "left out: line 2: expected a new id, got 'plain' again",
        "left out: line 3: scores: expected 1, one for each answer (null: none), got 2",
        "left out: line 4: field responses: expected a list of texts, or of objects with text, or "
        "texts by name, got None",
    ]
    assert "rows that cannot be used: 1 duplicate_id, 2 wrong_fields" in ran.stdout
    made = [PreferenceRow.model_validate(row) for row in lines(tmp_path / "p.jsonl")]
    assert [(row.id, row.chosen) for row in made] == [("plain", "Rhine."), ("odd\x1b[2J", "汉字")]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rule", "threshold"), "error: settings: "),
        (("--rejected", "first"), "error: settings: "),
        (("--margin", "inf"), "error: settings: field margin"),
        (("-o", "in.jsonl"), "error: in.jsonl: exists already"),
        (("--scores", "none.jsonl"), "error: none.jsonl: cannot be read"),
        (("--scores", "other.jsonl"), "error: other.jsonl: expected the ids of the rows that were"),
    ],
)
def test_what_cannot_be_done_is_said_and_leaves_nothing(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    write(tmp_path, "in.jsonl", *ROWS)
    write(tmp_path, "other.jsonl", {"id": "else", "scores": [1]})
    before = sorted(tmp_path.iterdir())
    ran = run(tmp_path, "in.jsonl", "-o", "p.jsonl", *arguments)
    assert ran.returncode == 2
    assert ran.stderr.startswith(message), ran.stderr
    assert sorted(tmp_path.iterdir()) == before
