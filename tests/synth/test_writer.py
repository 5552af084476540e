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


class Shaky:
    """Fails as told, turn by turn, then answers."""

    def __init__(self, *faults: PolicyFault) -> None:
        self.left = list(faults)

    def __call__(self, talk: Conversation, sampling: Sampling) -> str:
        if self.left:
            raise PolicyError(self.left.pop(0), "the engine is broken")
        return "He."


@pytest.mark.parametrize("fault", ["unreachable", "rate_limited", "server_error"])
def test_a_fault_that_passes_is_waited_out(fault: PolicyFault) -> None:
    script = Shaky(fault, fault)
    writer = Writer(ScriptedPolicy(script), "w", patience=5, pause=0.01)
    assert asyncio.run(writer.write(ASKED)).text == "He."


def test_patience_ends() -> None:
    script = Shaky(*["rate_limited"] * 9)
    writer = Writer(ScriptedPolicy(script), "w", patience=0.05, pause=0.02)
    made = asyncio.run(writer.write(ASKED))
    assert (made.status, made.fault) == ("error", "rate_limited")
    assert len(script.left) == 7  # at once, and after 0.02 s; another 0.04 s would be too long


@pytest.mark.parametrize("fault", ["timeout", "bad_request", "context_overflow", "bad_response"])
def test_other_faults_are_not_tried_again(fault: PolicyFault) -> None:
    script = Shaky(fault)
    made = asyncio.run(Writer(ScriptedPolicy(script), "w", patience=5, pause=0.01).write(ASKED))
    assert (made.status, made.fault, script.left) == ("error", fault, [])
