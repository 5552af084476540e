import asyncio
from typing import Any

import pytest

from openreward.policy.base import Conversation, Generation, Sampling
from openreward.policy.chat_path import ChatPolicy, read_calls
from openreward.policy.transport import HttpSettings, Transport
from openreward.policy.wire import CalledFunction, NativeCall
from openreward.types import Message, ToolCall, ToolSpec

SEARCH = ToolSpec(
    name="search", description="Finds.", parameters={"type": "object", "properties": {}}
)


def turn(
    server: Any, conversation: Conversation | None = None, sampling: Sampling | None = None
) -> Generation:
    async def run() -> Generation:
        settings = HttpSettings(attempts=1)
        async with Transport(server.url, settings=settings) as transport:
            asked = conversation or Conversation([Message(role="user", content="q")])
            return await ChatPolicy(transport, "m").generate(asked, sampling or Sampling())

    return asyncio.run(run())


def answer(finish: str | None = "stop", usage: Any = None, **message: Any) -> dict[str, Any]:
    said = {"role": "assistant", "content": None, **message}
    return {"choices": [{"index": 0, "message": said, "finish_reason": finish}], "usage": usage}


def native(name: Any, arguments: Any, identity: Any = "c1") -> dict[str, Any]:
    return {"id": identity, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("arguments", "read"),
    [
        ('{"query": "a"}', {"query": "a"}),
        ({"query": "a"}, {"query": "a"}),
        ('"{\\"query\\": \\"a\\"}"', {"query": "a"}),
        ("", {}),
        (None, {}),
        ("{}", {}),
        ("null", {}),
        ("{'query': 'a', }", {"query": "a"}),
        ('{"query": "\\ud800"}', {"query": "?"}),  # no UTF-8 form: could not be sent or written
        ('{"query": "a"', None),
        ('["a"]', None),
        ("a", None),
        (7, None),
        ("[" * 100_000, None),
    ],
)
def test_arguments_are_an_object_in_any_coating_or_a_problem(arguments: Any, read: Any) -> None:
    function = CalledFunction(name="search", arguments=arguments)
    calls, problems = read_calls([NativeCall(id="1", function=function)], set())
    if read is None:
        assert calls == ()
        assert problems[0].startswith("the arguments of search must be one JSON object, got ")
        assert len(problems[0]) < 200
    else:
        assert calls == (ToolCall(id="1", name="search", arguments=read),)
        assert problems == ()


def test_a_good_call_beside_a_broken_and_a_nameless_one_is_kept(serve: Any, reply: Any) -> None:
    calls = [native("search", "{", "a"), native(None, "{}", "b"), native("search", "{}", "c")]
    generation = turn(serve(lambda asked: reply(answer("tool_calls", tool_calls=calls))))
    assert [call.id for call in generation.tool_calls] == ["c"]
    assert len(generation.problems) == 2


def test_ids_that_are_missing_or_taken_are_replaced() -> None:
    function = CalledFunction(name="search", arguments="{}")
    entries = [NativeCall(id=i, function=function) for i in (None, "c0", "c0", "", "call-2")]
    calls, _ = read_calls(entries, {"c0"})
    assert [call.id for call in calls] == ["call-2", "call-3", "call-4", "call-5", "call-6"]
    assert len({call.id for call in calls} | {"c0"}) == 6


def test_an_id_of_an_earlier_turn_is_not_used_again(serve: Any, reply: Any) -> None:
    call = ToolCall(id="c1", name="search", arguments={})
    conversation = Conversation(
        [
            Message(role="user", content="q"),
            Message(role="assistant", content="", tool_calls=(call,)),
            Message(role="tool", content="r", tool_call_id="c1"),
        ],
        (SEARCH,),
    )
    body = answer("tool_calls", tool_calls=[native("search", "{}", "c1")])
    generation = turn(serve(lambda asked: reply(body)), conversation)
    assert [call.id for call in generation.tool_calls] == ["call-2"]
