import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from openreward.errors import PolicyError
from openreward.policy.base import Constraint, Conversation, Sampling
from openreward.policy.chat_path import estimate_tokens
from openreward.policy.llama_cpp import LlamaCpp
from openreward.policy.llama_server import ServerSettings, _serve
from openreward.policy.token_path import TokenPolicy
from openreward.types import Message, ToolSpec

SEARCH = ToolSpec(
    name="wikipedia_search",
    description="Search Wikipedia.",
    parameters={
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    },
)
END = 151645  # <|im_end|>
START = 151644  # <|im_start|>


def small(path: Path, **named: Any) -> LlamaCpp:
    return LlamaCpp(path, **{"slots": 2, "context": 2048, "threads": 1, **named})


def gone(pid: int, seconds: float = 5.0) -> bool:
    """Whether a process ends; one that only waits to be collected has ended."""
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        if not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE:
            return True
        time.sleep(0.02)
    return False


@pytest.mark.model
def test_turns_grow_as_ids_and_the_prompt_cache_serves_the_second(small_model: Path) -> None:
    async def run() -> None:
        engine = small(small_model)
        async with engine as policy:
            assert isinstance(policy, TokenPolicy)
            assert (policy.model, policy.engine) == (small_model.stem, "llama.cpp")
            assert (policy.context, policy.tool_style) == (2048, "template")
            pid = engine.pid
            question = "Use the tool to look up Ada Lovelace, in café style."
            conversation = Conversation(
                [
                    Message(role="system", content="You look things up."),
                    Message(role="user", content=question),
                ],
                (SEARCH,),
            )
            first = await policy.generate(conversation, Sampling(max_tokens=60))
            assert first.finish_reason == "stop"
            assert first.token_ids[-1] == END
            assert len(first.token_ids) == len(first.logprobs) == first.usage.completion_tokens
            assert all(value <= 0 for value in first.logprobs)
            assert len(first.context_ids) == first.usage.prompt_tokens
            assert "<|im_end|>" not in first.text
            conversation.messages.append(Message(role="assistant", content=first.text))
            conversation.messages.append(Message(role="tool", content="Ada was born in 1815."))
            second = await policy.generate(conversation, Sampling(max_tokens=4))
            assert second.finish_reason == "length"
            assert len(second.token_ids) == len(second.logprobs) == 4
            assert second.context_ids[1] == START  # "\n" and then the next message, no second end
            grown = len(first.context_ids) + len(first.token_ids) + len(second.context_ids)
            assert second.usage.prompt_tokens == grown
            assert second.usage.cached_tokens >= len(first.context_ids) + len(first.token_ids) - 1
            conversation.messages.append(Message(role="assistant", content=second.text))
            conversation.messages.append(Message(role="user", content="Go on."))
            third = await policy.generate(conversation, Sampling(max_tokens=4))
            assert third.context_ids[0] == END  # the cut turn is closed here
            assert conversation.rendered == 7
        assert pid is not None
        assert gone(pid)
        assert engine.pid is None

    asyncio.run(run())


@pytest.mark.model
def test_a_grammar_is_held_and_equal_seeds_give_equal_turns(small_model: Path) -> None:
    async def run() -> None:
        async with small(small_model) as policy:
            question = Message(role="user", content="Which is better, A or B?")
            grammar = 'root ::= "<answer>" ("A" | "B") "</answer>"'
            forced = Sampling(max_tokens=30, constraint=Constraint(regex="", grammar=grammar))
            generation = await policy.generate(Conversation([question]), forced)
            assert generation.text in ("<answer>A</answer>", "<answer>B</answer>")
            assert generation.forced
            assert len(generation.token_ids) == len(generation.logprobs)
            made = [
                await policy.generate(
                    Conversation([question]), Sampling(max_tokens=12, temperature=1.5, seed=seed)
                )
                for seed in (5, 5, 6)
            ]
            assert made[0].token_ids == made[1].token_ids != made[2].token_ids
            assert not made[0].forced
            wrong = Sampling(constraint=Constraint(regex="", grammar="root ::= ["))
            with pytest.raises(PolicyError, match="failed to parse grammar") as caught:
                await policy.generate(Conversation([question]), wrong)
            assert caught.value.fault == "bad_request"

    asyncio.run(run())


@pytest.mark.model
def test_cancelling_frees_the_slot_and_leaves_the_conversation_as_it_was(
    small_model: Path,
) -> None:
    endless = Constraint(regex="", grammar='root ::= "a" root')

    async def run() -> None:
        async with small(small_model, slots=1) as policy:
            transport = policy._engine._transport
            key = transport._client.headers["authorization"]
            conversation = Conversation([Message(role="user", content="Say a lot.")])
            sampling = Sampling(max_tokens=1900, constraint=endless)
            turn = asyncio.create_task(policy.generate(conversation, sampling))
            slots = f"{transport.address.root}/slots"
            async with httpx.AsyncClient(headers={"authorization": key}, verify=False) as client:

                async def busy() -> bool:
                    return bool((await client.get(slots)).json()[0]["is_processing"])

                while not await busy():
                    await asyncio.sleep(0.02)
                await asyncio.sleep(1.0)
                turn.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await turn
                async with asyncio.timeout(5):  # the whole turn takes a minute and more
                    while await busy():
                        await asyncio.sleep(0.02)
            assert (conversation.token_ids, conversation.rendered) == ([], 0)
            again = await policy.generate(conversation, Sampling(max_tokens=2))
            assert len(again.token_ids) == 2

    asyncio.run(run())


@pytest.mark.model
def test_rare_characters_of_several_tokens_come_with_every_id(small_model: Path) -> None:
    question = "Write the list again: ['\u4ede', '\U00013080', '\U0001f9a9', '\U0001fabf']"

    async def run() -> None:
        async with small(small_model, slots=1) as policy:
            conversation = Conversation([Message(role="user", content=question)])
            generation = await policy.generate(conversation, Sampling(max_tokens=60))
            transport = policy._engine._transport
            body = {
                "prompt": list(generation.context_ids),
                "n_predict": 60,
                "temperature": 0,
                "return_tokens": True,
            }
            answer = await transport._client.post(f"{transport.address.root}/completion", json=body)
            assert list(generation.token_ids) == answer.json()["tokens"]
            assert generation.usage.completion_tokens == len(generation.token_ids)
            assert len(generation.logprobs) == len(generation.token_ids)
            assert all(-5 < value <= 0 for value in generation.logprobs)
            spelled = await policy.count_tokens("\U00013080")
            assert spelled > 1
            assert "\U00013080" in generation.text

    asyncio.run(run())


@pytest.mark.model
def test_the_server_is_closed_to_those_without_the_key(small_model: Path) -> None:
    async def run() -> None:
        async with small(small_model, slots=1, context=512) as policy:
            api = policy._engine._transport.address.api
            key = policy._engine._transport._key
            assert api.startswith("http://127.0.0.1:")
            async with httpx.AsyncClient(verify=False) as client:
                answer = await client.post(f"{api}/completions", json={"prompt": "a"})
                assert answer.status_code == 401
            shown = subprocess.run(
                ["ps", "-A", "-ww", "-o", "args="], capture_output=True, text=True, check=True
            )
            assert "llama_server.py" in shown.stdout
            assert key not in shown.stdout
            long = Conversation([Message(role="user", content="word " * 600)])
            with pytest.raises(PolicyError, match="the model's context is 512") as caught:
                await policy.generate(long, Sampling())
            assert caught.value.fault == "context_overflow"

    asyncio.run(run())


@pytest.mark.model
def test_the_estimate_of_the_chat_path_errs_upwards(small_model: Path) -> None:
    texts = [
        "The Analytical Engine was described by Ada Lovelace in 1843; it was never built.",
        "def f(x: int) -> int:\n    return {k: v for k, v in zip(range(10), 'abc')}[x] ** 2\n",
        "1815-12-10, 3.14159265358979, 0x1F, 1e-9, 10,033",
        "日本語の文章です。東京は日本の首都であり、人口は約一千四百万人です。",
        "Привет, как дела? Ада Лавлейс — математик.",
        "مرحبا بالعالم، هذه جملة قصيرة.",
        "🙂🙃🎉 ñandú Über naïve",
        "    \n\n\t\t  \n",
        "<|im_start|>user</answer>{}[]()",
    ]

    async def run() -> list[tuple[int, int]]:
        async with small(small_model, slots=1, context=512) as policy:
            return [(await policy.count_tokens(t), estimate_tokens(t)) for t in texts]

    for real, estimate in asyncio.run(run()):
        assert 0 < real <= estimate <= 3 * real + 20


def test_the_server_keeps_no_prompts_across_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    class Params:
        def __init__(self) -> None:
            self.model = self.cpuparams = self.cpuparams_batch = self
            self.cache_ram_mib, self.cache_idle_slots = 8192, True

    server = type("xllamacpp", (), {"CommonParams": Params, "Server": lambda params: params})
    monkeypatch.setitem(sys.modules, "xllamacpp", server)
    params = _serve(ServerSettings("m.gguf", "m", 2, 512, None, "key"))
    assert (params.cache_ram_mib, params.cache_idle_slots) == (0, False)
    assert (params.n_parallel, params.n_ctx, params.cache_prompt) == (2, 1024, True)
