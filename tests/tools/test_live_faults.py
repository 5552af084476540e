"""Each fault of each live service, through fetch and budget, comes to a typed result.

The table of all cells is printed at the end of the run. What recovers is run twice: with answers
made up, and with recorded ones.
"""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from service_faults import FAULTS, RECOVERED, Fault, Name, Place, Serve, nothing, with_fault
from service_server import (
    Answer,
    Asked,
    ServiceServer,
    arxiv_replay,
    arxiv_world,
    of_html,
    pubmed_listing,
    pubmed_replay,
    pubmed_world,
    wikipedia_replay,
    wikipedia_world,
)

from openreward.agent import Limits, run
from openreward.counting import failed_by_service, ran_calls
from openreward.errors import ToolError
from openreward.policy.scripted import ScriptedPolicy
from openreward.tools.base import run_call
from openreward.tools.budget import FolderBudget
from openreward.tools.fetch import Fetch
from openreward.tools.services import RateLimit, Service
from openreward.tools.sources import SOURCES, live_search
from openreward.types import Passage, Task, ToolCall, Trajectory

NAMES: tuple[Name, ...] = ("wikipedia", "arxiv", "pubmed")
PATHS: dict[Name, str] = {"wikipedia": "/w/api.php", "arxiv": "/api/query", "pubmed": "/eutils"}
WORLDS: dict[Name, Serve] = {
    "wikipedia": wikipedia_world,
    "arxiv": arxiv_world,
    "pubmed": pubmed_world,
}
MADE = {
    "wikipedia": ("wikipedia:Ten metre pole", "It is ten metres tall."),
    "arxiv": ("arxiv:2401.00001", "The tallest is ten metres tall."),
    "pubmed": ("pubmed:101", "They were ten metres tall."),
}
RECORDED = {
    "wikipedia": ("celtuce", "wikipedia:Celtuce", "crisp, moist, and mildly flavored"),
    "arxiv": ("testing", "arxiv:2202.12139", "Deep Learning (DL) has revolutionized"),
    "pubmed": ("sperm", "pubmed:11748933", "This study subdivides the cryopreservation procedure"),
}
Record = Callable[[str, object], None]


def service(name: Name, url: str, timeout: float = 10.0) -> Service:
    return Service(
        name=name,
        url=url + PATHS[name],
        contact="ada@example.org",
        limit=RateLimit(interval=0.0, at_once=3),
        timeout=timeout,
        tries=2,
        patience=10.0,
    )


async def searched(service: Service, folder: Path, query: str) -> list[Passage] | str:
    """The passages, or the status of the typed error; anything else is raised."""
    async with Fetch(service, FolderBudget(folder), backoff=0.05) as fetch:
        try:
            found = await live_search(fetch).search(query, 3)
        except ToolError as error:
            return error.status if str(error) else "no message"
    return list(found.passages)


def search(service: Service, folder: Path, query: str = "poles") -> list[Passage] | str:
    return asyncio.run(searched(service, folder, query))


def told(result: list[Passage] | str) -> str:
    if isinstance(result, str):
        return result
    return "ok" if result else "EMPTY"


def note(record: Record, row: str, name: Name, result: list[Passage] | str) -> None:
    record("live fault", (row, name, told(result)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_is_a_typed_result(
    fault: Fault, name: Name, tmp_path: Path, record_property: Record
) -> None:
    with ServiceServer(lambda asked: of_html("not the service")) as other:
        place = Place(name, other.url.replace("127.0.0.1", "localhost"))
        with ServiceServer(with_fault(fault, place, WORLDS[name])) as server:
            result = search(service(name, server.url, fault.timeout), tmp_path)
            asked = len(server.requests)
        strayed = other.requests
    note(record_property, fault.name, name, result)
    assert told(result) == fault.expected(name)
    assert strayed == []
    assert 1 <= asked <= 8  # two tries of each of two requests, or of three redirects


@pytest.mark.parametrize("name", NAMES)
def test_a_refused_connection_is_an_outage(
    name: Name, tmp_path: Path, record_property: Record
) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound and not listening: nobody else gets this port
        result = search(service(name, f"http://127.0.0.1:{held.getsockname()[1]}"), tmp_path)
    note(record_property, "connection refused", name, result)
    assert told(result) == "unavailable"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fault", RECOVERED, ids=lambda fault: fault.name)
def test_what_passes_is_got_over(
    fault: Fault, name: Name, tmp_path: Path, record_property: Record
) -> None:
    with ServiceServer(with_fault(fault, Place(name, ""), WORLDS[name])) as server:
        result = search(service(name, server.url), tmp_path)
    note(record_property, f"{fault.name}: made up", name, result)
    assert told(result) == "ok"
    document, text = MADE[name]
    assert document in {passage.document_id for passage in result if isinstance(passage, Passage)}
    assert text in " ".join(passage.text for passage in result if isinstance(passage, Passage))


def recorded(name: Name, test_data: Path) -> Serve:
    """The recorded service; PubMed's recorded lists name no recorded records, so one is made."""
    if name == "wikipedia":
        return wikipedia_replay(test_data)
    if name == "arxiv":
        return arxiv_replay(test_data)
    replay, listing = pubmed_replay(test_data), pubmed_listing(["11748933", "11700088"])

    def pubmed(asked: Asked) -> Answer:
        return listing if "esearch" in asked.path else replay(asked)

    return pubmed


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("fault", RECOVERED, ids=lambda fault: fault.name)
def test_what_passes_is_got_over_with_recorded_answers(
    fault: Fault, name: Name, tmp_path: Path, record_property: Record, test_data: Path
) -> None:
    query, document, text = RECORDED[name]
    serve = with_fault(fault, Place(name, ""), recorded(name, test_data))
    with ServiceServer(serve) as server:
        result = search(service(name, server.url), tmp_path, query)
    note(record_property, f"{fault.name}: recorded", name, result)
    assert told(result) == "ok"
    assert document in {passage.document_id for passage in result if isinstance(passage, Passage)}
    assert text in " ".join(passage.text for passage in result if isinstance(passage, Passage))


@pytest.mark.parametrize("name", NAMES)
def test_only_a_service_that_says_so_found_nothing(
    name: Name, tmp_path: Path, record_property: Record
) -> None:
    with ServiceServer(lambda asked: nothing(name, WORLDS[name](asked), asked)) as server:
        result = search(service(name, server.url), tmp_path)
        asked = len(server.requests)
    note(record_property, "nothing matches: made up", name, result)
    assert told(result) == "no_result"
    assert asked <= 3  # it is believed at once


NOWHERE = {"wikipedia": "purpleberry", "arxiv": "0000.0000", "pubmed": "abcXYZ"}


def with_no_hits(replay: Serve) -> Serve:
    """Each search of Wikipedia brings the recorded answer without hits; titles as recorded."""
    search = {"srsearch": "qmxjsudek"}
    return lambda asked: replay(
        asked._replace(params={**asked.params, **search}) if "srsearch" in asked.params else asked
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_recorded_answer_that_nothing_matches_is_believed(
    name: Name, tmp_path: Path, record_property: Record, test_data: Path
) -> None:
    replays = {"wikipedia": wikipedia_replay, "arxiv": arxiv_replay, "pubmed": pubmed_replay}
    with ServiceServer(with_no_hits(replays[name](test_data))) as server:
        result = search(service(name, server.url), tmp_path, NOWHERE[name])
    note(record_property, "nothing matches: recorded", name, result)
    assert told(result) == "no_result"


async def cut_off_then_searched(service: Service, folder: Path, late: Event) -> list[str]:
    """How two calls ended: one cut off by its seconds while the service is late, and the next."""
    async with Fetch(service, FolderBudget(folder)) as fetch:
        made = SOURCES[service.name](live_search(fetch), 3)
        call = ToolCall(id="c1", name=made.spec.name, arguments={"query": "poles"})
        first = await run_call({made.spec.name: made}, call, 0.3)
        late.clear()
        second = await run_call({made.spec.name: made}, call, 10.0)
    return [first.status, second.status]


@pytest.mark.parametrize("name", NAMES)
def test_a_call_that_is_cut_off_gives_its_turn_back(name: Name, tmp_path: Path) -> None:
    late = Event()
    late.set()

    def serve(asked: Asked) -> Answer:
        return replace(WORLDS[name](asked), delay=20.0 if late.is_set() else 0.0)

    with ServiceServer(serve) as server:
        alone = RateLimit(interval=0.0, at_once=1)
        for_one = service(name, server.url).model_copy(update={"limit": alone, "patience": 0.0})
        ended = asyncio.run(cut_off_then_searched(for_one, tmp_path, late))
    assert ended == ["timeout", "ok"]


CALL = '<tool_call>{{"name": "{0}_search", "arguments": {{"query": "ten metre pole"}}}}</tool_call>'
TASK = Task(id="t1", query="How tall is it?", responses=("Ten metres.", "Twelve metres."))


async def judged(url: str, folder: Path, timeout: float) -> Trajectory:
    """A judge that asks each service in turn, then decides."""
    turns = [*(CALL.format(name) for name in NAMES), "Nothing to go by. <answer>A</answer>"]
    policy = ScriptedPolicy(
        lambda talk, _: turns[sum(message.role == "assistant" for message in talk.messages)],
        tool_style="prompt",
    )
    async with AsyncExitStack() as stack:
        tools = []
        for name in NAMES:
            fetch = Fetch(service(name, url, timeout), FolderBudget(folder), backoff=0.05)
            await stack.enter_async_context(fetch)
            tools.append(SOURCES[name](live_search(fetch), 3))
        return await run(TASK, policy, tools, Limits())


@pytest.mark.parametrize(
    ("down", "status"),
    [
        (Answer(status=503), "unavailable"),
        (of_html("slow down", 429), "rate_limited"),
        (Answer(delay=20.0), "timeout"),
    ],
    ids=["503", "429", "silent"],
)
def test_a_judge_whose_services_are_all_down_ends_and_says_so(
    down: Answer, status: str, tmp_path: Path
) -> None:
    with ServiceServer(lambda asked: down) as server:
        trajectory = asyncio.run(judged(server.url, tmp_path, 0.3 if status == "timeout" else 10.0))
    results = [result for _, result in ran_calls(trajectory)]
    assert [(result.status, result.passages) for result in results] == [(status, ())] * 3
    assert failed_by_service(trajectory)
    assert (trajectory.stop_reason, trajectory.verdict.status) == ("verdict", "ok")
    assert trajectory.evidence == ()
