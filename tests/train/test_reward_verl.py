"""The reward in verl: called as its manager calls it, and by its own code where installed."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from openreward.errors import UserError
from openreward.train.reward_inputs import NoReward
from openreward.train.reward_verl import compute_score
from openreward.types import Trajectory

sys.path.insert(0, str(Path(__file__).parent))

from judged import TARGET, WRONG, judged, pubmed, target, wiki

Manager = Callable[..., dict[str, Any]]
GOOD = judged((pubmed("zinc"), wiki("zinc")))
FAILED = judged((pubmed("zinc", "timeout"),))
TRUTH = TARGET.model_dump_json()


def fields(made: Trajectory | None) -> dict[str, Any]:
    """What an agent loop leaves in its output's `extra_fields`."""
    return {} if made is None else {"trajectory": made.model_dump_json()}


def as_verl_calls(
    text: str, made: Trajectory | None, turns: int = 2, truth: str = TRUTH, **reward_kwargs: Any
) -> dict[str, Any]:
    """The way of a score in verl 0.9.1, written after its sources.

    `get_custom_reward_fn` (trainer/ppo/reward.py) binds `reward_kwargs`; `NaiveRewardManager`
    (experimental/reward_loop/reward_manager/naive.py) adds the agent loop's extra fields, the
    number of turns and `rollout_reward_scores` to the row's `extra_info`, calls by keywords, and
    takes a dict's "score"; every value of the dict becomes a metric.
    """
    raw = partial(lambda bound, **given: compute_score(**{**given, **bound}), reward_kwargs)
    extra_info: dict[str, Any] = {"index": 0}
    extra_info.update(fields(made).items())
    extra_info["num_turns"] = np.int32(turns)
    extra_info["rollout_reward_scores"] = {}
    result = raw(
        data_source="openreward", solution_str=text, ground_truth=truth, extra_info=extra_info
    )
    return {"reward_score": result["score"], "reward_extra_info": dict(result)}


def as_verl_itself_calls(
    text: str, made: Trajectory | None, turns: int = 2, truth: str = TRUTH, **reward_kwargs: Any
) -> dict[str, Any]:
    """The same through verl's own functions; the tokenizer is a table of one text."""
    reward = pytest.importorskip("verl.trainer.ppo.reward")
    naive = pytest.importorskip("verl.experimental.reward_loop.reward_manager.naive")
    import torch
    from omegaconf import OmegaConf
    from verl import DataProto

    function = {
        "path": "pkg://openreward.train.reward_verl",
        "name": "compute_score",
        "reward_kwargs": reward_kwargs,
    }
    config = OmegaConf.create({"reward": {"custom_reward_function": function}})
    data = DataProto.from_dict(
        tensors={
            "responses": torch.ones(1, 3, dtype=torch.int64),
            "attention_mask": torch.ones(1, 5, dtype=torch.int64),
        },
        non_tensors={
            "data_source": np.array(["openreward"], dtype=object),
            "reward_model": np.array([{"ground_truth": truth}], dtype=object),
            "extra_info": np.array([{"index": 0}], dtype=object),
            "tool_extra_fields": np.array([fields(made)], dtype=object),
            "__num_turns__": np.array([turns]),
        },
    )
    tokenizer = SimpleNamespace(decode=lambda ids, skip_special_tokens: text)

    async def run() -> dict[str, Any]:
        score = reward.get_custom_reward_fn(config)
        found: dict[str, Any] = await naive.NaiveRewardManager(config, tokenizer, score).run_single(
            data
        )
        return found

    return asyncio.run(run())


both = pytest.mark.parametrize(
    "score",
    [
        as_verl_calls,
        pytest.param(
            as_verl_itself_calls,
            marks=[pytest.mark.slow, pytest.mark.filterwarnings("ignore")],
        ),
    ],
)


@both
def test_the_score_is_that_of_the_attached_trajectory(score: Manager) -> None:
    found = score("whatever the text says: <answer>A</answer>", GOOD, turns=5)
    assert found["reward_score"] == 1.1
    assert found["reward_extra_info"] == {
        "score": 1.1,
        "acc": 1.0,
        "accuracy": 1.0,
        "exact_match": 1.0,
        "tool": 0.5,
        "in_form": 1.0,
        "calls": 2.0,
        "right_calls": 1.0,
    }


@both
def test_reward_kwargs_are_the_settings(score: Manager) -> None:
    made = judged((pubmed("zinc"),), verdict=WRONG)
    kwargs = {"gate": "none", "em_range": [-1, 1], "tool_weight": 0.5}
    assert score("", made, **kwargs)["reward_score"] == -0.5


@both
def test_a_rollout_that_failed_raises_which_leaves_it_out_of_its_group(score: Manager) -> None:
    with pytest.raises(NoReward, match="the engine or every search of this rollout failed"):
        score("<answer>B</answer>", FAILED)


@both
def test_one_turn_of_text_is_read_where_no_tool_counts(score: Manager) -> None:
    right = score("Zinc does help.\n<answer>B</answer>", None, gate="no_tool")
    wrong = score("<answer>A</answer>", None, gate="no_tool")
    unread = score("<answer>A</answer> or <answer>B</answer>", None, gate="no_tool")
    scores = [found["reward_score"] for found in (right, wrong, unread)]
    assert scores == [1.0, 0.0, 0.0]
    assert right["reward_extra_info"].keys() == unread["reward_extra_info"].keys()


@pytest.mark.parametrize("gate", ["outcome", "none"])
def test_text_alone_is_refused_where_tools_count(gate: str) -> None:
    with pytest.raises(UserError, match="attach it, or set gate no_tool"):
        as_verl_calls("<answer>B</answer>", None, gate=gate)


def test_text_of_several_turns_is_refused_as_a_page_could_hold_a_verdict() -> None:
    with pytest.raises(UserError, match="got text of 5 turns"):
        as_verl_calls("<tool_response><answer>B</answer>", None, turns=5, gate="no_tool")


@pytest.mark.parametrize(
    ("truth", "kwargs", "message"),
    [
        ("B", {}, "expected a target as target_of"),
        (target(tool=None).model_dump_json(), {}, "expected a target with a tool"),
        (TRUTH, {"gaet": "none"}, "did you mean gate?"),
    ],
)
def test_wrong_rows_and_settings_are_refused(
    truth: str, kwargs: dict[str, Any], message: str
) -> None:
    with pytest.raises(UserError) as refused:
        as_verl_calls("", GOOD, truth=truth, **kwargs)
    assert message in str(refused.value)


def test_an_extra_info_of_none_is_no_trajectory() -> None:
    found = compute_score("openreward", "<answer>B</answer>", TRUTH, None, gate="no_tool")
    assert found["score"] == 1.0


def test_verl_calls_it_in_a_thread_as_it_is_no_coroutine() -> None:
    assert not inspect.iscoroutinefunction(compute_score)
