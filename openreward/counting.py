"""Which calls count: the one place that the reward, reports and evaluation ask.

A call counts if it ran, has a query, and does not repeat an earlier counted call (same tool, same
query, case and space folded). `no_result` and `bad_query` count, as wrong ones. A call that failed
by the service (unavailable, rate limited, timeout) counts neither way.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from openreward.types import ToolCall, ToolResult, ToolStatus, Trajectory

SERVICE_FAULTS: frozenset[ToolStatus] = frozenset({"rate_limited", "unavailable", "timeout"})


class CountedCall(NamedTuple):
    """A call that counts, and whether it brought passages."""

    tool: str
    query: str
    found: bool


def counted_calls(trajectory: Trajectory) -> list[CountedCall]:
    """The counted calls of a trajectory, in the order they were written."""
    seen: set[tuple[str, str]] = set()
    counted = []
    for call, result in ran_calls(trajectory):
        query = query_of(call)
        key = (call.name, " ".join(query.casefold().split()))
        if not query.strip() or key in seen or result.status in SERVICE_FAULTS:
            continue
        seen.add(key)
        counted.append(CountedCall(call.name, query, found=result.status == "ok"))
    return counted


def ran_calls(trajectory: Trajectory) -> list[tuple[ToolCall, ToolResult]]:
    """Every call that ran, with its result."""
    return [
        pair
        for turn in trajectory.turns
        for pair in zip(turn.tool_calls, turn.results, strict=False)
    ]


def searched(trajectory: Trajectory) -> bool:
    """Whether a call brought at least one passage."""
    return any(result.status == "ok" for _, result in ran_calls(trajectory))


def failed_by_service(trajectory: Trajectory) -> bool:
    """Whether the outcome says nothing of the model: the engine failed, or every call made did."""
    return trajectory.stop_reason == "policy_error" or unserved(trajectory)


def unserved(trajectory: Trajectory) -> bool:
    """Whether calls were made and every one failed by its service: no evidence could be had."""
    ran = ran_calls(trajectory)
    return bool(ran) and all(result.status in SERVICE_FAULTS for _, result in ran)


def call_key(call: ToolCall) -> tuple[str, str]:
    """What a repeated call shares with the first: tool and arguments, case and space folded."""
    folded = {
        key: " ".join(value.casefold().split()) if isinstance(value, str) else value
        for key, value in call.arguments.items()
    }
    return call.name, json.dumps(folded, sort_keys=True)


def query_of(call: ToolCall) -> str:
    """The query of a call: its `query`, else its text arguments joined (tools of an MCP server)."""
    query = call.arguments.get("query")
    if isinstance(query, str):
        return query
    return " ".join(value for value in call.arguments.values() if isinstance(value, str))


def tool_of(source: str) -> str:
    """The name of the tool that searches a source: the right one for a pair of it."""
    return f"{source}_search"
