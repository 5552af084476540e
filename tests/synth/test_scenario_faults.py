from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from openreward.errors import PolicyError
from openreward.policy.base import Conversation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.synth.scenario_records import Drop, Score
from openreward.synth.writer import Writer
from openreward.types import PolicyFault

sys.path.insert(0, str(Path(__file__).parent))

from scenario_runs import build, construction, prompt, writers

GOOD, FAIR, POOR = "worth 4.5 x", "worth 3 x", "worth 2 x"


def failing(fault: PolicyFault) -> ScriptedPolicy:
    def script(conversation: Conversation, sampling: Sampling) -> str:
        raise PolicyError(fault, "the engine is broken")

    return ScriptedPolicy(script)


@pytest.mark.parametrize("fault", ["unreachable", "unauthorized", "unknown_model"])
def test_a_fault_of_all_prompts_stops_the_run(fault: PolicyFault) -> None:
    made = construction([*writers(GOOD, FAIR), Writer(failing(fault), "broken")])
    with pytest.raises(PolicyError, match="the engine is broken; then go on with --resume"):
        build(made)


def test_a_writer_that_fails_costs_its_answer_only() -> None:
    row = build(construction([*writers(GOOD, FAIR), Writer(failing("timeout"), "broken")]))
    assert (row.drop, row.fault) == (None, "timeout")
    assert (row.answers[2].status, row.answers[2].detail) == ("error", "the engine is broken")


def test_a_judge_that_fails_drops_the_prompt_where_it_was() -> None:
    made = construction(writers(GOOD, FAIR))
    made.judge = Writer(failing("context_overflow"), "judge")
    row = build(made)
    assert row.drop == Drop(step="classes", reason="error", detail="the engine is broken")
    assert row.fault == "context_overflow"


def test_a_judge_that_fails_at_a_score_leaves_no_score() -> None:
    def score(text: str, sampling: Sampling) -> str:
        if "worth 3 x" in text:
            raise PolicyError("timeout", "too slow")
        return "<answer>4</answer>" if "4.5" in text else "<answer>2</answer>"

    row = build(construction(writers(GOOD, FAIR, POOR), score=score))
    found = [each.score for each in row.answers]
    assert found == [
        Score(status="ok", value=4),
        Score(status="error"),
        Score(status="ok", value=2),
    ]
    assert (row.drop, row.fault) == (None, "timeout")


def test_a_cancelled_prompt_leaves_no_task_behind() -> None:
    async def cancel() -> int:
        made = construction(writers(GOOD, FAIR))
        made.judge = Writer(ScriptedPolicy(["x"], delay=60), "judge")
        task = asyncio.create_task(made.build(prompt()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(asyncio.all_tasks())

    assert asyncio.run(cancel()) == 1
