"""What the loop makes of one turn: which calls run, and what the model is told of each."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import get_args

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from agent_runs import (
    A_WINS,
    Seen,
    call,
    failing_tool,
    find_tool,
    go,
    statuses,
)

from openreward.agent import Limits
from openreward.policy.base import Conversation, Generation, Sampling, ToolStyle
from openreward.types import Message, PolicyPath, ToolCall, ToolStatus

BARE = '{"name": "find", "arguments": {"query": "width"}}'


def test_the_calls_of_a_turn_run_at_once_and_keep_their_order() -> None:
    async def late_first(query: str) -> str:
        await asyncio.sleep({"a": 0.6, "b": 0.0, "c": 0.3}[query])
        return f"said {query}"

    seen = Seen(call("a") + call("b") + call("c"), A_WINS)
    started = time.monotonic()
    found = go(seen, [find_tool(late_first)])
    assert time.monotonic() - started < 0.85  # one after the other: 0.9
    assert [r.call_id for r in found.turns[0].results] == ["call-1-1", "call-1-2", "call-1-3"]
    assert [r.passages[0].text for r in found.turns[0].results] == ["said a", "said b", "said c"]
    assert [(e.number, e.query) for e in found.evidence] == [(1, "a"), (2, "b"), (3, "c")]
    places = [seen.last.index(f"said {query}") for query in "abc"]
    assert places == sorted(places)


def test_one_call_of_sixteen_that_never_returns_costs_its_own_timeout_only() -> None:
    async def one_hangs(query: str) -> str:
        if query == "q7":
            await asyncio.Event().wait()
        return f"said {query}"

    calls = "".join(call(f"q{n}") for n in range(16))
    started = time.monotonic()
    found = go([calls, A_WINS], [find_tool(one_hangs)], Limits(calls=16, seconds_per_call=0.3))
    assert 0.3 <= time.monotonic() - started < 0.9
    results = found.turns[0].results
    expected = ["ok"] * 16
    expected[7] = "timeout"
    assert [result.status for result in results] == expected
    texts = [result.passages[0].text for result in results if result.passages]
    assert texts == [f"said q{n}" for n in range(16) if n != 7]
    assert results[7].message == (
        "find did not answer within 0.3 s; try once more or go on without it"
    )
    assert found.stop_reason == "verdict"


def test_an_unknown_tool_is_told_with_those_there_are() -> None:
    seen = Seen(call("x", "google"), A_WINS)
    found = go(seen)
    assert statuses(found) == [["bad_query"], []]
    assert "no tool is called 'google'; the tools are: find" in seen.last
    assert found.stop_reason == "verdict"


def test_wrong_arguments_are_told_and_the_tool_does_not_run() -> None:
    async def never(query: str) -> str:
        raise AssertionError("ran")

    text = '<tool_call>{"name": "find", "arguments": {"query": 7, "page": 2}}</tool_call>'
    seen = Seen(text, A_WINS)
    assert statuses(go(seen, [find_tool(never)])) == [["bad_query"], []]
    assert "arguments of find are wrong: query: Input should be a valid string" in seen.last


def test_arguments_that_the_tool_does_not_know_are_left_out() -> None:
    text = '<tool_call>{"name": "find", "arguments": {"query": "x", "type": "object"}}</tool_call>'
    found = go(Seen(text, A_WINS))
    assert statuses(found) == [["ok"], []]
    assert [item.query for item in found.evidence] == ["x"]


def test_a_model_that_only_talks_after_a_search_gets_its_last_turn_at_once() -> None:
    found = go(Seen(call("x"), "Well.", A_WINS))
    assert (len(found.turns), found.stop_reason) == (3, "verdict")


def test_a_model_that_only_talks_before_a_search_is_asked_once_more() -> None:
    found = go(Seen("Well.", call("x"), A_WINS))
    assert (found.stop_reason, statuses(found)) == ("verdict", [[], ["ok"], []])


@pytest.mark.parametrize("status", [s for s in get_args(ToolStatus) if s != "ok"])
def test_each_failure_of_a_tool_is_told_and_the_trajectory_goes_on(status: ToolStatus) -> None:
    seen = Seen(call("x", "broken") + call("y"), A_WINS)
    found = go(seen, [find_tool(), failing_tool(status)])
    assert statuses(found) == [[status, "ok"], []]
    assert f"broken: {status}. it was {status}" in seen.last
    assert [item.query for item in found.evidence] == ["y"]
    assert found.stop_reason == "verdict"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("<tool_call>find the height</tool_call>", "a tool call could not be read"),
        ('<tool_call>{"name": "find", "arguments": 3}</tool_call>', "arguments must be a JSON"),
        ("Let me think.", "held neither a tool call nor a verdict"),
        ("", "held neither a tool call nor a verdict"),
    ],
)
def test_a_malformed_turn_is_told_and_the_trajectory_goes_on(text: str, told: str) -> None:
    seen = Seen(text, A_WINS)
    found = go(seen)
    assert told in seen.last
    assert (statuses(found), found.stop_reason) == ([[], []], "verdict")


def test_a_readable_call_runs_beside_one_that_is_not() -> None:
    seen = Seen("<tool_call>oops</tool_call>" + call("height"), A_WINS)
    found = go(seen)
    assert statuses(found) == [["ok"], []]
    assert "about height" in seen.last
    assert "a tool call could not be read" in seen.last


def test_a_repeated_call_is_told_with_its_passages_and_not_run() -> None:
    asked = []

    async def noted(query: str) -> str:
        asked.append(query)
        return query

    seen = Seen(call("height"), call("  HEIGHT\n "), call("width"), A_WINS)
    found = go(seen, [find_tool(noted)])
    assert asked == ["height", "width"]
    problem = "find was asked the same before and brought [1]; it was not run again"
    assert found.turns[1].problems == (problem,)
    assert found.turns[1].tool_calls == ()


def test_a_call_twice_in_one_turn_runs_once_and_is_told() -> None:
    seen = Seen(call("height") * 2, A_WINS)
    found = go(seen)
    assert statuses(found) == [["ok"], []]
    assert "find was asked the same twice in one turn; that counts as one call" in seen.last


@pytest.mark.parametrize("status", ["rate_limited", "unavailable", "timeout"])
def test_a_call_that_failed_by_the_service_may_be_tried_again(status: ToolStatus) -> None:
    found = go([call("x", "broken"), call("x", "broken"), A_WINS], [failing_tool(status)])
    assert statuses(found) == [[status], [status], []]


def test_calls_over_the_limit_are_told_and_not_run() -> None:
    seen = Seen("".join(call(f"q{n}") for n in range(5)), A_WINS)
    found = go(seen, limits=Limits(calls=3))
    assert [c.arguments["query"] for c in found.turns[0].tool_calls] == ["q0", "q1", "q2"]
    assert "2 calls were not run: only 3 were left" in seen.last
    assert "No search is left." in seen.last


def test_a_tagged_call_beside_a_verdict_wins() -> None:
    found = go([call("height") + "<answer>B</answer>", A_WINS])
    assert (len(found.turns), found.verdict.winner) == (2, 0)


def test_a_verdict_beside_bare_json_wins() -> None:
    found = go([f"I might ask {BARE} but no: <answer>B</answer>"])
    assert (len(found.turns), found.verdict.winner) == (1, 1)
    assert found.turns[0].tool_calls == ()


def test_bare_json_alone_is_a_call() -> None:
    found = go([f"I ask {BARE}", A_WINS])
    assert found.turns[0].tool_calls[0].arguments == {"query": "width"}


def test_call_ids_are_unique_in_a_trajectory() -> None:
    script = [call("a"), call("a") + call("b"), call("c"), A_WINS]
    ids = [each.id for turn in go(script).turns for each in turn.tool_calls]
    assert ids == ["call-1-1", "call-2-2", "call-3-1"]


def native(*queries: str, problems: tuple[str, ...] = (), text: str = "") -> Generation:
    calls = tuple(
        ToolCall(id=f"n{n}-{query}", name="find", arguments={"query": query.strip("'")})
        for n, query in enumerate(queries)
    )
    return Generation(text, tool_calls=calls, problems=problems)


def tool_messages(seen: Seen) -> list[tuple[str | None, bool]]:
    """The ids of the tool messages in order, and whether a result stands in each."""
    return [(m.tool_call_id, "### passage" in m.content) for m in seen.messages if m.role == "tool"]


def asked_ids(messages: list[Message]) -> list[str]:
    return [each.id for message in messages for each in message.tool_calls]


@pytest.mark.parametrize(
    ("turns", "results"),
    [
        ([native("a", "b", "c")], [True, True, True]),
        ([native("a"), native("a'", "b")], [True, False, True]),  # a repeat, then a new one
        ([native("a", "a'")], [True, False]),  # twice in one turn
        ([native("a", "b", "c", "d", "e", "f")], [True, True, True, True, False, False]),  # limit
        ([native("a", problems=("a tool call had no name; name one of the tools",))], [True]),
    ],
)
def test_every_native_call_gets_one_tool_message_in_order(
    turns: list[Generation], results: list[bool]
) -> None:
    seen = Seen(*turns, Generation(A_WINS))
    found = go(seen, style="template")
    assert tool_messages(seen) == list(zip(asked_ids(seen.messages), results, strict=True))
    assert seen.messages[-1].role == "tool"
    assert "Judge now" in seen.last
    for problem in found.turns[-2].problems:
        assert problem in seen.last


def test_native_calls_that_cannot_be_read_are_told_in_a_user_message() -> None:
    problem = "the arguments of find must be one JSON object, got '3'"
    seen = Seen(Generation("", problems=(problem,)), Generation(A_WINS))
    go(seen, style="template")
    assert (seen.messages[-1].role, problem in seen.last) == ("user", True)


@pytest.mark.parametrize(
    ("style", "path", "role"),
    [
        ("template", "token", "tool"),
        ("template", "chat", "user"),  # a server takes tool messages for native calls only
        ("prompt", "token", "user"),
        ("prompt", "chat", "user"),
    ],
)
def test_how_results_of_a_written_call_go_back(
    style: ToolStyle, path: PolicyPath, role: str
) -> None:
    seen = Seen(call("height"), A_WINS)
    go(seen, style=style, path=path)
    assert (seen.messages[-1].role, "about height" in seen.last) == (role, True)


def test_where_the_template_knows_no_tools_they_stand_in_the_first_message() -> None:
    tools: list[int] = []

    def script(talk: Conversation, sampling: Sampling) -> str:
        tools.append(len(talk.tools))
        return A_WINS

    prompted = go(script).prompt[1].content
    templated = go(script, style="template").prompt[1].content
    assert tools == [0, 1]
    assert "You have these tools:" in prompted
    assert '"name": "find"' in prompted
    assert "You have these tools:" not in templated


def test_evidence_keeps_to_its_budget_over_the_calls_of_a_turn() -> None:
    async def long(query: str) -> str:
        return f"{query} is long. " * 100

    found = go([call("a") + call("b"), A_WINS], [find_tool(long)], Limits(evidence_tokens=40))
    assert [item.cut for item in found.evidence] == [True, True]
    assert [len(item.passage.text.split()) for item in found.evidence] == [300, 300]
