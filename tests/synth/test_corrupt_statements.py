from __future__ import annotations

import pytest

from openreward.synth.corrupt import Corruption, CorruptionKind, corrupt
from openreward.synth.corrupt_names import NamePool
from openreward.synth.corrupt_verbs import past, third

FILLER = "This is the first of the sentences that are in it. "


def made(text: str, kind: CorruptionKind) -> list[Corruption]:
    """All that some seeds make of a text."""
    found = [corrupt(text, kind, seed=seed, pool=NamePool()) for seed in range(20)]
    return [each for each in found if each is not None]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The lamp is bright at night.", "The lamp is not bright at night."),
        ("The lamp can burn all night in the hall.", None),
        ("He plays the flute.", "He does not play the flute."),
        ("He received the prize of the town.", "He did not receive the prize of the town."),
        (
            "The lamp has a shade of the best glass.",
            "The lamp does not have a shade of the best glass.",
        ),
        ("The school has won the prize.", "The school has not won the prize."),
        ("There was a bridge over it.", "There was no bridge over it."),
        ("The birds can fly over the hills.", "The birds cannot fly over the hills."),
        ("The drug did not improve the sleep.", "The drug improved the sleep."),
        ("The plan does not require the consent.", "The plan requires the consent."),
        ("The mine is no longer in use.", "The mine is still in use."),
        ("There was no significant difference.", "There was a significant difference."),
        ("There were no differences in it.", "There were differences in it."),
        ("The rate was higher in the north.", "The rate was lower in the north."),
        ("It was significantly increased.", "It was significantly decreased."),
        ("It is on the northern side.", "It is on the southern side."),
        ("They won the war.", "They lost the war."),
    ],
)
def test_a_statement_is_turned_round_in_sound_grammar(text: str, expected: str | None) -> None:
    found = {each.text.removeprefix(FILLER) for each in made(FILLER + text, "negation")}
    assert found == set() if expected is None else expected in found


@pytest.mark.parametrize(
    "text",
    [
        "Some of the lamps are bright at night.",
        "It is unclear whether the lamp is bright.",
        "He said that “the lamp is bright” to them.",
        "Is the lamp bright at night?",
        "The lower limb of the patient hurts.",
        "Sales increased from 40 to 70 tons.",
        "The lamp is neither bright nor dim at night.",
    ],
)
def test_statements_that_a_denial_would_not_make_false_stay(text: str) -> None:
    assert made(FILLER + text, "negation") == []


@pytest.mark.parametrize(
    ("base", "forms"),
    [
        ("play", ("plays", "played")),
        ("carry", ("carries", "carried")),
        ("reach", ("reaches", "reached")),
        ("write", ("writes", "wrote")),
        ("occur", ("occurs", "occurred")),
        ("have", ("has", "had")),
    ],
)
def test_verbs_are_inflected(base: str, forms: tuple[str, str]) -> None:
    assert (third(base), past(base)) == forms


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (
            "The mill is on a river. The town built it in 1820 with stone. Visitors come in May.",
            {
                "The mill is on a river. Visitors come in May.",
            },
        ),
        (
            "The mill, which was built by the town in 1820, is on a river.",
            {"The mill is on a river."},
        ),
        (
            "The mill was owned by a miller (who died in the winter of 1820) and his sons.",
            {"The mill was owned by a miller and his sons."},
        ),
        ("The mill is on a river. The town built it in 1820. It was the first of them.", set()),
        ("The mill is on a river. Its owner was Jan Holm of the town. Holm was a miller.", set()),
    ],
)
def test_what_is_left_out_leaves_the_rest_readable(text: str, left: set[str]) -> None:
    found = made(text, "omission")
    assert {each.text for each in found} == left
    assert all(each.after == "" for each in found)
