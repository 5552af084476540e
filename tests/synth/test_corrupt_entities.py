from __future__ import annotations

import pytest

from openreward.synth.corrupt import corrupt
from openreward.synth.corrupt_names import NamePool, names_in

POOL = NamePool(
    [
        "The actor Edwin Marlow met Clara Whitfield in Helsinki. He was a Danish painter and lived "
        "in Norway and in Oregon. The museum belongs to the Harbour University.",
        "The composer Walter Finch moved to Lisbon. Alice Norwood was a Swedish poet. "
        "She taught at the Northern University in Finland and sailed on the Silver Lake.",
    ]
)


def afters(text: str, **more: str) -> set[str]:
    """What some seeds put in the place of a name."""
    found = [corrupt(text, "entity", seed=seed, pool=POOL, **more) for seed in range(20)]
    return {each.after for each in found if each is not None}


def test_all_mentions_of_a_person_change_together() -> None:
    text = (
        "The film was made by Stanley Holm and it is known for that. Holm's wife was in it, and "
        "Stanley was not. The people of the town saw Holm in it."
    )
    assert afters(text) == {
        f"{given} {name} and it is known for that. {name}'s wife was in it, and {given} was not. "
        f"The people of the town saw {name}"
        for given, name in (("Edwin", "Marlow"), ("Walter", "Finch"))
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is a town in Sweden and it is on the river of it.", {"Norway", "Finland"}),
        ("It is a town in Texas and it is on the river of it.", {"Oregon"}),
        ("The school that is in Vienna was known for it.", {"Helsinki", "Lisbon"}),
        ("It was made by a French painter and it is in the town.", {"Danish", "Swedish"}),
        ("He was at the Southern University and was known for it.", None),
    ],
)
def test_a_name_gives_way_to_one_of_its_class(text: str, expected: set[str] | None) -> None:
    assert afters(text) == (expected or {"Harbour University", "Northern University"})


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ("Sweden is a land that is in the north and the people are known for it.", {}),
        ("It is a town in Sweden and it is on the river.", {"query": "Where in Sweden is it?"}),
        ("It is a town in Sweden and it is known.", {"document": "It lies in Norway."}),
        (
            "It is a town in Sweden and it is known.",
            {"document": "Sweden, Norway, Finland: all of them."},
        ),
        ("The bank in Lyon, France, is on the river and it is known.", {}),
        ("It is on the Texas Star road and in Texas, that is known.", {}),
    ],
)
def test_names_that_must_not_change_stay(text: str, more: dict[str, str]) -> None:
    assert afters(text, **more) == set()


def test_a_name_of_the_other_sex_or_with_another_article_is_not_taken() -> None:
    pool = NamePool(["The actress Alice Norwood was in the United Kingdom and in the Netherlands."])
    text = "The film was made by Stanley Holm and it is in Sweden."
    assert [corrupt(text, "entity", seed=seed, pool=pool) for seed in range(9)] == [None] * 9


def test_the_pool_is_the_same_in_any_order() -> None:
    texts = ["He lived in Norway.", "She was in Finland.", "They met in Sweden and Denmark."]
    known_as = next(iter(names_in(texts[0]))).known_as
    one, other = NamePool(texts), NamePool(reversed(texts))
    assert one.like(known_as) == other.like(known_as)
    assert sorted(one.like(known_as)) == ["Denmark", "Finland", "Norway", "Sweden"]
