from __future__ import annotations

import random
import tracemalloc

import pytest

from openreward.errors import RecordError
from openreward.synth.near_duplicates import Duplicate, NearDuplicates, overlap

FOX = "the quick brown fox jumps over the lazy dog and runs away into the dark green forest"


def find(before: list[str], text: str, near: float = 0.7) -> Duplicate | None:
    with NearDuplicates(near) as kept:
        for number, each in enumerate(before):
            kept.add(f"t{number}", each)
        return kept.find(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (FOX, Duplicate("t1", 1.0, True)),
        (FOX.upper() + " \n", Duplicate("t1", 1.0, True)),
        (FOX.replace("fox", "ｆｏｘ"), Duplicate("t1", 1.0, True)),  # full width
        (FOX.replace(" and ", ", and ") + "!", Duplicate("t1", 1.0, False)),  # the words are equal
        (FOX + " now", Duplicate("t1", 15 / 16, False)),
        (FOX.replace("lazy", "sleepy"), None),  # 3 of 15 runs differ on either side: 12 / 18
        ("a forest that is dark and green, where a fox ran away", None),  # the same in other words
        ("", None),
        ("?!", None),
    ],
)
def test_a_text_is_a_duplicate_from_the_given_share_on(
    text: str, expected: Duplicate | None
) -> None:
    assert find(["something else entirely, in words of its own", FOX], text) == expected


def test_the_share_can_be_set() -> None:
    changed = FOX.replace("lazy", "sleepy")
    assert find([FOX], changed, near=12 / 18) == Duplicate("t0", 12 / 18, False)
    assert find([FOX], changed, near=0.67) is None


def test_of_several_the_nearest_is_named_and_of_equals_the_first() -> None:
    assert find([FOX + " now and then", FOX + " now", FOX + " soon"], FOX) == Duplicate(
        "t1", 15 / 16, False
    )


def test_short_texts_that_differ_in_a_word_are_not_duplicates() -> None:
    assert find(["What is the capital of France?"], "What is the capital of Spain?") is None
    assert find(["What is 3 + 4?"], "What is 3 + 5?") is None


def test_texts_without_spaces_are_compared_by_characters() -> None:
    text = "法国的首都是什么城市请回答我的问题"
    assert find([text], text + "吧") == Duplicate("t0", 15 / 16, False)
    assert find([text], "请把这句话翻译成英文好吗谢谢你们大家") is None


def test_texts_without_words_are_equal_only_as_they_are() -> None:
    assert find(["?!"], "?!") == Duplicate("t0", 1.0, True)
    assert find(["?!"], "!!") is None


def test_odd_text_is_taken() -> None:
    odd = "\x00 \ud800 " + FOX
    assert find([odd], odd) == Duplicate("t0", 1.0, True)


def test_what_brute_force_finds_is_found() -> None:
    """Texts of all shares in common with one; near 0.7 the bands miss fewer than one in 500."""
    chance = random.Random(7)
    words = [f"w{number}" for number in range(2000)]
    kept_words = chance.sample(words, 60)
    missed = wrong = pairs = 0
    with NearDuplicates(0.7) as kept:
        kept.add("kept", " ".join(kept_words))
        of_kept = kept._runs(" ".join(kept_words))
        for _ in range(400):
            text = list(kept_words)
            for place in chance.sample(range(60), chance.randrange(6)):
                text[place] = chance.choice(words)
            other = " ".join(text)
            share = overlap(of_kept, kept._runs(other))
            found = kept.find(other)
            pairs += share >= 0.7
            missed += share >= 0.7 and found is None
            wrong += share < 0.7 and found is not None
    assert 100 < pairs < 400
    assert (missed, wrong) == (0, 0)


def test_ids_are_new_once() -> None:
    with NearDuplicates() as kept:
        assert [kept.is_new_id(id) for id in ("a", "b", "a", "\ud800", "\ud800")] == [
            True,
            True,
            False,
            True,
            False,
        ]


def test_memory_does_not_grow_with_the_texts() -> None:
    chance = random.Random(1)
    with NearDuplicates() as kept:
        tracemalloc.start()
        try:
            for number in range(300):
                kept.add(f"t{number}", " ".join(f"w{chance.randrange(10**6)}" for _ in range(40)))
            now, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert now < 300 * 200


def test_a_temporary_database_that_fails_is_said() -> None:
    with NearDuplicates() as kept:
        kept._tables.do("pragma max_page_count = 1")
        with pytest.raises(RecordError, match="the temporary database failed: .* TMPDIR"):
            kept.add("t", " ".join(map(str, range(5000))))
