from __future__ import annotations

import tracemalloc

from openreward.synth.seen import Seen


def test_a_text_is_new_once() -> None:
    seen = Seen()
    assert [seen.is_new(text) for text in ("a", "b", "a", "", "", "b")] == [
        True, True, False, True, False, False,
    ]  # fmt: skip
    assert len(seen) == 3


def test_it_holds_whatever_a_set_holds() -> None:
    seen, known = Seen(), set[str]()
    for number in range(20_000):
        text = str(number * number % 9_973)
        assert seen.is_new(text) is (text not in known)
        known.add(text)
    assert len(seen) == len(known)


def test_a_text_takes_at_most_36_bytes() -> None:
    seen = Seen()
    for number in range(5_461):  # two thirds of 8,192 slots
        seen.is_new(str(number))
    tracemalloc.start()
    try:
        seen.is_new("one more")  # the table grows
        new = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (8 * 8_192 + new) / 5_462 < 37
