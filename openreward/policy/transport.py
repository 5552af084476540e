"""One connection pool to one engine: every way HTTP can fail becomes a `PolicyError` with a remedy.

Repeated are 429, 5xx and broken connections, with exponential backoff and jitter or as Retry-After
says, within `attempts` and `retry_seconds`; a read timeout is not, since the turn may still run.
Redirects are not followed: the key must not travel to another host. Neither the key nor half of it
is in a message or a repr. Cancelling a request closes its connection, so that engines stop.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Self, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ValidationError

from openreward.errors import PolicyError, UserError, shorten
from openreward.policy.http_errors import (
    JSON,
    not_json,
    redirect_target,
    refusal,
    retry_after,
    said_in,
    unreachable,
)
from openreward.types import PolicyFault

Shape = TypeVar("Shape", bound=BaseModel)

_VERSIONED = re.compile(r"/v\d+[a-z]*(/|$)")


@dataclass(frozen=True)
class HttpSettings:
    """Limits of the connection. `read_seconds` is the longest silence, so the longest turn."""

    connect_seconds: float = 5.0
    read_seconds: float = 600.0
    whole_seconds: float = 1200.0  # of one attempt, however busily the server trickles
    probe_seconds: float = 60.0  # the same while connecting, where answers are short
    attempts: int = 5
    retry_seconds: float = 120.0  # no wait begins that would end later than this after the start
    backoff_seconds: float = 0.5  # before the second attempt; doubles, times a factor of 0.5 to 1.5
    max_bytes: int = 32 * 1024 * 1024
    connections: int = 256
    trust_env: bool = False  # proxies and certificates from the environment

    def __post_init__(self) -> None:
        if self.attempts < 1 or min(self.connect_seconds, self.read_seconds) <= 0:
            raise UserError(f"attempts and seconds of a connection must be positive, got {self}")


class Address:
    """Where an API is: `api` ends in the version, `root` is what engines' own routes hang on."""

    def __init__(self, url: str) -> None:
        shown = shorten(url.rpartition("@")[2])  # what stands before may be a password
        expected = f"expected an address like http://127.0.0.1:8000/v1, got {shown}"
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            httpx.URL(parts.geturl())  # what it refuses, it refuses at the first request
        except (ValueError, httpx.InvalidURL):
            raise UserError(expected) from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise UserError(expected)
        if parts.username or parts.password:
            raise UserError(
                "the address holds a user name or password; pass the API key apart from it"
            )
        base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
        self.api = base if _VERSIONED.search(parts.path) else f"{base}/v1"
        self.root = self.api.removesuffix("/v1")


class Failed(Exception):
    """One attempt that may be repeated; `wait` is what the server asked for, in seconds."""

    def __init__(self, fault: PolicyFault, message: str, wait: float | None = None) -> None:
        super().__init__(message)
        self.fault = fault
        self.wait = wait


class Transport:
    """Requests of one policy. Use as an async context manager; `sleep` is a seam for tests."""

    def __init__(
        self,
        url: str,
        *,
        api_key: str | None = None,
        settings: HttpSettings | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.address = Address(url)
        self.settings = settings or HttpSettings()
        self._sleep = sleep
        self._jitter = random.Random()
        self._key = api_key or ""
        limits = httpx.Limits(
            max_connections=self.settings.connections,
            max_keepalive_connections=self.settings.connections,
        )
        self._client = httpx.AsyncClient(
            headers=_headers(api_key),
            timeout=httpx.Timeout(
                self.settings.read_seconds, connect=self.settings.connect_seconds, pool=None
            ),
            limits=limits,
            trust_env=self.settings.trust_env,
            verify=self.address.api.startswith("https:"),  # loading certificates takes 0.1 s
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection."""
        await self._client.aclose()

    async def get(self, url: str, shape: type[Shape], *, attempts: int | None = None) -> Shape:
        """What a GET of a whole URL answers."""
        return self._shaped(await self._repeat("GET", url, None, attempts), shape, url)

    async def post(
        self,
        url: str,
        body: Mapping[str, object],
        shape: type[Shape],
        *,
        attempts: int | None = None,
    ) -> Shape:
        """What a POST of a JSON body answers."""
        return self._shaped(await self._repeat("POST", url, body, attempts), shape, url)

    async def tell(self, url: str, body: Mapping[str, object]) -> str:
        """A POST whose answer is but words."""
        content = await self._repeat("POST", url, body, None)
        return self._clean(shorten(self._without_key(content).decode("utf-8", "replace"), 200))

    async def post_events(
        self, url: str, body: Mapping[str, object], shape: type[Shape]
    ) -> list[Shape]:
        """The events of a streamed answer, all of them, once it is complete."""
        content = await self._repeat("POST", url, {**body, "stream": True}, None)
        lines = [line[5:].strip() for line in content.split(b"\n") if line.startswith(b"data:")]
        if not lines or lines[-1] != b"[DONE]":
            content = self._without_key(content)
            said = self._clean(shorten(content[-200:].decode("utf-8", "replace"), 120))
            raise PolicyError("bad_response", f"{url} broke off its stream: it ends with {said}")
        return [self._shaped(line, shape, url) for line in lines[:-1]]

    async def _repeat(
        self, method: str, url: str, body: Mapping[str, object] | None, attempts: int | None
    ) -> bytes:
        """One request with its retries; the waits and requests together end by `retry_seconds`."""
        clock = asyncio.get_running_loop().time
        started = clock()
        most = attempts or self.settings.attempts
        seconds = self.settings.probe_seconds if attempts else self.settings.whole_seconds
        for attempt in range(1, most + 1):
            try:
                return await self._timed(method, url, body, seconds)
            except Failed as failed:
                wait = self._wait(attempt) if failed.wait is None else failed.wait
                late = clock() - started + wait > self.settings.retry_seconds
                if attempt == most or late:
                    why = f"asked to wait {wait:.0f} s" if failed.wait and late else "gave up"
                    raise PolicyError(
                        failed.fault, f"{failed} ({why}, attempt {attempt})"
                    ) from None
            await self._sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _wait(self, attempt: int) -> float:
        factor: float = 0.5 + self._jitter.random()
        return self.settings.backoff_seconds * 2.0 ** (attempt - 1) * factor

    async def _timed(
        self, method: str, url: str, body: Mapping[str, object] | None, seconds: float
    ) -> bytes:
        try:
            async with asyncio.timeout(seconds):
                return await self._once(method, url, body)
        except TimeoutError:
            raise PolicyError(
                "timeout",
                f"{url} did not finish its answer within {seconds:g} s; is this the right "
                "address? If it is, look at the server's load",
            ) from None

    async def _once(self, method: str, url: str, body: Mapping[str, object] | None) -> bytes:
        try:
            async with self._client.stream(method, url, json=body) as response:
                content = await self._read(response)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Failed("unreachable", unreachable(url, error)) from None
        except httpx.TimeoutException:
            seconds = self.settings.read_seconds
            raise PolicyError(
                "timeout",
                f"{url} sent nothing for {seconds:g} s; allow more seconds a turn, "
                "send fewer requests at once, or look at the server's load",
            ) from None
        except httpx.DecodingError:
            raise PolicyError(
                "bad_response", f"{url} sent a body that its Content-Encoding does not fit"
            ) from None
        except httpx.TransportError as error:
            message = (
                f"the connection to {url} broke ({type(error).__name__}); is the server alive?"
            )
            raise Failed("unreachable", message) from None
        self._check(response, content, url)
        return content

    async def _read(self, response: httpx.Response) -> bytes:
        coding = response.headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("identity", "gzip", "deflate"):  # several, one in another: a bomb
            raise PolicyError(
                "bad_response",
                f"{response.url} sent Content-Encoding {shorten(coding)}; expected gzip or none",
            )
        content = bytearray()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > self.settings.max_bytes:
                raise PolicyError(
                    "bad_response",
                    f"{response.url} sent more than {self.settings.max_bytes} bytes; "
                    "is this the right address?",
                )
        return bytes(content)

    def _check(self, response: httpx.Response, content: bytes, url: str) -> None:
        status = response.status_code
        content = self._without_key(content)
        if status < 300:
            return
        if status < 400:
            target = self._clean(redirect_target(response))
            raise PolicyError(
                "bad_response",
                f"{url} redirects to {target}; redirects are not followed, so give that address",
            )
        said = self._clean(said_in(content))
        if status == 429:
            raise Failed("rate_limited", f"{url} limits the rate: {said}", retry_after(response))
        if status >= 500:
            raise Failed(
                "server_error",
                f"{url} answered {status}: {said}; see its log",
                retry_after(response),
            )
        raise PolicyError(*refusal(status, said, url))

    def _clean(self, text: str) -> str:
        """A server's words without the key, should it repeat it."""
        return text.replace(self._key, "[key]") if self._key else text

    def _without_key(self, content: bytes) -> bytes:
        """The same of a whole body, before it is cut to a quotation that may hold half a key."""
        return content.replace(self._key.encode(), b"[key]") if self._key else content

    def _shaped(self, content: bytes, shape: type[Shape], url: str) -> Shape:
        try:
            value = JSON.validate_json(content)
        except ValidationError:
            said = not_json(url, self._without_key(content))
            raise PolicyError("bad_response", self._clean(said)) from None
        try:
            return shape.model_validate(value)
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"]) or "the whole"
            content = self._without_key(content)
            quoted = self._clean(shorten(content[:200].decode("utf-8", "replace"), 120))
            raise PolicyError(
                "bad_response",
                f"{url} answered JSON of another shape: {where}: {first['msg']}; got {quoted}",
            ) from None


def _headers(api_key: str | None) -> dict[str, str]:
    encoding = {"Accept-Encoding": "gzip, deflate"}
    if not api_key:
        return encoding
    if not api_key.isascii() or not api_key.isprintable() or api_key != api_key.strip():
        raise UserError("the API key holds spaces, line ends or letters that no header can carry")
    return {**encoding, "Authorization": f"Bearer {api_key}"}
