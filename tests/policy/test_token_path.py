import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from openreward.errors import PolicyError
from openreward.policy.base import Constraint, Conversation, Sampling
from openreward.policy.chat_path import ChatPolicy
from openreward.policy.endpoint import connect
from openreward.policy.template import ChatTemplate
from openreward.policy.token_path import TokenPolicy, Traits, fit
from openreward.types import Message, Role, ToolSpec

QWEN = """{%- if tools %}<|im_start|>system
{% if messages[0].role == 'system' %}{{ messages[0].content }}{% endif %} tools:
{%- for tool in tools %} {{ tool | tojson }}{% endfor %}<|im_end|>
{% elif messages[0].role == 'system' %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for m in messages %}
{%- if m.role == 'tool' %}
{%- if loop.index0 == 0 or messages[loop.index0 - 1].role != 'tool' %}<|im_start|>user{% endif %}
{{- '\n<tool_response>\n' + m.content + '\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 1].role != 'tool' %}{{ '<|im_end|>\n' }}{% endif %}
{%- elif m.role != 'system' %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"""

LLAMA3 = """{{ bos_token }}{% for m in messages %}{% if m.role == 'tool' %}
{{ raise_exception('no tools') }}{% endif %}
{{- '<|start_header_id|>' + m.role + '<|end_header_id|>\n\n' + m.content | trim + '<|eot_id|>' }}
{%- endfor %}{% if add_generation_prompt %}
{{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"""

GEMMA = """{{ bos_token }}{% if messages[0].role == 'system' %}
{{ raise_exception('System role not supported') }}{% endif %}{% for m in messages %}
{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('roles must alternate') }}{% endif %}
{%- set role = 'model' if m.role == 'assistant' else m.role %}
{{- '<start_of_turn>' + role + '\n' + m.content | trim + '<end_of_turn>\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"""

MISTRAL = """{{ bos_token }}{% for m in messages %}
{%- if m.role == 'user' %}{{ '[INST] ' + m.content + ' [/INST]' }}
{%- elif m.role == 'assistant' %}{{ ' ' + m.content | trim + eos_token }}
{%- elif m.role == 'tool' %}{{ raise_exception('tool call ids must have length 9') }}
{%- else %}{{ raise_exception('only user and assistant roles') }}{% endif %}{% endfor %}"""

# Drops the thinking of every turn but the last, and opens each turn with thinking.
THINKING = """{% for m in messages %}
{%- set content = m.content.split('</think>')[-1] if m.role == 'assistant' else m.content %}
{{- '<|im_start|>' + m.role + '\n' + content + '<|im_end|>\n' }}{% endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n<think>' }}{% endif %}"""


class Family(NamedTuple):
    template: str
    end: str
    bos: str
    tools: bool
    system: bool
    successive: bool
    lead: str = ""  # what the model samples before its text


FAMILIES = {
    "qwen": Family(QWEN, "<|im_end|>", "", True, True, True),
    "llama3": Family(LLAMA3, "<|eot_id|>", "<|begin_of_text|>", False, True, True),
    "gemma": Family(GEMMA, "<end_of_turn>", "<bos>", False, False, False),
    "mistral": Family(MISTRAL, "</s>", "<s>", False, False, True, " "),
}
TURNS = ["first <é> turn", "second", "third: 3", "4", "the last turn"]
SEARCH = ToolSpec(name="search", description="d", parameters={"type": "object", "properties": {}})
Ids = Callable[[str], list[int]]


def message(role: Role, content: str) -> Message:
    return Message(role=role, content=content)


def start(family: Family) -> Conversation:
    messages = [message("user", "which is better?")]
    if family.system:
        messages.insert(0, message("system", "You judge."))
    return Conversation(messages, (SEARCH,) if family.tools else ())


async def play(policy: Any, conversation: Conversation, turns: int, limit: int = 50) -> list[Any]:
    """Turns with results between them: two tool messages, or one user message."""
    made = []
    for number in range(turns):
        generation = await policy.generate(conversation, Sampling(max_tokens=limit))
        made.append(generation)
        conversation.messages.append(message("assistant", generation.text))
        role: Role = "tool" if policy.tool_style == "template" else "user"
        for part in ("a", "b") if role == "tool" else ("a",):
            conversation.messages.append(message(role, f"result {number}{part} 🙂"))
    return made


@pytest.mark.parametrize("kind", ["llama.cpp", "vllm"])
@pytest.mark.parametrize("name", FAMILIES)
def test_what_grows_append_only_is_the_template_applied_to_the_whole(
    name: str, kind: str, engine: Any, tokens: Ids
) -> None:
    family = FAMILIES[name]
    turns = [family.lead + turn for turn in TURNS]
    server = engine(kind, family.template, turns, family.end, bos=family.bos)

    async def run() -> Conversation:
        async with connect(server.url) as policy:
            assert isinstance(policy, TokenPolicy)
            assert policy.engine == kind
            assert policy.tool_style == ("template" if family.tools else "prompt")
            assert (policy.model, policy.path, policy.context) == ("tiny", "token", 9000)
            conversation = start(family)
            made = await play(policy, conversation, 5)
            assert [generation.text for generation in made] == turns
            assert all(len(g.token_ids) == len(g.logprobs) for g in made)
            assert all(g.token_ids == tuple(tokens(g.text + family.end)) for g in made)
            assert not any(g.forced for g in made)
            return conversation

    conversation = asyncio.run(run())
    template = ChatTemplate(family.template, bos=family.bos, eos=family.end)
    assistants = [i for i, m in enumerate(conversation.messages) if m.role == "assistant"]
    for turn, index in enumerate(assistants):
        whole = template.render(conversation.messages[:index], conversation.tools)
        assert server.prompts[turn] == tokens(whole), f"turn {turn + 1}"


@pytest.mark.parametrize("kind", ["llama.cpp", "vllm"])
@pytest.mark.parametrize("name", FAMILIES)
def test_a_turn_cut_by_length_is_closed_by_the_next_context(
    name: str, kind: str, engine: Any, tokens: Ids
) -> None:
    family = FAMILIES[name]
    said = [family.lead + "abcdefgh", family.lead + "done"]
    server = engine(kind, family.template, said, family.end, bos=family.bos)

    async def run() -> Conversation:
        async with connect(server.url) as policy:
            conversation = start(family)
            first, second = await play(policy, conversation, 2, limit=6)
            assert (first.text, first.finish_reason) == (said[0][:6], "length")
            assert (second.text, second.finish_reason) == (said[1], "stop")
            assert tokens(family.end)[0] in second.context_ids
            return conversation

    conversation = asyncio.run(run())
    template = ChatTemplate(family.template, bos=family.bos, eos=family.end)
    last = max(i for i, m in enumerate(conversation.messages) if m.role == "assistant")
    whole = template.render(conversation.messages[:last], conversation.tools)
    assert server.prompts[1] == tokens(whole)


def test_a_template_that_drops_earlier_thinking_cannot_change_what_was_sampled(
    engine: Any, tokens: Ids
) -> None:
    turns = ["plan</think>one", "again</think>two"]
    server = engine("llama.cpp", THINKING, turns, "<|im_end|>")

    async def run() -> list[Any]:
        async with connect(server.url) as policy:
            return await play(policy, Conversation([message("user", "q")]), 2)

    asyncio.run(run())
    assert server.prompts[1] == tokens(
        "<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<think>plan</think>one<|im_end|>\n"
        "<|im_start|>user\nresult 0a 🙂<|im_end|>\n<|im_start|>assistant\n<think>"
    )


def test_context_ids_and_token_ids_of_all_turns_are_the_conversation(engine: Any) -> None:
    server = engine("llama.cpp", QWEN, TURNS, "<|im_end|>")

    async def run() -> tuple[list[Any], Conversation]:
        async with connect(server.url) as policy:
            conversation = start(FAMILIES["qwen"])
            return await play(policy, conversation, 3), conversation

    made, conversation = asyncio.run(run())
    assert conversation.token_ids == [i for g in made for i in (*g.context_ids, *g.token_ids)]
    assert [len(g.context_ids) > 0 for g in made] == [True, True, True]


def test_the_request_names_every_sampler_setting_and_the_seed(engine: Any) -> None:
    for kind in ("llama.cpp", "vllm"):
        server = engine(kind, QWEN, TURNS, "<|im_end|>")

        async def run(url: str) -> Any:
            async with connect(url) as policy:
                sampling = Sampling(
                    max_tokens=40,
                    temperature=0.7,
                    seed=2**32 + 6,
                    constraint=Constraint(regex="[AB]", grammar='root ::= "A" | "B"'),
                )
                return await policy.generate(Conversation([message("user", "q")]), sampling)

        generation = asyncio.run(run(server.url))
        assert generation.forced
        sent = server.asked[-1].body
        common = {"model": "tiny", "max_tokens": 40, "temperature": 0.7, "top_p": 1.0}
        assert {key: sent[key] for key in common} == common
        if kind == "llama.cpp":
            special = {"top_k": 0, "min_p": 0.0, "seed": 7, "grammar": 'root ::= "A" | "B"'}
        else:
            special = {"top_k": -1, "repetition_penalty": 1.0, "seed": 2**32 + 6}
            special["structured_outputs"] = {"regex": "[AB]"}
        assert {key: sent[key] for key in special} == special


def test_max_tokens_is_cut_to_the_room_that_is_left(engine: Any) -> None:
    server = engine("vllm", QWEN, ["abc"], "<|im_end|>", context=60)

    async def run() -> None:
        async with connect(server.url) as policy:
            await policy.generate(Conversation([message("user", "q")]), Sampling(max_tokens=500))

    asyncio.run(run())
    assert server.asked[-1].body["max_tokens"] == 60 - len(server.prompts[0])


def test_a_conversation_longer_than_the_context_is_an_overflow_and_changes_nothing(
    engine: Any,
) -> None:
    server = engine("llama.cpp", QWEN, ["abc"], "<|im_end|>", context=100)

    async def run() -> Conversation:
        async with connect(server.url) as policy:
            conversation = Conversation([message("user", "q" * 200)])
            with pytest.raises(PolicyError, match="the model's context is 100") as caught:
                await policy.generate(conversation, Sampling())
            assert caught.value.fault == "context_overflow"
            return conversation

    conversation = asyncio.run(run())
    assert (conversation.token_ids, conversation.rendered) == ([], 0)
    assert server.prompts == []


def test_tokens_are_counted_by_the_servers_tokenizer(engine: Any) -> None:
    server = engine("vllm", QWEN, [], "<|im_end|>")

    async def run() -> tuple[int, int]:
        async with connect(server.url) as policy:
            return await policy.count_tokens("héllo<|im_end|>"), await policy.count_tokens("")

    assert asyncio.run(run()) == (6, 0)


def test_a_template_that_takes_one_turn_only_is_refused_when_connecting(engine: Any) -> None:
    source = "{% if messages | length > 1 %}{{ raise_exception('one turn') }}{% endif %}x"
    server = engine("llama.cpp", source, [], "")

    async def run() -> None:
        with pytest.raises(PolicyError, match=r"several turns \(one turn\); use --chat"):
            async with connect(server.url):
                pass

    asyncio.run(run())


def test_any_server_is_taken_on_the_chat_path_when_asked(engine: Any) -> None:
    server = engine("vllm", QWEN, [], "<|im_end|>")

    async def run() -> None:
        async with connect(server.url, chat=True) as policy:
            assert isinstance(policy, ChatPolicy)
            assert (policy.path, policy.context) == ("chat", 9000)

    asyncio.run(run())
    assert server.paths() == ["/v1/models"]


def test_messages_a_template_refuses_are_folded_without_losing_text() -> None:
    messages = [
        message("system", "S"),
        message("user", "a"),
        message("assistant", "b"),
        message("user", "c"),
        message("user", "d"),
    ]
    narrow = Traits(tools=False, system=False, successive=False, end_id=None)
    assert [(m.role, m.content) for m in fit(messages, narrow)] == [
        ("user", "S\n\na"),
        ("assistant", "b"),
        ("user", "c\n\nd"),
    ]
    wide = Traits(tools=True, system=True, successive=True, end_id=None)
    assert fit(messages, wide) == messages
