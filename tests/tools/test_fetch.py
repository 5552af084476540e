"""What a request says, what comes of each answer, and what is asked again."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
from pydantic import SecretStr

sys.path.insert(0, str(Path(__file__).parent))

from fetch_runs import FreeBudget, always, fails, get, in_turn, service, whole
from service_server import Answer, Asked, ServiceServer

from openreward import __version__
from openreward.errors import ToolError, UserError
from openreward.tools.fetch import AskedTooOften, Fetch, Reply, Unusable


def test_a_request_says_who_asks_and_carries_its_parameters() -> None:
    answer = Answer(body=b"<x/>", headers={"Content-Type": "Application/XML; charset=utf-8"})
    with ServiceServer(always(answer)) as server:
        params = {"term": 'a "b" & c=é', "empty": "", "nul": "\0", "half": "a\ud800b"}
        reply = get(service(f"{server.url}/api"), path="/find.cgi", params=params)
        (asked,) = server.requests
    assert asked.path == "/api/find.cgi"
    assert asked.params == {"term": 'a "b" & c=é', "empty": "", "nul": "\0", "half": "a?b"}
    assert asked.headers["User-Agent"] == f"openreward/{__version__} (ada@example.org)"
    assert isinstance(reply, Reply)
    assert (reply.status, reply.content, reply.content_type) == (200, b"<x/>", "application/xml")
    assert reply.url.startswith(f"{server.url}/api/find.cgi?term=a+%22b%22+%26+c%3D%C3%A9")


def test_fetch_works_without_being_entered() -> None:
    with ServiceServer(always(Answer(body=b"ok"))) as server:

        async def ask() -> list[Reply]:
            fetch = Fetch(service(server.url), FreeBudget())
            return await asyncio.gather(*(fetch.get({}, whole) for _ in range(3)))

        assert [reply.content for reply in asyncio.run(ask())] == [b"ok"] * 3


def test_a_reader_may_take_other_statuses() -> None:
    with ServiceServer(always(Answer(body=b"no", status=400))) as server:
        reply = get(service(server.url), statuses=frozenset({200, 400}))
    assert isinstance(reply, Reply)
    assert (reply.status, reply.content) == (400, b"no")


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, "rate_limited"),
        (500, "unavailable"),
        (502, "unavailable"),
        (503, "unavailable"),
        (504, "unavailable"),
    ],
)
def test_what_may_pass_is_asked_again_and_then_given_up(status: int, kind: str) -> None:
    answer = Answer(body=b"<html>\n too\tmuch </html>", status=status)
    budget = FreeBudget()
    with ServiceServer(always(answer)) as server:
        error = fails(service(server.url), budget=budget)
        assert len(server.requests) == 3
    assert (error.status, budget.turns, budget.under_way) == (kind, 3, 0)
    assert f"it answered {status}: '<html> too much </html>'; after 3 tries" in str(error)
    with ServiceServer(in_turn(answer, answer, Answer(body=b"ok"))) as server:
        reply = get(service(server.url))
    assert isinstance(reply, Reply)
    assert reply.content == b"ok"


@pytest.mark.parametrize("status", [400, 401, 404, 410, 418, 501])
def test_what_will_not_pass_is_not_asked_again(status: int) -> None:
    with ServiceServer(always(Answer(body=b"no such\x1b[31m thing", status=status))) as server:
        error = fails(service(server.url))
        assert len(server.requests) == 1
    assert error.status == "unavailable"
    assert f"it answered {status}: 'no such\\x1b[31m thing'" in str(error)


def test_a_refusal_points_at_the_contact() -> None:
    page = b"<html>Please set a user-agent</html>"
    with ServiceServer(always(Answer(body=page, status=403))) as server:
        error = fails(service(server.url))
        assert len(server.requests) == 1
    assert error.status == "unavailable"
    assert "does it accept the contact in our User-Agent" in str(error)


def test_a_query_that_is_too_long_is_the_models_to_shorten() -> None:
    with ServiceServer(always(Answer(status=414))) as server:
        refused = fails(service(server.url))
        unsendable = fails(service(server.url), params={"q": "x" * 70_000})
        assert len(server.requests) == 1
    assert (refused.status, unsendable.status) == ("bad_query", "bad_query")
    assert str(refused) == "the query is too long for pubmed; write a shorter one"


def test_what_the_reader_cannot_use_is_asked_again() -> None:
    def read(reply: Reply) -> bytes:
        if reply.content != b"full":
            raise Unusable("an empty\npage")
        return reply.content

    with ServiceServer(in_turn(Answer(body=b""), Answer(body=b"full"))) as server:
        assert get(service(server.url), read) == b"full"
    with ServiceServer(always(Answer(body=b""))) as server:
        error = fails(service(server.url), read=read)
        assert len(server.requests) == 3
    assert error.status == "unavailable"
    assert "its answer was of no use: 'an empty page'; after 3 tries" in str(error)


def test_a_limit_that_only_the_answer_tells_of_lets_everybody_wait() -> None:
    def read(reply: Reply) -> None:
        raise AskedTooOften("ratelimited: slow down")

    budget = FreeBudget()
    with ServiceServer(always(Answer(body=b"{}"))) as server:
        error = fails(service(server.url), budget=budget, read=read)
    assert (error.status, len(budget.pauses), budget.under_way) == ("rate_limited", 3, 0)
    assert "it answered: 'ratelimited: slow down'; after 3 tries" in str(error)


def test_what_the_reader_says_finally_is_final() -> None:
    def read(reply: Reply) -> None:
        raise ToolError("no_result", "nothing matches")

    with ServiceServer(always(Answer(body=b"{}"))) as server:
        error = fails(service(server.url), read=read)
        assert len(server.requests) == 1
    assert (error.status, str(error)) == ("no_result", "nothing matches")


KEY = "s3cret key/of+mine"


@pytest.mark.parametrize("key", [KEY, "plainkey"])
@pytest.mark.parametrize("status", [200, 403, 429, 500])
def test_the_key_and_the_contact_are_in_no_message_and_no_log(
    key: str, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    def echo(asked: Asked) -> Answer:
        said = f"{'-' * 90}{asked.params['api_key']} {asked.headers['User-Agent']}"
        return Answer(body=said.encode(), status=status)

    def read(reply: Reply) -> None:
        raise Unusable(f"{reply.content!r} at {reply.url}")

    caplog.set_level(0)
    with ServiceServer(echo) as server:
        asked = service(server.url, api_key=SecretStr(key))
        error = fails(asked, read=read, params={"api_key": key})
    texts = str(error) + caplog.text
    assert "pubmed" in texts
    for secret in (key, key[:6], "ada@example.org", "s3cret+key", "s3cret%20key"):
        assert secret not in texts


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"url": "ftp://example.org"}, "expected an http or https address"),
        ({"url": "example.org/api"}, "expected an http or https address"),
        ({"url": "https://"}, "expected an http or https address"),
        ({"url": "https://exa mple.org"}, "expected an http or https address"),
        ({"url": "https://example.org:99999"}, "expected an http or https address"),
        ({"url": f"https://{'a' * 70}.org"}, "expected an http or https address"),
        ({"url": "https://ada:pass@example.org"}, "without user name"),
        ({"url": "https://example.org/?a=1"}, r"without user name, \? and #"),
        ({"contact": "Ada Lovelace"}, "expected a contact like"),
        ({"contact": "ada@example.org\r\nX-Evil: 1"}, "on one line"),
        ({"contact": "ada@example.org\n"}, "on one line"),
        ({"contact": "ftp://example.org"}, "expected a contact like"),
        ({"api_key": SecretStr("a\nb")}, "expected an API key of printable ASCII"),
    ],
)
def test_what_no_request_can_be_made_of_is_refused_at_once(
    changed: dict[str, object], says: str
) -> None:
    with pytest.raises(UserError, match=says) as caught:
        Fetch(service(**({"url": "https://example.org"} | changed)), FreeBudget())  # type: ignore[arg-type]
    assert "pass" not in str(caught.value)


@pytest.mark.parametrize("contact", ["ada@example.org", "https://example.org/ada?x=(1)"])
def test_a_mail_address_or_a_web_page_is_a_contact(contact: str) -> None:
    with ServiceServer(always(Answer())) as server:
        get(service(server.url, contact=contact))
        assert server.requests[0].headers["User-Agent"].endswith(f" ({contact})")


def test_a_cancelled_request_ends_its_connection_and_its_turn() -> None:
    budget = FreeBudget()

    async def ask(server: ServiceServer) -> None:
        async with Fetch(service(server.url), budget) as fetch:
            task = asyncio.create_task(fetch.get({}, whole))
            while not server.requests:
                await asyncio.sleep(0.005)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()
        assert budget.under_way == 0

    with ServiceServer(always(Answer(delay=60.0))) as server:
        asyncio.run(ask(server))
