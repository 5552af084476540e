"""The rules of the line, on a clock of numbers; whoever dies simply does not ask any more."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from openreward.tools.budget_line import Answer, Ask, Line, ask, leave, pause, tidy


def ticket(number: int) -> str:
    return f"{number:016x}"


def wish(
    number: int,
    *,
    interval: float = 3.0,
    at_once: int = 1,
    lease: float = 16.0,
    patience: float = 100.0,
) -> Ask:
    return Ask(
        service="arxiv",
        ticket=ticket(number),
        interval=interval,
        at_once=at_once,
        lease=lease,
        patience=patience,
    )


def test_the_first_may_go_and_the_second_waits_until_it_is_over() -> None:
    line, first = ask(Line(), wish(1), 100.0)
    assert first == Answer(outcome="go")
    line, second = ask(line, wish(2), 100.0)
    assert (second.outcome, second.seconds) == ("wait", 1.0)  # it has to say that it is alive
    line, second = ask(line, wish(2), 103.5)
    assert second.outcome == "wait"  # the first is under way
    line = leave(line, ticket(1), 103.5)
    line, second = ask(line, wish(2), 104.9)
    assert second.outcome == "wait"
    assert second.seconds == pytest.approx(0.1)
    assert ask(line, wish(2), 105.0).answer.outcome == "go"  # 3 s after the first surely arrived


def test_a_fast_answer_moves_the_interval_to_its_end() -> None:
    line = leave(ask(Line(), wish(1), 100.0).line, ticket(1), 100.4)
    assert ask(line, wish(2, patience=10), 103.3).answer.outcome == "wait"
    assert ask(line, wish(2), 103.4).answer.outcome == "go"


def test_several_at_once_are_an_interval_apart_from_start_to_start() -> None:
    line = Line()
    moments = []
    for number, now in enumerate([0.0, 0.3, 0.37, 0.6, 0.74, 1.5]):
        line, answer = ask(line, wish(number, interval=0.37, at_once=3), 100 + now)
        moments.append(answer.outcome)
    assert moments == ["go", "wait", "wait", "wait", "wait", "wait"]  # who waits comes first
    assert ask(line, wish(1, interval=0.37, at_once=3), 101.5).answer.outcome == "go"


def test_no_more_than_allowed_are_under_way_though_the_interval_is_over() -> None:
    line = Line()
    for number in range(3):
        line, answer = ask(line, wish(number, interval=0.1, at_once=3), 100 + number)
        assert answer.outcome == "go"
    line, answer = ask(line, wish(3, interval=0.1, at_once=3), 110.0)
    assert (answer.outcome, answer.seconds) == ("wait", 0.02)
    assert ask(leave(line, ticket(1), 110.0), wish(3, interval=0.1, at_once=3), 110.0)[1] == Answer(
        outcome="go"
    )


def test_those_who_wait_go_in_the_order_in_which_they_came() -> None:
    line = leave(ask(Line(), wish(0, interval=0.0), 100.0).line, ticket(0), 100.0)
    line = ask(Line(paused=101.0), wish(1), 100.0).line
    line = ask(line, wish(2), 100.1).line
    line = ask(line, wish(3), 100.2).line
    line, third = ask(line, wish(3), 101.0)
    line, second = ask(line, wish(2), 101.0)
    line, first = ask(line, wish(1), 101.0)
    assert [first.outcome, second.outcome, third.outcome] == ["go", "wait", "wait"]


def test_who_would_wait_longer_than_their_patience_is_refused_at_once_and_takes_no_place() -> None:
    line, _ = ask(Line(), wish(0), 100.0)
    line = ask(line, wish(1), 100.0).line
    line = ask(line, wish(2), 100.0).line
    refused = ask(line, wish(3, patience=8.9), 100.0)
    assert refused.answer == Answer(outcome="refuse", seconds=9.0)
    assert [place.ticket for place in refused.line.waiting] == [ticket(1), ticket(2)]
    assert ask(line, wish(3, patience=9.0), 100.0).answer.outcome == "wait"


def test_without_patience_one_goes_or_is_refused() -> None:
    assert ask(Line(), wish(1, patience=0), 100.0).answer.outcome == "go"
    busy = ask(Line(), wish(1, interval=0), 100.0).line
    assert ask(busy, wish(2, interval=0, patience=0), 100.0).answer.outcome == "refuse"


def test_a_dead_holder_blocks_until_its_lease_ends() -> None:
    line = ask(Line(), wish(1, lease=16), 100.0).line
    for now in range(101, 116):
        line, answer = ask(line, wish(2), float(now))
        assert answer.outcome == "wait"
    assert ask(line, wish(2), 116.0).answer.outcome == "go"


def test_a_dead_waiter_loses_the_place_after_five_seconds() -> None:
    line = ask(Line(paused=101.0), wish(1), 100.0).line
    for now in (101.0, 102.0, 103.0, 104.0, 104.9):
        line, answer = ask(line, wish(2), now)
        assert answer.outcome == "wait"
    assert ask(line, wish(2), 105.0).answer.outcome == "go"


def test_who_gives_up_waiting_moves_the_others_on() -> None:
    line = ask(Line(paused=101.0), wish(1), 100.0).line
    line = ask(line, wish(2), 100.0).line
    assert ask(leave(line, ticket(1), 100.5), wish(2), 101.0).answer.outcome == "go"


def test_a_ticket_that_asks_again_though_it_may_go_gets_the_same_answer() -> None:
    line = ask(Line(), wish(1), 100.0).line
    again = ask(line, wish(1), 100.5)
    assert again.answer == Answer(outcome="go")
    assert again.line.running == line.running


def test_a_pause_stops_all_and_a_shorter_one_does_not_end_it() -> None:
    line = pause(pause(Line(), 40.0, 100.0), 2.0, 101.0)
    assert ask(line, wish(1, patience=15), 110.0).answer == Answer(
        outcome="refuse", seconds=30.0, paused=True
    )
    waiting = ask(line, wish(1), 139.9)
    assert waiting.answer.outcome == "wait"
    assert ask(waiting.line, wish(1), 140.0).answer.outcome == "go"


@pytest.mark.parametrize("seconds", [1e9, 86_400.0, 3600.0])
def test_no_pause_lasts_longer_than_an_hour(seconds: float) -> None:
    assert pause(Line(), seconds, 100.0).paused == 3700.0


def test_where_two_disagree_the_larger_interval_holds_until_its_owner_is_gone() -> None:
    def gap(line: Line, now: float) -> float:
        return ask(line, wish(9, interval=1.0, at_once=3), now).line.interval

    line = ask(Line(), wish(1, interval=3.0, at_once=1), 100.0).line
    quick = ask(line, wish(2, interval=1.0, at_once=3), 100.0).line
    assert (quick.interval, quick.at_once) == (3.0, 1)
    assert (gap(quick, 699.9), gap(quick, 700.0)) == (3.0, 1.0)
    slower = ask(quick, wish(3, interval=5.0, at_once=2), 200.0).line
    assert (slower.interval, slower.at_once) == (5.0, 1)


def test_the_clock_of_another_boot_holds_nobody_up() -> None:
    line = ask(ask(Line(), wish(1), 9e6).line, wish(2), 9e6).line
    assert (len(line.running), len(line.waiting), line.last) == (1, 1, 9e6)
    line = tidy(line, 100.0)
    assert (line.running, line.waiting, line.last) == ((), (), 100.0)
    assert ask(line, wish(3), 103.0).answer.outcome == "go"


@pytest.mark.parametrize(
    "wrong",
    [
        '{"last": -1}',
        '{"last": 1e999}',
        '{"last": NaN}',
        '{"at_once": 0}',
        '{"running": [{"ticket": "../../etc", "until": 1}]}',
        '{"unknown": 1}',
    ],
)
def test_a_state_that_cannot_be_is_not_read(wrong: str) -> None:
    with pytest.raises(ValidationError):
        Line.model_validate_json(wrong)


class Move(NamedTuple):
    wait: float
    who: int
    what: str


moves = st.lists(
    st.builds(
        Move,
        st.floats(0, 4, allow_nan=False),
        st.integers(0, 5),
        st.sampled_from(["ask", "ask", "ask", "leave", "pause", "die"]),
    ),
    max_size=80,
)


@given(moves, st.integers(1, 3))
def test_whatever_happens_starts_are_an_interval_apart_and_never_too_many(
    happens: list[Move], at_once: int
) -> None:
    line, now = Line(), 1000.0
    starts: list[float] = []
    running: dict[str, float] = {}  # ticket -> the end of its lease
    generation = dict.fromkeys(range(6), 0)
    for move in happens:
        now += move.wait
        name = move.who + 10 * generation[move.who]
        running = {key: until for key, until in running.items() if until > now}
        if move.what == "ask" and ticket(name) not in running:
            line, answer = ask(line, wish(name, interval=2.0, at_once=at_once, lease=6.0), now)
            if answer.outcome == "go":
                starts.append(now)
                running[ticket(name)] = now + 6.0
                assert len(running) <= at_once
            else:
                assert 0 < answer.seconds <= 1.0
        elif move.what == "leave":
            line = leave(line, ticket(name), now)
            running.pop(ticket(name), None)
        elif move.what == "pause":
            line = pause(line, 1.0, now)
        elif move.what == "die":
            generation[move.who] += 1
    assert all(
        after - before >= 2.0 - 1e-9 for before, after in zip(starts, starts[1:], strict=False)
    )
    later = now + 20.0
    for each in range(9):  # nobody is left behind: a newcomer goes soon after the last lease
        line, answer = ask(line, wish(999, interval=2.0, at_once=at_once), later + each)
        if answer.outcome == "go":
            break
    assert answer.outcome == "go"
