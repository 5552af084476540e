from __future__ import annotations

import asyncio

import pytest

from openreward.errors import PolicyError
from openreward.policy.base import Constraint, Conversation, Generation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.synth.writer import Writer, Written
from openreward.types import FinishReason, Message, PolicyFault, Usage

ASKED = [Message(role="user", content="Who?")]
FORM = Constraint(regex="a", grammar='root ::= "a"')


@pytest.mark.parametrize(
    ("text", "reason", "expected"),
    [
        (" He. \n", "stop", Written("ok", "He.", " He. \n")),
        ("", "stop", Written("empty", "", "")),
        (" \n", "stop", Written("empty", "", " \n")),
        ("He", "length", Written("cut", "He", "He")),
        ("No", "refused", Written("refused", "No", "No")),
        ("<think>hm</think> He.", "stop", Written("ok", "He.", "<think>hm</think> He.")),
        ("<think>hm", "stop", Written("empty", "", "<think>hm")),
        ("a \ud800 b", "stop", Written("ok", "a ? b", "a ? b")),
    ],
)
def test_a_turn_is_read_with_what_became_of_it(
    text: str, reason: FinishReason, expected: Written
) -> None:
    policy = ScriptedPolicy(lambda talk, sampling: Generation(text, reason))
    assert asyncio.run(Writer(policy, "w").write(ASKED)) == expected


def test_a_turn_is_sampled_as_the_writer_and_the_call_say() -> None:
    seen: list[Sampling] = []

    def script(talk: Conversation, sampling: Sampling) -> Generation:
        seen.append(sampling)
        assert talk.messages == ASKED
        return Generation("He.", usage=Usage(prompt_tokens=3, completion_tokens=1))

    writer = Writer(ScriptedPolicy(script), "w", 0.4, 0.9, max_tokens=7, seed=2**31 - 1)
    made = asyncio.run(
        writer.write(ASKED, 3, constraint=FORM, stop=("</answer>",), temperature=None)
    )
    asyncio.run(writer.write(ASKED, temperature=0.0))
    assert seen == [
        Sampling(7, 0.4, 0.9, seed=2, stop=("</answer>",), constraint=FORM, tools=False),
        Sampling(7, 0.0, 0.9, seed=2**31 - 1, tools=False),
    ]
    assert made.usage == Usage(prompt_tokens=3, completion_tokens=1)


def failing(fault: PolicyFault) -> Writer:
    def script(talk: Conversation, sampling: Sampling) -> str:
        raise PolicyError(fault, "the engine is broken")

    return Writer(ScriptedPolicy(script), "w")


@pytest.mark.parametrize("fault", ["timeout", "context_overflow", "server_error", "rate_limited"])
def test_a_failure_of_one_turn_is_an_outcome(fault: PolicyFault) -> None:
    made = asyncio.run(failing(fault).write(ASKED))
    assert made == Written("error", "", fault=fault, error="the engine is broken")


@pytest.mark.parametrize("fault", ["unreachable", "unauthorized", "unknown_model"])
def test_a_failure_of_all_turns_is_raised(fault: PolicyFault) -> None:
    with pytest.raises(PolicyError, match="broken; then go on with --resume") as raised:
        asyncio.run(failing(fault).write(ASKED))
    assert raised.value.fault == fault
