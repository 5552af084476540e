"""The budget as an endpoint, for machines that share one allowance: small typed JSON over HTTP.

It keeps its lines in the same files as the machine it runs on, so processes there may name either,
and it can be restarted. Nobody's connection is held open: who waits asks again, and who stops
asking loses the place. Beyond loopback a shared token is needed; only its hash is kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import os
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import TypeVar

import uvicorn
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from openreward.errors import ToolError, UserError, shorten
from openreward.records import explain
from openreward.tools.budget_files import LineFiles
from openreward.tools.budget_line import Ask
from openreward.tools.budget_wire import Pause, Refused, Release, Status, check_token
from openreward.types import Record

Body = TypeVar("Body", bound=Record)
Handler = Callable[[Request], Awaitable[Response]]

_LARGEST = 4096  # bytes of a request's body
_BODY_SECONDS = 5.0


def make_app(files: LineFiles, token: str | None = None) -> Starlette:
    """The endpoint over the lines of a folder; with a token, all must send it."""
    expected = None if token is None else _hash(f"Bearer {check_token(token)}")

    async def take(request: Request) -> Response:
        wish = await _body(request, Ask)
        answer = await files.ask(wish)
        if await request.is_disconnected():  # its release may have come before
            await files.leave(wish.service, wish.ticket)
        return _answer(answer)

    async def release(request: Request) -> Response:
        body = await _body(request, Release)
        await files.leave(body.service, body.ticket)
        return Response(status_code=204)

    async def pause(request: Request) -> Response:
        body = await _body(request, Pause)
        await files.pause(body.service, body.seconds)
        return Response(status_code=204)

    async def status(request: Request) -> Response:
        return _answer(Status(now=files.now(), lines=files.lines()))

    def guarded(route: Handler) -> Handler:
        async def handle(request: Request) -> Response:
            given = request.headers.get("authorization", "")
            if expected is not None and not hmac.compare_digest(_hash(given), expected):
                return _refused(401, "expected this endpoint's token; name its variable")
            return await _typed(route, request)

        return handle

    return Starlette(
        routes=[
            Route("/take", guarded(take), methods=["POST"]),
            Route("/release", guarded(release), methods=["POST"]),
            Route("/pause", guarded(pause), methods=["POST"]),
            Route("/status", guarded(status), methods=["GET"]),
        ],
        exception_handlers={HTTPException: _unrouted},
    )


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket at an address; raises `UserError` where it cannot be had."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        bound = socket.create_server((host, port), family=family)
    except (OSError, UnicodeError, OverflowError) as error:
        number = getattr(error, "errno", None)
        why = os.strerror(number) if number and number > 0 else error
        raise UserError(
            f"cannot listen on {shorten(host)} port {port}: {why}; name another --host or --port"
        ) from None
    with bound:
        yield bound


@asynccontextmanager
async def serving(app: Starlette, bound: socket.socket) -> AsyncIterator[None]:
    """The app answers while the block runs; signals are the caller's."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        http="h11",
        ws="none",
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=2,
        timeout_keep_alive=30,
    )
    server = _Server(config)
    job = asyncio.create_task(server.serve(sockets=[bound]))
    try:
        yield
    finally:
        server.should_exit = True
        await job


class _Server(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leaves the signals to the program."""
        yield


async def _typed(route: Handler, request: Request) -> Response:
    try:
        return await route(request)
    except _Wrong as error:
        return _refused(error.status, str(error))
    except ToolError as error:
        return _refused(503, str(error))
    except ClientDisconnect:
        return _refused(400, "the body did not arrive")


class _Wrong(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


async def _body(request: Request, shape: type[Body]) -> Body:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":  # which no web page may send to us unasked
        raise _Wrong(415, f"expected Content-Type application/json, got {shorten(kind)}")
    content = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for chunk in request.stream():
                content += chunk
                if len(content) > _LARGEST:
                    raise _Wrong(413, f"expected a body of at most {_LARGEST} bytes")
    except TimeoutError:
        raise _Wrong(408, f"the body did not arrive within {_BODY_SECONDS:g} s") from None
    try:
        return shape.model_validate_json(bytes(content))
    except ValidationError as error:
        raise _Wrong(422, f"expected a {shape.__name__}: {explain(error)}") from None


async def _unrouted(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 404
    return _refused(status, "this is a budget endpoint; it knows /take /release /pause /status")


def _answer(record: Record) -> Response:
    return Response(record.model_dump_json(), media_type="application/json")


def _refused(status: int, message: str) -> Response:
    return JSONResponse(Refused(error=message).model_dump(), status_code=status)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
