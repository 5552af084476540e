from openreward.policy.slots import Slots


def test_a_conversation_returns_to_the_slot_it_grew_in() -> None:
    slots = Slots(3)
    with slots.take([1, 2, 3]) as first, slots.take([1, 2, 4]) as second:
        assert (first, second) == (0, 1)
    with slots.take([1, 2, 4, 9]) as again:
        assert again == 1
    with slots.take([1, 2, 3, 9, 9]) as again:
        assert again == 0


def test_a_new_conversation_takes_the_slot_idle_for_longest_though_another_shares_its_start() -> (
    None
):
    slots = Slots(2)
    with slots.take([1, 2, 3]) as first:
        assert first == 0
    with slots.take([7, 8]) as second:
        assert second == 1
    with slots.take([7, 8, 8]) as again:
        assert again == 1
    with slots.take([7, 8, 9]) as new:
        assert new == 0


def test_without_an_idle_slot_the_server_chooses() -> None:
    slots = Slots(1)
    with slots.take([1]) as first, slots.take([2]) as second:
        assert (first, second) == (0, None)
    with slots.take([2, 3]) as third:
        assert third == 0


def test_a_failed_turn_frees_its_slot() -> None:
    slots = Slots(1)
    try:
        with slots.take([1]):
            raise RuntimeError("the engine went away")
    except RuntimeError:
        pass
    with slots.take([5]) as again:
        assert again == 0


def test_a_prompt_that_begins_mostly_as_another_did_takes_its_slot() -> None:
    slots = Slots(3)
    document = list(range(100))
    with slots.take([*document, 7, 7]) as query:
        assert query == 0
    with slots.take([1, 2]) as other:
        assert other == 1
    with slots.take([*document, 8, 8, 8]) as answer:
        assert answer == 0
