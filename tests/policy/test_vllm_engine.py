import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from openreward.errors import PolicyError
from openreward.policy.base import Constraint, Conversation, Sampling
from openreward.policy.endpoint import connect
from openreward.policy.transport import Transport
from openreward.policy.vllm_engine import VllmEngine
from openreward.types import Message

TEMPLATE = "{% for m in messages %}{{ m.content }}<|im_end|>{% endfor %}"


def altered(server: Any, change: Callable[[Any], Any]) -> Any:
    """The same server with its completions changed before they are sent."""
    route = server.answer

    def answer(asked: Any) -> Any:
        made = route(asked)
        if asked.path == "/v1/completions":
            change(made.body)
        return made

    server.answer = answer
    return server


def generate(server: Any) -> Conversation:
    conversation = Conversation([Message(role="user", content="q")])

    async def run() -> None:
        async with connect(server.url) as policy:
            try:
                await policy.generate(conversation, Sampling())
            finally:
                assert (conversation.token_ids, conversation.rendered) == ([], 0)

    asyncio.run(run())
    return conversation


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda body: body["choices"][0].pop("token_ids"), "no token_ids"),
        (lambda body: body["choices"][0].pop("logprobs"), "4 token ids, but none"),
        (
            lambda body: body["choices"][0]["logprobs"]["token_logprobs"].pop(),
            "4 token ids, but 3",
        ),
        (
            lambda body: body["choices"][0]["logprobs"].update(token_logprobs=[-1, None, -1, -1]),
            "1 of 4 logprobs are null",
        ),
        (
            lambda body: body["choices"][0]["logprobs"].update(
                token_logprobs=[float("nan"), -1, float("-inf"), -1]
            ),
            "2 of 4 logprobs are null or infinite",
        ),
        (lambda body: body.update(choices=[]), "choices"),
    ],
)
def test_missing_ids_or_logprobs_are_named_and_nothing_is_kept(
    change: Any, said: str, engine: Any
) -> None:
    server = altered(engine("vllm", TEMPLATE, ["abc"], "<|im_end|>"), change)
    with pytest.raises(PolicyError, match=said) as caught:
        generate(server)
    assert caught.value.fault == "bad_response"


@pytest.mark.parametrize("reason", ["abort", "error"])
def test_a_turn_that_the_server_gives_up_is_a_server_error(reason: str, engine: Any) -> None:
    def change(body: Any) -> None:
        body["choices"][0]["finish_reason"] = reason

    server = altered(engine("vllm", TEMPLATE, ["abc"], "<|im_end|>"), change)
    with pytest.raises(PolicyError, match=f"'{reason}'") as caught:
        generate(server)
    assert caught.value.fault == "server_error"


@pytest.mark.parametrize(
    ("version", "field", "value"),
    [
        ("0.10.2", "guided_regex", "[AB]"),
        ("v0.9.0rc1", "guided_regex", "[AB]"),
        ("0.11.0", "structured_outputs", {"regex": "[AB]"}),
        ("0.31.0+cpu", "structured_outputs", {"regex": "[AB]"}),
        ("1.0", "structured_outputs", {"regex": "[AB]"}),
        ("dev", "structured_outputs", {"regex": "[AB]"}),
    ],
)
def test_a_regex_goes_into_the_field_that_the_version_of_vllm_knows(
    version: str, field: str, value: object
) -> None:
    async def run() -> dict[str, object]:
        async with Transport("http://127.0.0.1:1") as transport:
            engine = VllmEngine(transport, "m", version, 100)
            sampling = Sampling(constraint=Constraint(regex="[AB]", grammar=""))
            return engine.body([1], sampling, 5)

    body = asyncio.run(run())
    assert body[field] == value
    assert len({"guided_regex", "structured_outputs"} & set(body)) == 1
