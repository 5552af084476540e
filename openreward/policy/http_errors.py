"""What an HTTP failure of an engine means, in words that name the remedy."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import httpx
from pydantic import JsonValue, TypeAdapter, ValidationError

from openreward.errors import shorten
from openreward.types import PolicyFault

JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_OVERFLOW = re.compile(
    r"exceed_context_size|context_length_exceeded|context (size|length|window)"
    r"|maximum (context|model) len|max_model_len|too many tokens|prompt is too long",
    re.IGNORECASE,
)


def unreachable(url: str, error: httpx.TransportError) -> str:
    """Nothing answers at an address."""
    parts = urlsplit(url)
    why = str(error) or type(error).__name__
    return (
        f"nothing answers at {parts.scheme}://{parts.netloc} ({why}); "
        "start the server or correct the address"
    )


def refusal(status: int, said: str, url: str) -> tuple[PolicyFault, str]:
    """What a 4xx answer means."""
    if status in (401, 403):
        return "unauthorized", f"{url} refused the API key ({status}): {said}; give a valid key"
    if status == 404:
        return "unknown_model", (
            f"{url} answered 404: {said}; check the model's name and that the address ends in /v1"
        )
    if status in (400, 413, 422) and _OVERFLOW.search(said):
        return "context_overflow", (
            f"the conversation does not fit the model's context: {said}; "
            "give it shorter texts or a server with a larger context"
        )
    return "bad_request", f"{url} refused the request ({status}): {said}"


def said_in(content: bytes) -> str:
    """The message in an error body of any of the usual shapes, else its first characters."""
    text = content.decode("utf-8", "replace")
    try:
        value = JSON.validate_json(content)
    except ValidationError:
        return shorten(text, 120)
    inner = value.get("error", value) if isinstance(value, dict) else value
    if isinstance(inner, dict):
        parts = (inner.get(name) for name in ("message", "detail", "type", "code"))
        words = [part for part in parts if isinstance(part, str)]
        return " / ".join(word[:300] for word in words) or shorten(text, 120)
    return inner[:300] if isinstance(inner, str) else shorten(text, 120)


def not_json(url: str, content: bytes) -> str:
    """A body that should have been JSON."""
    text = content[:400].decode("utf-8", "replace").strip()
    if text[:1] == "<":
        return (
            f"{url} answered a web page, not JSON: {shorten(text)}; "
            "is this the API's address? It usually ends in /v1"
        )
    cut = "cut or broken JSON" if text[:1] in ("{", "[") else "no JSON"
    return f"{url} answered {cut}: {shorten(text)}; is a proxy in between?"


def redirect_target(response: httpx.Response) -> str:
    """Where a redirect leads, as far as it says."""
    try:
        return urlsplit(response.headers.get("location", "")).netloc or "elsewhere"
    except ValueError:
        return "elsewhere"


def retry_after(response: httpx.Response) -> float | None:
    """Seconds from a Retry-After header in either of its forms."""
    value = response.headers.get("retry-after", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except (ValueError, TypeError, OverflowError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())
