"""What models really write as queries: a sound request of plain words, or a readable bad_query.

A service's own language never acts: each query that the service got is read by a grammar of what
we may ask, in which the model's text can only be words.
"""

from __future__ import annotations

import asyncio
import re
import sys
import unicodedata
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from service_faults import Name, Serve, nothing
from service_server import Asked, ServiceServer, arxiv_world, pubmed_world, wikipedia_world

from openreward.errors import ToolError
from openreward.tools.fetch import Fetch
from openreward.tools.services import RateLimit, Service
from openreward.tools.sources import LiveSearch, live_search

WORLDS: dict[Name, Serve] = {
    "wikipedia": wikipedia_world,
    "arxiv": arxiv_world,
    "pubmed": pubmed_world,
}
LONGEST = 8_000  # bytes of an address that servers commonly take
CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")

# A word: nothing in it means anything to a service, and it is no operator. Letters, marks and
# digits beyond ASCII stand as "x" when a query is read.
W = r"(?!(?:AND|OR|NOT|ANDNOT|TO)\b)[a-zA-Z0-9]+(?:['.][a-zA-Z0-9]+)*"
HYPHENED = rf"{W}(?:-{W})*"
ARXIV_TERM = rf"(?:all|ti|abs):(?:{W}|\"{W}(?: {W})*\")"
GRAMMAR = {
    "srsearch": re.compile(rf"{HYPHENED}(?: {HYPHENED})*|{HYPHENED}(?: OR {HYPHENED})+"),
    "titles": re.compile(r"[^#<>\[\]{}|]+(?:\|[^#<>\[\]{}|]+)*"),
    "search_query": re.compile(rf"{ARXIV_TERM}(?: (?:AND|OR) {ARXIV_TERM})*"),
    "id_list": re.compile(r"[0-9a-zA-Z./-]+(?:,[0-9a-zA-Z./-]+)*"),
    "term": re.compile(rf"{W}(?: {W})*|{W}(?: OR {W})+|\"10\.[0-9]+/[!#-~]+\"\[doi\]"),
    "id": re.compile(r"[0-9]+(?:,[0-9]+)*"),
}

WORDLESS = {
    "empty": "",
    "spaces": " \t\n ",
    "only punctuation": '?!... --- "" () [] {}',
    "NUL alone": "\0",
    "a lone surrogate alone": "\ud800",
    "only operators of a regex": "|&~*^$\\",
}
WORDED = {
    "plain": "ten metre pole",
    "an unbalanced quote": '"ten metre pole',
    "quotes within": 'the "ten" "metre pole',
    "unbalanced brackets": "((ten [metre] pole",
    "closing brackets": "ten) metre] pole}",
    "operators": "ten AND metre OR pole NOT short",
    "operators at the ends": "AND ten metre pole OR",
    "ANDNOT": "ten ANDNOT pole",
    "minus and plus": "-ten +metre pole -short",
    "a field of arXiv": "ti:pole AND au:smith",
    "many colons": "pole: a: history:: part 2",
    "accents": "Łódź café naïve Ærø",
    "combining accents": "cafe\u0301 poles",
    "CJK": "竹竿的高度是多少",
    "Cyrillic": "высота шеста",
    "Arabic": "ارتفاع العمود",
    "emoji and words": "🗼 pole height 📏",
    "two kB": "ten metre pole " * 140,
    "100 kB": "pole " * 20_000,
    "100 kB of one word": "p" * 100_000,
    "100 kB of CJK": "竹竿" * 16_000,
    "NUL within": "ten\0metre pole",
    "control characters": "ten\x07metre\x1b[31m pole\x7f",
    "a new line": "ten metre\r\npole",
    "a unit separator first": "\x1ften|metre|pole",
    "a lone surrogate": "ten \ud800 metre pole",
    "two surrogates": "ten \udc80\ud83d metre pole",
    "bidirectional marks": "ten \u202emetre\u202c pole",
    "zero width": "ten\u200bmetre\ufeff pole",
    "a file": "[[File:Pole.jpg|thumb]] height",
    "a pipe": "pole|metre|ten",
    "insource": "insource:/x.*/ pole",
    "incategory": "incategory:Poles -intitle:metre",
    "morelike": "morelike:Pole",
    "a namespace": "User talk:Pole",
    "a tag of PubMed": "0[uid] pole",
    "another tag": "pole[tiab] OR 1:9999999[uid]",
    "a wildcard": "pol* m?tre",
    "a range": "2000:2020 pole",
    "address characters": "pole & height #1 =a%20b;c+d/e?f",
    "HTML": "<b>pole</b> &amp; <script>alert(1)</script>",
    "a backslash": "ten\\metre \\\\pole",
    "a question": "How tall is the ten-metre pole, really?",
    "an apostrophe": "Ohm's law's pole",
    "a formula": "E=mc^2 and $\\alpha_{ij}$ pole",
    "a path": "../../etc/passwd pole",
    "SQL": "pole'; DROP TABLE poles;--",
    "a template": "{{Infobox|pole}} ${7*7}",
}
NAMED = {  # a query that may name one thing
    "a PMID": "12091962",
    "a PMID said to be one": "PMID: 12091962",
    "an arXiv id": "2401.00001",
    "an old arXiv id": "math.GT/0309136v2",
    "an arXiv address": "https://arxiv.org/abs/2401.00001v1",
    "a DOI": "10.1000/xyz123",
    "a huge number": "9" * 400,
}


class Outcome(NamedTuple):
    status: str
    message: str
    asked: Sequence[Asked]


class NoWaiting:
    """A budget that lets everybody ask at once."""

    @asynccontextmanager
    async def turn(self, service: Service) -> AsyncIterator[None]:
        yield

    async def pause(self, service: Service, seconds: float) -> None:
        return None


class Line(NamedTuple):
    """A service, and the live back end that asks it, on one event loop."""

    server: ServiceServer
    search: LiveSearch
    runner: asyncio.Runner


def empty(name: Name) -> Serve:
    """The service when nothing matches; some of the back ends then ask again in another way."""
    return lambda asked: nothing(name, WORLDS[name](asked), asked)


LINES = [(name, finds) for name in WORLDS for finds in (True, False)]


@pytest.fixture(scope="module", params=LINES, ids=lambda p: f"{p[0]}-{'full' if p[1] else 'empty'}")
def line(request: pytest.FixtureRequest) -> Iterator[Line]:
    name, finds = request.param
    serve = WORLDS[name] if finds else empty(name)
    with ServiceServer(serve) as server, asyncio.Runner() as runner:
        service = Service(
            name=name,
            url=server.url,
            contact="ada@example.org",
            limit=RateLimit(interval=0.0, at_once=3),
            tries=1,
        )
        fetch = runner.run(Fetch(service, NoWaiting()).__aenter__())
        yield Line(server, live_search(fetch), runner)
        runner.run(fetch.__aexit__(None, None, None))


def outcome(line: Line, query: str) -> Outcome:
    before = len(line.server.requests)
    status, message = "ok", ""
    try:
        found = line.runner.run(line.search.search(query, 3))
        status = status if found.passages else "EMPTY"
    except ToolError as error:
        status, message = error.status, str(error)
    return Outcome(status, message, line.server.requests[before:])


def shape(query: str) -> str:
    """The query with "x" for each letter, mark and digit that is not ASCII."""
    return "".join(
        "x" if not c.isascii() and unicodedata.category(c)[0] in "LMN" else c for c in query
    )


def check_requests(asked: Sequence[Asked]) -> None:
    """Every request is sound, and its query is words and what we put between them."""
    for each in asked:
        assert len(urlencode(each.params)) < LONGEST
        for key, value in each.params.items():
            assert not CONTROLS.search(value), (key, value)
            if key in GRAMMAR:
                assert GRAMMAR[key].fullmatch(shape(value)), (key, value)


def check_bad_query(got: Outcome) -> None:
    """Nobody was asked, and the model can read why: short, one line, no control characters."""
    assert got.asked == []
    assert 0 < len(got.message) < 400
    assert got.message.isprintable()


def check(got: Outcome) -> None:
    assert got.status in ("ok", "no_result", "bad_query"), got.message
    check_requests(got.asked)
    if got.status == "bad_query":
        check_bad_query(got)
    if got.status == "no_result":
        assert 0 < len(got.message) < 400
        assert got.message.isprintable()


@pytest.mark.parametrize("query", WORDLESS.values(), ids=WORDLESS)
def test_a_query_without_words_is_a_bad_query(line: Line, query: str) -> None:
    got = outcome(line, query)
    assert got.status == "bad_query"
    check_bad_query(got)


@pytest.mark.parametrize("query", WORDED.values(), ids=WORDED)
def test_a_query_with_words_is_asked_as_words(line: Line, query: str) -> None:
    got = outcome(line, query)
    assert got.status in ("ok", "no_result"), got.message
    assert got.asked != []
    check(got)


@pytest.mark.parametrize("query", NAMED.values(), ids=NAMED)
def test_a_query_that_names_a_thing_is_asked_or_said_to_be_bad(line: Line, query: str) -> None:
    check(outcome(line, query))


FRAGMENTS = [*WORDED.values(), *WORDLESS.values(), *NAMED.values()]
fragments = st.sampled_from([text for text in FRAGMENTS if len(text) < 500])
texts = st.text() | st.lists(fragments | st.text(max_size=8), max_size=6).map(" ".join)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=texts)
def test_any_text_is_asked_as_words_or_said_to_be_bad(line: Line, query: str) -> None:
    check(outcome(line, query))
