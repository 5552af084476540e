import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from openreward.errors import PolicyError
from openreward.policy.base import Conversation, Generation, Sampling
from openreward.policy.endpoint import connect
from openreward.types import Message

TEMPLATE = "{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}"
RARE = "𓂀"  # three tokens of the fake tokenizer, of which a stream lists the last
RARE_IDS = [2_000_001, 2_000_002, 2_000_003]
Ids = Callable[[str], list[int]]


def generate(server: Any, limit: int = 50) -> tuple[Generation, Conversation]:
    conversation = Conversation([Message(role="user", content="q")])

    async def run() -> Generation:
        async with connect(server.url) as policy:
            return await policy.generate(conversation, Sampling(max_tokens=limit))

    return asyncio.run(run()), conversation


def test_answers_are_streamed_so_that_a_closed_connection_stops_them(engine: Any) -> None:
    server = engine("llama.cpp", TEMPLATE, ["abc"], "<|im_end|>")
    assert generate(server)[0].text == "abc"
    assert server.asked[-1].body["stream"] is True


def test_tokens_inside_a_character_get_their_ids_and_logprobs(engine: Any, tokens: Ids) -> None:
    said = f"a{RARE}b{RARE}"
    server = engine("llama.cpp", TEMPLATE, [said], "<|im_end|>")
    generation, conversation = generate(server)
    assert generation.text == said
    assert list(generation.token_ids) == tokens(said + "<|im_end|>")
    assert len(generation.token_ids) == 9
    assert list(generation.logprobs) == pytest.approx(
        [-0.5, -7.0, -8.0, -0.53, -0.54, -7.0, -8.0, -0.57, -0.58]
    )
    scored = [asked.body for asked in server.asked if asked.body and "grammar" in asked.body]
    question = tokens("q<|im_end|>")
    assert [body["prompt"] for body in scored][:2] == [
        question + tokens("a"),
        question + tokens("a") + RARE_IDS[:1],
    ]
    assert conversation.token_ids == question + tokens(said + "<|im_end|>")


def test_a_turn_cut_inside_a_character_ends_before_it(engine: Any, tokens: Ids) -> None:
    server = engine("llama.cpp", TEMPLATE, [f"ab{RARE}"], "<|im_end|>")
    generation, _ = generate(server, limit=4)
    assert (generation.text, generation.finish_reason) == ("ab", "length")
    assert list(generation.token_ids) == tokens("ab")
    assert len(generation.logprobs) == 2


def test_only_the_last_character_may_be_cut(engine: Any) -> None:
    server = engine("llama.cpp", TEMPLATE, ["abcdefgh"], "<|im_end|>")
    route = server.answer

    def answer(asked: Any) -> Any:
        made = route(asked)
        if asked.path == "/v1/completions":
            del made.body[1:5]
        return made

    server.answer = answer
    with pytest.raises(PolicyError, match="6 tokens were sampled, 2 are listed"):
        generate(server, limit=6)


def first(body: Any) -> Any:
    return body[0]["choices"][0]["logprobs"]["content"][0]


@pytest.mark.parametrize(
    ("said", "change", "message"),
    [
        ("abc", lambda body: body[0]["choices"][0].pop("logprobs"), "no logprobs.content"),
        ("abc", lambda body: body.pop(3), "4 tokens were sampled, 3 are listed"),
        ("abc", lambda body: first(body).update(logprob=None), "logprob null"),
        ("abc", lambda body: first(body).pop("id"), "id: Field required"),
        ("abc", lambda body: body[-1].update(choices=[]), "choices"),
        ("abc", lambda body: body[-1].pop("usage"), "0 tokens were sampled, 4 are listed"),
        (RARE, lambda body: first(body).update(id=7), "4 tokens were sampled, 2 are listed"),
        ("abc", lambda body: body.append({"error": {"message": "lost"}}), "another shape"),
    ],
)
def test_what_cannot_be_made_whole_is_named_and_nothing_is_kept(
    said: str, change: Any, message: str, engine: Any
) -> None:
    server = engine("llama.cpp", TEMPLATE, [said], "<|im_end|>")
    route = server.answer

    def answer(asked: Any) -> Any:
        made = route(asked)
        if asked.path == "/v1/completions":
            change(made.body)
        return made

    server.answer = answer
    with pytest.raises(PolicyError, match=message) as caught:
        generate(server)
    assert caught.value.fault == "bad_response"


def test_a_logprob_that_is_nowhere_to_be_found_is_named(engine: Any) -> None:
    server = engine("llama.cpp", TEMPLATE, [RARE], "<|im_end|>")
    server._place = lambda: {"id": 1, "logprob": -1.0, "top_logprobs": []}
    with pytest.raises(PolicyError, match="logprob of token 2000001 is not among the first 10000"):
        generate(server)


def test_a_stream_that_breaks_off_is_a_bad_response(engine: Any, reply: Any) -> None:
    server = engine("llama.cpp", TEMPLATE, ["abc"], "<|im_end|>")
    route = server.answer
    half = b'data: {"choices": [{"text": "a"}]}\n\n'
    server.answer = lambda asked: reply(half) if asked.path == "/v1/completions" else route(asked)
    with pytest.raises(PolicyError, match="broke off its stream: it ends with 'data:") as caught:
        generate(server)
    assert caught.value.fault == "bad_response"
