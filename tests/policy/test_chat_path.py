import asyncio
import json
from typing import Any

import pytest

from openreward.errors import PolicyError
from openreward.policy.base import Conversation, Generation, Sampling
from openreward.policy.chat_path import ChatPolicy, close_tags, estimate_tokens
from openreward.policy.transport import HttpSettings, Transport
from openreward.types import Message, ToolCall, ToolSpec, Usage

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


OPENAI = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1741569952,
    "model": "m-2025",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "content": None,
                "tool_calls": [native("search", '{"query": "Ada"}', "call_abc")],
                "refusal": None,
                "annotations": [],
            },
            "logprobs": None,
            "finish_reason": "tool_calls",
        }
    ],
    "usage": {
        "prompt_tokens": 82,
        "completion_tokens": 17,
        "total_tokens": 99,
        "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    },
    "service_tier": "default",
    "system_fingerprint": None,
}
VLLM = {
    "id": "chatcmpl-2",
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "message": {
                "role": "assistant",
                "reasoning_content": "Surely <answer>B</answer>.",
                "content": "\n\n<answer>A</answer>",
                "tool_calls": [],
            },
            "finish_reason": "stop",
            "stop_reason": None,
        }
    ],
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "prompt_tokens_details": None},
    "prompt_logprobs": None,
}


def test_a_native_call_as_openai_sends_it_is_read(serve: Any, reply: Any) -> None:
    generation = turn(serve(lambda asked: reply(OPENAI)))
    assert generation.tool_calls == (
        ToolCall(id="call_abc", name="search", arguments={"query": "Ada"}),
    )
    assert (generation.text, generation.finish_reason, generation.problems) == ("", "stop", ())
    assert generation.usage == Usage(prompt_tokens=82, completion_tokens=17, cached_tokens=64)
    assert (generation.token_ids, generation.logprobs, generation.forced) == ((), (), False)


def test_thinking_that_vllm_splits_off_is_not_in_the_text(serve: Any, reply: Any) -> None:
    generation = turn(serve(lambda asked: reply(VLLM)))
    assert generation.text == "\n\n<answer>A</answer>"
    assert generation.usage == Usage(prompt_tokens=10, completion_tokens=5)


@pytest.mark.parametrize(
    ("body", "text", "finish"),
    [
        (answer(content="hi"), "hi", "stop"),
        (answer(content=""), "", "stop"),
        (answer(content=None), "", "stop"),
        (
            answer(content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
            "ab",
            "stop",
        ),
        (answer("length", content="cut"), "cut", "length"),
        (answer(None, content="x"), "x", "stop"),
        (answer("content_filter", content=""), "", "refused"),
        (answer(content=None, refusal="I cannot."), "I cannot.", "refused"),
        (answer(content="yes", refusal=""), "yes", "stop"),
        (answer("eos", content="x"), "x", "stop"),
    ],
)
def test_text_and_finish_reason_are_read_in_every_form(
    body: Any, text: str, finish: str, serve: Any, reply: Any
) -> None:
    generation = turn(serve(lambda asked: reply(body)))
    assert (generation.text, generation.finish_reason) == (text, finish)


def test_a_turn_that_the_server_aborts_is_a_server_error(serve: Any, reply: Any) -> None:
    with pytest.raises(PolicyError, match="'abort'") as caught:
        turn(serve(lambda asked: reply(answer("abort", content="x"))))
    assert caught.value.fault == "server_error"


def test_calls_and_results_are_sent_back_natively(serve: Any, reply: Any) -> None:
    call = ToolCall(id="c1", name="search", arguments={"query": "é"})
    messages = [
        Message(role="system", content="s"),
        Message(role="user", content="q"),
        Message(role="assistant", content="let me", tool_calls=(call,)),
        Message(role="tool", content="r", tool_call_id="c1"),
    ]
    server = serve(lambda asked: reply(answer(content="x")))
    sampling = Sampling(max_tokens=9, temperature=0.5, seed=4, stop=("</answer>",))
    turn(server, Conversation(messages, (SEARCH,)), sampling)
    function = {"name": "search", "arguments": '{"query": "é"}'}
    assert server.asked[0].path == "/v1/chat/completions"
    assert server.asked[0].body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": "q"},
            {
                "role": "assistant",
                "content": "let me",
                "tool_calls": [{"id": "c1", "type": "function", "function": function}],
            },
            {"role": "tool", "content": "r", "tool_call_id": "c1"},
        ],
        "max_tokens": 9,
        "temperature": 0.5,
        "top_p": 1.0,
        "seed": 4,
        "stop": ["</answer>"],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "search",
                    "description": "Finds.",
                    "parameters": {"type": "object", "properties": {}},
                },
            }
        ],
        "tool_choice": "auto",
    }


def test_tool_choice_is_none_for_a_turn_without_calls_and_absent_without_tools(
    serve: Any, reply: Any
) -> None:
    server = serve(lambda asked: reply(answer(content="x")))
    question = [Message(role="user", content="q")]
    turn(server, Conversation(question, (SEARCH,)), Sampling(tools=False))
    assert server.asked[-1].body["tool_choice"] == "none"
    assert "tools" in server.asked[-1].body
    turn(server, Conversation(question), Sampling(tools=False))
    assert not {"tools", "tool_choice", "stop"} & set(server.asked[-1].body)


def test_a_closing_tag_that_the_server_cut_off_is_put_back(serve: Any, reply: Any) -> None:
    server = serve(lambda asked: reply(answer(content="So <answer>A")))
    assert turn(server, sampling=Sampling(stop=("</answer>",))).text == "So <answer>A</answer>"
    cut = serve(lambda asked: reply(answer("length", content="So <answer>A")))
    assert turn(cut, sampling=Sampling(stop=("</answer>",))).text == "So <answer>A"


@pytest.mark.parametrize(
    ("text", "stops", "closed"),
    [
        ("<answer>A", ("</answer>",), "<answer>A</answer>"),
        ("<answer>A</answer>", ("</answer>",), "<answer>A</answer>"),
        ("no verdict", ("</answer>",), "no verdict"),
        ("<answer>A", (), "<answer>A"),
        ("<answer>A", ("STOP",), "<answer>A"),
        (
            "<answer>A</answer> or <answer>B",
            ("</answer>",),
            "<answer>A</answer> or <answer>B</answer>",
        ),
    ],
)
def test_only_an_open_tag_is_closed(text: str, stops: tuple[str, ...], closed: str) -> None:
    assert close_tags(text, stops) == closed


def test_a_server_that_wants_another_name_for_max_tokens_gets_it(serve: Any, reply: Any) -> None:
    said = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."

    def route(asked: Any) -> Any:
        if "max_tokens" in asked.body:
            return reply({"error": {"message": said, "code": "unsupported_parameter"}}, 400)
        return reply(answer(content=str(asked.body["max_completion_tokens"])))

    server = serve(route)

    async def run() -> list[str]:
        async with Transport(server.url) as transport:
            policy = ChatPolicy(transport, "m")
            question = Conversation([Message(role="user", content="q")])
            return [(await policy.generate(question, Sampling(max_tokens=7))).text for _ in "ab"]

    assert asyncio.run(run()) == ["7", "7"]
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 1),
        ("abcdef", 3),
        ("1234", 5),
        ("日本", 4),
        ("a b", 3),
        ("abcd  ef", 5),
        ("{}", 3),
        ("\ud800", 3),
    ],
)
def test_the_estimate_of_tokens_is_worked_out_by_hand(text: str, tokens: int) -> None:
    assert estimate_tokens(text) == tokens


def test_the_chat_path_counts_by_the_estimate() -> None:
    async def run() -> int:
        async with Transport("http://127.0.0.1:1") as transport:
            return await ChatPolicy(transport, "m").count_tokens(json.dumps([1] * 10))

    assert asyncio.run(run()) == estimate_tokens(json.dumps([1] * 10)) == 31
