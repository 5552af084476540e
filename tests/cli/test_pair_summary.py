from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from openreward.cli.pair_report import Pace
from openreward.cli.pair_summary import ROWS, Price, finish_pairs, read_price, show_pairs
from openreward.errors import RecordError, UserError
from openreward.synth.pair_records import PairSettings
from openreward.types import Usage

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "synth"))

from pair_cli_runs import FILES, SETTINGS, contents, manifest, shard, summary
from pair_rows import many, row, write


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
    folder = shard(tmp_path / "run", many(120), manifest())
    show_pairs(finish_pairs(folder, [folder / ROWS], SETTINGS, [manifest()]), as_json=False)
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
