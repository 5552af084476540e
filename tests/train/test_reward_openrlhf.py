"""The reward in OpenRLHF: as its executor calls it, and by its own code where it is installed."""

from __future__ import annotations

import asyncio
import importlib.util
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
import uvicorn

from openreward.errors import UserError
from openreward.train.reward_inputs import NoReward
from openreward.train.reward_openrlhf import completion_of, reward_app, rewards_of
from openreward.train.rewards import RewardSettings

sys.path.insert(0, str(Path(__file__).parent))

from judged import TARGET, WRONG, judged, pubmed, wiki

PROMPT = "<|im_start|>user\nEnd with <answer>A</answer> or <answer>B</answer>.<|im_end|>\n"
GOOD, BAD, UNREAD = "Zinc helps.<answer>B</answer><|im_end|>", "<answer>A</answer>", "B."
LABEL = TARGET.model_dump_json()
NO_TOOL = RewardSettings(gate="no_tool")
REWARD_FILE = """
from openreward.train.reward_openrlhf import RewardFunction
from openreward.train.rewards import reward_settings

reward_func = RewardFunction(reward_settings({"gate": "no_tool", "em_range": [-1, 1]}))
"""
LOGS = {"accuracy", "exact_match", "tool", "in_form", "calls", "right_calls"}


@contextmanager
def remote(settings: RewardSettings) -> Iterator[str]:
    """The remote reward model on a port of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        config = uvicorn.Config(reward_app(settings), log_level="error", lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}/get_reward"
        finally:
            server.should_exit = True
            thread.join(timeout=30)


def payload(*completions: str, **more: Any) -> dict[str, Any]:
    """What `SingleTurnAgentExecutor._fetch_rewards_via_http` of OpenRLHF 0.11.2 posts."""
    return {
        "query": [PROMPT + completion for completion in completions],
        "prompts": [PROMPT] * len(completions),
        "labels": [LABEL] * len(completions),
        **more,
    }


def test_a_completion_is_rewarded_by_its_verdict() -> None:
    query = [PROMPT + completion for completion in (GOOD, BAD, UNREAD)]
    found = rewards_of(query, [PROMPT] * 3, [LABEL] * 3, None, NO_TOOL)
    assert (found.rewards, found.scores) == ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0])
    assert found.extra_logs["in_form"] == [1.0, 1.0, 0.0]
    assert found.extra_logs.keys() == LOGS


def test_trajectories_bring_the_tool_term() -> None:
    made = [judged((pubmed("zinc"), wiki("zinc"))), judged((pubmed("zinc"),), verdict=WRONG)]
    texts = [each.model_dump_json() for each in made]
    found = rewards_of(["", ""], ["", ""], [LABEL] * 2, texts, RewardSettings())
    assert (found.rewards, found.scores) == ([1.1, 0.0], [1.0, 0.0])


def test_a_rollout_that_failed_raises_as_there_is_no_row_without_a_reward() -> None:
    made = [judged((pubmed("zinc", "timeout"),))]
    with pytest.raises(NoReward, match="'p1'"):
        rewards_of([""], [""], [LABEL], made, RewardSettings())


def test_text_alone_is_refused_where_tools_count() -> None:
    with pytest.raises(UserError, match="attach it, or set gate no_tool"):
        rewards_of([PROMPT + GOOD], [PROMPT], [LABEL], None, RewardSettings())


def test_a_query_that_does_not_begin_with_its_prompt_is_refused() -> None:
    assert completion_of(PROMPT + GOOD, PROMPT) == GOOD
    with pytest.raises(UserError, match="raise the limit"):
        completion_of(PROMPT[5:] + GOOD, PROMPT)


def test_rows_of_different_counts_are_refused() -> None:
    with pytest.raises(UserError, match="got 2, 1, 1, 2"):
        rewards_of(["", ""], [""], [LABEL], None, NO_TOOL)


def test_the_remote_answers_as_the_executor_reads_it() -> None:
    """It takes `rewards`, `scores` and `extra_logs` of the first answer, and makes tensors."""
    with remote(NO_TOOL) as address:
        answer = httpx.post(address, json=payload(GOOD)).json()
    assert (answer["rewards"], answer["scores"]) == ([1.0], [1.0])
    assert answer["extra_logs"].keys() == LOGS


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"{", 400, "request: "),
        (b'{"query": ["a"]}', 400, "request: "),
        (b'{"query": ["a"], "prompts": ["a"], "labels": ["B"]}', 422, "expected a target"),
        (b'{"query": ["b"], "prompts": ["a"], "labels": []}', 422, "got 1, 1, 0, 1"),
        (b"\xff\xfe", 400, "request: "),
    ],
)
def test_the_remote_says_what_is_wrong_with_a_request(
    body: bytes, status: int, message: str
) -> None:
    with remote(NO_TOOL) as address:
        answer = httpx.post(address, content=body)
    assert answer.status_code == status
    assert message in answer.json()["error"]


def test_the_remote_refuses_a_failed_rollout() -> None:
    failed = judged((pubmed("zinc", "timeout"),)).model_dump_json()
    with remote(RewardSettings()) as address:
        answer = httpx.post(address, json=payload(GOOD, trajectories=[failed]))
    assert answer.status_code == 422
    assert "the engine or every search of this rollout failed" in answer.json()["error"]


Execute = Callable[[str, str], dict[str, Any]]


def as_the_executor_calls(endpoint: str, completion: str) -> dict[str, Any]:
    """`SingleTurnAgentExecutor` of OpenRLHF 0.11.2 (utils/agent.py), written after its source.

    A .py file is loaded as a module of its own name and `reward_func(queries, prompts, labels)` is
    called for one row in a thread; `scores` fall back to `rewards`; `_process_response_into_
    experience` (trainer/ppo_utils/samples_generator.py) wraps each value in `torch.tensor([...])`.
    """
    torch = pytest.importorskip("torch")
    spec = importlib.util.spec_from_file_location("reward_func", endpoint)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    row = ([PROMPT + completion], [PROMPT], [LABEL])
    info = asyncio.run(asyncio.to_thread(module.reward_func, *row))
    score = info.get("scores")
    assert score is not None
    for value in info["extra_logs"].values():
        assert torch.tensor([value.flatten()[0].item()]).shape == (1,)
    return {"reward": info["rewards"], "scores": score, "extra_logs": info["extra_logs"]}


def as_openrlhf_itself_calls(endpoint: str, completion: str) -> dict[str, Any]:
    """The same through OpenRLHF's executor; the tokenizer and the engine are tables of texts."""
    agent = pytest.importorskip("openrlhf.utils.agent")
    import torch

    class Tokenizer:
        def __call__(self, text: str, **_: Any) -> dict[str, Any]:
            return {"input_ids": torch.tensor([[1, 2]])}

        def decode(self, ids: list[int], skip_special_tokens: bool) -> str:
            assert not skip_special_tokens
            return PROMPT + completion

    class Engine:
        async def generate(self, ids: list[int], params: Any, multi_modal_data: Any) -> Any:
            output = SimpleNamespace(token_ids=[3], logprobs=None, finish_reason="stop")
            return SimpleNamespace(outputs=[output])

    async def run() -> dict[str, Any]:
        sampling = SimpleNamespace(max_tokens=8, logprobs=None)
        executor = agent.SingleTurnAgentExecutor(endpoint)
        made: dict[str, Any] = await executor.execute(
            PROMPT, LABEL, sampling, 64, Tokenizer(), Engine()
        )
        return made

    return asyncio.run(run())


both = pytest.mark.parametrize(
    "execute",
    [
        as_the_executor_calls,
        pytest.param(
            as_openrlhf_itself_calls,
            marks=[pytest.mark.slow, pytest.mark.filterwarnings("ignore")],
        ),
    ],
)


@both
@pytest.mark.parametrize(
    ("completion", "reward", "score"), [(GOOD, 1.0, 1.0), (BAD, -1.0, 0.0), (UNREAD, -1.0, 0.0)]
)
def test_a_reward_file_gives_tensors_of_one_value(
    execute: Execute, completion: str, reward: float, score: float, tmp_path: Path
) -> None:
    file = tmp_path / "my_reward.py"
    file.write_text(REWARD_FILE)
    made = execute(str(file), completion)
    assert (made["reward"].shape, made["reward"].tolist()) == ((1,), [reward])
    assert made["scores"].tolist() == [score]
    assert made["extra_logs"].keys() == LOGS


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_openrlhfs_executor_takes_the_remotes_answer() -> None:
    with remote(NO_TOOL) as address:
        made = as_openrlhf_itself_calls(address, GOOD)
    assert (made["reward"], made["scores"]) == ([1.0], [1.0])
    assert made["extra_logs"]["accuracy"] == [1.0]
