from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from openreward.errors import RecordError
from openreward.eval.rmb import RMB
from openreward.records import Row
from openreward.synth.scenario_items import (
    best_of,
    best_of_items,
    pair_items,
    pairs_of,
    write_items,
)
from openreward.synth.scenario_records import (
    Answer,
    Drop,
    Said,
    ScenarioRow,
    ScenarioSettings,
    Score,
)

SETTINGS = ScenarioSettings()


def answer(number: int, value: float | None) -> Answer:
    score = Score(status="unparsed") if value is None else Score(status="ok", value=value)
    return Answer(llm_name=f"w{number}", status="ok", text=f"text {number}", score=score)


def row(*values: float | None, id: str = "p", label: str = "Chat") -> ScenarioRow:
    return ScenarioRow(
        id=id,
        conversation=(Said(role="user", content="Who?"),),
        english=True,
        label=label,
        answers=tuple(answer(number, value) for number, value in enumerate(values)),
    )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([4.0, 3.0], [(0, 1)]),
        ([3.0, 4.0], [(1, 0)]),
        ([4.0, 4.0], []),
        ([4.5, 2.0], []),  # 2.5 apart is too far
        ([4.5, 2.1], [(0, 1)]),
        ([5.0, 4.0, 3.0], [(0, 1), (0, 2), (1, 2)]),
        ([5.0, None, 3.0], [(0, 2)]),
        ([5.0, 3.0, 1.0], [(0, 1), (1, 2)]),
        ([None, None], []),
        ([], []),
    ],
)
def test_pairs_differ_in_score_but_not_by_much(
    values: list[float | None], expected: list[tuple[int, int]]
) -> None:
    found = pairs_of(row(*values), SETTINGS)
    assert [(pair.chosen.number, pair.reject.number) for pair in found] == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([5.0, 4.0, 3.0], (0, [1, 2])),
        ([3.0, 4.0, 5.0], (2, [1, 0])),  # the hardest first
        ([5.0, 4.0], None),  # one loser is too few
        ([5.0, 4.0, 1.0], None),  # the other is too far off
        ([5.0, 3.0, 3.0, 3.0], (0, [1, 2, 3])),
        ([4.0, 4.0, 4.0, 2.0], None),
        ([4.0] + [3.0] * 8, (0, [1, 2, 3, 4, 5, 6])),
    ],
)
def test_the_best_answer_has_losers_enough_or_is_no_item(
    values: list[float | None], expected: tuple[int, list[int]] | None
) -> None:
    found = best_of(row(*values), SETTINGS)
    got = (found[0].chosen.number, [pair.reject.number for pair in found]) if found else None
    assert got == expected


def test_of_several_best_answers_one_is_drawn_by_id_and_seed() -> None:
    def drawn(id: str, seed: int = 0) -> int:
        found = best_of(row(4.0, 4.0, 3.0, 3.0, id=id), ScenarioSettings(seed=seed))
        assert [pair.reject.number for pair in found] == [2, 3]
        return found[0].chosen.number

    counts = Counter(drawn(f"p{number}") for number in range(200))
    assert sorted(counts) == [0, 1]
    assert min(counts.values()) > 60
    assert [drawn(f"p{n}") for n in range(50)] == [drawn(f"p{n}") for n in range(50)]
    assert [drawn(f"p{n}") for n in range(50)] != [drawn(f"p{n}", seed=1) for n in range(50)]


def test_items_are_written_as_rmb_writes_them() -> None:
    made = row(3.0, 5.0, 4.0, label="Code/Documentation")
    (first, *_), (best,) = pair_items(made, SETTINGS), best_of_items(made, SETTINGS)
    said = [{"role": "user", "content": "Who?", "language": "English"}]
    assert json.loads(first.model_dump_json()) == {
        "pair_uid": "p/0-1",
        "conversation_input": said,
        "chosen": {"llm_name": "w1", "answer": "text 1"},
        "reject": {"llm_name": "w0", "answer": "text 0"},
        "category_path": "Pairwise_set/Helpfulness/Code/Documentation",
    }
    assert json.loads(best.model_dump_json()) == {
        "bon_uid": "p",
        "conversation_input": said,
        "bon_best": {"llm_name": "w1", "answer": "text 1"},
        "loser_list": [
            {"llm_name": "w2", "answer": "text 2"},
            {"llm_name": "w0", "answer": "text 0"},
        ],
        "category_path": "BoN_set/Helpfulness/Code/Documentation",
    }


def test_a_dropped_row_has_no_items() -> None:
    drop = Drop(step="pairs", reason="equal_scores")
    made = row(5.0, 4.0, 3.0).model_copy(update={"drop": drop})
    assert (pair_items(made, SETTINGS), best_of_items(made, SETTINGS)) == ([], [])


def files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()
    )


def test_a_set_lies_in_folders_and_is_read_back(tmp_path: Path) -> None:
    rows = [
        row(5.0, 4.0, 3.0, id="a"),
        row(4.0, 3.0, id="b"),
        row(3.0, 4.0, 5.0, id="c", label="Code/Documentation"),
        row(3.0, 3.0, id="d").model_copy(
            update={"drop": Drop(step="pairs", reason="equal_scores")}
        ),
    ]
    write_items(tmp_path, rows, SETTINGS)
    assert files(tmp_path) == [
        "BoN_set/Helpfulness/Chat/Chat.json",
        "BoN_set/Helpfulness/Code/Documentation.json",
        "Pairwise_set/Helpfulness/Chat/Chat.json",
        "Pairwise_set/Helpfulness/Code/Documentation.json",
    ]
    found = list(RMB().load(tmp_path))
    examples = {each.record.id: each.record for each in found if isinstance(each, Row)}
    assert len(examples) == len(found) == 9
    assert set(examples) == {
        *("bon/a", "pairwise/a/0-1", "pairwise/a/0-2", "pairwise/a/1-2", "pairwise/b/0-1"),
        *("bon/c", "pairwise/c/0-1", "pairwise/c/0-2", "pairwise/c/1-2"),
    }
    best = examples["bon/c"]
    assert (best.query, best.responses, best.right) == (
        "Who?",
        ("text 2", "text 1", "text 0"),
        (0,),
    )
    assert best.groups == {
        "quadrant": "BoN Helpfulness",
        "class": "BoN_set/Helpfulness/Code",
        "leaf": "BoN_set/Helpfulness/Code/Documentation",
    }


def test_a_set_that_is_written_again_is_the_same(tmp_path: Path) -> None:
    rows = [row(5.0, 4.0, 3.0, id="a"), row(4.0, 3.0, id="b")]
    write_items(tmp_path, rows, SETTINGS)
    before = {name: (tmp_path / name).read_bytes() for name in files(tmp_path)}
    write_items(tmp_path, rows, SETTINGS)
    assert {name: (tmp_path / name).read_bytes() for name in files(tmp_path)} == before


def test_a_folder_that_cannot_be_written_is_said_and_nothing_stays(tmp_path: Path) -> None:
    (tmp_path / "Pairwise_set").write_text("in the way")
    with pytest.raises(RecordError, match="cannot be written: .*--resume writes it"):
        write_items(tmp_path, [row(5.0, 4.0)], SETTINGS)
    assert files(tmp_path) == ["Pairwise_set"]


def test_a_writer_that_stops_halfway_leaves_what_was_there(tmp_path: Path) -> None:
    write_items(tmp_path, [row(5.0, 4.0, 3.0)], SETTINGS)
    before = files(tmp_path)
    content = (tmp_path / before[0]).read_bytes()

    def broken() -> list[ScenarioRow]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_items(
            tmp_path,
            (each for part in [lambda: [row(2.0, 1.0)], broken] for each in part()),
            SETTINGS,
        )
    assert files(tmp_path) == before
    assert (tmp_path / before[0]).read_bytes() == content
