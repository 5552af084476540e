from __future__ import annotations

import json
from typing import Any

import pytest

from openreward.errors import ToolError
from openreward.tools.fetch import AskedTooOften, Reply, Unusable
from openreward.tools.live_wikipedia_answers import (
    Json,
    read_hits,
    read_json,
    read_pages,
    read_revision,
)

POLE = {
    "pageid": 7,
    "ns": 0,
    "title": "Pole",
    "extract": "A pole.",
    "fullurl": "https://w.example/Pole",
    "lastrevid": 70,
}


def reply(content: str | bytes | Json, kind: str = "application/json") -> Reply:
    text = json.dumps(content) if isinstance(content, dict) else content
    body = text.encode() if isinstance(text, str) else text
    return Reply(200, body, kind, "http://127.0.0.1/x")


def error(code: str, info: str = "Something.") -> Json:
    return {"error": {"code": code, "info": info}, "servedby": "mw1"}


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("cirrussearch-parse-error", "bad_query"),
        ("cirrussearch-query-too-long", "bad_query"),
        ("cirrussearch-regex-syntax-error", "bad_query"),
        ("readapidenied", "unavailable"),
        ("unknown_action", "unavailable"),
    ],
)
def test_an_error_that_stays_is_typed(code: str, status: str) -> None:
    with pytest.raises(ToolError, match=rf"{code}: Something") as caught:
        read_json(reply(error(code)))
    assert caught.value.status == status


@pytest.mark.parametrize("code", ["ratelimited", "cirrussearch-too-busy-for-you-anonymous-error"])
def test_a_limit_under_status_200_lets_everybody_wait(code: str) -> None:
    with pytest.raises(AskedTooOften, match=rf"{code}: Something"):
        read_json(reply(error(code)))


@pytest.mark.parametrize(
    "answer",
    [
        error("maxlag", "Waiting for db1: 7 seconds lagged"),
        error("readonly"),
        error("internal_api_error_DBQueryError"),
        error("cirrussearch-too-busy-error"),
        error("cirrussearch-backend-error"),
        error("search-error", "HTTP request timed out."),
        error("a code of another day"),
        {"error": "API rate limit exceeded"},
        {"error": None},
        {"error": {}},
        {"error": {"code": ["x"], "info": {"a": 1}}},
        {"errors": [{"code": "maxlag", "text": "lagged"}]},
        {"errors": []},
    ],
    ids=str,
)
def test_an_error_that_may_pass_is_no_answer(answer: Json) -> None:
    with pytest.raises(Unusable, match="the wiki reports an error"):
        read_json(reply(answer))


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        ("<html>Sorry</html>", "text/html"),
        ('{"query": {}}', "text/html"),
        ("<html>Sorry</html>", "application/json"),
        ("", "application/json"),
        ('{"query": ', "application/json"),
        (b"\xff\xfe", "application/json"),
        ("[1]", "application/json"),
        ("null", "application/json"),
        ("[" * 100_000, "application/json"),
        ('{"a":' * 100_000, "application/json"),
        ('{"a": ' + "9" * 10_000 + "}", "application/json"),
    ],
)
def test_what_is_no_json_object_is_no_answer(content: str | bytes, kind: str) -> None:
    with pytest.raises(Unusable, match="expected (a )?JSON"):
        read_json(reply(content, kind))


def test_warnings_and_unknown_fields_mean_nothing() -> None:
    answer = {"warnings": {"main": {"*": "Unrecognized parameter"}}, "query": {"search": []}}
    assert read_json(reply(answer)) == answer


def test_a_lone_surrogate_does_not_get_in() -> None:
    assert read_json(reply('{"a": "x\\ud800y"}')) == {"a": "x?y"}


HIT = {"ns": 0, "title": "Pole"}


@pytest.mark.parametrize(
    ("answer", "start", "after"),
    [
        ({"query": {"search": [HIT]}}, 0, None),
        ({"query": {"search": [HIT]}, "continue": {"sroffset": 5, "continue": "-||"}}, 0, 5),
        ({"query": {"search": [HIT]}, "continue": {"sroffset": 5, "continue": "-||"}}, 5, None),
        ({"query": {"search": []}}, 0, None),
        ({"query": {"search": [], "searchinfo": []}}, 0, None),
        ({"query": {"search": [], "searchinfo": {"totalhits": 0}}}, 0, None),
        ({"query": {"search": [], "searchinfo": {"totalhits": 7}}}, 7, None),
        ({"query": {"search": [], "searchinfo": {"totalhits": 70_000}}}, 10_000, None),
    ],
)
def test_hits_say_where_the_next_begin(answer: Json, start: int, after: int | None) -> None:
    assert read_hits(answer, start) == after


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"query": {}},
        {"query": []},
        {"query": {"search": {}}},
        {"query": {"search": [{"ns": 0}]}},
        {"query": {"search": [{"title": ""}]}},
        {"query": {"search": [{"title": "x" * 256}]}},
        {"query": {"search": [], "searchinfo": {"totalhits": 5335}}},
    ],
    ids=str,
)
def test_hits_without_their_fields_or_an_empty_list_of_many_are_no_answer(answer: Json) -> None:
    with pytest.raises(Unusable, match="expected"):
        read_hits(answer, 0)


def pages(*given: Json, **query: Any) -> Json:
    return {"query": {"pages": {str(n): page for n, page in enumerate(given)}, **query}}


def without(name: str) -> Json:
    return {key: value for key, value in POLE.items() if key != name}


def test_a_title_leads_to_its_page() -> None:
    found = read_pages(
        pages(
            POLE,
            {"ns": 0, "title": "Gone", "missing": ""},
            {"title": "a|b", "invalid": "", "invalidreason": "x"},
            {"ns": -1, "title": "Special:Pole", "special": ""},
            {**POLE, "ns": 1, "title": "Talk:Pole"},
            normalized=[{"from": "rod", "to": "Rod"}],
            redirects=[
                {"from": "Rod", "to": "Pole"},
                {"from": "End", "to": "Pole", "tofragment": "Ends"},
                {"from": "Loop", "to": "Loop 2"},
                {"from": "Loop 2", "to": "Loop"},
            ],
        )
    )
    reached = {title: found.find(title) for title in ("Pole", "rod", "End", "Loop", "Gone", "?")}
    titles = {title: each and (each.page.title, each.within) for title, each in reached.items()}
    assert titles == {
        "Pole": ("Pole", False),
        "rod": ("Pole", False),
        "End": ("Pole", True),
        "Loop": None,
        "Gone": None,
        "?": None,
    }
    assert [found.find(title) for title in ("a|b", "Special:Pole", "Talk:Pole")] == [None] * 3


@pytest.mark.parametrize(
    ("url", "given"),
    [
        ("http://fr.wikipedia.org/wiki/P", "https://fr.wikipedia.org/wiki/P"),
        ("https://fr.wikipedia.org/wiki/P", "https://fr.wikipedia.org/wiki/P"),
        ("http://wiki.local/P", "http://wiki.local/P"),
    ],
)
def test_an_address_of_wikipedia_is_https(url: str, given: str) -> None:
    found = read_pages(pages({**POLE, "fullurl": url})).find("Pole")
    assert found is not None
    assert found.page.url == given


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"query": {}},
        {"query": {"pages": "x"}},
        pages({"ns": 0}),
        pages(without("pageid")),
        pages(without("fullurl")),
        pages(without("lastrevid")),
        pages(without("extract")),
        pages({**POLE, "extract": 5}),
        pages(POLE, redirects=[{"from": "x"}]),
    ],
    ids=str,
)
def test_pages_without_their_fields_are_no_answer(answer: Json) -> None:
    with pytest.raises(Unusable, match="expected"):
        read_pages(answer)


@pytest.mark.parametrize(
    "answer",
    [
        {"query": {"pages": {}}},
        {"query": {"pages": {}, "normalized": [{"from": "rod", "to": "Rod"}]}},
        pages({"ns": 0, "title": "Something else", "missing": ""}),
        pages(POLE, redirects=[{"from": "rod", "to": "Staff"}]),
    ],
    ids=str,
)
def test_silence_on_a_title_that_the_wiki_itself_named_is_no_answer(answer: Json) -> None:
    with pytest.raises(Unusable, match="expected a page or that it is missing"):
        read_pages(answer, ["rod"])


def test_a_hit_whose_page_is_gone_is_answered() -> None:
    raised = [{"from": "rod", "to": "Rod"}]
    answer = pages({"ns": 0, "title": "Rod", "missing": ""}, normalized=raised)
    assert read_pages(answer, ["rod"]).find("rod") is None


def test_a_text_that_the_answer_says_it_leaves_out_is_empty() -> None:
    answer = {**pages(without("extract")), "continue": {"excontinue": 1, "continue": "||info"}}
    found = read_pages(answer).find("Pole")
    assert found is not None
    assert found.page.extract == ""


def test_titles_of_other_wikis_lead_nowhere() -> None:
    answer = {"query": {"interwiki": [{"title": "fr:Pole", "iw": "fr"}]}}
    assert read_pages(answer).find("fr:Pole") is None


@pytest.mark.parametrize(
    "answer",
    [
        {"query": {"pages": {}}},
        {"query": {"pages": {"-1": {"missing": ""}}}},
        {"query": {"pages": {"7": {"revisions": []}}}},
        {"query": {"pages": {"7": {"revisions": [{"texthidden": ""}]}}}},
    ],
    ids=str,
)
def test_a_page_without_content_is_no_answer(answer: Json) -> None:
    with pytest.raises(Unusable, match="expected"):
        read_revision(answer)


def test_content_is_that_of_the_one_page() -> None:
    assert read_revision({"query": {"pages": {"7": {"revisions": [{"*": "<p>"}]}}}}) == "<p>"
