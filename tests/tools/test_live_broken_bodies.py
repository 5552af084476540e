"""Well-formed answers with parts missing, doubled or of another type: always a typed result.

Whatever was changed, nothing but a `ToolError` leaves the back end, and what it gives is sound.
"""

from __future__ import annotations

import asyncio
import copy
import json
import random
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from service_faults import Name, Serve
from service_server import Answer, Asked, arxiv_world, pubmed_world, wikipedia_world

from openreward.errors import ToolError
from openreward.tools.fetch import Fetch, Reply, Unusable
from openreward.tools.services import RateLimit, Service
from openreward.tools.sources import live_search
from openreward.types import Passage

T = TypeVar("T")
WORLDS: Mapping[Name, Serve] = {
    "wikipedia": wikipedia_world,
    "arxiv": arxiv_world,
    "pubmed": pubmed_world,
}
OTHERS: list[Any] = [None, {}, [], 0, -1, "", True, "x", [None], {"*": ""}, 10**30, "\0", "\ud800"]
TEXTS = ["", "x", "-1", "9" * 30, " ", None, "\u0661\u0662", "NaN"]
TAGS = ["X", "ERROR", "PMID", "Id", "Count", "Abstract", "b"]


def change_json(body: bytes, chance: random.Random) -> bytes:
    """One place of a JSON value, taken away or made something else."""
    value = json.loads(body)
    places = list(_places(value))
    if not places:
        return body
    inside, key = chance.choice(places)
    if chance.random() < 0.35:
        del inside[key]
    else:
        inside[key] = copy.deepcopy(chance.choice(OTHERS))
    return json.dumps(value).encode()


def _places(value: Any) -> Any:
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def change_xml(body: bytes, chance: random.Random) -> bytes:
    """One element of a document, taken away, emptied, doubled, renamed, or with another text."""
    root = ElementTree.fromstring(body)
    places = [(parent, child) for parent in root.iter() for child in parent]
    if not places:
        return body
    parent, child = chance.choice(places)
    how = chance.choice(["away", "text", "twice", "renamed", "emptied", "bare"])
    if how == "away":
        parent.remove(child)
    elif how == "twice":
        parent.append(copy.deepcopy(child))
    elif how == "renamed":
        child.tag = chance.choice(TAGS)
    elif how == "emptied":
        del child[:]
    elif how == "bare":
        child.attrib.clear()
    else:
        child.text = chance.choice(TEXTS)
    return ElementTree.tostring(root)


def changed(answer: Answer, chance: random.Random) -> Answer:
    change = change_json if answer.body[:1] == b"{" else change_xml
    body = answer.body
    for _ in range(chance.choice([0, 1, 1, 2])):
        body = change(body, chance)
    return replace(answer, body=body)


class Changing(Fetch):
    """Fetch without a network: one try, whose answer is changed on its way."""

    def __init__(self, name: Name, chance: random.Random) -> None:
        limit = RateLimit(interval=0.0, at_once=1)
        url, contact = "http://127.0.0.1:9", "ada@example.org"
        self.service = Service(name=name, url=url, contact=contact, limit=limit)
        self.chance = chance

    async def get(
        self,
        params: Mapping[str, str],
        read: Callable[[Reply], T],
        *,
        path: str = "",
        statuses: frozenset[int] = frozenset({200}),
    ) -> T:
        asked = Asked(f"/{path}", dict(params), {}, 0.0)
        answer = changed(WORLDS[self.service.name](asked), self.chance)
        kind = answer.headers["Content-Type"].partition(";")[0]
        try:
            return read(Reply(200, answer.body, kind, self.service.url))
        except Unusable as error:
            raise ToolError("unavailable", str(error)) from None


def searched(name: Name, seed: int, query: str) -> tuple[Passage, ...] | ToolError:
    fetch = Changing(name, random.Random(seed))
    try:
        return asyncio.run(live_search(fetch).search(query, 3)).passages
    except ToolError as error:
        return error


@pytest.mark.parametrize("name", WORLDS)
@settings(max_examples=150)
@given(seed=st.integers(0, 2**32), query=st.sampled_from(["poles", "ten metre pole"]))
@example(seed=0, query="poles")
def test_an_answer_with_one_part_changed_is_a_typed_result(
    name: Name, seed: int, query: str
) -> None:
    result = searched(name, seed, query)
    if isinstance(result, ToolError):
        assert result.status in ("unavailable", "no_result", "bad_query", "rate_limited")
        return
    assert result != ()
    for passage in result:
        assert passage.text.strip() != ""
        assert passage.end - passage.start == len(passage.text)
        assert passage.document_id.startswith(f"{name}:")
        assert passage.model_dump_json()


def test_the_changes_lead_to_every_kind_of_result() -> None:
    """Else the test above would look at nothing: of 200 seeds some are good and some are not."""
    for name in WORLDS:
        results = [searched(name, seed, "poles") for seed in range(200)]
        kinds = {r.status if isinstance(r, ToolError) else "ok" for r in results}
        assert {"ok", "unavailable"} <= kinds
