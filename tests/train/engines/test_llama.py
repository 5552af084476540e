"""llama.cpp as an engine: each step's adapter, beside the same adapter in transformers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from openreward.errors import UserError
from openreward.policy.base import Constraint, Conversation, Generation, Policy, Sampling
from openreward.policy.llama_cpp import LlamaCpp
from openreward.types import Message

sys.path.insert(0, str(Path(__file__).parents[1]))

torch = pytest.importorskip("torch", reason="needs [train]")
peft = pytest.importorskip("peft", reason="needs [train]")
pytest.importorskip("gguf", reason="needs gguf")
pytest.importorskip("xllamacpp", reason="needs [local]")

import tiny  # noqa: E402
import tiny_gguf  # noqa: E402

from openreward.train.engines.llama import LlamaEngine  # noqa: E402
from openreward.train.from_gguf import convert  # noqa: E402

TOKENIZER = tiny.tokenizer()
OPENING = "<|im_start|>user\nWhere is the tower?<|im_end|>\n<|im_start|>assistant\n"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gguf")
    return tiny_gguf.write(tiny.model(TOKENIZER), TOKENIZER, folder / "tiny.gguf")


def adapted(seed: int) -> Any:
    """The tiny model under an adapter of its own for each seed."""
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj", "down_proj"])
    model = peft.get_peft_model(tiny.model(TOKENIZER), config)
    generator = torch.Generator().manual_seed(seed)
    for name, weight in model.named_parameters():
        if "lora_" in name:
            weight.data.normal_(0, 0.5, generator=generator)
    return model.eval()


def recomputed(model: Any, ids: Sequence[int], made: Sequence[int]) -> list[float]:
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([[*ids, *made]])).logits[0, len(ids) - 1 : -1]
    logprobs = logits.float().log_softmax(-1)
    return [float(logprobs[n, id]) for n, id in enumerate(made)]


async def say(policy: Policy, seed: int = 1) -> Generation:
    talk = Conversation([Message(role="user", content="Where is the tower?")])
    # Random weights sample halves of characters, whose ids llama.cpp does not list one by one. The
    # grammar keeps them out, and leaves the logprobs as they are.
    plain = Constraint(regex="[a-zA-Z ]+", grammar="root ::= [a-zA-Z ]+")
    sampling = Sampling(max_tokens=12, temperature=1.0, seed=seed, constraint=plain)
    return await policy.generate(talk, sampling)


def test_each_step_s_adapter_answers_as_in_transformers(base: Path) -> None:
    async def steps() -> list[Generation]:
        engine = LlamaEngine(base, slots=2, context=2048)
        await engine.check()
        policy = await engine.open()
        try:
            made = [await say(policy)]
            for step in (1, 2):
                await engine.update(adapted(step), step)
                made.append(await say(policy))
        finally:
            await engine.close()
        return made

    plain, first, second = asyncio.run(steps())
    models = [tiny.model(TOKENIZER).eval(), adapted(1), adapted(2)]
    for made, model in zip((plain, first, second), models, strict=True):
        assert made.context_ids == tuple(
            TOKENIZER.encode(
                "<|im_start|>user\nWhere is the tower?<|im_end|>\n<|im_start|>assistant\n"
            )
        )
        wanted = recomputed(model, made.context_ids, made.token_ids)
        assert list(made.logprobs) == pytest.approx(wanted, abs=5e-3)
    other = recomputed(models[2], first.context_ids, first.token_ids)
    assert max(abs(a - b) for a, b in zip(first.logprobs, other, strict=True)) > 0.2


def test_the_embedded_engine_names_the_adapter_it_judges_with(base: Path, tmp_path: Path) -> None:
    from openreward.train.adapter_gguf import write_adapter

    model = adapted(3)
    model.save_pretrained(tmp_path / "peft")
    (tmp_path / "config.json").write_text(model.get_base_model().config.to_json_string())
    file = write_adapter(tmp_path / "peft", tmp_path / "config.json", tmp_path / "mine.gguf")

    async def named() -> str:
        async with LlamaCpp(base, slots=1, context=512, adapter=file) as policy:
            return policy.model

    assert asyncio.run(named()).startswith("tiny+mine-")
    with pytest.raises(UserError, match="expected a LoRA adapter as GGUF"):
        asyncio.run(_opened(LlamaCpp(base, slots=1, context=512, adapter=base)))


async def _opened(engine: LlamaCpp) -> None:
    async with engine:
        pass


def test_all_weights_are_refused(base: Path) -> None:
    async def updated() -> None:
        engine = LlamaEngine(base, slots=1, context=512)
        await engine.open()
        try:
            await engine.update(tiny.model(TOKENIZER), 1)
        finally:
            await engine.close()

    with pytest.raises(UserError, match="takes adapters alone"):
        asyncio.run(updated())


def test_a_gguf_file_becomes_the_folder_it_came_from(base: Path, tmp_path: Path) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    made = convert(base, tmp_path / "folder")
    model = AutoModelForCausalLM.from_pretrained(made, dtype=torch.bfloat16)
    wanted = tiny.model(TOKENIZER).bfloat16().state_dict()
    found = model.state_dict()
    assert set(found) == set(wanted)
    assert all(torch.equal(found[name], wanted[name]) for name in wanted)
    tokenizer = AutoTokenizer.from_pretrained(made)
    text = "<|im_start|>user\nWhere? <tool_call>x</tool_call><|im_end|>\n"
    assert tokenizer.encode(text, add_special_tokens=False) == TOKENIZER.encode(text)
    assert tokenizer.chat_template == tiny.QWEN
    assert tokenizer.eos_token == "<|im_end|>"
