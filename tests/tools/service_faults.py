"""What can go wrong with a service, as changes of its sound answers, and what must come of it."""

from __future__ import annotations

import functools
import gzip
import itertools
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple
from urllib.parse import urlencode

from service_answers import Answer, Asked, of_feed, of_html, of_json, of_type, of_xml

Name = Literal["wikipedia", "arxiv", "pubmed"]
Serve = Callable[[Asked], Answer]
BIG = 20_000_000
HTML = "<html><head><title>Oops</title></head><body><p>Something is wrong.</p></body></html>"


class Place(NamedTuple):
    """Where a fault happens: which service, and the address of another host."""

    name: Name
    elsewhere: str


Change = Callable[[Answer, Asked, Place], Answer | None]  # None: this request is not concerned


@dataclass(frozen=True)
class Fault:
    """A change of answers, and the typed result.

    Of those it concerns, the first `skip` stay sound, and only `times` are changed (None: all).
    """

    name: str
    change: Change
    result: str | Mapping[Name, str]  # "ok" or the status of the ToolError
    times: int | None = None
    skip: int = 0
    timeout: float = 10.0  # seconds of a request

    def expected(self, name: Name) -> str:
        return self.result if isinstance(self.result, str) else self.result[name]


def with_fault(fault: Fault, place: Place, serve: Serve) -> Serve:
    """The service with the fault."""
    changed = itertools.count()

    def answer(asked: Asked) -> Answer:
        sound = serve(asked)
        instead = fault.change(sound, asked, place)
        if instead is None:
            return sound
        number = next(changed) - fault.skip
        spent = fault.times is not None and number >= fault.times
        return sound if number < 0 or spent else instead

    return answer


def always(answer: Answer) -> Change:
    return lambda sound, asked, place: answer


def _cut(sound: Answer, asked: Asked, place: Place) -> Answer:
    return replace(sound, cut=len(sound.body) // 2)


def _late(sound: Answer, asked: Asked, place: Place) -> Answer:
    return replace(sound, delay=20.0)


def _dripping(sound: Answer, asked: Asked, place: Place) -> Answer:
    return replace(sound, drip=0.05)


def _malformed(sound: Answer, asked: Asked, place: Place) -> Answer:
    """The end is missing though the length is right; sent under the right type."""
    return replace(sound, body=sound.body[: len(sound.body) * 2 // 3])


def _empty_body(sound: Answer, asked: Asked, place: Place) -> Answer:
    return replace(sound, body=b"")


def _bad_bytes(sound: Answer, asked: Asked, place: Place) -> Answer:
    """Bytes that are no UTF-8, within the texts."""
    return replace(sound, body=re.sub(rb"o", b"\xff\xfe", sound.body))


def _wrong_shape(sound: Answer, asked: Asked, place: Place) -> Answer:
    """Well-formed, and not what it must be."""
    if place.name == "wikipedia":
        return of_json({"query": {"search": {"0": None}, "pages": [7, None]}})
    if place.name == "arxiv":
        return of_feed('<feed xmlns="http://www.w3.org/2005/Atom"><entry/><title/></feed>')
    return of_xml("<eSearchResult><IdList><Id>x</Id></IdList></eSearchResult>")


def _nested(sound: Answer, asked: Asked, place: Place) -> Answer:
    if place.name == "wikipedia":
        return of_type("application/json", b'{"query":' * 100_000)
    return replace(sound, body=b"<?xml version='1.0'?>" + b"<a>" * 100_000 + b"</a>" * 100_000)


def _entity_bomb(sound: Answer, asked: Asked, place: Place) -> Answer:
    """Ten lines that stand for 10 ** 9 letters; in JSON, a number as long."""
    if place.name == "wikipedia":
        return of_type("application/json", b'{"query":{"search":' + b"9" * 100_000 + b"}}")
    lines = [f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10)]
    body = f'<!DOCTYPE a [<!ENTITY e0 "e">{"".join(lines)}]><a>&e9;</a>'
    return replace(sound, body=body.encode())


def _huge(sound: Answer, asked: Asked, place: Place) -> Answer:
    return replace(sound, body=sound.body + b" " * BIG)


def _gzip_bomb(sound: Answer, asked: Asked, place: Place) -> Answer:
    headers = {**sound.headers, "Content-Encoding": "gzip"}
    return replace(sound, body=_packed(sound.body), headers=headers)


@functools.cache
def _packed(body: bytes) -> bytes:
    return gzip.compress(body + b" " * BIG, 1)


def _elsewhere(sound: Answer, asked: Asked, place: Place) -> Answer:
    target = f"{place.elsewhere}{asked.path}?{urlencode(asked.params)}"
    return of_html("", 302, Location=target)


def _moved(sound: Answer, asked: Asked, place: Place) -> Answer | None:
    if asked.path.startswith("/moved"):
        return None
    return of_html("", 302, Location=f"/moved{asked.path}?{urlencode(asked.params)}")


def _in_circles(sound: Answer, asked: Asked, place: Place) -> Answer:
    return of_html("", 302, Location=f"{asked.path}?{urlencode(asked.params)}")


def _empty_list(sound: Answer, asked: Asked, place: Place) -> Answer | None:
    """A list that says how many there are and holds none; other answers stay."""
    if place.name == "wikipedia":
        value = json.loads(sound.body)
        if "search" not in value["query"]:
            return None
        value["query"].update(search=[], searchinfo={"totalhits": 5335})
        value["query"].pop("pages", None)
        return of_json(value)
    body = sound.body.decode()
    if place.name == "arxiv":
        return of_feed(re.sub(r"<entry>.*</entry>", "", body, flags=re.DOTALL))
    if "<IdList>" not in body:
        return None
    return of_xml(re.sub(r"<Id>\d+</Id>\s*", "", body))


def _pages_unsaid(sound: Answer, asked: Asked, place: Place) -> Answer | None:
    """Nothing of what the service itself has just listed; arXiv lists whole papers."""
    if "titles" in asked.params:
        return of_json({"batchcomplete": "", "query": {"pages": {}}})
    if "efetch" in asked.path:
        return replace(
            sound,
            body=re.sub(rb"<PubmedArticle>.*</PubmedArticle>", b"", sound.body, flags=re.DOTALL),
        )
    return None


def nothing(name: Name, sound: Answer, asked: Asked) -> Answer:
    """What the service says when really nothing matches."""
    if name == "wikipedia":
        if "titles" in asked.params:
            pages = {
                str(-number): {"ns": 0, "title": title, "missing": ""}
                for number, title in enumerate(asked.params["titles"].split("|"), start=1)
            }
            return of_json({"query": {"pages": pages}})
        return of_json({"query": {"searchinfo": {"totalhits": 0}, "search": []}})
    body = re.sub(r"<entry>.*</entry>|<Id>\d+</Id>\s*", "", sound.body.decode(), flags=re.DOTALL)
    return replace(sound, body=re.sub(r"(<Count>|totalResults>)\d+", r"\g<1>0", body).encode())


_ARXIV_ERROR = """<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"
 xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><id>https://arxiv.org/</id>
<opensearch:totalResults>1</opensearch:totalResults>
<entry><id>https://arxiv.org/api/errors#boom</id><title>Error</title>
<summary>boom</summary></entry></feed>"""
_NCBI = '<?xml version="1.0" encoding="UTF-8" ?>\n<{0}><ERROR>{1}</ERROR></{0}>'


def _error(sound: Answer, asked: Asked, place: Place) -> Answer:
    """How each service says that something failed, under status 200."""
    if place.name == "wikipedia":
        error = {"code": "internal_api_error_DBQueryError", "info": "Caught exception: [abc]"}
        return of_json({"error": error, "servedby": "mw1"})
    if place.name == "arxiv":
        return of_feed(_ARXIV_ERROR)
    tag = "eSearchResult" if "esearch" in asked.path else "eFetchResult"
    return of_xml(_NCBI.format(tag, "Search Backend failed: Database is not supported"))


def _error_status(sound: Answer, asked: Asked, place: Place) -> Answer:
    """The same with status 400, as arXiv and NCBI do it; MediaWiki names a full pool."""
    if place.name == "wikipedia":
        code = "cirrussearch-too-busy-error"
        return of_json({"error": {"code": code, "info": "Too busy; try again later."}})
    if place.name == "arxiv":
        return of_feed(_ARXIV_ERROR, 400)
    return of_json({"error": "API rate limit exceeded", "count": "4"}, 429)


# Held against 2 tries and 10 s of patience.
FAULTS = (
    Fault("403 HTML", always(of_html(HTML, 403)), "unavailable"),
    Fault("429, Retry-After", always(of_html(HTML, 429, Retry_After="120")), "rate_limited"),
    Fault("429", always(of_html(HTML, 429)), "rate_limited"),
    Fault("503", always(of_html(HTML, 503)), "unavailable"),
    Fault("503, Retry-After", always(of_html(HTML, 503, Retry_After="120")), "rate_limited"),
    Fault("no answer in time", _late, "timeout", timeout=0.3),
    Fault("bytes that drip", _dripping, "timeout", timeout=0.3),
    Fault("cut body", _cut, "unavailable"),
    Fault("empty body", _empty_body, "unavailable"),
    Fault("malformed", _malformed, "unavailable"),
    Fault("no UTF-8", _bad_bytes, "unavailable"),
    Fault("wrong shape", _wrong_shape, "unavailable"),
    Fault("nested 100,000 deep", _nested, "unavailable"),
    Fault("entity bomb", _entity_bomb, "unavailable"),
    Fault(
        "503 from request 2 on",
        always(of_html(HTML, 503)),
        {"wikipedia": "unavailable", "arxiv": "ok", "pubmed": "unavailable"},
        skip=1,
    ),
    Fault(
        "listed, then unknown",
        _pages_unsaid,
        {"wikipedia": "unavailable", "arxiv": "ok", "pubmed": "unavailable"},
    ),
    Fault("an empty page each time", _empty_list, "unavailable"),
    Fault("error feed, 200", _error, "unavailable"),
    Fault(
        "error feed, its status",
        _error_status,
        {"wikipedia": "unavailable", "arxiv": "bad_query", "pubmed": "rate_limited"},
    ),
    Fault("HTML with 200", always(of_html(HTML)), "unavailable"),
    Fault("bytes with 200", always(of_type("application/octet-stream", b"\0\xff")), "unavailable"),
    Fault("redirect elsewhere", _elsewhere, "unavailable"),
    Fault("redirect in circles", _in_circles, "unavailable"),
    Fault("20 MB body", _huge, "unavailable"),
    Fault("gzip bomb", _gzip_bomb, "unavailable"),
)
RECOVERED = (
    Fault("no fault", lambda sound, asked, place: None, "ok"),
    Fault("empty page, then full", _empty_list, "ok", times=1),
    Fault("429 for 1 s, then full", always(of_html(HTML, 429, Retry_After="1")), "ok", times=1),
    Fault("503, then full", always(of_html(HTML, 503)), "ok", times=1),
    Fault("cut, then full", _cut, "ok", times=1),
    Fault("redirect to own host", _moved, "ok"),
)
