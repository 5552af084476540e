"""Reads an answer's body as it comes, unpacked by us: never more of it in memory than its limit."""

from __future__ import annotations

import zlib

import httpx


class TooLarge(Exception):
    """The body is, or says it will be, larger than the limit."""


class Undecodable(Exception):
    """The body is packed in a way we did not ask for."""


class CutBody(Exception):
    """The packed body ends early, or is broken."""


async def read_body(response: httpx.Response, limit: int) -> bytes:
    """The whole body, unpacked. Raises one of the above, or what httpx raises."""
    coding = response.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
        raise Undecodable(coding)
    packed = coding not in ("", "identity")
    promised = response.headers.get("content-length", "").strip()
    if promised.isdecimal() and len(promised) < 20 and int(promised) > limit:
        raise TooLarge
    content = bytearray()
    unpack = _Unpacker() if packed else None
    async for chunk in response.aiter_raw():
        content += chunk if unpack is None else unpack.feed(chunk, limit - len(content) + 1)
        if len(content) > limit:
            raise TooLarge
    if unpack is not None and not unpack.whole:
        raise CutBody
    return bytes(content)


class _Unpacker:
    """gzip or zlib, told from the first bytes; raw deflate too, which some servers send."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj(zlib.MAX_WBITS | 32)
        self._begun = False

    @property
    def whole(self) -> bool:
        """Whether the packed stream came to its end; nothing at all is whole too."""
        return self._zlib.eof or not self._begun

    def feed(self, chunk: bytes, most: int) -> bytes:
        """At most `most` bytes of what a chunk unpacks to; so many are more than the limit."""
        if self._zlib.eof and chunk:
            raise CutBody  # another text after the end, which would be lost
        first, self._begun = not self._begun, self._begun or bool(chunk)
        try:
            unpacked = self._zlib.decompress(chunk, most)
        except zlib.error:
            if not first:
                raise CutBody from None
            unpacked = self._feed_raw(chunk, most)
        if self._zlib.unused_data:
            raise CutBody
        return unpacked

    def _feed_raw(self, chunk: bytes, most: int) -> bytes:
        self._zlib = zlib.decompressobj(-zlib.MAX_WBITS)
        try:
            return self._zlib.decompress(chunk, most)
        except zlib.error:
            raise CutBody from None
