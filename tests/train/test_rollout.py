"""Rollouts of one process: token-exact, seeded by what they are, bounded, failing aloud."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from openreward.errors import PolicyError, ToolError, UserError
from openreward.judge import Judge
from openreward.policy.base import Policy
from openreward.policy.scripted import ScriptedPolicy
from openreward.train.rewards import reward_parts
from openreward.train.rollout import Batch, Place

sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("transformers", reason="needs [train]")

import runs  # noqa: E402
import tiny  # noqa: E402

from openreward.eval.judges import Asked, PairJudge  # noqa: E402
from openreward.train.engines.scripted import ScriptedEngine  # noqa: E402

TOKENIZER = tiny.tokenizer()
HERE = Place(step=0, call=0, first=0, total=8)


def by_seed(seed: int) -> str:
    return "AB"[seed % 2]


def engine(say: runs.Say | None = None, **more: Any) -> ScriptedEngine:
    return ScriptedEngine(TOKENIZER, say or runs.search_then(by_seed), **more)


def ids_of(batch: Batch) -> list[tuple[int, ...]]:
    return [
        tuple(id for turn in made.turns for id in (*turn.context_ids, *turn.token_ids))
        for made in batch.trajectories
    ]


def rolled(folder: Path, count: int = 8, place: Place = HERE, **settings: Any) -> tuple[Batch, Any]:
    rows = runs.rows_of(folder)
    with runs.opened(rows, engine(), **settings) as made:
        batch = made.run([row.id for row in rows.rows][:count], place)
        return batch, made.fields(batch)


def test_ids_logprobs_and_mask_are_of_one_length_and_the_mask_is_the_sampled_tokens(
    tmp_path: Path,
) -> None:
    batch, fields = rolled(tmp_path)
    for n, made in enumerate(batch.trajectories):
        sampled = [id for turn in made.turns for id in turn.token_ids]
        completion, mask = fields["completion_ids"][n], fields["env_mask"][n]
        assert len(completion) == len(mask) == len(fields["logprobs"][n])
        assert [id for id, kept in zip(completion, mask, strict=True) if kept] == sampled
        assert [p for p, kept in zip(fields["logprobs"][n], mask, strict=True) if not kept] == [
            0.0
        ] * mask.count(0)
        assert (*fields["prompt_ids"][n], *completion) == ids_of(batch)[n]


def test_the_same_place_gives_the_same_rollouts_and_another_gives_others(tmp_path: Path) -> None:
    first, _ = rolled(tmp_path)
    again, _ = rolled(tmp_path)
    other, _ = rolled(tmp_path, place=HERE._replace(step=1))
    assert ids_of(first) == ids_of(again)
    assert ids_of(first) != ids_of(other)


def test_ranks_together_do_what_one_process_does(tmp_path: Path) -> None:
    rows = runs.rows_of(tmp_path)
    ids = [row.id for row in rows.rows]
    with runs.opened(rows, engine()) as made:
        whole = ids_of(made.run(ids, HERE))
        halves = [made.run(ids[n : n + 4], HERE._replace(first=n)) for n in (0, 4)]
    assert [each for half in halves for each in ids_of(half)] == whole


def test_judge_evaluation_and_rollouts_have_one_seed_s_trajectory_alike(tmp_path: Path) -> None:
    rows = runs.rows_of(tmp_path, 1)
    row = rows.rows[0]
    with runs.opened(rows, engine()) as made:
        rolled = made.run([row.id], Place(0, 0, 0, 1)).trajectories[0]
        settings = made.settings.judge()
    policy: Policy = asyncio.run(engine().open())
    judge = Judge(policy, runs.tools(), settings)
    judged = asyncio.run(judge.judge(row.pair)).votes[0].trajectory
    asked = Asked(row.pair.id, row.pair.query, row.pair.responses, row.order, 0)
    vote = asyncio.run(judge.once(row.pair, row.order)).trajectory
    said = asyncio.run(PairJudge(judge, "j").reply(asked)).trajectory
    assert said is not None
    assert judged.tokens() == rolled.tokens() == vote.tokens()
    assert [turn.text for turn in said.turns] == [turn.text for turn in rolled.turns]
    assert [turn.usage for turn in said.turns] == [turn.usage for turn in rolled.turns]
    assert said.verdict == rolled.verdict


def test_all_rollouts_are_in_flight_at_once_and_no_more_than_allowed(tmp_path: Path) -> None:
    rows = runs.rows_of(tmp_path)
    ids = [row.id for row in rows.rows]
    slow = runs.tools(delay=0.3)
    for most, least, longest in ((8, 0.3, 1.2), (2, 1.2, 3.0)):
        with runs.opened(rows, engine(), with_tools=slow, in_flight=most) as made:
            started = time.monotonic()
            made.run(ids, HERE)
            assert least <= time.monotonic() - started < longest


def test_flat_groups_are_sampled_again_within_the_bound(tmp_path: Path) -> None:
    rows = runs.rows_of(tmp_path)
    row = rows.rows[0]
    ids = [row.id] * 4
    alike = engine(runs.search_then(lambda seed: "A"))
    with runs.opened(rows, alike, resample=3) as made:
        assert made.run(ids, HERE, group=4).again == 12
    with runs.opened(rows, engine(), resample=8) as made:
        for step in range(12):
            batch = made.run(ids, HERE._replace(step=step), group=4)
            rewards = {reward_parts(each, row.target).reward for each in batch.trajectories}
            assert len(rewards) == 2
    with runs.opened(rows, engine(), resample=1) as made, pytest.raises(UserError, match="whole"):
        made.run(ids[:3], HERE, group=4)


def test_a_failed_rollout_is_one_token_that_nothing_learns_from(tmp_path: Path) -> None:
    down = runs.tools(ToolError("unavailable", "the service is down"))
    rows = runs.rows_of(tmp_path)
    say = engine(lambda text, seed: "<answer>A</answer>" if "is down" in text else runs.call("x"))
    with runs.opened(rows, say, with_tools=down, failed_share=1, blank=5) as made:
        fields = made.fields(made.run([rows.rows[0].id], HERE))
    assert fields["prompt_ids"] == fields["completion_ids"] == [[5]]
    assert fields["env_mask"] == [[0]]
    assert fields["logprobs"] == [[0.0]]
    assert "down" not in repr(fields["trajectory"])
    assert '"stop_reason"' in str(fields["trajectory"][0])


def test_too_many_failures_stop_the_run_once_a_window_is_full(tmp_path: Path) -> None:
    rows = runs.rows_of(tmp_path)
    ids = [row.id for row in rows.rows]
    turn = iter(range(1000))

    def say(text: str, seed: int) -> str:
        return "<answer>A</answer>" if "It is known" in text else runs.call("x")

    class Flaky(ScriptedEngine):
        async def open(self) -> Policy:
            policy = await super().open()
            inner = policy.generate

            async def generate(*given: Any) -> Any:
                if next(turn) % 3 == 0:
                    raise PolicyError("server_error", "it fell over")
                return await inner(*given)

            policy.generate = generate  # type: ignore[method-assign]
            return policy

    with runs.opened(rows, Flaky(TOKENIZER, say), failed_share=0.1, failed_window=16) as made:
        made.run(ids, HERE)  # 8 of 16: not full
        with pytest.raises(UserError, match=r"at most 10% .* of the last 16 .*it fell over"):
            made.run(ids, HERE)


@pytest.mark.parametrize("fault", ["unreachable", "unauthorized", "unknown_model"])
def test_a_fault_of_all_rollouts_stops_at_once(tmp_path: Path, fault: Any) -> None:
    class Gone(ScriptedEngine):
        async def open(self) -> Policy:
            policy = await super().open()

            async def generate(*given: Any) -> Any:
                raise PolicyError(fault, "no")

            policy.generate = generate  # type: ignore[method-assign]
            return policy

    rows = runs.rows_of(tmp_path)
    gone = Gone(TOKENIZER, by_seed_text)
    with runs.opened(rows, gone) as made, pytest.raises(PolicyError, match="rollouts: no"):
        made.run([rows.rows[0].id], HERE)


def by_seed_text(text: str, seed: int) -> str:
    return f"<answer>{by_seed(seed)}</answer>"


def test_limits_that_hold_no_prompt_are_an_error_not_an_empty_mask(tmp_path: Path) -> None:
    rows = runs.rows_of(tmp_path)
    small = runs.LIMITS.model_copy(update={"total_tokens": 256})
    short = ScriptedEngine(TOKENIZER, by_seed_text, context=300)
    with runs.opened(rows, short, limits=small) as made:
        batch = made.run([rows.rows[0].id], HERE)
        with pytest.raises(UserError, match="expected sampled tokens, got 0"):
            made.fields(batch)


def test_an_engine_without_token_ids_is_refused(tmp_path: Path) -> None:
    class Chat(ScriptedEngine):
        async def open(self) -> Policy:
            return ScriptedPolicy(["<answer>A</answer>"])

    rows = runs.rows_of(tmp_path)
    with (
        pytest.raises(UserError, match="takes and gives token ids"),
        runs.opened(rows, Chat(TOKENIZER, by_seed_text)),
    ):
        pass


def test_an_unknown_prompt_is_refused(tmp_path: Path) -> None:
    rows = runs.rows_of(tmp_path)
    with runs.opened(rows, engine()) as made:
        for wrong in ("nobody", [{"role": "user", "content": "x"}]):
            with pytest.raises(UserError, match="expected the id of a training row"):
                made.run([wrong], HERE)  # type: ignore[list-item]


def test_an_interrupted_run_leaves_nothing_under_way(tmp_path: Path) -> None:
    rows = runs.rows_of(tmp_path)
    slow = runs.tools(delay=60)
    with runs.opened(rows, engine(), with_tools=slow) as made:
        work = made._all([rows.rows[0]], HERE, 1)
        future = asyncio.run_coroutine_threadsafe(work, made.loop._loop)
        time.sleep(0.2)
        future.cancel()
        time.sleep(0.2)
        left = asyncio.run_coroutine_threadsafe(_tasks(), made.loop._loop).result()
    assert left == 1  # the one that counts them


async def _tasks() -> int:
    return len(asyncio.all_tasks())


def test_no_grammar_holds_a_rollout(tmp_path: Path) -> None:
    held = []

    class Watching(ScriptedEngine):
        async def open(self) -> Policy:
            policy = await super().open()
            inner = policy.generate

            async def generate(talk: Any, sampling: Any) -> Any:
                held.append(sampling.constraint)
                return await inner(talk, sampling)

            policy.generate = generate  # type: ignore[method-assign]
            return policy

    rows = runs.rows_of(tmp_path)
    with runs.opened(rows, Watching(TOKENIZER, by_seed_text), with_tools=[]) as made:
        made.run([rows.rows[0].id], HERE)
    assert held == [None]
