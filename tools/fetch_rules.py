"""The parts of fetch that decide without asking: addresses, redirects, Retry-After, quotations."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable
from datetime import UTC
from email.utils import parsedate_to_datetime
from urllib.parse import quote, quote_plus, unquote, unquote_plus

import httpx

from openreward.errors import ToolError, UserError, shorten
from openreward.tools.services import Service

REDIRECTS = frozenset({301, 302, 303, 307, 308})
_CONTACT = re.compile(r"[!-~]+@[!-~]+|https?://[!-~]+")
_PORTS = {"http": 80, "https": 443}


def check_service(service: Service) -> httpx.URL:
    """The service's address; raises `UserError` for what no request can be made of."""
    if not _CONTACT.fullmatch(service.contact):
        raise UserError(
            f"{service.name}: expected a contact like ada@example.org or https://example.org/ada, "
            f"on one line, got {shorten(service.contact)}"
        )
    key = service.api_key.get_secret_value() if service.api_key else "x"
    if not key or not key.isascii() or not key.isprintable():
        raise UserError(f"{service.name}: expected an API key of printable ASCII; check its value")
    return _address(service)


def _address(service: Service) -> httpx.URL:
    shown = shorten(service.url.rpartition("@")[2])  # what stands before may be a password
    url = web_address(service.url)
    if url is None:
        raise UserError(f"{service.name}: expected an http or https address, got {shown}")
    if url.userinfo or url.query or url.fragment:
        raise UserError(
            f"{service.name}: expected an address without user name, ? and #, got {shown}; "
            "leave them out"
        )
    return url


def web_address(text: str, base: httpx.URL | None = None) -> httpx.URL | None:
    """The address that a text is, if a request can go to it."""
    try:
        url = httpx.URL(text) if base is None else base.join(text)
        url.host.encode("idna")
    except (httpx.InvalidURL, UnicodeError):
        return None
    sound = text.isprintable() and " " not in text and 0 < _port(url) < 65536
    return url if sound and url.scheme in _PORTS and url.host else None


def redirect_target(service: Service, home: httpx.URL, here: httpx.URL, location: str) -> httpx.URL:
    """Where a redirect leads, if it may be followed; else `ToolError`, which names the host."""
    target = web_address(location, here)
    if target is None or not location:
        raise _refused(service, location or "nowhere", "that is no web address")
    host = target.host.lower()
    if here.scheme == "https" and target.scheme != "https":
        raise _refused(service, host, "that is without encryption")
    if target.userinfo:
        raise _refused(service, host, "that address holds a user name")
    at_home = host == home.host.lower() and (
        _port(target) == _port(home) or (_is_usual(target) and _is_usual(home))
    )
    known = {name.lower() for name in service.hosts}
    if not at_home and not {host, f"{host}:{_port(target)}"} & known:
        raise _refused(service, host, "that is not among its hosts")
    if not at_home and _holds_key(service, str(target)):
        raise _refused(service, host, "the API key may not go there")
    return target


def _refused(service: Service, place: str, why: str) -> ToolError:
    shown = shorten(without_secrets(service, place), 60)
    return ToolError(
        "unavailable",
        f"{service.name} cannot be used: it redirects to {shown}, but {why}; go on without it "
        "(operator: set the service's url or hosts, if it has moved)",
    )


def _holds_key(service: Service, address: str) -> bool:
    key = service.api_key.get_secret_value() if service.api_key else ""
    plain = (address, unquote(address), unquote_plus(address))
    return bool(key) and any(form in text for form in _forms(key) for text in plain)


def _port(url: httpx.URL) -> int:
    return _PORTS.get(url.scheme, 0) if url.port is None else url.port


def _is_usual(url: httpx.URL) -> bool:
    return _port(url) == _PORTS.get(url.scheme)


def retry_after(headers: httpx.Headers) -> float | None:
    """Seconds from a Retry-After header in either form; None where it says nothing sensible.

    A date is compared with the answer's own Date, where it has one: our clock may be wrong.
    """
    value = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]{1,12}(\.[0-9]{1,9})?", value):
        return float(value)
    moment = _moment(value)
    if moment is None:
        return None
    base = _moment(headers.get("date", ""))
    return max(0.0, moment - (time.time() if base is None else base))


def _moment(value: str) -> float | None:
    try:
        moment = parsedate_to_datetime(value)
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def quote_body(service: Service, content: bytes, limit: int = 100) -> str:
    """The beginning of an answer as a message quotes it: one line, without key and contact."""
    words = " ".join(content[:2_000].decode("utf-8", "replace").split())
    return shorten(without_secrets(service, words), limit)


def without_secrets(service: Service, text: str) -> str:
    """A text of others without the key and the contact, should it repeat them."""
    if service.api_key is not None:
        text = _replace(text, _forms(service.api_key.get_secret_value()), "[key]")
    return _replace(text, _forms(service.contact), "[contact]")


def _forms(secret: str) -> set[str]:
    """As it is, and as it stands in an address."""
    return {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)} - {""}


def _replace(text: str, forms: Iterable[str], by: str) -> str:
    for form in sorted(forms, key=len, reverse=True):
        text = text.replace(form, by)
    return text
