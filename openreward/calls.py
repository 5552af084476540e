"""From a generation to the calls that may run, and what the model is told of the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from openreward import parse, prompts
from openreward.counting import call_key
from openreward.policy.base import Generation
from openreward.types import ToolCall

Asked = Mapping[tuple[str, str], Sequence[int]]


class Wanted(NamedTuple):
    """Calls to run, in the order written, and the problems of those that are not run."""

    calls: tuple[ToolCall, ...] = ()
    problems: tuple[str, ...] = ()


def wanted_calls(generation: Generation, turn: int, asked: Asked, left: int, tie: bool) -> Wanted:
    """The calls of turn number `turn`, at most `left`; `asked` holds earlier ones -> passages.

    A turn with a verdict calls nothing, unless the call stands in a call's own tags.
    """
    calls, problems = generation.tool_calls, list(generation.problems)
    if not calls and not problems:
        reading = parse.read_calls(generation.text)
        decided = parse.read_verdict(generation.text, tie).status != "unparsed"
        if decided and not reading.tagged:
            return Wanted()
        calls = tuple(
            ToolCall(id=f"call-{turn}-{n}", name=call.name, arguments=call.arguments)
            for n, call in enumerate(reading.calls, start=1)
        )
        problems = list(reading.problems)
    fresh = _not_asked_before(calls, asked, problems)
    if len(fresh) > left:
        problems.append(f"{len(fresh) - left} calls were not run: only {left} were left")
    return Wanted(tuple(fresh[:left]), tuple(problems))


def _not_asked_before(
    calls: Sequence[ToolCall], asked: Asked, problems: list[str]
) -> list[ToolCall]:
    """The calls that repeat none; the others are told to the model, which loops otherwise."""
    fresh: dict[tuple[str, str], ToolCall] = {}
    for call in calls:
        key = call_key(call)
        if key in asked:
            problems.append(prompts.repeated(call, asked[key]))
        elif key in fresh:
            problems.append(prompts.twice(call))
        else:
            fresh[key] = call
    return list(fresh.values())
