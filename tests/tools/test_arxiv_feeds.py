from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from arxiv_runs import entry, feed

from openreward.errors import ToolError
from openreward.tools.arxiv_feeds import read_feed
from openreward.tools.fetch import Reply, Unusable

SOUND = feed([entry("2401.00001v1"), entry("2401.00002v3")], 70).body.decode()
ERROR = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>http://arxiv.org/api/errors#e</id>'
    "<title>Error</title><summary>{}</summary></entry></feed>"
)


def reply(body: str, status: int = 200, kind: str = "application/atom+xml") -> Reply:
    return Reply(status, body.encode(), kind, "http://127.0.0.1/")


def test_a_sound_feed_says_how_many_there_are_and_how_many_came() -> None:
    read = read_feed(reply(SOUND))
    assert (read.total, read.entries, read.content) == (70, 2, SOUND.encode())


@pytest.mark.parametrize("kind", ["application/atom+xml", "text/xml", "application/xml"])
def test_any_media_type_of_xml_will_do(kind: str) -> None:
    assert read_feed(reply(SOUND, kind=kind)).entries == 2


def test_a_count_of_none_is_believed() -> None:
    assert read_feed(reply(feed([], 0).body.decode())).total == 0


def test_a_page_behind_the_last_paper_is_empty_by_right() -> None:
    assert read_feed(reply(feed([], 7, 7).body.decode()), 7).entries == 0


BROKEN = {
    "no XML": "Rate exceeded.",
    "nothing": "",
    "cut": SOUND[: len(SOUND) // 2],
    "cut between entries": SOUND.partition("</entry>")[0] + "</entry>",
    "another root": SOUND.replace("<feed", "<food").replace("</feed", "</food"),
    "not Atom": SOUND.replace("2005/Atom", "2006/Atom"),
    "a prefix from nowhere": SOUND.replace("<title>A", "<x:y/><title>A"),
    "no count": SOUND.replace("totalResults", "total"),
    "a count in words": SOUND.replace(">70<", ">many<"),
    "a count without entries": feed([], 70).body.decode(),
    "another page": feed([entry("2401.00001v1")], 70, 10).body.decode(),
    "an entry without id": SOUND.replace("http://arxiv.org/abs/2401.00001v1", " "),
    "an entry without published": SOUND.replace("published>", "issued>"),
    "an entry with a broken date": SOUND.replace("2024-01-01T00:00:00Z", "yesterday"),
    "an entity": "<!DOCTYPE feed [<!ENTITY a 'b'>]>" + SOUND.partition("?>")[2],
    "an outer entity": "<!DOCTYPE feed [<!ENTITY a SYSTEM 'file:///etc/passwd'>]>"
    + SOUND.partition("?>")[2].replace("It works.", "&a;"),
    "an entity of a DTD": "<!DOCTYPE feed SYSTEM 'http://127.0.0.1:9/x.dtd'>"
    + SOUND.partition("?>")[2].replace("It works.", "&a;"),
    "nesting": "<a>" * 5000 + "</a>" * 5000,
    "an error of its own": ERROR.format("Internal server error"),
    "an error of our request": ERROR.format("max_results must be an integer"),
}


@pytest.mark.parametrize("body", BROKEN.values(), ids=BROKEN)
def test_a_broken_answer_is_of_no_use(body: str) -> None:
    with pytest.raises(Unusable):
        read_feed(reply(body))


@pytest.mark.parametrize("body", ["<html/>", SOUND, ERROR.format("start must be an integer")])
def test_a_status_400_that_is_not_about_the_query_is_of_no_use(body: str) -> None:
    with pytest.raises(Unusable):
        read_feed(reply(body, 400))


@pytest.mark.parametrize("kind", ["text/html", "text/plain", ""])
def test_another_media_type_is_of_no_use(kind: str) -> None:
    with pytest.raises(Unusable, match="expected an Atom feed"):
        read_feed(reply(SOUND, kind=kind))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "incorrect id format for\n abc"),
        (200, "incorrect id format for abc"),
        (400, "Invalid query string: 'pineapple'"),
        (200, "Invalid query string: 'pineapple'"),
        (400, "we do not like it"),
    ],
)
def test_what_arxiv_says_of_a_query_is_told_on_one_line(status: int, said: str) -> None:
    with pytest.raises(ToolError) as raised:
        read_feed(reply(ERROR.format(said), status))
    assert raised.value.status == "bad_query"
    assert " ".join(said.split()).replace("'", "") in str(raised.value).replace("'", "")


def test_a_long_error_is_shortened() -> None:
    with pytest.raises(ToolError) as raised:
        read_feed(reply(ERROR.format("bad id " * 1000), 400))
    assert len(str(raised.value)) < 300


@pytest.mark.parametrize("status", [200, 400])
def test_the_recorded_error_is_a_bad_query(status: int, test_data: Path) -> None:
    [path] = (test_data / "service-bodies" / "arxiv").glob("id_abc_*.json")
    recorded = json.loads(path.read_text())
    assert recorded["status_code"] == 400
    with pytest.raises(ToolError, match="incorrect id format for abc") as raised:
        read_feed(reply(recorded["body"], status))
    assert raised.value.status == "bad_query"


def test_every_other_recorded_feed_is_sound(test_data: Path) -> None:
    sound = 0
    for path in sorted((test_data / "service-bodies" / "arxiv").glob("*.json")):
        recorded = json.loads(path.read_text())
        if recorded["status_code"] == 200:
            start = int(path.name.rpartition("_m")[0].rpartition("_s")[2])
            read = read_feed(reply(recorded["body"]), start)
            assert read.entries == recorded["body"].count("<entry>")
            sound += 1
    assert sound == 19
