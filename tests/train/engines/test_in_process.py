"""The trainer's model as an engine: what it samples, and the logprobs it gives for it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from openreward.errors import PolicyError, UserError
from openreward.policy.base import Conversation, Sampling
from openreward.policy.engine import Completed
from openreward.train.engines.decoding import Prompt, decode
from openreward.train.engines.in_process import InProcessEngine, ModelEngine
from openreward.types import Message

sys.path.insert(0, str(Path(__file__).parents[1]))

torch = pytest.importorskip("torch", reason="needs [train]")
pytest.importorskip("transformers", reason="needs [train]")

import tiny  # noqa: E402

TEXTS = ("Who?", "Where is the Eiffel Tower, and who built it?", "a b c d e f g h i j k l m n o p")


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return tiny.tokenizer()


@pytest.fixture(scope="module")
def model(tokenizer: Any) -> Any:
    return tiny.model(tokenizer)


def prompt(
    ids: list[int], most: int = 12, heat: float = 1.0, top_p: float = 1.0, seed: int = 7
) -> Prompt:
    return Prompt(tuple(ids), most, heat, top_p, seed, lambda: False)


def recomputed(model: Any, ids: list[int], made: list[int], heat: float) -> list[float]:
    with torch.no_grad():
        logits = model(input_ids=torch.tensor([[*ids, *made]])).logits[0, len(ids) - 1 : -1]
    logprobs = (logits.float() / heat).log_softmax(-1)
    return [float(logprobs[n, id]) for n, id in enumerate(made)]


@pytest.mark.parametrize("heat", [0.0, 0.7, 1.0, 1.6])
def test_a_batch_says_what_each_row_alone_would_and_its_logprobs_are_the_model_s(
    model: Any, tokenizer: Any, heat: float
) -> None:
    prompts = [prompt(tokenizer.encode(t), heat=heat, seed=n) for n, t in enumerate(TEXTS)]
    together = decode(model, prompts, {tokenizer.eos_token_id}, tokenizer.pad_token_id)
    for each, made in zip(prompts, together, strict=True):
        alone = decode(model, [each], {tokenizer.eos_token_id}, tokenizer.pad_token_id)[0]
        assert made.ids == alone.ids
        wanted = recomputed(model, list(each.ids), made.ids, heat or 1.0)
        assert made.logprobs == pytest.approx(wanted, abs=1e-4)


def test_the_seed_decides_and_global_random_state_is_left_alone(model: Any, tokenizer: Any) -> None:
    ids = tokenizer.encode(TEXTS[1])
    torch.manual_seed(1)
    before = torch.get_rng_state()
    made = [
        tuple(decode(model, [prompt(ids, seed=seed)], set(), 0)[0].ids) for seed in (3, 3, 4, 5)
    ]
    assert made[0] == made[1]
    assert len({made[0], made[2], made[3]}) == 3
    assert torch.equal(before, torch.get_rng_state())


def test_sampling_follows_the_distribution_and_top_p_cuts_its_tail(
    model: Any, tokenizer: Any
) -> None:
    ids = tokenizer.encode(TEXTS[0])
    with torch.no_grad():
        shares = model(input_ids=torch.tensor([ids])).logits[0, -1].softmax(-1)
    best = int(shares.argmax())
    many = [prompt(ids, most=1, heat=0.1, seed=n) for n in range(400)]
    found = [made.ids[0] for made in decode(model, many, set(), 0)]
    wanted = float((shares.log() / 0.1).softmax(-1)[best])
    assert abs(found.count(best) / 400 - wanted) < 4 * (wanted * (1 - wanted) / 400) ** 0.5 + 1e-9
    narrow = [prompt(ids, most=1, heat=0.1, top_p=1e-6, seed=n) for n in range(20)]
    assert {made.ids[0] for made in decode(model, narrow, set(), 0)} == {best}


def test_the_end_token_is_kept_and_ends_its_row_alone(model: Any, tokenizer: Any) -> None:
    prompts = [prompt(tokenizer.encode(t), most=30, heat=0.0) for t in TEXTS]
    free = decode(model, prompts, set(), 0)
    end = free[0].ids[1]
    made = decode(model, prompts, {end}, 0)
    for row, all_of_it in zip(made, free, strict=True):
        until = all_of_it.ids.index(end) + 1 if end in all_of_it.ids else 30
        assert row.ids == all_of_it.ids[:until]
        assert row.ended == (end in all_of_it.ids)


def test_the_model_s_mode_is_restored(model: Any, tokenizer: Any) -> None:
    model.train()
    decode(model, [prompt(tokenizer.encode("a"), most=1)], set(), 0)
    assert model.training
    model.eval()


def test_a_row_whose_caller_is_gone_leaves_the_others_right(model: Any, tokenizer: Any) -> None:
    ids = tokenizer.encode(TEXTS[1])
    steps = iter([False, False, True, True, True])
    leaving = Prompt(tuple(ids), 12, 1.0, 1.0, 1, lambda: next(steps, True))
    staying = prompt(ids, seed=2)
    made = decode(model, [leaving, staying], set(), 0)
    assert len(made[0].ids) == 2
    assert made[1].ids == decode(model, [staying], set(), 0)[0].ids


def engine_of(model: Any, tokenizer: Any, **more: int) -> ModelEngine:
    engine = ModelEngine(tokenizer, 4096, **more)
    engine.model = model
    return engine


def complete(engine: ModelEngine, *texts: str) -> list[Completed]:
    async def all_of_them() -> list[Completed]:
        work = [
            engine.complete(await engine.tokenize(text), Sampling(temperature=1.0, seed=n), 8)
            for n, text in enumerate(texts)
        ]
        return await asyncio.gather(*work)

    return asyncio.run(all_of_them())


def test_waiting_requests_become_one_batch(model: Any, tokenizer: Any) -> None:
    engine = engine_of(model, tokenizer)
    sizes = []
    inner = engine._decode

    def counted(batch: Any) -> Any:
        sizes.append(len(batch))
        return inner(batch)

    engine._batcher.work = counted
    made = complete(engine, *TEXTS)
    assert sizes == [3]
    assert [each.text for each in made] == [
        complete(engine_of(model, tokenizer, batch=1), *TEXTS)[n].text for n in range(3)
    ]


def test_cancelling_one_request_leaves_the_others(model: Any, tokenizer: Any) -> None:
    engine = engine_of(model, tokenizer)

    async def cancelled() -> Completed:
        ids = await engine.tokenize(TEXTS[0])
        jobs = [
            asyncio.create_task(engine.complete(ids, Sampling(temperature=1.0, seed=n), 400))
            for n in range(2)
        ]
        await asyncio.sleep(0.05)
        jobs[0].cancel()
        return await jobs[1]

    made = asyncio.run(cancelled())
    assert made.ids
    assert len(made.ids) == len(made.logprobs)


def test_a_failing_model_fails_the_request_as_itself(tokenizer: Any) -> None:
    def broken(**_: object) -> None:
        raise RuntimeError("out of memory")

    broken.training = False  # type: ignore[attr-defined]
    engine = ModelEngine(tokenizer, 4096)
    engine.model = broken
    with pytest.raises(AttributeError):
        complete(engine, "a")
    engine.model = None
    with pytest.raises(PolicyError, match="not given its model yet"):
        complete(engine, "a")


def test_a_tokenizer_without_a_template_is_refused(tokenizer: Any) -> None:
    bare = tiny.tokenizer(template="")
    with pytest.raises(UserError, match="chat template"):
        ModelEngine(bare, 4096)


def test_a_conversation_grows_by_what_was_sampled(model: Any, tokenizer: Any) -> None:
    async def two_turns() -> tuple[Conversation, list[int], list[int]]:
        engine = InProcessEngine(tokenizer, "tiny", 4096)
        policy = await engine.open()
        await engine.update(model, 0)
        talk = Conversation([Message(role="user", content="Who?")])
        first = await policy.generate(talk, Sampling(max_tokens=6, temperature=1.0, seed=1))
        start = list(talk.token_ids)
        talk.messages.append(Message(role="assistant", content=first.text))
        talk.messages.append(Message(role="user", content="And where?"))
        second = await policy.generate(talk, Sampling(max_tokens=6, temperature=1.0, seed=2))
        await engine.close()
        return talk, start, [*start, *second.context_ids, *second.token_ids]

    talk, start, whole = asyncio.run(two_turns())
    assert talk.token_ids == whole
    assert whole[: len(start)] == start
