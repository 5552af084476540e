"""What a budget endpoint is told and answers, besides `Ask` and `Answer`; and its token."""

from __future__ import annotations

from pydantic import Field

from openreward.errors import UserError
from openreward.tools.budget_line import Line, Seconds, TicketId
from openreward.tools.services import ServiceName
from openreward.types import Record

_SHORTEST_TOKEN = 16


class Release(Record):
    """A request is over, or is not wanted any more."""

    service: ServiceName
    ticket: TicketId


class Pause(Record):
    """A service is to be left alone."""

    service: ServiceName
    seconds: Seconds


class Status(Record):
    """The lines, and the moment on their clock."""

    now: float
    lines: dict[ServiceName, Line]


class Refused(Record):
    """Why a request was not done."""

    error: str = Field(min_length=1)


def check_token(token: str) -> str:
    """The token, if it can guard anything and a header can carry it."""
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        raise UserError(
            f"expected a token of at least {_SHORTEST_TOKEN} printable ASCII characters, got "
            f"{len(token)} characters; make one, for example with `openssl rand -hex 16`"
        )
    return token
