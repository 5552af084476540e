"""The one way out to live services: polite, bounded, typed.

A request takes its turn in the budget, each try and each redirect anew. Asked again are 429, 500,
502 to 504, timeouts, broken connections, cut bodies and what the reader calls `Unusable`, after a
random part of a doubling wait, or as long as Retry-After says, which everybody then waits. What is
left is a `ToolError` that tells the model what to do and the operator what happened. The requests
go over httpx's transport: its client would log whole addresses, with the key in them.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import random
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import NamedTuple, Self, TypeVar

import httpx

from openreward import __version__
from openreward.errors import ToolError, shorten
from openreward.tools.budget import Budget
from openreward.tools.fetch_body import CutBody, TooLarge, Undecodable, read_body
from openreward.tools.fetch_rules import (
    REDIRECTS,
    check_service,
    quote_body,
    redirect_target,
    retry_after,
    without_secrets,
)
from openreward.tools.services import Service
from openreward.types import ToolStatus

T = TypeVar("T")

_log = logging.getLogger(__name__)
_AGAIN = frozenset({429, 500, 502, 503, 504})
_PAUSING = frozenset({429, 503})  # they mean everybody, not this request
_REDIRECTS_FOLLOWED = 3
_LONGEST_BACKOFF = 10.0
_KEPT_BELOW = 1.0  # seconds of interval; an idle connection counts where one alone is allowed


class Reply(NamedTuple):
    """One answer, whole."""

    status: int
    content: bytes
    content_type: str  # media type in small letters, without parameters
    url: str


class Unusable(Exception):
    """Raised by a reader: this answer is broken or unexpectedly empty; asking again may help."""


class AskedTooOften(Unusable):
    """Raised by a reader: the answer says what status 429 would; everybody waits for a while."""


class _Fault(Exception):
    """One try that failed and may be repeated; `pause` is how long everybody has to wait."""

    def __init__(
        self, status: ToolStatus, said: str, pause: float | None = None, *, all_wait: bool = False
    ) -> None:
        super().__init__(said)
        self.status: ToolStatus = status
        self.pause = pause
        self.all_wait = all_wait


class _Answer(NamedTuple):
    status: int
    headers: httpx.Headers
    content: bytes


class Fetch:
    """Asks one service, in turn with everybody else who does.

    Used as `async with`, it keeps connections, and belongs to that event loop; without, each `get`
    has its own. `backoff` are the seconds before the second try, at most; `sleep` and `chance` are
    seams for tests. Raises `UserError` for an address or a contact that cannot be used.
    """

    def __init__(
        self,
        service: Service,
        budget: Budget,
        *,
        backoff: float = 1.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        chance: random.Random | None = None,
    ) -> None:
        self.service = service
        self.budget = budget
        self._home = check_service(service)
        self._backoff = backoff
        self._sleep = sleep
        self._chance = chance or random.Random()
        self._transport: httpx.AsyncHTTPTransport | None = None

    async def __aenter__(self) -> Self:
        self._transport = _open(self.service)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._transport is not None:
            transport, self._transport = self._transport, None
            await transport.aclose()

    async def get(
        self,
        params: Mapping[str, str],
        read: Callable[[Reply], T],
        *,
        path: str = "",
        statuses: frozenset[int] = frozenset({200}),
    ) -> T:
        """What `read` makes of the answer to `url + path?params`.

        `read` sees only answers whose status is among `statuses`, and checks the content type
        itself. It raises `Unusable` to have it asked again (after the last try: `unavailable`, for
        `AskedTooOften` `rate_limited`), or `ToolError` for what is final. Raises `ToolError`:
        `rate_limited`, `unavailable`, `timeout`; `bad_query` for a request too long to be sent.
        """
        url = self._url(path, params)
        async with self._connections() as transport:
            for number in range(1, self.service.tries + 1):
                try:
                    return read(await self._follow(transport, url, statuses))
                except Unusable as error:
                    fault = self._no_use(error)
                except _Fault as error:
                    fault = error
                _log.info("%s, try %d: %s", self.service.name, number, fault)
                await self._wait(fault, number)
        raise self._given_up(fault)

    def _url(self, path: str, params: Mapping[str, str]) -> httpx.URL:
        whole = {name: value.encode("utf-8", "replace").decode() for name, value in params.items()}
        try:
            url = httpx.URL(str(self._home).rstrip("/") + path if path else self._home)
            url = url.copy_merge_params(whole)
            return httpx.URL(str(url))  # checks the length, too
        except httpx.InvalidURL:
            raise self._too_long() from None

    @asynccontextmanager
    async def _connections(self) -> AsyncIterator[httpx.AsyncHTTPTransport]:
        if self._transport is not None:
            yield self._transport
            return
        transport = _open(self.service)
        try:
            yield transport
        finally:
            await transport.aclose()

    async def _follow(
        self, transport: httpx.AsyncHTTPTransport, url: httpx.URL, statuses: frozenset[int]
    ) -> Reply:
        for _ in range(_REDIRECTS_FOLLOWED + 1):
            async with self.budget.turn(self.service):
                answer = await self._ask(transport, url)
            if answer.status in statuses:
                kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
                return Reply(answer.status, answer.content, kind, str(url))
            if answer.status not in REDIRECTS:
                raise self._refusal(answer)
            location = answer.headers.get("location", "")
            url = redirect_target(self.service, self._home, url, location)
        raise self._final(f"it redirects more than {_REDIRECTS_FOLLOWED} times")

    async def _ask(self, transport: httpx.AsyncHTTPTransport, url: httpx.URL) -> _Answer:
        """One request, whole, within its seconds."""
        seconds, limit = self.service.timeout, self.service.max_bytes
        try:
            async with asyncio.timeout(seconds):
                return await self._exchange(transport, url)
        except (TimeoutError, httpx.TimeoutException):
            raise _Fault("timeout", f"no whole answer within {seconds:g} s") from None
        except TooLarge:
            raise self._final(f"its answer is larger than the limit of {limit} bytes") from None
        except Undecodable as error:
            raise self._final(f"its answer is packed as {shorten(str(error), 40)}") from None
        except CutBody:
            raise _Fault("unavailable", "its answer was cut or is packed wrongly") from None
        except (httpx.TransportError, OSError) as error:
            why = without_secrets(self.service, f"{type(error).__name__}: {error}")
            raise _Fault("unavailable", f"the connection failed ({shorten(why, 120)})") from None

    async def _exchange(self, transport: httpx.AsyncHTTPTransport, url: httpx.URL) -> _Answer:
        headers = {
            "User-Agent": f"openreward/{__version__} ({self.service.contact})",
            "Accept-Encoding": "gzip, deflate",
            "Accept": "*/*",
        }
        timeout = httpx.Timeout(self.service.timeout).as_dict()
        request = httpx.Request("GET", url, headers=headers, extensions={"timeout": timeout})
        response = await transport.handle_async_request(request)
        response.request = request
        try:
            content = await read_body(response, self.service.max_bytes)
        finally:
            await response.aclose()
        return _Answer(response.status_code, response.headers, content)

    def _no_use(self, error: Unusable) -> _Fault:
        said = shorten(without_secrets(self.service, " ".join(str(error).split())), 160)
        if isinstance(error, AskedTooOften):
            return _Fault("rate_limited", f"it answered: {said}", all_wait=True)
        return _Fault("unavailable", f"its answer was of no use: {said}")

    def _refusal(self, answer: _Answer) -> _Fault | ToolError:
        """What a status means that nobody asked for."""
        status = answer.status
        said = f"{status}: {quote_body(self.service, answer.content)}"
        if status in _AGAIN:
            kind: ToolStatus = "rate_limited" if status == 429 else "unavailable"
            wait = retry_after(answer.headers)
            return _Fault(kind, f"it answered {said}", wait, all_wait=status in _PAUSING)
        if status == 403:
            return self._final(
                f"it refused us ({said}); operator: does it accept the contact in our User-Agent, "
                "is the key right, is this address blocked?"
            )
        return self._too_long() if status == 414 else self._final(f"it answered {said}")

    async def _wait(self, fault: _Fault, number: int) -> None:
        """After a failed try: everybody waits where the service means everybody, else we do."""
        most = min(_LONGEST_BACKOFF, self._backoff * 2.0 ** (number - 1))
        backoff = self._chance.uniform(0.0, most)
        if fault.pause is not None or fault.all_wait:
            await self.budget.pause(self.service, max(backoff, fault.pause or 0.0))
        elif number < self.service.tries:
            await self._sleep(backoff)

    def _given_up(self, fault: _Fault) -> ToolError:
        tries = "1 try" if self.service.tries == 1 else f"{self.service.tries} tries"
        if fault.status == "rate_limited":
            return ToolError(
                "rate_limited",
                f"{self.service.name} limits how often it may be asked ({fault}; after {tries}); "
                "go on with what you have, or search elsewhere",
            )
        return ToolError(
            fault.status,
            f"{self.service.name} cannot be used just now ({fault}; after {tries}); "
            "search elsewhere, or go on without it",
        )

    def _final(self, why: str) -> ToolError:
        return ToolError(
            "unavailable",
            f"{self.service.name} cannot be used for this: {why}; search elsewhere, or go on "
            "without it",
        )

    def _too_long(self) -> ToolError:
        return ToolError(
            "bad_query", f"the query is too long for {self.service.name}; write a shorter one"
        )


def _open(service: Service) -> httpx.AsyncHTTPTransport:
    kept = service.limit.at_once if service.limit.interval < _KEPT_BELOW else 0
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=kept)
    return httpx.AsyncHTTPTransport(verify=_trusted(), trust_env=False, limits=limits)


@functools.cache
def _trusted() -> ssl.SSLContext:
    """Whom we believe; made once, for reading the certificates takes a tenth of a second."""
    return httpx.create_ssl_context(trust_env=False)
