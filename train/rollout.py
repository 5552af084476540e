"""TRL's `rollout_func` around the one agent loop: prompts in, token-exact trajectories out.

All rollouts of a process are in flight at once, each as the judge would run it: same texts, same
loop, a seed of its own. No grammar holds their last turn, for the logprobs would not be those of
what was sampled. A rollout that failed by its engine or services has nothing to learn from: one
token, mask 0, and its reward is None. Any other rollout without a sampled token is an error.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from pydantic import Field

from openreward.agent import Limits, together
from openreward.counting import failed_by_service
from openreward.errors import PolicyError, UserError, shorten
from openreward.judge import Judge, JudgeSettings
from openreward.policy.base import Policy
from openreward.tools.base import Tool
from openreward.train.advantages import is_flat
from openreward.train.engines.base import RolloutEngine
from openreward.train.loop_thread import LoopThread
from openreward.train.rewards import RewardSettings, reward_parts
from openreward.train.rows import TrainingRow
from openreward.train.traces import Attached, trace_of
from openreward.types import PolicyFault, Record, Trajectory, Verdict

_OF_ALL: tuple[PolicyFault, ...] = ("unreachable", "unauthorized", "unknown_model")


class RolloutSettings(Record):
    """How rollouts are sampled, and when too many of them fail."""

    seed: int = 0
    limits: Limits = Limits()
    temperature: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    top_p: float = Field(default=1.0, gt=0, le=1)
    query_tokens: int = Field(default=600, ge=16)
    answer_tokens: int = Field(default=700, ge=16)
    in_flight: int = Field(default=256, ge=1)  # of one process
    failed_share: float = Field(default=0.25, ge=0, le=1)  # a run with more failures stops
    failed_window: int = Field(default=64, ge=1)  # of the last so many rollouts
    resample: int = Field(default=0, ge=0)  # rounds for groups whose rewards are all the same

    def judge(self) -> JudgeSettings:
        """The settings of a judge that runs the same trajectories; no grammar holds them."""
        return JudgeSettings(
            temperature=self.temperature,
            top_p=self.top_p,
            seed=self.seed,
            query_tokens=self.query_tokens,
            answer_tokens=self.answer_tokens,
            limits=self.limits.model_copy(update={"grammar": False}),
        )


class Place(NamedTuple):
    """Which generation of a run this is: that of a step, and its number among those of the step."""

    step: int
    call: int
    first: int  # number of this process's first rollout among all of the generation
    total: int  # rollouts of all processes


class Batch(NamedTuple):
    """The rollouts of one call, and the seconds they took; `again` are those of flat groups."""

    place: Place
    rows: tuple[TrainingRow, ...]
    trajectories: tuple[Trajectory, ...]
    seconds: float
    again: int = 0


Observer = Callable[[Batch], None]


class Rollouts:
    """The rollouts of one process; `open` before the first, `close` after the last."""

    def __init__(
        self,
        rows: Mapping[str, TrainingRow],
        engine: RolloutEngine,
        tools: Sequence[Tool],
        reward: RewardSettings,
        settings: RolloutSettings,
        *,
        blank: int = 0,
    ) -> None:
        """`blank` is the token that stands for a failed rollout: the tokenizer's padding."""
        self.engine = engine
        self.settings = settings
        self._rows = rows
        self._tools = tuple(tools)
        self._reward = reward
        self._blank = blank
        self._loop = LoopThread()
        self._judge: Judge | None = None
        self._failed: deque[bool] = deque(maxlen=settings.failed_window)

    @property
    def policy(self) -> Policy:
        """The engine as a policy; open only."""
        assert self._judge is not None
        return self._judge.policy

    @property
    def loop(self) -> LoopThread:
        """The loop in which the policy's connections live."""
        return self._loop

    def open(self) -> None:
        """Start the loop and the engine; raises `PolicyError` or `UserError`."""
        self._loop.__enter__()
        try:
            policy = self._loop.run(self.engine.open())
        except BaseException:
            self._loop.__exit__(None, None, None)
            raise
        if policy.path != "token":
            self.close()
            raise UserError(
                f"expected an engine that takes and gives token ids, got {shorten(policy.model)} "
                "on the chat path; train against vLLM, llama.cpp or the trainer's own model"
            )
        self._judge = Judge(policy, self._tools, self.settings.judge())

    def close(self) -> None:
        """End the engine and the loop."""
        try:
            self._loop.run(self.engine.close())
        finally:
            self._loop.__exit__(None, None, None)

    def update(self, model: object, step: int, state: object | None = None) -> None:
        """Give the engine new weights."""
        self._loop.run(self.engine.update(model, step, state))

    def run(self, ids: Sequence[str], place: Place, group: int = 1) -> Batch:
        """A rollout for each row's id. Rows of a group stand together, `group` of each.

        Raises `PolicyError` where the engine would fail every rollout, `UserError` where too many
        of them fail.
        """
        rows = tuple(self._row(id) for id in ids)
        started = time.monotonic()
        made, again = self._loop.run(self._all(rows, place, group))
        self._watch(made)
        return Batch(place, rows, tuple(made), time.monotonic() - started, again)

    def fields(self, batch: Batch) -> dict[str, list[object]]:
        """What TRL wants of a batch: ids, logprobs, the mask, and the trajectories beside."""
        traces = [trace_of(made, self._blank) for made in batch.trajectories]
        return {
            "prompt_ids": [trace.prompt_ids for trace in traces],
            "completion_ids": [trace.completion_ids for trace in traces],
            "logprobs": [trace.logprobs for trace in traces],
            "env_mask": [trace.mask for trace in traces],
            "trajectory": [Attached(made) for made in batch.trajectories],
        }

    async def _all(
        self, rows: Sequence[TrainingRow], place: Place, group: int
    ) -> tuple[list[Trajectory], int]:
        gate = asyncio.Semaphore(self.settings.in_flight)
        numbers = list(range(len(rows)))
        made: dict[int, Trajectory] = {}
        again = 0
        for attempt in range(self.settings.resample + 1):
            found = await together(
                [self._one(rows[n], self._vote(place, n, attempt), gate) for n in numbers]
            )
            made.update(zip(numbers, found, strict=True))
            if attempt == self.settings.resample:
                break
            flat = [each for each in _groups(rows, group) if self._flat(rows, made, each)]
            numbers = [n for each in flat for n in each]
            again += len(numbers)
            if not numbers:
                break
        return [made[n] for n in range(len(rows))], again

    async def _one(self, row: TrainingRow, vote: int, gate: asyncio.Semaphore) -> Trajectory:
        assert self._judge is not None
        async with gate:
            try:
                return (await self._judge.once(row.pair, row.order, vote=vote)).trajectory
            except PolicyError as error:  # at counting tokens, before the loop began
                return _unstarted(row, self._judge.policy, error)

    def _vote(self, place: Place, number: int, attempt: int) -> int:
        """A number of its own for each rollout of a run; the seed follows from it."""
        one = (place.step * 1000 + place.call) * place.total + place.first + number
        return one * (self.settings.resample + 1) + attempt

    def _flat(
        self, rows: Sequence[TrainingRow], made: Mapping[int, Trajectory], group: Sequence[int]
    ) -> bool:
        parts = [reward_parts(made[n], rows[n].target, self._reward) for n in group]
        return is_flat([each.reward for each in parts if each.reward is not None])

    def _row(self, id: object) -> TrainingRow:
        row = self._rows.get(id) if isinstance(id, str) else None
        if row is None:
            raise UserError(
                f"expected the id of a training row as prompt, got {shorten(id)}; make the dataset "
                "with TrainingRows.table()"
            )
        return row

    def _watch(self, made: Sequence[Trajectory]) -> None:
        for each in made:
            if each.fault in _OF_ALL:
                raise PolicyError(each.fault, f"rollouts: {each.error}")
            self._failed.append(failed_by_service(each))
        failed, seen = sum(self._failed), len(self._failed)
        full = seen == self._failed.maxlen or failed == seen
        if full and failed > self.settings.failed_share * seen:
            why = next((each.error for each in made if each.error), "every search of theirs failed")
            raise UserError(
                f"expected at most {self.settings.failed_share:.0%} of the rollouts to fail by the "
                f"engine or the services, got {failed} of the last {seen} ({shorten(why, 200)}); "
                "mend those, then --resume"
            )


def _groups(rows: Sequence[TrainingRow], group: int) -> list[list[int]]:
    """The places of each group, which must lie whole in the batch; raises `UserError`."""
    places = [list(found) for _, found in groupby(range(len(rows)), key=lambda n: rows[n].id)]
    if any(len(each) % group for each in places):
        raise UserError(
            f"resample: expected whole groups of {group} on every process, got groups of "
            f"{', '.join(str(len(each)) for each in places[:5])}; give a process a multiple of "
            "num_generations, or set rollout.resample to 0"
        )
    return [each[n : n + group] for each in places for n in range(0, len(each), group)]


def _unstarted(row: TrainingRow, policy: Policy, error: PolicyError) -> Trajectory:
    return Trajectory(
        task=row.pair.id,
        path=policy.path,
        model=policy.model,
        prompt=(),
        turns=(),
        evidence=(),
        verdict=Verdict(status="error"),
        stop_reason="policy_error",
        error=str(error),
        fault=error.fault,
    )
