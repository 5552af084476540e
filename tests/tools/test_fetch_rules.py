"""Redirects, Retry-After and quotations, decided without asking."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from email.utils import formatdate

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from openreward.errors import ToolError
from openreward.tools.fetch_rules import (
    check_service,
    quote_body,
    redirect_target,
    retry_after,
    without_secrets,
)
from openreward.tools.services import RateLimit, Service

KEY = "k3y/with+odd chars"


def service(url: str = "https://api.example.org/v1", key: str = KEY) -> Service:
    return Service(
        name="pubmed",
        url=url,
        contact="ada@example.org",
        limit=RateLimit(interval=0.0, at_once=1),
        hosts=("Mirror.example.net", "other.example.net:8443"),
        api_key=SecretStr(key),
    )


def target(location: str, url: str = "https://api.example.org/v1") -> str:
    asked = service(url)
    home = check_service(asked)
    return str(redirect_target(asked, home, home, location))


@pytest.mark.parametrize(
    ("location", "followed"),
    [
        ("https://api.example.org/v2?a=1", "https://api.example.org/v2?a=1"),
        ("https://API.example.org:443/v2", "https://api.example.org/v2"),
        ("/v2?api_key=k3y%2Fwith%2Bodd+chars", None),
        ("v2", "https://api.example.org/v2"),
        ("//mirror.example.net/x", "https://mirror.example.net/x"),
        ("https://mirror.example.net:9443/x", "https://mirror.example.net:9443/x"),
        ("https://other.example.net:8443/x", "https://other.example.net:8443/x"),
    ],
)
def test_redirects_to_the_services_own_hosts_are_followed(
    location: str, followed: str | None
) -> None:
    assert target(location) == (followed or f"https://api.example.org{location}")


@pytest.mark.parametrize(
    ("location", "says"),
    [
        ("https://evil.example.com/x", "to 'evil.example.com', but that is not among its hosts"),
        ("https://api.example.org.evil.com/", "'api.example.org.evil.com', but that is not among"),
        ("https://other.example.net/x", "that is not among its hosts"),
        ("https://api.example.org:8443/x", "that is not among its hosts"),
        ("http://api.example.org/v1", "that is without encryption"),
        ("https://ada:pw@api.example.org/v1", "holds a user name"),
        ("https://api.example.org@evil.example.com/", "holds a user name"),
        ("", "to 'nowhere', but that is no web address"),
        ("ftp://api.example.org/", "no web address"),
        ("file:///etc/passwd", "no web address"),
        ("javascript:alert(1)", "no web address"),
        ("https://api.example.org:99999/", "no web address"),
        ("https://[::1/", "no web address"),
        ("https://exa\x00mple.org/", "no web address"),
        (f"https://{'a' * 80}.org/", "no web address"),
        (f"https://mirror.example.net/?k={KEY.replace(' ', '%20')}", "the API key may not go"),
        ("https://mirror.example.net/?k=k3y%2fwith%2bodd+chars", "the API key may not go there"),
        ("https://mirror.example.net/k3y%252Fwith%252Bodd%2520chars", "the API key may not go"),
    ],
)
def test_other_redirects_are_refused_and_name_the_host(location: str, says: str) -> None:
    with pytest.raises(ToolError) as caught:
        target(location)
    assert caught.value.status == "unavailable"
    assert says in str(caught.value)
    assert KEY not in str(caught.value)


def test_a_redirect_may_lead_to_encryption() -> None:
    assert target("https://api.example.org/v1", "http://api.example.org/v1").startswith("https:")


@given(st.text(max_size=60))
def test_any_location_is_a_target_or_a_refusal(location: str) -> None:
    try:
        found = target(location)
    except ToolError as error:
        found = f"{error.status}: {error}"
    assert found.startswith(("https://", "unavailable: pubmed cannot be used: it redirects to "))
    assert found.isprintable()


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("7", 7.0),
        (" 120 ", 120.0),
        ("1.5", 1.5),
        ("999999999999", 999_999_999_999.0),
        ("", None),
        ("-5", None),
        ("soon", None),
        ("1e3", None),
        ("NaN", None),
        ("inf", None),
        ("９", None),
        ("7 seconds", None),
        ("9" * 400, None),
        ("Mon, 99 Foo 2026 99:99:99 GMT", None),
        ("Fri, 31 Dec 99999999999 00:00:00 GMT", None),
    ],
)
def test_retry_after_is_read_or_ignored(value: str, seconds: float | None) -> None:
    assert retry_after(httpx.Headers({"Retry-After": value.encode()})) == seconds


def test_an_answer_without_retry_after_says_nothing() -> None:
    assert retry_after(httpx.Headers()) is None


@pytest.mark.parametrize(
    ("until", "date", "seconds"),
    [
        ("Tue, 01 Dec 2026 10:00:30 GMT", "Tue, 01 Dec 2026 10:00:00 GMT", 30.0),
        ("Tue, 01 Dec 2026 10:00:30 -0000", "Tue, 01 Dec 2026 10:00:00 GMT", 30.0),
        ("Tue, 01 Dec 2026 11:00:30 +0100", "Tue, 01 Dec 2026 10:00:00 GMT", 30.0),
        ("Tue, 01 Dec 2026 10:00:00 GMT", "Tue, 01 Dec 2026 10:00:30 GMT", 0.0),
    ],
)
def test_a_date_is_compared_with_the_answers_own(until: str, date: str, seconds: float) -> None:
    assert retry_after(httpx.Headers({"Retry-After": until, "Date": date})) == seconds


@pytest.fixture
def far_from_greenwich() -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = "Asia/Tokyo"
    time.tzset()
    yield
    os.environ.pop("TZ")
    if before is not None:
        os.environ["TZ"] = before
    time.tzset()


@pytest.mark.usefixtures("far_from_greenwich")
@pytest.mark.parametrize("date", [{}, {"Date": "yesterday"}])
def test_without_a_date_our_clock_counts(date: dict[str, str]) -> None:
    until = formatdate(time.time() + 100, usegmt=True)
    seconds = retry_after(httpx.Headers({"Retry-After": until, **date}))
    assert seconds is not None
    assert 90 < seconds <= 101


def test_a_quotation_is_one_line_short_and_without_secrets() -> None:
    body = f"<html>\r\n<p>{KEY} of ada@example.org\x00\x1b[2J\u202e {'x' * 500}".encode() + b"\xff"
    said = quote_body(service(), body)
    assert said.startswith("'<html> <p>[key] of [contact]\\x00\\x1b[2J\\u202e ")
    assert len(said) <= 100
    assert said.isprintable()


@pytest.mark.parametrize(
    "form", [KEY, "k3y%2Fwith%2Bodd%20chars", "k3y%2Fwith%2Bodd+chars", "k3y/with%2Bodd%20chars"]
)
def test_the_key_is_taken_out_in_each_of_its_forms(form: str) -> None:
    assert without_secrets(service(), f"?api_key={form}&x") == "?api_key=[key]&x"
