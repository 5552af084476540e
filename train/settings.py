"""The settings of a GRPO run, as a config file holds them; every default is our choice.

What TRL's GRPOConfig knows stands under `trainer`, by TRL's own names, save what is ours to set.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, JsonValue, model_validator

from openreward.train.engines.base import EngineName
from openreward.train.rewards import RewardSettings
from openreward.train.rollout import RolloutSettings
from openreward.train.rows import Orders
from openreward.types import Record


def _at_home(path: Path) -> Path:
    return path.expanduser()


File = Annotated[Path, AfterValidator(_at_home)]

OURS = {  # of GRPOConfig's keys: what sets them here
    "output_dir": "output",
    "seed": "seed",
    "data_seed": "seed",
    "temperature": "rollout.temperature",
    "top_p": "rollout.top_p",
    "top_k": "rollout.top_p",
    "min_p": "rollout.top_p",
    "repetition_penalty": "nothing: sampling is not bent",
    "max_completion_length": "rollout.limits.total_tokens",
    "max_prompt_length": "rollout.query_tokens and rollout.answer_tokens",
    "use_vllm": "engine.name",
    "vllm_mode": "engine.name",
    "vllm_server_base_url": "engine.url",
    "vllm_server_host": "engine.url",
    "vllm_server_port": "engine.url",
    "reward_weights": "reward",
    "scale_rewards": "advantages",
    "eval_strategy": "evaluation",
    "remove_unused_columns": "nothing: the target is a column",
    "mask_truncated_completions": "nothing: a cut verdict is a wrong one",
}


class DataSettings(Record):
    """Labelled pairs to train on."""

    files: tuple[File, ...] = Field(min_length=1)
    orders: Orders = "both"
    unusable_share: float = Field(default=0.0, ge=0, le=1)  # of the rows; more stop the run


class LoraSettings(Record):
    """A new adapter (peft); `alpha` over `rank` is its scale."""

    rank: int = Field(default=16, ge=1)
    alpha: float = Field(default=32, gt=0)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj")


class ModelSettings(Record):
    """The model; with neither `lora` nor `adapter` all its weights are trained."""

    path: str  # a folder, or a hub id
    dtype: Literal["float32", "bfloat16", "float16"] = "bfloat16"
    lora: LoraSettings | None = None
    adapter: File | None = None  # one to go on with, such as the warm start's
    attention: str | None = None  # attn_implementation of transformers

    @model_validator(mode="after")
    def _one_adapter(self) -> ModelSettings:
        if self.lora is not None and self.adapter is not None:
            raise ValueError(
                "expected lora (a new adapter) or adapter (one to go on with), got both"
            )
        return self


class EngineSettings(Record):
    """What generates the rollouts."""

    name: EngineName = "transformers"
    plugin: str | None = None  # module:factory of an engine of your own, instead of a name
    url: str | None = None  # vllm-server
    served: str | None = None  # vllm-server: the base model's name there
    adapters: File | None = None  # vllm-server: a folder that trainer and server both see
    gguf: File | None = None  # llama.cpp: the same base model
    slots: int = Field(default=8, ge=1)  # llama.cpp
    batch: int = Field(default=64, ge=1)  # transformers: rows at once
    context: int | None = Field(default=None, ge=256)  # tokens; None: the model's

    @model_validator(mode="after")
    def _has_its_own(self) -> EngineSettings:
        if self.name == "vllm-server" and self.url is None:
            raise ValueError("expected engine.url, the address of the vLLM server, got none")
        if self.name == "llama.cpp" and self.gguf is None:
            raise ValueError("expected engine.gguf, the base model as a GGUF file, got none")
        return self


class ToolSettings(Record):
    """Local indexes by source: the tools a rollout has."""

    indexes: dict[str, File] = {}
    passages: int = Field(default=3, ge=1)


class EvaluationSettings(Record):
    """Held-out pairs, judged greedily in both orders without a grammar."""

    files: tuple[File, ...] = ()
    every: int = Field(default=10, ge=1)  # steps
    limit: int | None = Field(default=None, ge=1)  # pairs, drawn by the seed
    at_start: bool = True


class GrpoSettings(Record):
    """Everything of a run."""

    output: File
    seed: int = Field(default=0, ge=0)
    device: Literal["auto", "cpu", "cuda"] = "auto"
    data: DataSettings
    model: ModelSettings
    engine: EngineSettings = EngineSettings()
    tools: ToolSettings = ToolSettings()
    rollout: RolloutSettings = RolloutSettings()
    reward: RewardSettings = RewardSettings()
    advantages: Literal["group", "none"] = "group"  # divided by the group's deviation, or not
    evaluation: EvaluationSettings = EvaluationSettings()
    samples: int = Field(default=4, ge=0)  # trajectories kept of every step
    trainer: dict[str, JsonValue] = {}
