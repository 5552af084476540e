"""The seams of the package `arxiv` that the live back end leans on: an upgrade fails here first."""

from __future__ import annotations

import inspect
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs

import arxiv
import pytest

sys.path.insert(0, str(Path(__file__).parent))

from arxiv_runs import entry, feed


class Response(NamedTuple):
    content: bytes
    status_code: int = 200


class Session:
    """Has of an HTTP session what the package uses."""

    def __init__(self, *answers: Response) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    def get(self, url: str, **named: object) -> Response:
        self.asked.append(url)
        return self.answers.pop(0)


def client(session: Session, page_size: int = 5) -> arxiv.Client:
    made = arxiv.Client(page_size=page_size, delay_seconds=0, num_retries=0)
    assert {"query_url_format", "_session"} <= {*dir(made)}
    made.query_url_format = "{}"
    made._session = session
    return made


def page(*names: str, total: int, start: int = 0) -> Response:
    return Response(feed([entry(name) for name in names], total, start).body)


def test_a_request_is_what_its_search_says() -> None:
    session = Session(page("2401.00001v1", total=1))
    search = arxiv.Search('all:a AND all:"b c"', max_results=None)
    list(client(session).results(search, 7))
    [asked] = session.asked
    assert parse_qs(asked) == {
        "search_query": ['all:a AND all:"b c"'],
        "sortBy": ["relevance"],
        "sortOrder": ["descending"],
        "start": ["7"],
        "max_results": ["5"],
    }


def test_ids_and_order_are_passed_on() -> None:
    session = Session(page("2401.00001v1", total=1))
    order = arxiv.SortCriterion.SubmittedDate
    search = arxiv.Search(
        id_list=["2401.00001", "hep-th/9711200v1"], max_results=None, sort_by=order
    )
    list(client(session).results(search))
    asked = parse_qs(session.asked[0])
    assert asked["id_list"] == ["2401.00001,hep-th/9711200v1"]
    assert (asked["sortBy"], asked["sortOrder"]) == (["submittedDate"], ["descending"])


def test_a_page_is_asked_for_when_the_one_before_is_used_up() -> None:
    session = Session(page("a/1v1", "a/2v1", total=3), page("a/3v1", total=3, start=2))
    results = client(session, 2).results(arxiv.Search("x", max_results=None))
    assert session.asked == []
    next(results)
    next(results)
    assert len(session.asked) == 1
    next(results)
    assert parse_qs(session.asked[1])["start"] == ["2"]


def test_a_result_has_the_fields_that_we_read() -> None:
    session = Session(page("math/0309136v12", total=1))
    [result] = client(session).results(arxiv.Search("x", max_results=None))
    assert result.get_short_id() == "math/0309136v12"
    assert (result.title, result.summary) == ("A paper", "It works.")
    assert result.published == datetime(2024, 1, 1, tzinfo=UTC)


def test_a_status_other_than_200_is_never_a_page() -> None:
    with pytest.raises(arxiv.HTTPError):
        list(client(Session(Response(b"", 503))).results(arxiv.Search("x")))


def test_what_get_raises_passes_through() -> None:
    class Unknown(BaseException):
        pass

    class Raising(Session):
        def get(self, url: str, **named: object) -> Response:
            raise Unknown

    with pytest.raises(Unknown):
        next(client(Raising()).results(arxiv.Search("x")))


def test_why_answers_are_checked_before_the_package_reads_them() -> None:
    """Should one of these fail, the package does it itself now, and a check of ours can go."""
    error = entry("x").replace("published>", "issued>")
    cut = feed([entry("2401.00001v1"), entry("2401.00002v1")]).body.decode()
    for body, read in {feed([error]).body.decode(): 0, cut.partition("</entry>")[0]: 1}.items():
        session = Session(Response(body.encode()))
        results = client(session).results(arxiv.Search("x", max_results=1))
        assert len(list(results)) == read


def test_the_client_sleeps_no_more_than_it_is_told() -> None:
    assert "delay_seconds" in inspect.signature(arxiv.Client.__init__).parameters
    session = Session(*(page("a/1v1", total=9, start=n) for n in range(9)))
    results = client(session, 1).results(arxiv.Search("x", max_results=None))
    assert len(list(results)) == 9
