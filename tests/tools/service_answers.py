"""What a test's web service is asked and answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Unrecorded(Exception):
    """A replay has no answer to this request; the server says so with status 500."""


class Asked(NamedTuple):
    """One request. A byte of a parameter that is no UTF-8 comes as a lone surrogate."""

    path: str
    params: dict[str, str]
    headers: Mapping[str, str]  # names in any case
    started: float  # of time.monotonic()


@dataclass(frozen=True)
class Answer:
    """What goes back: after `delay` seconds, `drip` seconds before each byte of the body."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: {"Content-Type": "text/plain"})
    delay: float = 0.0
    cut: int | None = None  # only so many bytes of the promised length; then the line is closed
    drip: float = 0.0


def of_type(content_type: str, body: str | bytes, status: int = 200, **headers: str) -> Answer:
    """An answer of a media type; `Retry_After="3"` becomes the header Retry-After."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    data = body.encode() if isinstance(body, str) else body
    return Answer(data, status, {"Content-Type": content_type, **named})


def of_json(value: object, status: int = 200, **headers: str) -> Answer:
    return of_type("application/json; charset=utf-8", json.dumps(value), status, **headers)


def of_xml(body: str | bytes, status: int = 200, **headers: str) -> Answer:
    return of_type("text/xml; charset=UTF-8", body, status, **headers)


def of_feed(body: str | bytes, status: int = 200, **headers: str) -> Answer:
    return of_type("application/atom+xml; charset=utf-8", body, status, **headers)


def of_html(body: str | bytes, status: int = 200, **headers: str) -> Answer:
    return of_type("text/html; charset=utf-8", body, status, **headers)
