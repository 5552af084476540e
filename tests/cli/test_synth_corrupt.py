from __future__ import annotations

import json
from collections import Counter
from contextlib import chdir
from pathlib import Path
from types import SimpleNamespace

import pytest
from pydantic import JsonValue
from typer.testing import CliRunner

from openreward.cli.main import app
from openreward.records import Row, read_jsonl
from openreward.types import Pair

Json = dict[str, JsonValue]
TOWNS = ("Lisbon", "Helsinki", "Vienna", "Dublin", "Madrid", "Oslo", "Prague", "Athens")


def text(number: int) -> str:
    """An answer with a place for every kind."""
    return (
        f"The mill of the valley is built of stone and wood. The town bought it in {1820 + number} "
        f"with a loan. The miller moved to {TOWNS[number % 8]} in the spring. The wheel has "
        f"{200 + 7 * number} blades and the roof is red. Visitors come to the fair in autumn."
    )


def answer(number: int) -> Json:
    return {
        "id": f"a{number}",
        "query": "What is known of the mill?",
        "answer": text(number),
        "source": "wikipedia",
        "meta": {"document": f"d{number}", "kind": "report"},
    }


def pair(number: int, label: JsonValue) -> Json:
    responses = [text(number), "I do not know of any mill."]
    return {
        "id": f"p{number}",
        "query": "What is known of it?",
        "responses": responses[:: -1 if label == 1 else 1],
        "label": label,
        "source": "wikipedia",
    }


def row(number: int, **more: JsonValue) -> Json:
    return {
        "id": f"wikipedia:Mill {number}",
        "source": "wikipedia",
        "title": f"Mill {number}",
        "start": 0,
        "end": 300,
        "kind": "report",
        "query": "What is known of the mill?",
        "positive": {"status": "ok", "text": text(number)},
        "negative": {"status": "ok", "text": "The mill is a mill."},
        **more,
    }


def write(folder: Path, name: str, *rows: Json) -> str:
    (folder / name).write_text("".join(json.dumps(each) + "\n" for each in rows))
    return name


def run(folder: Path, *arguments: str) -> SimpleNamespace:
    with chdir(folder):
        ran = CliRunner().invoke(app, ["synth", "corrupt", *arguments])
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return SimpleNamespace(returncode=ran.exit_code, stdout=ran.stdout, stderr=ran.stderr)


def pairs(path: Path) -> list[Pair]:
    rows = list(read_jsonl(path, Pair))
    return [each.record for each in rows if isinstance(each, Row)]


def about(pair: Pair) -> Json:
    found = pair.meta["corruption"]
    assert isinstance(found, dict)
    return found


def test_each_kind_makes_a_pair_whose_label_is_the_grounded_answer(tmp_path: Path) -> None:
    write(tmp_path, "in.jsonl", *map(answer, range(8)))
    ran = run(tmp_path, "in.jsonl", "-o", "out.jsonl")
    assert (ran.returncode, ran.stderr) == (0, "")
    made = pairs(tmp_path / "out.jsonl")
    assert Counter(str(about(each)["kind"]) for each in made) == dict.fromkeys(
        ("number", "date", "entity", "negation", "omission"), 8
    )
    for each in made:
        number = int(each.id[1 : each.id.index("/")])
        assert each.label in (0, 1)
        assert each.responses[int(each.label)] == text(number)
        wrong, told = each.responses[1 - int(each.label)], about(each)
        start, end = int(str(told["start"])), int(str(told["end"]))
        assert wrong[start:end] == told["after"]
        assert wrong[:start] + str(told["before"]) + wrong[end:] == text(number)
        assert told["origin"] == f"a{number}"
        assert told["better_for"] == ("completeness" if told["kind"] == "omission" else "truth")
        assert (each.source, each.query) == ("wikipedia", "What is known of the mill?")
        assert (each.meta["document"], each.meta["kind"]) == (f"d{number}", "report")
    assert 18 <= sum(each.label == 0 for each in made) <= 22
    assert "out.jsonl: 40 pairs of 8 answers" in ran.stdout


def test_ids_name_origin_kind_and_number(tmp_path: Path) -> None:
    write(tmp_path, "in.jsonl", answer(1))
    run(tmp_path, "in.jsonl", "-o", "out.jsonl", "--kind", "number", "--per-answer", "3")
    made = pairs(tmp_path / "out.jsonl")
    assert [each.id for each in made] == ["a1/number-1", "a1/number-2", "a1/number-3"]
    assert len({each.responses[1 - int(str(each.label))] for each in made}) == 3
    assert {each.label for each in made} == {0, 1}


def test_pairs_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    rows = [answer(number) for number in range(12)]
    write(tmp_path, "one.jsonl", *rows)
    write(tmp_path, "other.jsonl", *reversed(rows))
    for name in ("one", "other"):
        assert run(tmp_path, f"{name}.jsonl", "-o", f"{name}.out.jsonl").returncode == 0
    one, other = (
        sorted((tmp_path / f"{name}.out.jsonl").read_bytes().splitlines())
        for name in ("one", "other")
    )
    assert one == other


def test_another_seed_makes_other_pairs(tmp_path: Path) -> None:
    write(tmp_path, "in.jsonl", *map(answer, range(4)))
    for seed in ("0", "1"):
        run(tmp_path, "in.jsonl", "-o", f"{seed}.jsonl", "--seed", seed)
    assert (tmp_path / "0.jsonl").read_bytes() != (tmp_path / "1.jsonl").read_bytes()


def test_labelled_pairs_give_their_grounded_response(tmp_path: Path) -> None:
    write(tmp_path, "in.jsonl", pair(0, 0), pair(1, 1), pair(2, None), pair(3, "tie"))
    ran = run(tmp_path, "in.jsonl", "-o", "out.jsonl", "--per-answer", "1")
    assert ran.returncode == 4
    assert [each.id.split("/")[0] for each in pairs(tmp_path / "out.jsonl")] == ["p0", "p1"]
    assert ran.stderr.splitlines() == [
        "left out: line 3 ('p2'): expected a label, 0 or 1: the grounded response",
        "left out: line 4 ('p3'): expected a label, 0 or 1: the grounded response",
    ]
    assert "rows left out: 2 no_label" in ran.stdout


def test_rows_of_synth_pairs_give_their_positive_unless_dropped(tmp_path: Path) -> None:
    drop: Json = {"step": "checks", "reason": "tell"}
    write(tmp_path, "rows.jsonl", row(1), row(2, drop=drop))
    ran = run(tmp_path, "rows.jsonl", "-o", "out.jsonl", "--kind", "date", "--per-answer", "1")
    assert ran.returncode == 0
    (made,) = pairs(tmp_path / "out.jsonl")
    assert made.id.startswith("wikipedia:Mill 1#")
    assert (made.meta["document"], made.meta["kind"]) == ("wikipedia:Mill 1", "report")
    assert "rows left out: 1 dropped" in ran.stdout


def test_with_documents_only_what_they_bear_out_is_changed(tmp_path: Path) -> None:
    write(tmp_path, "in.jsonl", answer(0), answer(1))
    document = {"id": "d0", "source": "wikipedia", "title": "Mill", "text": "Bought in 1820."}
    write(tmp_path, "documents.jsonl", document)
    ran = run(
        tmp_path,
        *("in.jsonl", "-o", "out.jsonl", "--kind", "number", "--kind", "date"),
        *("--documents", "documents.jsonl"),
    )
    kinds = {each.id.partition("-")[0] for each in pairs(tmp_path / "out.jsonl")}
    assert kinds == {"a0/date", "a1/date", "a1/number"}
    assert "1 answers of documents that were not found in --documents" in ran.stdout


def test_the_summary_counts_kinds_forms_and_answers_without_a_place(tmp_path: Path) -> None:
    bare: Json = {"query": "Is it?", "answer": "It is a mill that is in the valley of it."}
    write(tmp_path, "in.jsonl", answer(0), bare)
    ran = run(
        tmp_path, "in.jsonl", "-o", "out.jsonl", "--kind", "date", "--per-answer", "1", "--json"
    )
    assert ran.returncode == 0
    summary = json.loads(ran.stdout)
    assert summary == json.loads((tmp_path / "out.summary.json").read_text())
    assert summary["kinds"] == [{"kind": "date", "pairs": 1, "no_place": 1, "forms": {"year": 1}}]
    assert (summary["answers"], summary["pairs"], summary["left_out"]) == (2, 1, {})


def test_broken_rows_and_ids_met_again_are_named_and_the_rest_is_done(tmp_path: Path) -> None:
    path = tmp_path / write(tmp_path, "in.jsonl", answer(0), answer(0), {"text": "x"})
    with path.open("ab") as file:
        file.write(b'{"query": "\\ud800", "answer": 3}\n\xff\n')
    ran = run(tmp_path, "in.jsonl", "-o", "out.jsonl")
    assert ran.returncode == 4
    assert len(pairs(tmp_path / "out.jsonl")) == 5
    assert ran.stderr.splitlines()[0] == "left out: line 2: expected a new id, got 'a0' again"
    assert ran.stderr.splitlines()[1].startswith(
        "left out: line 3: expected query and answer, a row"
    )
    assert ran.stderr.splitlines()[1].endswith("; there is text")
    assert "rows left out: 1 duplicate_id, 1 not_json, 1 not_utf8, 1 wrong_fields" in ran.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("none.jsonl", "-o", "out.jsonl"), "none.jsonl: cannot be read"),
        (
            ("in.jsonl", "-o", "out.jsonl", "--kind", "colour"),
            "--kind: expected one of number, date",
        ),
        (("in.jsonl", "-o", "in.jsonl"), "in.jsonl: exists already; name another output"),
        (("in.jsonl", "-o", "no/out.jsonl"), "no/out.jsonl: cannot be written"),
        (("in.jsonl", "-o", "out.jsonl", "--documents", "no.jsonl"), "no.jsonl: cannot be read"),
    ],
)
def test_what_cannot_be_is_told_and_nothing_is_left_behind(
    tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    write(tmp_path, "in.jsonl", answer(0))
    ran = run(tmp_path, *arguments)
    assert ran.returncode == 2
    assert message in ran.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]


@pytest.mark.parametrize("wrong", [{"query": None}, {"answer": None}, {"answer": ["a"]}])
def test_a_row_whose_query_or_answer_is_no_text_is_left_out(tmp_path: Path, wrong: Json) -> None:
    given, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    bare = {name: value for name, value in answer(1).items() if name != "id"}
    given.write_text(f"{json.dumps(bare | wrong)}\n{json.dumps(answer(2))}\n")
    ran = CliRunner().invoke(app, ["synth", "corrupt", str(given), "-o", str(output)])
    assert ran.exit_code == 4
    assert "expected query and answer as texts" in ran.output
    assert "rows left out: 1 wrong_fields" in ran.output
    assert output.exists()
