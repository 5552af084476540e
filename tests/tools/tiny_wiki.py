"""A tiny wiki, made up, that answers as MediaWiki does: by what is asked of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from service_server import Answer, Asked, ServiceServer, Unrecorded, of_json

from openreward.tools.fetch import Fetch
from openreward.tools.live_wikipedia import LiveWikipedia
from openreward.tools.services import RateLimit, Service
from openreward.types import Passage


@dataclass(frozen=True)
class Page:
    """A page as its wiki stores it; `html` is what a list of meanings has instead of a text."""

    text: str = ""
    html: str | None = None
    ns: int = 0


@dataclass(frozen=True)
class Wiki:
    """Pages by title, redirects (a "#" names a section), and hits by the words of a search."""

    pages: Mapping[str, Page]
    redirects: Mapping[str, str] = field(default_factory=dict)
    hits: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def __call__(self, asked: Asked) -> Answer:
        """The answer to a request of the kinds that the client makes."""
        params = asked.params
        if (params.get("action"), params.get("format")) != ("query", "json"):
            raise Unrecorded(f"{params}")
        if params.get("list") == "search":
            return of_json(self._search(params))
        return of_json(self._pages(params))

    def _search(self, params: dict[str, str]) -> dict[str, Any]:
        hits = self.hits.get(params["srsearch"], ())
        start, number = int(params.get("sroffset", 0)), int(params["srlimit"])
        found = [{"ns": 0, "title": title} for title in hits[start : start + number]]
        query = {"searchinfo": {"totalhits": len(hits)}, "search": found}
        if start + number >= len(hits):
            return {"batchcomplete": "", "query": query}
        return {"continue": {"sroffset": start + number, "continue": "-||"}, "query": query}

    def _pages(self, params: dict[str, str]) -> dict[str, Any]:
        query: dict[str, Any] = {"pages": {}}
        texts = 20 if "exintro" in params else 1
        for number, name in enumerate(params["titles"].split("|")):
            title = self._led(name, query)
            if title not in self.pages:
                query["pages"][str(-1 - number)] = {"ns": 0, "title": title, "missing": ""}
                continue
            page = self._page(title, params)
            query["pages"][str(page["pageid"])] = page
            texts -= 1
            if texts < 0:
                page.pop("extract", None)
        return {"batchcomplete": "", "query": query}

    def _led(self, name: str, query: dict[str, Any]) -> str:
        title = name[:1].upper() + name[1:]
        if title != name:
            query.setdefault("normalized", []).append({"from": name, "to": title})
        if title in self.redirects:
            to, _, section = self.redirects[title].partition("#")
            row = {"from": title, "to": to} | ({"tofragment": section} if section else {})
            query.setdefault("redirects", []).append(row)
            return to
        return title

    def _page(self, title: str, params: dict[str, str]) -> dict[str, Any]:
        page, number = self.pages[title], 100 + list(self.pages).index(title)
        given: dict[str, Any] = {"pageid": number, "ns": page.ns, "title": title}
        if "revisions" in params["prop"]:
            return {**given, "revisions": [{"*": page.html}]}
        text = page.text.partition("\n\n\n==")[0] if "exintro" in params else page.text
        address = f"http://en.wikipedia.org/wiki/{title.replace(' ', '_')}"
        given |= {"extract": text, "fullurl": address, "lastrevid": 7000 + number}
        return given | ({} if page.html is None else {"pageprops": {"disambiguation": ""}})


class NoWaiting:
    """A budget that lets everybody ask at once."""

    @asynccontextmanager
    async def turn(self, service: Service) -> AsyncIterator[None]:
        yield

    async def pause(self, service: Service, seconds: float) -> None:
        return None


def live(url: str, language: str = "en", tries: int = 1) -> LiveWikipedia:
    """The back end for a wiki at an address, with a connection for each request."""
    service = Service(
        name="wikipedia",
        url=f"{url}/w/api.php",
        contact="ada@example.org",
        limit=RateLimit(interval=0.0, at_once=1),
        language=language,
        timeout=5.0,
        tries=tries,
    )
    return LiveWikipedia(Fetch(service, NoWaiting(), backoff=0.01))


def searched(
    answer: Callable[[Asked], Answer], query: str, k: int = 3, tries: int = 1
) -> tuple[Passage, ...]:
    """The passages that a search of a wiki brings."""
    with ServiceServer(answer) as server:
        return asyncio.run(live(server.url, tries=tries).search(query, k)).passages
