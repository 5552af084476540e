"""MediaWiki's Action API, asked by the code of the package `wikipedia` over our transport.

The package is loaded as a private copy, for it keeps its address and its transport in globals. Its
search and its form of a request are used. Its pages are not: they ask once for each property of
each page, and name what a title may mean by the texts of links. Each answer is checked before the
package sees it: an error under status 200, a missing field or an empty list of many hits is no
answer.
"""

from __future__ import annotations

import functools
import importlib.util
import threading
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import NamedTuple, TypeVar, cast

from openreward.tools.fetch import Fetch, Reply
from openreward.tools.live_wikipedia_answers import (
    Json,
    Pages,
    read_hits,
    read_json,
    read_pages,
    read_revision,
)
from openreward.tools.sans_io import drive

T = TypeVar("T")

TITLES = 20  # of one request: as many introductions are given at once
TITLES_BYTES = 1_700  # of one request: each byte may take three in an address

_Request = tuple[tuple[str, str], ...]


class Hits(NamedTuple):
    """One page of a search: titles by relevance; `next` is where the next page begins."""

    titles: tuple[str, ...]
    next: int | None


class _Response(NamedTuple):
    body: Json

    def json(self) -> Json:
        """What the package asks of a response."""
        return self.body


class _Transport:
    """Stands where the package expects the library `requests`."""

    def __init__(self, get: Callable[[_Request], Json], more: Mapping[str, str]) -> None:
        self._get = get
        self._more = more

    def get(self, url: str, params: Mapping[str, object], headers: object) -> _Response:
        """The answer to a request; where it goes and who asks is for `Fetch` to say."""
        named = {name: str(value) for name, value in params.items() if name != "limit"}
        return _Response(self._get(tuple(sorted({**named, **self._more}.items()))))


class MediaWiki:
    """One wiki; each method makes one request. Safe for several event loops and threads."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._module = _private_copy()
        vars(self._module).update(API_URL=fetch.service.url)
        self._lock = threading.Lock()  # of the module, whose transport is a global

    async def search(self, words: str, number: int, start: int = 0) -> Hits:
        """At most `number` articles that hold all the words, from the `start`-th on."""
        after: list[int | None] = []

        def read(answer: Json) -> Json:
            after.append(read_hits(answer, start))
            return answer

        more = {"sroffset": str(start)} if start else {}
        titles = await self._ask(lambda: self._module.search.fn(words, number), read, more)
        return Hits(tuple(titles), after[-1])

    async def introductions(self, titles: Sequence[str], hits: Sequence[str] = ()) -> Pages:
        """What is known of at most `TITLES` titles, with the introductions of their pages.

        `hits` are those that the wiki named itself, of which it must know something.
        """
        return await self._pages(titles, {"exintro": "", "exlimit": "max"}, hits)

    async def whole(self, title: str) -> Pages:
        """The same of one title that the wiki named, with the whole text."""
        return await self._pages([title], {"exlimit": "1"}, [title])

    async def html(self, title: str) -> str:
        """A page as HTML, with its links."""
        params = {
            "prop": "revisions",
            "rvprop": "content",
            "rvparse": "",
            "rvlimit": 1,
            "titles": title,
        }
        return read_revision(await self._request(params, read_revision))

    async def _pages(
        self, titles: Sequence[str], form: Mapping[str, str], expected: Sequence[str]
    ) -> Pages:
        params = {
            "prop": "info|pageprops|extracts",
            "inprop": "url",
            "ppprop": "disambiguation",
            "redirects": "",
            "explaintext": "",
            "titles": "|".join(titles),
            **form,
        }
        read = functools.partial(read_pages, expected=expected)
        return read(await self._request(params, read))

    async def _request(self, params: Mapping[str, object], read: Callable[[Json], object]) -> Json:
        """The answer to any request, checked by `read`."""

        def check(answer: Json) -> Json:
            read(answer)
            return answer

        call = functools.partial(self._module._wiki_request, {**params})
        return cast(Json, await self._ask(lambda: call(), check, {}))

    async def _ask(
        self, call: Callable[[], T], read: Callable[[Json], Json], more: Mapping[str, str]
    ) -> T:
        """What the package makes of the answers to what it asks."""

        def attempt(get: Callable[[_Request], Json]) -> T:
            with self._lock:
                vars(self._module).update(requests=_Transport(get, more))
                return call()

        async def answer(request: _Request) -> Json:
            def read_reply(reply: Reply) -> Json:
                return read(read_json(reply))

            return await self._fetch.get(dict(request), read_reply)

        return await drive(attempt, answer, requests=1)


def _private_copy() -> ModuleType:
    """The package's module anew: what is set in it is nobody else's."""
    spec = importlib.util.find_spec("wikipedia.wikipedia")
    if spec is None or spec.loader is None:
        raise ModuleNotFoundError("no package wikipedia; install openreward-rm with what it needs")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
