"""A budget that an endpoint keeps: two client processes, lost clients, hostile requests."""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from budget_asker import Job
from budget_endpoint import endpoint
from budget_runs import service
from service_server import Answer, ServiceServer, of_html
from test_budget_processes import arxiv, asking, gaps, outcomes

from openreward.errors import ToolError, UserError
from openreward.tools.budget import FolderBudget
from openreward.tools.budget_client import EndpointBudget
from openreward.tools.budget_line import Line
from openreward.tools.services import Service

TOKEN = "0123456789abcdef-token"
TAKE = {
    "service": "arxiv",
    "ticket": "0" * 16,
    "interval": 3.0,
    "at_once": 1,
    "lease": 16.0,
    "patience": 15.0,
}


async def one(url: str, asked: Service, token: str | None = None) -> None:
    async with EndpointBudget(url, token) as budget, budget.turn(asked):
        pass


def under_way(folder: Path) -> int:
    """How many run or wait."""
    line = FolderBudget(folder).lines().get("arxiv", Line())
    return len(line.running) + len(line.waiting)


def outage(url: str, token: str | None = None) -> str:
    with pytest.raises(ToolError) as caught:
        asyncio.run(one(url, service(), token))
    assert caught.value.status == "unavailable"
    return str(caught.value)


def test_processes_of_two_machines_keep_one_interval(tmp_path: Path) -> None:
    """And so does one beside the endpoint, which names its folder."""
    with ServiceServer(lambda _: Answer(body=b"<feed/>")) as server, endpoint(tmp_path) as url:
        asked = arxiv(server.url)
        jobs = [Job(service=asked, budget=url, threads=4, requests=2)] * 2
        beside = Job(service=asked, budget=str(tmp_path), threads=2, requests=2)
        with asking(*jobs, beside) as processes:
            assert outcomes(processes) == ["200"] * 20
        found = gaps(server)
    assert len(found) == 19
    assert min(found) >= 0.15


def test_a_pause_of_one_client_is_seen_by_another(tmp_path: Path) -> None:
    async def ask(url: str) -> None:
        async with EndpointBudget(url) as first, EndpointBudget(url) as second:
            await first.pause(service(), 40.0)
            with pytest.raises(ToolError, match="asked for a pause") as caught:
                async with second.turn(service(patience=15.0)):
                    pass
            assert caught.value.status == "rate_limited"
            assert list((await second.status()).lines) == ["arxiv"]

    with endpoint(tmp_path) as url:
        asyncio.run(ask(url))


@pytest.mark.parametrize("where", ["waiting", "requesting"])
def test_a_cancelled_client_leaves_nothing_behind(tmp_path: Path, where: str) -> None:
    async def ask(url: str) -> None:
        async with EndpointBudget(url) as budget:
            if where == "waiting":
                await budget.pause(service(), 60.0)

            async def call() -> None:
                async with budget.turn(service(interval=0.0, patience=90.0)):
                    await asyncio.sleep(60)

            task = asyncio.create_task(call())
            while not under_way(tmp_path):
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.wait([task])
            assert task.cancelled()

    with endpoint(tmp_path) as url:
        asyncio.run(ask(url))
    assert under_way(tmp_path) == 0


def test_the_line_outlives_the_endpoint(tmp_path: Path) -> None:
    with endpoint(tmp_path) as url:
        asyncio.run(one(url, service(interval=30.0)))
    with endpoint(tmp_path) as url, pytest.raises(ToolError, match="the next free turn is in"):
        asyncio.run(one(url, service(interval=30.0, patience=1.0)))


def test_an_endpoint_that_is_down_is_an_outage_and_never_a_turn(tmp_path: Path) -> None:
    with endpoint(tmp_path) as url:
        asyncio.run(one(url, service(interval=0.0)))
    assert f"the budget endpoint {url} cannot be reached (ConnectError)" in outage(url)


def test_an_endpoint_that_goes_down_while_one_asks_does_not_hold_up_the_end(tmp_path: Path) -> None:
    async def ask() -> None:
        with endpoint(tmp_path) as url:
            budget = EndpointBudget(url)
            await budget.__aenter__()
            turn = budget.turn(service(interval=0.0))
            await turn.__aenter__()
        await turn.__aexit__(None, None, None)
        await budget.__aexit__(None, None, None)

    asyncio.run(ask())
    assert len(FolderBudget(tmp_path).lines()["arxiv"].running) == 1  # until its lease ends


def test_an_endpoint_that_says_nothing_is_an_outage() -> None:
    async def ask(url: str) -> None:
        async with EndpointBudget(url, seconds=0.2) as budget, budget.turn(service()):
            pass

    with socket.create_server(("127.0.0.1", 0)) as bound:
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(ToolError, match=r"did not answer within 0\.2 s"):
            asyncio.run(ask(url))


def test_another_server_is_an_outage() -> None:
    with ServiceServer(lambda _: of_html("<html>hello</html>")) as server:
        assert "answered 501" in outage(server.url)  # it knows no POST


@pytest.mark.parametrize(
    "url",
    ["10.0.0.1:7077", "ftp://a", "http://a b", "http://me:pw@a:1", "http://a?b", "http://a:0"],
)
def test_an_address_that_cannot_be_is_refused_at_once(url: str) -> None:
    with pytest.raises(UserError, match="expected a budget endpoint like") as caught:
        EndpointBudget(url)
    assert "pw" not in str(caught.value)


def test_a_token_opens_the_endpoint_and_nothing_else_does(tmp_path: Path) -> None:
    with endpoint(tmp_path, TOKEN) as url:
        asyncio.run(one(url, service(interval=0.0), TOKEN))
        assert "answered 401: \"expected this endpoint's token" in outage(url)
        assert TOKEN[:8] not in outage(url, "another-token-0123456789")
        for header in (TOKEN, f"Bearer {TOKEN}x", "Bearer", "Bearer \xe4", f"bearer{TOKEN}"):
            sent = {"Authorization": header.encode("latin-1")}
            assert httpx.get(f"{url}/status", headers=sent).status_code == 401
        right = httpx.get(f"{url}/status", headers={"Authorization": f"Bearer {TOKEN}"})
        assert right.status_code == 200


@pytest.mark.parametrize("token", ["", "short", "x" * 15, "with\nline-0123456789", "ä" * 20])
def test_a_token_that_guards_nothing_is_refused(token: str) -> None:
    with pytest.raises(UserError, match="expected a token of at least 16 printable ASCII"):
        EndpointBudget("http://127.0.0.1:1", token)


@pytest.mark.parametrize(
    ("path", "body", "status", "says"),
    [
        ("/take", TAKE | {"service": "google"}, 422, "expected a Ask: field service"),
        ("/take", TAKE | {"ticket": "../../x"}, 422, "field ticket"),
        ("/take", TAKE | {"interval": -1}, 422, "field interval"),
        ("/take", TAKE | {"lease": 1e9}, 422, "field lease"),
        ("/take", TAKE | {"at_once": 0}, 422, "field at_once"),
        ("/take", TAKE | {"more": 1}, 422, "field more"),
        ("/take", [], 422, "expected a Ask"),
        ("/take", TAKE | {"who": "x" * 5000}, 413, "at most 4096 bytes"),
        ("/pause", {"service": "arxiv", "seconds": -3}, 422, "field seconds"),
        ("/pause", {"service": "arxiv"}, 422, "field seconds"),
        ("/release", {"service": "arxiv", "ticket": 7}, 422, "field ticket"),
        ("/else", {}, 404, "it knows /take /release /pause /status"),
        ("/status", {}, 405, "it knows /take /release /pause /status"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(
    tmp_path: Path, path: str, body: object, status: int, says: str
) -> None:
    with endpoint(tmp_path) as url:
        reply = httpx.post(f"{url}{path}", json=body)
        assert httpx.get(f"{url}/status").json()["lines"] == {}
    assert reply.status_code == status
    assert says in reply.json()["error"]


@pytest.mark.parametrize(
    "content", [b"", b"{", b"NaN", b"\xff", b"[" * 4000, b'{"service": 1e999}']
)
def test_what_is_no_json_is_refused(tmp_path: Path, content: bytes) -> None:
    with endpoint(tmp_path) as url:
        kind = {"Content-Type": "application/json"}
        assert httpx.post(f"{url}/take", content=content, headers=kind).status_code == 422
        assert httpx.get(f"{url}/status").status_code == 200


def test_a_web_page_cannot_make_a_browser_send_a_request(tmp_path: Path) -> None:
    with endpoint(tmp_path) as url:
        reply = httpx.post(
            f"{url}/pause",
            content=json.dumps({"service": "arxiv", "seconds": 900}),
            headers={"Content-Type": "text/plain"},
        )
        assert reply.status_code == 415
        assert httpx.get(f"{url}/status").json()["lines"] == {}


def test_half_a_request_holds_up_nobody(tmp_path: Path) -> None:
    head = b"POST /take HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    with endpoint(tmp_path) as url:
        port = int(url.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as lost:
            lost.sendall(head + b"Content-Length: 99\r\n\r\n{")
            asyncio.run(one(url, service(interval=0.0)))
        asyncio.run(one(url, service(interval=0.0)))
        assert under_way(tmp_path) == 0


def test_a_full_disk_at_the_endpoint_is_an_outage(tmp_path: Path) -> None:
    with endpoint(tmp_path / "budget") as url:
        for path in (tmp_path / "budget").iterdir():
            path.unlink()
        (tmp_path / "budget").rmdir()
        assert "answered 503: 'no request can be made: the budget in" in outage(url)
