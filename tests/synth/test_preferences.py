from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue, ValidationError

from openreward.records import Row, RowError, check_value
from openreward.synth.preferences import (
    NoPair,
    Preference,
    PreferenceRow,
    PreferenceSettings,
    ScoredAnswers,
    prefer,
    preference_row,
)
from openreward.synth.scenario_records import Said
from openreward.synth.scored_answers import ScoredRow, scored_answers

ASKED = (Said(role="user", content="Name a river."),)


def row(*scores: float | None, id: str = "r", texts: tuple[str, ...] = ()) -> ScoredAnswers:
    answers = texts or tuple(f"answer {number}" for number in range(len(scores)))
    return ScoredAnswers(id=id, prompt=ASKED, answers=answers, scores=scores)


def settings(**given: object) -> PreferenceSettings:
    return PreferenceSettings.model_validate({"fewest": 2, **given})


def drawn(scores: tuple[float | None, ...], **given: object) -> set[tuple[int, int]]:
    """The pairs that 200 rows with these scores give."""
    pairs = set()
    for number in range(200):
        found = prefer(row(*scores, id=str(number)), settings(**given))
        assert isinstance(found, Preference), found
        pairs.add(found[:2])
    return pairs


@pytest.mark.parametrize(
    ("given", "scores", "expected"),
    [
        ({}, (3, 9, 1, 5), {(1, 2)}),
        ({}, (None, 3, None, 9), {(3, 1)}),
        ({}, (9, 9, 1, 1), {(0, 2), (0, 3), (1, 2), (1, 3)}),
        ({"rule": "best-of-n"}, (3, 9, 1, 9), {(1, 0), (1, 2), (3, 0), (3, 2)}),
        ({"rule": "best-of-n", "margin": 7}, (3, 9, 1), {(1, 2)}),
        ({"rule": "best-of-n", "rejected": "first"}, (None, 3, 9, 1), {(2, 1)}),
        ({"rule": "threshold", "threshold": 5}, (3, 9, 5, 1), {(1, 0), (1, 3), (2, 0), (2, 3)}),
        (
            {"rule": "threshold", "threshold": 5, "margin": 4},
            (3, 9, 5, 1),
            {(1, 0), (1, 3), (2, 3)},
        ),
        ({"margin": 0.2}, (0.1, 0.3), {(1, 0)}),  # 0.3 - 0.1 < 0.2 in floating point
    ],
)
def test_a_rule_names_its_pairs_and_one_is_drawn(
    given: dict[str, object], scores: tuple[float | None, ...], expected: set[tuple[int, int]]
) -> None:
    assert drawn(scores, **given) == expected


@pytest.mark.parametrize(
    ("given", "scores", "reason", "detail"),
    [
        ({}, (), "no_scores", ""),
        ({}, (None, None, None), "no_scores", ""),
        ({"fewest": 5}, (1, 2, 3, 4, None), "too_few", "4 scored answers, at least 5 expected"),
        ({}, (4, 4, 4), "equal_scores", "scores from 4 to 4"),
        ({}, (0.1 + 0.2, 0.3), "equal_scores", "scores from 0.3 to 0.3"),
        ({"margin": 3}, (4, 2, 2.5), "under_margin", "2, at least 3 expected"),
        ({"rule": "best-of-n"}, (4, 4), "equal_scores", "scores from 4 to 4"),
        ({"rule": "best-of-n", "rejected": "first"}, (4, 1, 4), "first_is_best", ""),
        ({"rule": "threshold", "threshold": 5}, (4, 1), "none_above", "scores from 1 to 4"),
        ({"rule": "threshold", "threshold": 1}, (4, 1), "none_below", "scores from 1 to 4"),
    ],
)
def test_a_row_without_a_pair_says_why(
    given: dict[str, object], scores: tuple[float | None, ...], reason: str, detail: str
) -> None:
    expected = {"id": "r", "reason": reason, "detail": detail}
    found = prefer(row(*scores), settings(**given))
    assert isinstance(found, NoPair)
    assert found.model_dump() == expected


def test_ten_answers_of_which_five_are_scored_are_enough_by_default() -> None:
    five = (1, 2, 3, 4, 5, None, None, None, None, None)
    assert prefer(row(*five), PreferenceSettings()) == Preference(4, 0, 1, 1)
    four = prefer(row(*five[1:]), PreferenceSettings())
    assert isinstance(four, NoPair)
    assert four.reason == "too_few"


def test_answers_that_say_the_same_are_no_pair_even_if_a_judge_says_so() -> None:
    same = prefer(row(1, 2, texts=("The Rhine.", " The  Rhine.\n")), settings())
    assert isinstance(same, NoPair)
    assert same.reason == "same_text"
    other = row(2, 1, 1, texts=("The Rhine.", "The Rhine.", "The Po."))
    assert prefer(other, settings()) == Preference(0, 2, 1, 2)


def test_ties_are_counted_and_no_place_is_favoured() -> None:
    found = [prefer(row(5, 5, 1, 1, 1, id=str(number)), settings()) for number in range(600)]
    assert {pair[2:] for pair in found if isinstance(pair, Preference)} == {(2, 3)}
    pairs = Counter(pair[:2] for pair in found if isinstance(pair, Preference))
    assert len(pairs) == 6
    assert min(pairs.values()) > 60  # of 100 expected
    assert found == [
        prefer(row(5, 5, 1, 1, 1, id=str(number)), settings()) for number in range(600)
    ]
    assert found != [
        prefer(row(5, 5, 1, 1, 1, id=str(number)), settings(seed=1)) for number in range(600)
    ]


@given(st.lists(st.none() | st.integers(0, 5), max_size=8), st.sampled_from([0, 1, 2.5]))
def test_the_best_is_never_worse_than_any_and_the_margin_holds(
    scores: list[float | None], margin: float
) -> None:
    found = prefer(row(*scores), settings(margin=margin))
    given_ = [score for score in scores if score is not None]
    possible = len(given_) >= 2 and max(given_) - min(given_) >= (margin or 1)
    assert isinstance(found, Preference) == possible
    if isinstance(found, Preference):
        assert scores[found.chosen] == max(given_)
        assert scores[found.rejected] == min(given_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rule": "threshold"}, "expected a threshold with the rule threshold"),
        ({"threshold": 3}, "and with no other, got the rule best-worst"),
        ({"rejected": "first"}, "rejected first goes with the rule best-of-n"),
        ({"margin": float("nan")}, "finite number"),
        ({"fewest": 1}, "greater than or equal to 2"),
    ],
)
def test_settings_that_do_not_fit_are_refused(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        settings(**given)


def test_a_pair_is_written_as_texts_or_as_messages() -> None:
    told = (Said(role="system", content="Be short."), *ASKED)
    found = ScoredAnswers(id="r", prompt=told, answers=("The Po.", "No."), scores=(4.5, 1))
    common = {
        "score_chosen": 4.5,
        "score_rejected": 1.0,
        "chosen_index": 0,
        "rejected_index": 1,
        "tied_chosen": 1,
        "tied_rejected": 1,
    }
    plain = preference_row(found, Preference(0, 1, 1, 1))
    assert plain.model_dump() == {
        "id": "r",
        "prompt": "System: Be short.\n\nUser: Name a river.",
        "chosen": "The Po.",
        "rejected": "No.",
        **common,
    }
    assert preference_row(row(1, 2), Preference(1, 0, 1, 1)).prompt == "Name a river."
    messages = preference_row(found, Preference(0, 1, 1, 1), conversational=True)
    assert messages.model_dump(mode="json") == {
        "id": "r",
        "prompt": [
            {"role": "system", "content": "Be short."},
            {"role": "user", "content": "Name a river."},
        ],
        "chosen": [{"role": "assistant", "content": "The Po."}],
        "rejected": [{"role": "assistant", "content": "No."}],
        **common,
    }
    assert PreferenceRow.model_validate_json(messages.model_dump_json()) == messages


def read(value: JsonValue) -> ScoredAnswers | RowError:
    found = check_value("line", 1, value, ScoredRow)
    return (
        found if isinstance(found, RowError) else scored_answers(found.record, found.record.scores)
    )


@pytest.mark.parametrize(
    ("given", "answers", "scores"),
    [
        ({"answers": ["a", "b"], "scores": [1, None]}, ("a", "b"), (1, None)),
        ({"responses": {"x": "a", "y": "b"}, "scores": {"y": 2}}, ("a", "b"), (None, 2)),
        ({"responses": {"x": "a", "y": "b"}, "ranking": ["y", "x"]}, ("a", "b"), (0, 1)),
        ({"answers": ["a", "b", "c"], "ranking": [2, [0]]}, ("a", "b", "c"), (0, None, 1)),
        ({"answers": ["a", "b", "c"], "ranking": [2, [0, 1]]}, ("a", "b", "c"), (0, 0, 1)),
        ({"answers": ["a", "b"], "scores": [1, 2], "ranking": [0, 1]}, ("a", "b"), (1, 2)),
        ({"answers": ["a", "b"]}, ("a", "b"), (None, None)),
        (
            {"answers": [{"text": "a", "status": "cut", "x": 1}, {"text": "b"}], "scores": [9, 1]},
            ("a", "b"),
            (None, 1),
        ),
    ],
)  # fmt: skip
def test_rows_come_in_several_shapes(
    given: dict[str, JsonValue], answers: tuple[str, ...], scores: tuple[float | None, ...]
) -> None:
    found = read({"id": 3, "prompt": "Name a river.", **given})
    assert found == ScoredAnswers(id="3", prompt=ASKED, answers=answers, scores=scores)


def test_a_row_without_an_id_has_one_of_its_texts() -> None:
    first, again = (
        read({"prompt": "Name a river.", "answers": ["a", "b"], "scores": [score, 1]})
        for score in (2, 3)
    )
    other = read({"prompt": "Name a river.", "answers": ["a", "c"], "scores": [2, 1]})
    assert isinstance(first, ScoredAnswers)
    assert isinstance(again, ScoredAnswers)
    assert isinstance(other, ScoredAnswers)
    assert first.id == again.id != other.id


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"answers": ["a"]}, "expected prompt or query"),
        ({"prompt": "x"}, "field responses: expected a list of texts"),
        ({"prompt": "x", "answers": "a"}, "field answers: expected a list of texts"),
        ({"prompt": "x", "answers": ["a", 5]}, "field answers: expected a list of texts"),
        ({"prompt": "x", "answers": ["a"], "scores": ["1"]}, "expected finite numbers as scores"),
        ({"id": "", "prompt": "x", "answers": ["a"]}, "field id: expected text, got an empty one"),
    ],
)
def test_rows_of_no_shape_are_refused(given: dict[str, JsonValue], message: str) -> None:
    found = check_value("line", 1, given, ScoredRow)
    assert isinstance(found, RowError)
    assert message in found.message


def test_scores_of_a_ranking_are_not_taken_where_a_file_gives_scores() -> None:
    found = check_value(
        "line", 1, {"prompt": "x", "answers": ["a", "b"], "ranking": [0, 1]}, ScoredRow
    )
    assert isinstance(found, Row)
    assert scored_answers(found.record, None, ranked=False).scores == (None, None)
    assert scored_answers(found.record, [1.0, 2.0]).scores == (1.0, 2.0)
