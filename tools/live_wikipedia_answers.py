"""What MediaWiki answered, checked: hits of a search, pages by their titles, its errors.

Its Action API reports errors under status 200. A passing one (a busy search, a lagging database)
makes the answer `Unusable`, as do missing fields; warnings mean nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from openreward.errors import ToolError, shorten
from openreward.loose_json import clean
from openreward.tools.fetch import AskedTooOften, Reply, Unusable

Json = dict[str, Any]  # as the package takes it; only its checked form leaves this file
M = TypeVar("M", bound=BaseModel)

REACHABLE = 10_000  # hits of a search that a wiki gives by position

_LIMITED = ("ratelimited", "actionthrottled", "cirrussearch-too-busy-for-you")
_SYNTAX = ("cirrussearch-parse-error", "cirrussearch-query-too-long", "cirrussearch-regex-")
_REFUSED = ("readapidenied", "permissiondenied", "unknown_", "badvalue", "missingparam", "blocked")


class WikiPage(NamedTuple):
    """An article or a disambiguation page; `extract` as it came."""

    id: int
    title: str
    url: str
    revision: str
    extract: str
    disambiguation: bool


class Reached(NamedTuple):
    """Where a title leads; `within` when to a section of a page about something wider."""

    page: WikiPage
    within: bool


class Pages(NamedTuple):
    """Pages by title, and the titles that lead to others."""

    by_title: Mapping[str, WikiPage]
    leads: Mapping[str, tuple[str, bool]]
    listed: frozenset[str] = frozenset()  # also what is missing, or no article

    def find(self, title: str) -> Reached | None:
        """The page that a title leads to, redirects followed; None where there is none."""
        last, within = self._follow(title)
        page = self.by_title.get(last)
        return None if page is None else Reached(page, within)

    def answers(self, title: str) -> bool:
        """Whether anything is said of a title, be it that its page is gone."""
        return self._follow(title)[0] in self.listed

    def _follow(self, title: str) -> tuple[str, bool]:
        within = False
        for _ in range(5):
            if title not in self.leads:
                break
            title, section = self.leads[title]
            within = within or section
        return title, within


class _Answer(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Hit(_Answer):
    title: str = Field(min_length=1, max_length=255)


class _Info(_Answer):
    totalhits: int | None = None


class _Offset(_Answer):
    sroffset: int


class _Search(_Answer):
    search: list[_Hit]
    searchinfo: _Info | list[object] = _Info()


class _Searched(_Answer):
    query: _Search
    after: _Offset | None = Field(None, alias="continue")


class _Lead(_Answer):
    """`from` and `to` of a title; a redirect may name a section."""

    source: str = Field(alias="from")
    to: str
    tofragment: str = ""


class _Page(_Answer):
    title: str
    ns: int = 0
    pageid: int | None = None
    missing: object = None
    invalid: object = None
    special: object = None
    fullurl: str | None = None
    lastrevid: int | None = None
    extract: str | None = None
    pageprops: dict[str, object] | list[object] = {}


class _PageList(_Answer):
    pages: dict[str, _Page] | list[_Page] = []
    normalized: list[_Lead] = []
    converted: list[_Lead] = []
    redirects: list[_Lead] = []
    interwiki: list[object] = []


class _Listed(_Answer):
    query: _PageList
    after: dict[str, object] = Field({}, alias="continue")


class _Revision(_Answer):
    text: str = Field(alias="*")


class _Revised(_Answer):
    revisions: list[_Revision] = Field(min_length=1)


class _RevisedList(_Answer):
    pages: dict[str, _Revised] = Field(min_length=1)


class _Content(_Answer):
    query: _RevisedList


def read_json(reply: Reply) -> Json:
    """The object that an answer holds; its errors are raised."""
    if "json" not in reply.content_type:
        raise Unusable(f"expected JSON, got {shorten(reply.content_type)}")
    try:
        value = json.loads(reply.content)
    except (ValueError, RecursionError) as error:
        raise Unusable(f"expected JSON, got what is none: {shorten(str(error))}") from None
    if not isinstance(value, dict):
        raise Unusable(f"expected a JSON object, got {shorten(value)}")
    answer = cast(Json, clean(value))
    if "error" in answer or "errors" in answer:
        _raise_error(answer.get("error", answer.get("errors")))
    return answer


def read_hits(answer: Json, start: int) -> int | None:
    """Checks a page of hits, and says where the next begins; None where this is the last."""
    found = _parse(_Searched, answer)
    info = found.query.searchinfo
    total = info.totalhits if isinstance(info, _Info) else None
    if not found.query.search and total is not None and start < min(total, REACHABLE):
        raise Unusable(f"expected hits of {total} from {start} on, got none")
    if found.after is None or found.after.sroffset <= start:
        return None
    return found.after.sroffset


def read_pages(answer: Json, expected: Sequence[str] = ()) -> Pages:
    """The pages of an answer; an article without its fields makes the whole of no use.

    So does silence on a title of `expected`: the wiki itself named it, and says of a page that is
    gone that it is missing.
    """
    listed = _parse(_Listed, answer)
    query = listed.query
    if "pages" not in query.model_fields_set and not query.interwiki:
        raise Unusable("expected pages in the answer, got none")
    pages = query.pages.values() if isinstance(query.pages, dict) else query.pages
    cut = any(name.startswith("ex") for name in listed.after)
    by_title = {page.title: _article(page, cut) for page in pages if _exists(page)}
    renamed = [*query.normalized, *query.converted]
    leads = {lead.source: (lead.to, False) for lead in renamed}
    leads |= {lead.source: (lead.to, bool(lead.tofragment)) for lead in query.redirects}
    found = Pages(by_title, leads, frozenset(page.title for page in pages))
    silent = [title for title in expected if not found.answers(title)]
    if silent:
        raise Unusable(f"expected a page or that it is missing, got nothing of {shorten(silent)}")
    return found


def read_revision(answer: Json) -> str:
    """The content of the one page that was asked for."""
    (page, *_) = _parse(_Content, answer).query.pages.values()
    return page.revisions[0].text


def _parse(model: type[M], answer: Json) -> M:
    try:
        return model.model_validate(answer)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise Unusable(f"expected {place} in the answer: {first['msg']}") from None


def _exists(page: _Page) -> bool:
    """Not missing, invalid, special, or of another namespace."""
    said = page.model_fields_set & {"missing", "invalid", "special"}
    if page.pageid is None and page.ns >= 0 and not said:
        raise Unusable(f"expected the id of {shorten(page.title)}")
    return page.pageid is not None and page.pageid > 0 and page.ns == 0


def _article(page: _Page, cut: bool) -> WikiPage:
    """`cut`: the answer said that texts are left out."""
    if page.fullurl is None or page.lastrevid is None or (page.extract is None and not cut):
        raise Unusable(f"expected address, revision and text of {shorten(page.title)}")
    return WikiPage(
        id=page.pageid or 0,
        title=page.title,
        url=_secure(page.fullurl),
        revision=str(page.lastrevid),
        extract=page.extract or "",
        disambiguation="disambiguation" in page.pageprops,
    )


def _secure(url: str) -> str:
    """Wikipedia's own addresses are given as https, also where a page was stored with http."""
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    return f"https://{rest}" if scheme == "http" and host.endswith(".wikipedia.org") else url


def _raise_error(error: object) -> None:
    """Raises what an error of the API means."""
    first = error[0] if isinstance(error, list) and error else error
    named = cast(Json, first) if isinstance(first, dict) else {}
    code = str(named.get("code", ""))
    said = shorten(f"{code}: {named.get('info', named.get('text', ''))}" if code else first, 160)
    if code.startswith(_LIMITED):
        raise AskedTooOften(said)
    if code.startswith(_SYNTAX):
        raise ToolError(
            "bad_query",
            f"wikipedia cannot search for this ({said}); write the name of the subject and a few "
            "plain words",
        )
    if code.startswith(_REFUSED):
        raise ToolError(
            "unavailable",
            f"wikipedia cannot be used for this ({said}); search elsewhere, or go on without it",
        )
    raise Unusable(f"the wiki reports an error: {said}")
