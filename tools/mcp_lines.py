"""The lines of a server that speaks by stdio: halves of characters mended, the end noticed.

Servers that cut text without care write half a surrogate pair, which the client's strict parser
refuses with the whole answer: the call would wait for nothing. The client does not tell of the end
of a server between two calls either.
"""

from __future__ import annotations

import json
from typing import Any, Self

from pydantic import ValidationError

from openreward.loose_json import clean_text


class Lines:
    """The client's stream of what a server writes, passed on message by message."""

    def __init__(self) -> None:
        self.ended = False
        self._stream: Any = None

    def of(self, stream: Any) -> Self:
        """These lines, of that stream."""
        self._stream = stream
        return self

    async def receive(self) -> Any:
        """The next message, or the error of a line that holds none."""
        return _mended(await self._stream.receive())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            return _mended(await self._stream.__anext__())
        except StopAsyncIteration:
            self.ended = True
            raise

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *raised: object) -> None:
        await self.aclose()


def _mended(item: Any) -> Any:
    """A line that failed to parse, parsed with halves of characters replaced, if that helps."""
    if not isinstance(item, ValidationError):
        return item
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    line = item.errors(include_url=False, include_context=False)[0]["input"]
    if not isinstance(line, str) or "\\ud" not in line.lower():
        return item
    try:
        whole = clean_text(json.dumps(json.loads(line), ensure_ascii=False))
        return SessionMessage(jsonrpc_message_adapter.validate_json(whole, by_name=False))
    except (ValueError, RecursionError):
        return item
