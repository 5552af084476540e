"""TRL's trainer with rollouts of ours: parameters move, logprobs correct, failures are out."""

from __future__ import annotations

import inspect
import logging
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from openreward.errors import OpenRewardError, ToolError
from openreward.train.engines.in_process import InProcessEngine
from openreward.train.engines.scripted import ScriptedEngine
from openreward.train.rewards import RewardSettings

sys.path.insert(0, str(Path(__file__).parent))

torch = pytest.importorskip("torch", reason="needs [train]")
trl = pytest.importorskip("trl", reason="needs [train]")
datasets = pytest.importorskip("datasets", reason="needs [train]")

import runs  # noqa: E402
import tiny  # noqa: E402

from openreward.train.reward_trl import OpenReward  # noqa: E402
from openreward.train.trainer import RolloutTrainer  # noqa: E402

TOKENIZER = tiny.tokenizer()


def by_seed(seed: int) -> str:
    return "AB"[seed % 2]


@contextmanager
def training(
    folder: Path,
    engine: Any = None,
    *,
    with_tools: Any = None,
    seed: int = 0,
    rollouts: dict[str, Any] | None = None,
    **config: Any,
) -> Iterator[RolloutTrainer]:
    rows = runs.rows_of(folder)
    chosen = engine or ScriptedEngine(TOKENIZER, runs.search_then(by_seed))
    arguments: dict[str, Any] = {
        "output_dir": str(folder / "out"),
        "per_device_train_batch_size": 4,
        "num_generations": 4,
        "max_steps": 3,
        "learning_rate": 1e-2,
        "report_to": [],
        "use_cpu": True,
        "logging_steps": 1,
        "save_strategy": "no",
        "disable_tqdm": True,
        "bf16": False,
        "gradient_checkpointing": False,
        "seed": seed,
    }
    pad = TOKENIZER.pad_token_id
    with runs.opened(rows, chosen, with_tools=with_tools, blank=pad, **(rollouts or {})) as made:
        yield RolloutTrainer(
            rollouts=made,
            model=tiny.model(TOKENIZER),
            args=trl.GRPOConfig(**{**arguments, **config}),
            reward_funcs=[OpenReward(RewardSettings())],
            train_dataset=datasets.Dataset.from_list(rows.table()),
            processing_class=TOKENIZER,
        )


def inputs_of(trainer: RolloutTrainer, count: int = 4) -> list[dict[str, Any]]:
    """A group as the sampler gives it: the same row `count` times."""
    return [dict(trainer.train_dataset[0]) for _ in range(count)]


def weights(trainer: RolloutTrainer) -> Any:
    return torch.cat([each.detach().flatten() for each in trainer.model.parameters()]).clone()


def test_three_steps_move_the_parameters_and_log_what_rollouts_did(tmp_path: Path) -> None:
    with training(tmp_path) as trainer:
        before = weights(trainer)
        trainer.train()
        assert not torch.equal(before, weights(trainer))
        assert torch.isfinite(weights(trainer)).all()
        logged = trainer.state.log_history[0]
    assert logged["rollouts/ok"] == 1.0
    assert logged["rollouts/calls"] == 1.0
    assert logged["rollouts/calls_right_tool"] == 1.0
    assert logged["rollouts/failed"] == 0.0
    assert logged["rollouts/turns"] == 2.0
    assert logged["rollouts/tokens_per_second"] > 0
    assert logged["sampling/importance_sampling_ratio/mean"] == pytest.approx(1.0, abs=1e-3)


def test_the_trainer_s_own_model_samples_its_rollouts(tmp_path: Path) -> None:
    engine = InProcessEngine(TOKENIZER, "tiny", 8192)
    with training(tmp_path, engine, max_steps=1) as trainer:
        trainer.train()
        logged = trainer.state.log_history[0]
    assert logged["sampling/sampling_logp_difference/max"] < 1e-3
    assert logged["rollouts/unparsed"] + logged["rollouts/ok"] == 1.0


def test_masks_hold_the_sampled_tokens_and_no_other(tmp_path: Path) -> None:
    with training(tmp_path) as trainer:
        made = trainer._generate_and_score_completions(inputs_of(trainer))
        batch = trainer._batch
        assert batch is not None
        sampled = [sum(len(turn.token_ids) for turn in t.turns) for t in batch.trajectories]
        assert made["tool_mask"].mul(made["completion_mask"]).sum(dim=1).tolist() == sampled
        for row, trajectory in enumerate(batch.trajectories):
            kept = made["completion_ids"][row][
                (made["tool_mask"][row] * made["completion_mask"][row]).bool()
            ]
            assert kept.tolist() == [id for turn in trajectory.turns for id in turn.token_ids]


def test_perturbed_logprobs_are_corrected_and_exact_ones_are_not(tmp_path: Path) -> None:
    losses, ratios = [], []
    for shift in (0.0, math.log(2)):
        engine = ScriptedEngine(TOKENIZER, runs.search_then(by_seed), shift=shift)
        with training(tmp_path, engine, loss_type="grpo") as trainer:
            trainer.current_gradient_accumulation_steps = 1
            trainer.vllm_importance_sampling_mode = "token_truncate"
            made = trainer._generate_and_score_completions(inputs_of(trainer))
            sampled = (made["tool_mask"] * made["completion_mask"]).bool()
            ratios.append(made["importance_sampling_ratio"][sampled])
            made["advantages"] = torch.tensor([1.0, 0.0, 0.0, 0.0])
            losses.append(float(trainer._compute_loss(trainer.model, made).detach()))
    assert torch.allclose(ratios[0], torch.ones_like(ratios[0]), atol=1e-3)
    assert torch.allclose(ratios[1], torch.full_like(ratios[1], 0.5), atol=1e-3)
    assert losses[1] == pytest.approx(losses[0] / 2, rel=1e-3)


def test_equal_rewards_have_advantage_exactly_0_and_move_nothing(tmp_path: Path) -> None:
    always_a = ScriptedEngine(TOKENIZER, runs.search_then(lambda seed: "A"))
    with training(tmp_path, always_a, max_steps=1) as trainer:
        made = trainer._generate_and_score_completions(inputs_of(trainer))
        assert made["advantages"].tolist() == [0.0] * 4
        before = weights(trainer)
        trainer.train()
        assert torch.equal(before, weights(trainer))
        assert trainer.state.log_history[0]["rollouts/flat_groups"] == 1.0


def test_a_failed_rollout_is_out_of_its_group_and_no_log_holds_its_text(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    down = runs.tools(ToolError("unavailable", "the service is down"))
    say = runs.search_then(by_seed)

    def sometimes(text: str, seed: int) -> str:
        answered = "unavailable" in text or "down" in text
        return f"<answer>{by_seed(seed)}</answer>" if answered or seed % 3 else say(text, seed)

    caplog.set_level(logging.WARNING)
    logging.getLogger("trl").addHandler(caplog.handler)
    engine = ScriptedEngine(TOKENIZER, sometimes)
    with training(
        tmp_path,
        engine,
        with_tools=down,
        num_generations=8,
        per_device_train_batch_size=8,
        rollouts={"failed_share": 1.0},
    ) as trainer:
        made = trainer._generate_and_score_completions(inputs_of(trainer, 8))
        batch = trainer._batch
    assert batch is not None
    failed = [n for n, each in enumerate(batch.trajectories) if each.turns[0].tool_calls]
    assert failed
    assert len(failed) < 8
    sampled = (made["tool_mask"] * made["completion_mask"]).sum(dim=1)
    assert all(made["advantages"][n] == 0 and sampled[n] == 0 for n in failed)
    assert all(sampled[n] > 0 for n in range(8) if n not in failed)
    kept = [float(made["advantages"][n]) for n in range(8) if n not in failed]
    assert sum(kept) == pytest.approx(0.0, abs=1e-4)
    assert torch.isfinite(made["advantages"]).all()
    assert "Question number" not in caplog.text


def test_a_run_in_which_too_many_rollouts_fail_stops_and_says_why(tmp_path: Path) -> None:
    down = runs.tools(ToolError("unavailable", "the service is down"))
    engine = ScriptedEngine(
        TOKENIZER, lambda text, seed: "<answer>A</answer>" if "down" in text else runs.call("x")
    )
    with (
        training(tmp_path, engine, with_tools=down) as trainer,
        pytest.raises(OpenRewardError, match="at most 25% of the rollouts to fail"),
    ):
        trainer.train()


def test_weights_reach_the_engine_before_the_first_generation_of_each_step(tmp_path: Path) -> None:
    engine = ScriptedEngine(TOKENIZER, runs.search_then(by_seed))
    with training(tmp_path, engine, max_steps=3) as trainer:
        trainer.train()
    assert engine.updates == [0, 1, 2]


def test_the_seam_of_trl_is_as_we_read_it() -> None:
    """An upgrade that moves it must fail here, not in a run."""
    trainer = trl.GRPOTrainer
    generate = inspect.getsource(trainer._generate)
    assert "if self.use_vllm and self.state.global_step != self._last_loaded_step:" in generate
    assert "self.vllm_generation.sync_weights()" in generate
    assert "output = self.rollout_func(prompts, self)" in generate
    assert 'extra_fields.pop("env_mask", None)' in generate
    score = inspect.getsource(trainer._generate_and_score_completions)
    assert "self.use_vllm and self.vllm_importance_sampling_correction" in score
    assert "old_per_token_logps - sampling_per_token_logps" in score
    assert "self._calculate_rewards(inputs, prompts, completions, completion_ids_list)" in score
    loss = inspect.getsource(trainer._compute_loss)
    assert 'per_token_loss = per_token_loss * inputs["importance_sampling_ratio"]' in loss
    everywhere = inspect.getsource(trainer).count("self.use_vllm")
    assert everywhere == 11, "look at every use of use_vllm again, then change this number"
