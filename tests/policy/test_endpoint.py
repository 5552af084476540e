import asyncio
from typing import Any

import pytest

from openreward.errors import PolicyError
from openreward.policy.chat_path import ChatPolicy
from openreward.policy.endpoint import choose, connect
from openreward.policy.wire import ServedModel
from openreward.types import PolicyFault

LIST = {"object": "list", "data": [{"id": "small"}, {"id": "large", "aliases": ["big"]}]}
HTML = b"<html><body>Welcome</body></html>"


def name_of(url: str, model: str | None = None, **named: Any) -> str:
    async def run() -> str:
        async with connect(url, model, **named) as policy:
            assert isinstance(policy, ChatPolicy)
            return policy.model

    return asyncio.run(run())


def only_models(reply: Any, body: Any, status: int = 200) -> Any:
    """A server with /v1/models and nothing else, as hosted ones are."""
    missing = reply({"error": {"message": "Not Found"}}, 404)
    return lambda asked: reply(body, status) if asked.path == "/v1/models" else missing


def test_a_hosted_server_is_taken_on_the_chat_path(serve: Any, reply: Any) -> None:
    server = serve(only_models(reply, LIST))
    assert name_of(server.url, "large") == "large"
    assert server.paths() == ["/v1/models", "/props", "/version"]


def test_a_server_that_answers_pages_to_unknown_routes_is_a_chat_server(
    serve: Any, reply: Any
) -> None:
    server = serve(lambda asked: reply(LIST if asked.path == "/v1/models" else HTML))
    assert name_of(server.url, "small") == "small"


def test_a_vllm_whose_tokenizer_is_closed_is_a_chat_server(serve: Any, reply: Any) -> None:
    def route(asked: Any) -> Any:
        known = {"/v1/models": LIST, "/version": {"version": "0.31.0"}}
        return reply(known.get(asked.path, {}), 200 if asked.path in known else 403)

    server = serve(route)
    assert name_of(server.url, "small") == "small"
    assert "/tokenize" in server.paths()


def test_a_server_without_a_list_takes_any_name_but_needs_one(serve: Any, reply: Any) -> None:
    server = serve(only_models(reply, {"error": "no"}, 404))
    assert name_of(server.url, "anything") == "anything"
    with pytest.raises(PolicyError, match="lists no models; name one") as caught:
        name_of(server.url)
    assert caught.value.fault == "unknown_model"


@pytest.mark.parametrize(
    ("status", "body", "fault", "said"),
    [
        (401, {"error": {"message": "Invalid API Key"}}, "unauthorized", "give a valid key"),
        (200, HTML, "bad_response", "web page.*ends in /v1"),
        (200, b"[]", "bad_response", "another shape"),
        (200, {"object": "list"}, "bad_response", "data: Field required"),
        (302, b"", "bad_response", "redirects"),
        (500, b"oops", "server_error", "oops"),
    ],
)
def test_what_is_wrong_with_a_server_is_said_when_connecting(
    status: int, body: Any, fault: PolicyFault, said: str, serve: Any, reply: Any
) -> None:
    server = serve(only_models(reply, body, status))
    with pytest.raises(PolicyError, match=said) as caught:
        name_of(server.url, "small")
    assert caught.value.fault == fault


@pytest.mark.parametrize(
    ("model", "chosen"), [("small", "small"), ("large", "large"), ("big", "big")]
)
def test_a_served_name_or_alias_is_chosen(model: str, chosen: str) -> None:
    served = [ServedModel.model_validate(entry) for entry in LIST["data"]]
    assert choose(served, model, "http://h/v1") == chosen


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("smal", "http://h/v1 serves no 'smal'; it serves: small, large"),
        (None, "http://h/v1 serves 2 models; name one of them: small, large"),
    ],
)
def test_a_wrong_or_missing_name_lists_what_is_served(model: str | None, said: str) -> None:
    served = [ServedModel.model_validate(entry) for entry in LIST["data"]]
    with pytest.raises(PolicyError) as caught:
        choose(served, model, "http://h/v1")
    assert str(caught.value) == said
    assert caught.value.fault == "unknown_model"


def test_the_only_model_needs_no_name_and_many_are_cut() -> None:
    assert choose([ServedModel(id="one")], None, "u") == "one"
    many = [ServedModel(id=f"m{number}") for number in range(12)]
    with pytest.raises(PolicyError, match="m8, m9 and 2 more$"):
        choose(many, "x", "u")
