"""The budget that an endpoint keeps (`openreward budget serve`), for runs on several machines.

When the endpoint cannot be reached, a turn is a `ToolError`: no request goes without one. A turn is
given back in the background, so that neither a cancellation nor a slow endpoint holds up its user.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import AbstractAsyncContextManager
from typing import Self, TypeVar

import httpx
from pydantic import ValidationError

from openreward.errors import ToolError, UserError, shorten
from openreward.tools.budget import Sleep, take_turn
from openreward.tools.budget_line import Answer, Ask
from openreward.tools.budget_wire import Pause, Refused, Release, Status, check_token
from openreward.tools.fetch_body import CutBody, TooLarge, Undecodable, read_body
from openreward.tools.fetch_rules import web_address
from openreward.tools.services import Service, ServiceName
from openreward.types import Record

Shape = TypeVar("Shape", bound=Record)

_log = logging.getLogger(__name__)
_LARGEST = 1 << 20  # bytes of an answer
_TRIES = 2  # a kept connection may have ended meanwhile; a ticket can be asked for twice
_SOONEST = 0.05  # seconds between two questions


class EndpointBudget:
    """Takes turns at an endpoint. Use as `async with`; it belongs to that event loop.

    `seconds` are those in which the endpoint has to answer. Raises `UserError` for an address or a
    token that cannot be used.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        seconds: float = 5.0,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.url = _checked(url)
        self._headers = {"Accept-Encoding": "identity"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {check_token(token)}"
        self._seconds = seconds
        self._sleep = sleep
        self._client: httpx.AsyncClient | None = None
        self._leaving: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._client = httpx.AsyncClient(
            headers=self._headers,
            timeout=self._seconds,
            limits=httpx.Limits(max_connections=None),
            trust_env=False,
            verify=self.url.startswith("https:"),  # loading certificates takes 0.1 s
        )
        return self

    async def __aexit__(self, *raised: object) -> None:
        try:
            while self._leaving:
                await asyncio.wait(self._leaving)
        finally:
            if self._client is not None:
                await self._client.aclose()
                self._client = None

    def turn(self, service: Service) -> AbstractAsyncContextManager[None]:
        """Wait for one's turn; the request is made inside the block."""
        return take_turn(self, service, time.monotonic, self._wait)

    async def pause(self, service: Service, seconds: float) -> None:
        """Let nobody who uses the endpoint ask for so long, an hour at most."""
        await self._post("/pause", Pause(service=service.name, seconds=max(0.0, seconds)))

    async def ask(self, wish: Ask) -> Answer:
        """Whether it is one's turn."""
        return _shaped(Answer, await self._post("/take", wish), self.url)

    async def leave(self, service: ServiceName, ticket: str) -> None:
        """Give up one's turn or place, in the background."""
        job = asyncio.create_task(self._leave(Release(service=service, ticket=ticket)))
        self._leaving.add(job)
        job.add_done_callback(self._leaving.discard)

    async def status(self) -> Status:
        """The lines as they are now."""
        return _shaped(Status, await self._request("GET", "/status", None), self.url)

    async def _leave(self, release: Release) -> None:
        try:
            await self._post("/release", release)
        except ToolError as error:
            _log.warning("a turn is not given back but ends by its lease: %s", error)

    async def _wait(self, seconds: float) -> None:
        await self._sleep(max(seconds, _SOONEST))

    async def _post(self, path: str, body: Record) -> bytes:
        return await self._request("POST", path, body.model_dump_json().encode())

    async def _request(self, method: str, path: str, body: bytes | None) -> bytes:
        for number in range(1, _TRIES + 1):
            try:
                async with asyncio.timeout(self._seconds):
                    return await self._exchange(method, path, body)
            except (TimeoutError, httpx.TimeoutException):
                raise self._down(f"did not answer within {self._seconds:g} s") from None
            except httpx.TransportError as error:
                if number == _TRIES:
                    raise self._down(f"cannot be reached ({type(error).__name__})") from None
            except (CutBody, TooLarge, Undecodable):
                raise self._down("answered as no budget endpoint does") from None
        raise AssertionError("unreachable: the last try returns or raises")

    async def _exchange(self, method: str, path: str, body: bytes | None) -> bytes:
        if self._client is None:
            raise RuntimeError("use EndpointBudget as `async with`")
        kind = {} if body is None else {"Content-Type": "application/json"}
        async with self._client.stream(
            method, f"{self.url}{path}", content=body, headers=kind
        ) as response:
            content = await read_body(response, _LARGEST)
        if response.is_success:
            return content
        raise self._down(f"answered {response.status_code}: {_said(content)}")

    def _down(self, why: str) -> ToolError:
        return ToolError(
            "unavailable",
            f"the budget endpoint {self.url} {why}, and no request is made without it; go on "
            "without this tool (operator: see `openreward budget serve`)",
        )


def _shaped(shape: type[Shape], content: bytes, url: str) -> Shape:
    try:
        return shape.model_validate_json(content)
    except ValidationError:
        raise ToolError(
            "unavailable",
            f"{url} answered as no budget endpoint does "
            f"({shorten(content[:200].decode('utf-8', 'replace'))}); no request is made without "
            "it; go on without this tool (operator: is this the right address?)",
        ) from None


def _said(content: bytes) -> str:
    try:
        return shorten(Refused.model_validate_json(content).error, 160)
    except ValidationError:
        return shorten(content[:200].decode("utf-8", "replace"))


def _checked(url: str) -> str:
    shown = shorten(url.rpartition("@")[2])  # what stands before may be a password
    parts = web_address(url)
    if parts is None or parts.userinfo or parts.query or parts.fragment:
        raise UserError(f"expected a budget endpoint like http://10.0.0.1:7077, got {shown}")
    return url.rstrip("/")
