"""What the wiki of the recorded answers brings.

Titles, redirects, meanings and hits are as recorded; texts that were not recorded are made up.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from service_server import Answer, Asked, of_json, wikipedia_replay
from tiny_wiki import Page, Wiki, searched

from openreward.errors import ToolError


def completed(test_data: Path, **extracts: str) -> Callable[[Asked], Answer]:
    """The recorded wiki; texts that were not recorded with a page's other properties are made up.

    Where a search was not recorded, a recorded one without hits stands in.
    """
    replay = wikipedia_replay(test_data)

    def answer(asked: Asked) -> Answer:
        params = dict(asked.params)
        if params.get("list") == "search" and params["srsearch"] not in ("celtuce", "porsche"):
            params["srsearch"] = "qmxjsudek"
        if "extracts" in params.get("prop", "") and extracts:
            params["prop"] = "info|pageprops"
        reply = replay(asked._replace(params=params))
        if params.get("prop") != "info|pageprops":
            return reply
        value: dict[str, Any] = json.loads(reply.body)
        for page in value["query"]["pages"].values():
            page["extract"] = extracts["made"]
        return of_json(value)

    return answer


def test_a_recorded_article_is_found_by_its_title(test_data: Path) -> None:
    found = searched(completed(test_data), "Celtuce")
    assert [(each.document_id, each.revision) for each in found] == [
        ("wikipedia:Celtuce", "562756085")
    ]
    assert "is a cultivar of lettuce" in found[0].text
    assert found[0].url == "https://en.wikipedia.org/wiki/Celtuce"


def test_a_recorded_title_that_no_search_found_is_found(test_data: Path) -> None:
    found = searched(completed(test_data), "Tropical Depression Ten (2005)")
    assert found[0].document_id == "wikipedia:Tropical Depression Ten (2005)"
    assert found[0].text.startswith("Tropical Depression Ten was the tenth tropical cyclone")


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("Menlo Park, New Jersey", "Edison, New Jersey"),
        ("Communist Party", "Communist party"),
        ("communist Party", "Communist party"),
        ("Great Wall of China", "Great Wall of China"),
    ],
)
def test_a_recorded_redirect_is_followed(test_data: Path, query: str, title: str) -> None:
    (found,) = searched(only_as_written(completed(test_data, made="It was made."), query), query)
    assert (found.title, found.text) == (title, "It was made.")


def only_as_written(answer: Callable[[Asked], Answer], query: str) -> Callable[[Asked], Answer]:
    """Other forms of a title were never recorded; the wiki is asked for the one that was."""

    def narrowed(asked: Asked) -> Answer:
        if "titles" not in asked.params or query not in asked.params["titles"].split("|"):
            return answer(asked)
        return answer(asked._replace(params={**asked.params, "titles": query}))

    return narrowed


def test_recorded_meanings_are_titles_to_search_for(test_data: Path) -> None:
    query = "Dodge Ram (disambiguation)"
    made = "Dodge Ram is a collective nameplate."
    (found,) = searched(only_as_written(completed(test_data, made=made), query), query)
    assert found.document_id == "wikipedia:Dodge Ram (disambiguation)"
    assert found.text.splitlines()[:4] == [
        '"Dodge Ram (disambiguation)" may refer to several things; search for one of these titles:',
        "- Dodge Ram",
        "- Dodge Ramcharger - full-size SUV based on the Ram chassis (first vehicle to use the Ram "
        "name)",
        "- Dodge Ram Van - full-size van",
    ]
    assert "- Ram Trucks: Ram (brand) - truck brand based on the Ram pickup truck" in found.text


def test_a_recorded_title_that_is_missing_is_no_result(test_data: Path) -> None:
    answer = only_as_written(completed(test_data, made="Never shown."), "purpleberry")
    with pytest.raises(ToolError) as caught:
        searched(answer, "purpleberry")
    assert caught.value.status == "no_result"


def test_recorded_hits_are_asked_for_together(test_data: Path) -> None:
    replay = wikipedia_replay(test_data)
    pages = {
        title: Page(f"{title} is about cars.")
        for title in ("Porsche", "Porsche in motorsport", "Porsche 911 GT3")
    }
    wiki = Wiki(pages)
    found = searched(lambda a: replay(a) if "srsearch" in a.params else wiki(a), "porsche")
    assert [each.title for each in found] == list(pages)
