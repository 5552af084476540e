"""The line of those who ask one service: a record, and the rules by which it moves on.

Pure: time comes in as `now`, seconds of one monotonic clock. Everybody in it holds a lease: who
waits renews it by asking again, who runs has it for as long as a request may take. So whoever dies
is forgotten, and nobody else waits longer than that.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from openreward.tools.services import ServiceName
from openreward.types import Record

LONGEST_PAUSE = 3600.0  # of what a service may ask for; it is asked again then
LONGEST_LEASE = 3600.0
_PLACE = 5.0  # seconds a place in line is kept without its holder asking again
_RENEW = 1.0  # seconds until a waiter asks again at the latest
_POLL = 0.02  # the same when the next turn may come at any moment
_REACH = 2.0  # seconds in which a request surely reaches its service
_AGREED = 600.0  # seconds for which a stricter limit is kept after the last who set it

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
TicketId = Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


class Ask(Record):
    """Somebody wants to make a request, or asks whether it is their turn by now."""

    service: ServiceName
    ticket: TicketId
    interval: Annotated[Seconds, Field(le=LONGEST_LEASE)]
    at_once: int = Field(ge=1)
    lease: Annotated[Seconds, Field(le=LONGEST_LEASE)]  # the request is over by then
    patience: Seconds  # seconds of waiting that are left
    who: str = Field(default="", max_length=80)  # for the operator's eyes


class Answer(Record):
    """`go`: make the request now. `wait`, `refuse`: for how many seconds, or how many too many."""

    outcome: Literal["go", "wait", "refuse"]
    seconds: Seconds = 0.0
    paused: bool = False  # the service asked for it


class Place(Record):
    """One who waits or runs, and until when they are believed to be alive."""

    ticket: TicketId
    until: Seconds
    started: Seconds = 0.0
    who: str = Field(default="", max_length=80)


class Line(Record):
    """All that is known of the requests to one service."""

    last: Seconds = 0.0  # the interval counts from here
    paused: Seconds = 0.0
    interval: Seconds = 0.0
    at_once: int = Field(default=1, ge=1)
    agreed: Seconds = 0.0  # until when these two are kept
    running: tuple[Place, ...] = ()
    waiting: tuple[Place, ...] = ()

    def free_at(self) -> float:
        """When the next request may start, as far as that is known."""
        return max(self.last + self.interval, self.paused)


class Step(NamedTuple):
    """The line after an answer."""

    line: Line
    answer: Answer


def ask(line: Line, wish: Ask, now: float) -> Step:
    """Join the line, keep one's place in it, or go."""
    line = _agree(tidy(line, now), wish, now)
    if any(place.ticket == wish.ticket for place in line.running):
        return Step(line, Answer(outcome="go"))  # asked again: the answer was lost on its way
    ahead = _ahead(line, wish.ticket)
    due = line.free_at() + ahead * line.interval - now  # or later, while others run
    if due <= 0 and not ahead and len(line.running) < line.at_once:
        return Step(_start(line, wish, now), Answer(outcome="go"))
    paused = line.paused > now
    if max(due, 0.0) > wish.patience or wish.patience <= 0:
        refused = Answer(outcome="refuse", seconds=max(due, 0.0), paused=paused)
        return Step(_without(line, wish.ticket), refused)
    again = min(max(due, _POLL * (ahead + 1)), _RENEW, max(wish.patience, _POLL))
    line = _keep_place(line, Place(ticket=wish.ticket, until=now + _PLACE, who=wish.who))
    return Step(line, Answer(outcome="wait", seconds=again, paused=paused))


def leave(line: Line, ticket: str, now: float) -> Line:
    """Somebody's request is over, or they wait no more."""
    line = tidy(line, now)
    ended = [place for place in line.running if place.ticket == ticket]
    return _without(_ended(line, ended, now), ticket)


def pause(line: Line, seconds: float, now: float) -> Line:
    """Nobody starts for so long; a longer pause that is known stays."""
    until = now + min(max(seconds, 0.0), LONGEST_PAUSE)
    return tidy(line, now).model_copy(update={"paused": max(tidy(line, now).paused, until)})


def tidy(line: Line, now: float) -> Line:
    """Without the leases that ran out, and without times that cannot be (another boot's clock)."""
    expired = [place for place in line.running if place.until <= now]
    line = _ended(line, expired, now)
    kept = [place for place in line.running if now < place.until <= now + LONGEST_LEASE]
    alive = [place for place in line.waiting if now < place.until <= now + _PLACE]
    return line.model_copy(
        update={
            "last": min(line.last, now),
            "paused": min(line.paused, now + LONGEST_PAUSE),
            "agreed": min(line.agreed, now + _AGREED),
            "running": tuple(kept),
            "waiting": tuple(alive),
        }
    )


def _agree(line: Line, wish: Ask, now: float) -> Line:
    """Where processes disagree, the larger interval and the smaller number at once hold."""
    own = (wish.interval, wish.at_once)
    strict = (max(line.interval, own[0]), min(line.at_once, own[1])) if line.agreed > now else own
    agreed = now + _AGREED if strict == own else line.agreed
    return line.model_copy(update={"interval": strict[0], "at_once": strict[1], "agreed": agreed})


def _ended(line: Line, ended: list[Place], now: float) -> Line:
    """One at a time, the interval counts from when the service surely had the former request.

    That is its end; for a slow one, some time after its start.
    """
    if line.at_once > 1 or not ended:
        return line
    reached = [min(place.until, now, place.started + _REACH) for place in ended]
    return line.model_copy(update={"last": max(line.last, *reached)})


def _ahead(line: Line, ticket: str) -> int:
    for number, place in enumerate(line.waiting):
        if place.ticket == ticket:
            return number
    return len(line.waiting)


def _keep_place(line: Line, mine: Place) -> Line:
    known = any(place.ticket == mine.ticket for place in line.waiting)
    others = tuple(mine if place.ticket == mine.ticket else place for place in line.waiting)
    return line.model_copy(update={"waiting": others if known else (*others, mine)})


def _start(line: Line, wish: Ask, now: float) -> Line:
    mine = Place(ticket=wish.ticket, until=now + wish.lease, started=now, who=wish.who)
    line = _without(line, wish.ticket)
    return line.model_copy(update={"last": now, "running": (*line.running, mine)})


def _without(line: Line, ticket: str) -> Line:
    return line.model_copy(
        update={
            "running": tuple(place for place in line.running if place.ticket != ticket),
            "waiting": tuple(place for place in line.waiting if place.ticket != ticket),
        }
    )
