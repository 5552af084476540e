"""Everything of a run that can be known before a model is loaded, and refused there.

Data, tools, tokenizer and its template, lengths, the engine's address, devices: what is wrong with
any of them is a `UserError` here, not a traceback at step 400.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from openreward import prompts
from openreward.errors import UserError, shorten
from openreward.policy.token_path import find_traits, fit
from openreward.tools.base import Tool
from openreward.tools.sources import local_tools
from openreward.train.engine_choice import check_sampling, make_engine
from openreward.train.engines.base import Parallelism, RolloutEngine, check_parallelism
from openreward.train.engines.in_process import ModelEngine
from openreward.train.evaluation import HeldOut
from openreward.train.lengths import Lengths, check_lengths, measure_lengths
from openreward.train.memory import Memory, estimate
from openreward.train.model_loading import check_device, load_tokenizer
from openreward.train.rows import TrainingRows, check_share, read_training_rows
from openreward.train.settings import GrpoSettings
from openreward.train.template_check import TemplateCheck, check_template
from openreward.train.trainer_arguments import check_trainer_keys
from openreward.types import Task

_BYTES = {"float32": 4, "bfloat16": 2, "float16": 2}


class Prepared(NamedTuple):
    """A run that is ready to load its model."""

    settings: GrpoSettings
    rows: TrainingRows
    tools: tuple[Tool, ...]
    tokenizer: Any
    config: Any  # transformers' of the model
    context: int
    template: TemplateCheck
    lengths: Lengths
    engine: RolloutEngine
    held_out: HeldOut | None
    memory: Memory

    def lines(self) -> list[str]:
        """What a dry run says."""
        found, settings = self.lengths, self.settings
        pairs = {row.pair.id for row in self.rows.rows}
        return [
            f"data: {len(self.rows.rows)} rows of {len(pairs)} pairs, "
            f"{len(self.rows.unusable)} unusable",
            *(f"  {each.file}, {each.message}" for each in self.rows.unusable[:10]),
            f"tools: {', '.join(tool.spec.name for tool in self.tools) or 'none'}",
            self.template.words(),
            f"prompts: {found.longest} tokens at most (row {shorten(found.row)}), "
            f"{found.mean:.0f} on average, {found.frame} of them instructions",
            f"room: {min(settings.rollout.limits.total_tokens, self.context)} tokens a trajectory",
            f"engine: {self.engine.name}",
            f"parameters: {self.memory.parameters:,}, trained {self.memory.trained:,}",
            f"memory, estimated: {self.memory.words()}",
        ]


def prepare(settings: GrpoSettings, environment: Mapping[str, str]) -> Prepared:
    """Check a run; `environment` is where the launcher says how the model will lie."""
    check_device(settings.device)
    check_trainer_keys(settings)
    check_sampling(settings)
    how = parallelism(environment)
    tools = tuple(local_tools(settings.tools.indexes, settings.tools.passages))
    rows = _rows(settings, tools)
    tokenizer, config = load_tokenizer(settings.model.path)
    context = _context(settings, config)
    engine = make_engine(settings, tokenizer, context)
    check_parallelism(engine.name, engine.in_process, how)
    asyncio.run(engine.check())
    template = asyncio.run(check_template(tokenizer))
    lengths = _lengths(settings, rows, tokenizer, tools, context)
    held_out = _held_out(settings, tools)
    memory = _memory(settings, config, lengths, how)
    return Prepared(
        settings,
        rows,
        tools,
        tokenizer,
        config,
        context,
        template,
        lengths,
        engine,
        held_out,
        memory,
    )


def parallelism(environment: Mapping[str, str]) -> Parallelism:
    """How `accelerate launch` was told to lay the model out."""
    deepspeed = environment.get("ACCELERATE_USE_DEEPSPEED") == "true"
    stage = environment.get("ACCELERATE_DEEPSPEED_ZERO_STAGE", "2") if deepspeed else "0"
    tensor = environment.get("PARALLELISM_CONFIG_TP_SIZE", "1")
    return Parallelism(
        processes=int(environment.get("WORLD_SIZE", "1")),
        fsdp=environment.get("ACCELERATE_USE_FSDP") == "true",
        zero_stage=int(stage),
        tensor_parallel=int(tensor),
    )


def _rows(settings: GrpoSettings, tools: Sequence[Tool]) -> TrainingRows:
    names = [tool.spec.name for tool in tools]
    data = settings.data
    rows = read_training_rows(
        data.files, names, settings.reward, orders=data.orders, seed=settings.seed
    )
    check_share(rows, data.unusable_share)
    return rows


def _context(settings: GrpoSettings, config: Any) -> int:
    most = int(getattr(config, "max_position_embeddings", 0) or 1 << 20)
    asked = settings.engine.context
    if asked is not None and asked > most:
        raise UserError(f"engine.context: expected at most the model's {most} tokens, got {asked}")
    return asked or most


def _lengths(
    settings: GrpoSettings,
    rows: TrainingRows,
    tokenizer: Any,
    tools: Sequence[Tool],
    context: int,
) -> Lengths:
    engine = ModelEngine(tokenizer, context)
    task = Task(id="row", query="", responses=("", ""))
    specs = tuple(tool.spec for tool in tools)

    async def frame() -> int:
        traits = await find_traits(engine)
        style = "template" if traits.tools else "prompt"
        opening = prompts.opening(task, specs, style)  # type: ignore[arg-type]
        native = specs if traits.tools else ()
        return len(await engine.prompt(fit(opening, traits), native))

    def count(text: str) -> int:
        return len(tokenizer.encode(text, add_special_tokens=False))

    found = measure_lengths(rows.rows, asyncio.run(frame()), count, settings.rollout)
    check_lengths(found, settings.rollout, context)
    return found


def _held_out(settings: GrpoSettings, tools: Sequence[Tool]) -> HeldOut | None:
    wanted = settings.evaluation
    if not wanted.files:
        return None
    return HeldOut(
        wanted.files,
        tools,
        settings.rollout.judge().model_copy(update={"seed": settings.seed}),
        settings.output / "evaluation",
        limit=wanted.limit,
        concurrency=settings.rollout.in_flight,
    )


def _memory(settings: GrpoSettings, config: Any, lengths: Lengths, how: Parallelism) -> Memory:
    lora = settings.model.lora
    limits = settings.rollout.limits
    tokens = min(limits.total_tokens, lengths.longest + limits.turns * limits.turn_tokens)
    rows = settings.trainer.get("per_device_train_batch_size", 8)
    return estimate(
        config,
        bytes_each=_BYTES[settings.model.dtype],
        lora_rank=lora.rank if lora else None,
        lora_targets=len(lora.targets) if lora else 0,
        rows=rows if isinstance(rows, int) else 8,
        tokens=tokens,
        shards=how.processes if how.fsdp or how.zero_stage >= 3 else 1,
        checkpointing=settings.trainer.get("gradient_checkpointing", True) is not False,
    )
