"""The reward in TRL: called as GRPOTrainer calls it, and by its own code where TRL is installed."""

from __future__ import annotations

import math
import pickle
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from openreward.errors import UserError
from openreward.train.reward_trl import OpenReward
from openreward.train.rewards import RewardSettings
from openreward.types import Trajectory, Verdict

sys.path.insert(0, str(Path(__file__).parent))

from judged import TARGET, WRONG, judged, pubmed, wiki

FAILED = judged((pubmed("zinc", "timeout"),))
MADE = [
    judged((pubmed("zinc"), wiki("zinc"))),
    judged((pubmed("zinc"),), verdict=WRONG),
    judged(),
    FAILED,
    judged(verdict=Verdict(status="error"), stop="policy_error"),
]
REWARDS = [1.1, 0.0, 1.0, None, None]


def rows(made: list[Trajectory], as_json: bool = True) -> dict[str, list[Any]]:
    """What TRL hands over beside its own: a row's columns and a rollout function's fields."""
    return {
        "target": [TARGET.model_dump_json()] * len(made),
        "trajectory": [each.model_dump_json() if as_json else each for each in made],
        "source": ["pubmed"] * len(made),
    }


def call(reward: OpenReward, made: list[Trajectory], **more: Any) -> list[float | None]:
    """As `GRPOTrainer._calculate_rewards` of TRL 1.16.0 calls a function: by keywords."""
    return reward(
        prompts=["p"] * len(made),
        completions=["c"] * len(made),
        completion_ids=[[1, 2]] * len(made),
        **rows(made),
        trainer_state=SimpleNamespace(global_step=3),
        log_extra=lambda column, values: None,
        **more,
    )


def test_each_completion_has_its_reward_and_a_failed_one_has_none() -> None:
    assert call(OpenReward(), MADE) == REWARDS


def test_trajectories_may_be_objects() -> None:
    columns = rows(MADE, as_json=False)
    assert OpenReward()(["p"] * 5, ["c"] * 5, [[1]] * 5, **columns) == REWARDS


def test_the_settings_are_those_given() -> None:
    ungated = OpenReward(RewardSettings(gate="none"))
    assert call(ungated, MADE) == [1.1, 0.2, 1.0, None, None]


def test_the_parts_are_logged_without_the_failed_rollouts() -> None:
    logged: dict[str, float] = {}
    call(OpenReward(), MADE, log_metric=logged.__setitem__)
    assert logged == {
        "openreward/failed": 0.4,
        "openreward/accuracy": pytest.approx(2 / 3),
        "openreward/exact_match": pytest.approx(2 / 3),
        "openreward/tool": 0.5,  # 1/2, 1, 0
        "openreward/in_form": pytest.approx((1 + 1 + 1) / 3),
        "openreward/calls": 1.0,
        "openreward/right_calls": pytest.approx(2 / 3),
    }


def test_where_all_failed_only_that_is_logged() -> None:
    logged: dict[str, float] = {}
    assert call(OpenReward(), [FAILED, FAILED], log_metric=logged.__setitem__) == [None, None]
    assert logged == {"openreward/failed": 1.0}


@pytest.mark.parametrize("missing", ["target", "trajectory"])
def test_a_missing_column_is_named(missing: str) -> None:
    columns = {name: values for name, values in rows(MADE).items() if name != missing}
    with pytest.raises(UserError, match=f"expected 5 values of {missing}, got 0"):
        OpenReward()(["p"] * 5, ["c"] * 5, [[1]] * 5, **columns)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("target", "B", "expected a target as target_of"),
        ("target", '{"pair": "p1", "winner": 2}', "expected a target as target_of"),
        ("trajectory", "", "expected a trajectory as model_dump_json"),
        ("trajectory", None, "expected a trajectory as model_dump_json"),
    ],
)
def test_a_row_that_cannot_be_read_is_refused(column: str, value: object, message: str) -> None:
    columns = rows(MADE[:1]) | {column: [value]}
    with pytest.raises(UserError, match=message):
        OpenReward()(["p"], ["c"], [[1]], **columns)


def test_it_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(OpenReward())) == OpenReward()


def bare_trainer(reward: OpenReward) -> Any:
    """TRL's trainer with only what `_calculate_rewards` reads; no model is loaded."""
    grpo = pytest.importorskip("trl.trainer.grpo_trainer")
    from accelerate import Accelerator

    trainer = object.__new__(grpo.GRPOTrainer)
    trainer.accelerator = Accelerator(cpu=True)
    trainer.reward_funcs = [reward]
    trainer.reward_processing_classes = [None]
    trainer.reward_func_names = [grpo.get_callable_name(reward)]
    trainer.state = SimpleNamespace(global_step=0)
    trainer.environments = None
    trainer._pending_metrics = defaultdict(list)
    trainer._pending_extra_logs = defaultdict(list)
    trainer.args = SimpleNamespace(report_to=[])
    return trainer


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_trls_own_code_takes_the_rewards() -> None:
    trainer = bare_trainer(OpenReward())
    columns = rows(MADE)
    inputs = [
        {"prompt": "p", **{name: values[n] for name, values in columns.items()}}
        for n in range(len(MADE))
    ]
    found = trainer._calculate_rewards(inputs, ["p"] * 5, ["c"] * 5, [[1]] * 5)
    assert found.shape == (5, 1)
    assert found[:3, 0].tolist() == pytest.approx([1.1, 0.0, 1.0])
    assert all(math.isnan(value) for value in found[3:, 0].tolist())
    assert trainer.reward_func_names == ["OpenReward"]
    assert trainer._pending_metrics["openreward/failed"] == [0.4]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_advantages_are_those_trl_computes() -> None:
    """TRL's mean and deviation leave out what has no reward, as ours do; its unit is ours too."""
    torch = pytest.importorskip("torch")
    utils = pytest.importorskip("trl.trainer.utils")
    from openreward.train.advantages import group_advantages

    rewards = [1.1, 0.0, 1.0, None, 1.2, 0.0, 0.05, None]
    row = torch.tensor([[math.nan if r is None else r for r in rewards]], dtype=torch.float64)
    theirs = (row - torch.nanmean(row, dim=1)) / (utils.nanstd(row, dim=1) + 1e-4)
    expected = torch.nan_to_num(theirs, nan=0.0)[0].tolist()
    assert group_advantages(rewards) == pytest.approx(expected, rel=1e-6)  # it corrects in float32
