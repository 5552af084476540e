"""The loop's ends: every stop reason and every limit."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import get_args

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from agent_runs import A_WINS, TASK, Seen, call, find_tool, go, policy, statuses

from openreward.agent import Limits, run
from openreward.errors import PolicyError
from openreward.policy.base import Conversation, Generation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.types import PolicyFault, Trajectory, Usage, Verdict


def test_a_verdict_ends_the_trajectory_with_evidence_and_explanation() -> None:
    found = go([call("height"), A_WINS])
    assert found.stop_reason == "verdict"
    assert found.verdict == Verdict(status="ok", winner=0)
    assert found.explanation == "It is ten [1]."
    assert [(e.number, e.tool, e.query, e.cited) for e in found.evidence] == [
        (1, "find", "height", True)
    ]
    assert (found.error, found.fault) == (None, None)


def test_the_second_letter_is_the_second_answer() -> None:
    assert go(["<answer>B</answer>"]).verdict.winner == 1


def test_a_tie_is_a_verdict_only_where_the_task_allows_it() -> None:
    said = ["Equal. <answer>tie</answer>"]
    allowed = go(said, task=TASK.model_copy(update={"tie": True}))
    assert (allowed.verdict.status, allowed.stop_reason) == ("tie", "verdict")
    refused = go(said * 6)
    assert (refused.verdict.status, refused.stop_reason) == ("unparsed", "no_verdict")
    assert len(refused.turns) == 3  # two that only talk, and the last one


def test_a_principle_is_shown() -> None:
    task = TASK.model_copy(update={"principle": "Shorter is better."})
    assert "Shorter is better." in go([A_WINS], task=task).prompt[1].content


def test_a_last_turn_with_two_verdicts_is_no_verdict() -> None:
    found = go(["<answer>A</answer> no, <answer>B</answer>"], limits=Limits(turns=1))
    assert (found.verdict.status, found.stop_reason) == ("unparsed", "no_verdict")
    assert found.explanation == ""


def test_a_turn_with_two_verdicts_is_told_and_the_model_may_decide() -> None:
    seen = Seen("<answer>A</answer> no, <answer>B</answer>", "<answer>B</answer>")
    assert go(seen).verdict.winner == 1
    assert "held neither a tool call nor a verdict" in seen.last


@pytest.mark.parametrize("text", ["I will not judge this.", A_WINS])
def test_a_refusal_ends_it_whatever_the_text_says(text: str) -> None:
    found = go([Generation(text, finish_reason="refused")])
    assert (found.verdict.status, found.stop_reason) == ("refused", "refused")
    assert found.verdict.winner is None


def test_a_last_turn_cut_at_its_token_limit_is_cut() -> None:
    cut = Generation("It is ten metres because", finish_reason="length")
    found = go([cut], limits=Limits(turns=1))
    assert (found.verdict.status, found.stop_reason) == ("unparsed", "cut")
    assert found.turns[0].finish_reason == "length"


def test_a_cut_turn_before_the_last_goes_on() -> None:
    cut = Generation('<tool_call>{"name": "find", "argu', finish_reason="length")
    found = go([cut, A_WINS])
    assert found.stop_reason == "verdict"
    assert "a tool call could not be read" in found.turns[0].problems[0]


@pytest.mark.parametrize("fault", get_args(PolicyFault))
def test_an_engine_that_fails_leaves_a_record_with_its_fault(fault: PolicyFault) -> None:
    def script(talk: Conversation, sampling: Sampling) -> str:
        if len(talk.messages) == 2:
            return call("height")
        raise PolicyError(fault, "the engine says no")

    found = go(script)
    expected = "context_limit" if fault == "context_overflow" else "policy_error"
    assert (found.stop_reason, found.fault, found.error) == (expected, fault, "the engine says no")
    assert (found.verdict.status, found.verdict.winner) == ("error", None)
    assert statuses(found) == [["ok"]]
    assert len(found.evidence) == 1


def test_an_engine_that_fails_to_count_tokens_leaves_a_record_too() -> None:
    class NoCount(ScriptedPolicy):
        async def count_tokens(self, text: str) -> int:
            raise PolicyError("unreachable", "no tokenizer there")

    found = asyncio.run(run(TASK, NoCount([call("height"), A_WINS]), [find_tool()]))
    assert (found.stop_reason, found.fault) == ("policy_error", "unreachable")
    assert statuses(found) == [["ok"]]


def used(text: str, tokens: int) -> Generation:
    return Generation(text, usage=Usage(prompt_tokens=tokens, completion_tokens=4))


def test_spent_tokens_end_it() -> None:
    found = go([used(call("height"), 250), A_WINS], limits=Limits(total_tokens=256))
    assert (found.stop_reason, found.verdict.status) == ("token_limit", "error")
    assert found.error == "266 of 256 tokens"  # 254, and the frame of a cut passage
    assert len(found.turns) == 1


def test_results_count_before_the_engine_counts_them() -> None:
    seen = Seen(used(call("height"), 200), A_WINS)
    go(seen, limits=Limits(total_tokens=256, turn_tokens=320))
    assert [sampling.max_tokens for sampling in seen.samplings] == [256, 40]


def test_few_tokens_left_force_the_last_turn() -> None:
    seen = Seen(used("hm", 400), "hm")
    found = go(seen, limits=Limits(total_tokens=1000, turn_tokens=300))
    assert found.stop_reason == "no_verdict"
    assert [sampling.constraint is not None for sampling in seen.samplings] == [False, True]


def test_the_context_of_the_engine_bounds_the_tokens() -> None:
    found = go([used("hm", 290), A_WINS], limits=Limits(total_tokens=4096), context=300)
    assert found.stop_reason == "token_limit"


def test_the_time_limit_keeps_what_was_done() -> None:
    async def slow(query: str) -> str:
        await asyncio.sleep(60 if query == "slow" else 0)
        return query

    started = time.monotonic()
    script = [call("quick"), call("slow")]
    found = go(script, [find_tool(slow)], Limits(seconds=0.3))
    assert time.monotonic() - started < 2
    assert (found.stop_reason, found.verdict.status) == ("time_limit", "error")
    assert found.error == "no verdict within 0.3 s"
    assert [turn.text for turn in found.turns] == script
    assert statuses(found) == [["ok"], []]
    assert len(found.evidence) == 1
    assert 0.2 < found.times.tools <= found.times.total


def test_the_time_limit_ends_a_generation() -> None:
    found = asyncio.run(run(TASK, ScriptedPolicy([A_WINS], delay=60), [], Limits(seconds=0.1)))
    assert (found.stop_reason, found.turns) == ("time_limit", ())
    assert found.times.policy > 0.05


def test_a_time_out_of_the_policy_s_own_is_not_taken_for_the_limit() -> None:
    def script(talk: Conversation, sampling: Sampling) -> str:
        raise TimeoutError("a bug")

    with pytest.raises(TimeoutError, match="a bug"):
        go(script)


def test_the_last_turn_is_forced_once_the_calls_are_spent() -> None:
    last = Generation(A_WINS, forced=True)
    seen = Seen(call("one"), call("two"), last)
    found = go(seen, limits=Limits(calls=2))
    assert [sampling.tools for sampling in seen.samplings] == [True, True, False]
    first, second, third = (sampling.constraint for sampling in seen.samplings)
    assert first is second is None
    assert third is not None
    assert third.regex == "[^<>]{20,600}<answer>(A|B)</answer>"
    assert [turn.forced for turn in found.turns] == [False, False, True]
    assert found.verdict == Verdict(status="ok", winner=0, forced=True)
    assert "No search is left." in seen.last


def test_a_constraint_that_the_engine_did_not_hold_is_not_called_forced() -> None:
    found = go([A_WINS], limits=Limits(calls=0))
    assert (found.verdict.status, found.verdict.forced) == ("ok", False)


def test_a_call_in_the_last_turn_does_not_run() -> None:
    found = go([call("one"), call("two")], limits=Limits(calls=1))
    assert (statuses(found), found.stop_reason) == ([["ok"], []], "no_verdict")
    assert found.turns[1].tool_calls == ()


def test_the_turns_are_limited() -> None:
    found = go(["hm"] * 3, limits=Limits(turns=3))
    assert (len(found.turns), found.stop_reason) == (3, "no_verdict")


@pytest.mark.parametrize("limits", [Limits(calls=0), Limits(turns=1)])
def test_without_a_search_to_spend_the_model_is_asked_to_judge_at_once(limits: Limits) -> None:
    found = go([A_WINS], limits=limits)
    asked = found.prompt[1].content
    assert "Judge now" in asked
    assert "search for the subject" not in asked
    assert "<tool_call>" not in asked


def test_a_trajectory_without_tools_is_one_turn() -> None:
    found = go(["hm"], tools=[])
    assert (len(found.turns), found.stop_reason) == (1, "no_verdict")


def test_each_turn_has_its_own_seed_and_the_stop_string_is_for_the_chat_path() -> None:
    task = TASK.model_copy(update={"seed": 2**31 - 1})
    for path, stop in (("chat", ("</answer>",)), ("token", ())):
        seen = Seen(call("one"), A_WINS)
        go(seen, task=task, path="chat" if path == "chat" else "token")
        assert [sampling.seed for sampling in seen.samplings] == [2**31 - 1, 0]
        assert [sampling.stop for sampling in seen.samplings] == [stop, stop]


def test_a_lone_surrogate_in_the_engine_s_text_is_replaced() -> None:
    trajectory = go(["Odd \ud800. <answer>A</answer>"])
    assert trajectory.turns[0].text == "Odd ?. <answer>A</answer>"
    assert trajectory.explanation == "Odd ?."
    trajectory.model_dump_json().encode()


def test_usage_is_the_sum_of_the_turns() -> None:
    found = go([used(call("one"), 100), used(A_WINS, 150)])
    assert found.usage == Usage(prompt_tokens=250, completion_tokens=8)


def test_the_bytes_do_not_depend_on_how_many_run_at_once() -> None:
    async def about(query: str) -> str:
        await asyncio.sleep(0.001 * (len(query) % 3))
        return query * 3

    async def all_of(workers: int) -> list[str]:
        gate = asyncio.Semaphore(workers)
        engine = policy([call("one") + call("three"), call("three!"), A_WINS])

        async def one(n: int) -> Trajectory:
            async with gate:
                return await run(
                    TASK.model_copy(update={"id": f"t{n}"}), engine, [find_tool(about)]
                )

        return [timeless(each) for each in await asyncio.gather(*map(one, range(24)))]

    alone = asyncio.run(all_of(1))
    assert alone == asyncio.run(all_of(5)) == asyncio.run(all_of(24))
    assert len(set(alone)) == 24


def timeless(trajectory: Trajectory) -> str:
    data = trajectory.model_dump(mode="json")
    del data["times"]
    for turn in data["turns"]:
        for result in turn["results"]:
            del result["seconds"]
    return str(data)
