"""Words that the summaries of several commands have in common."""

from __future__ import annotations

from collections.abc import Mapping

from openreward.types import Usage


def listed(counts: Mapping[str, int]) -> str:
    """`3 refusal, 1 cut`; `none` where nothing was counted."""
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"


def share_of(part: int, whole: int) -> str:
    """`3 of 4 (75%)`."""
    return f"{part} of {whole}" + (f" ({part / whole:.0%})" if whole else "")


def work_done(usage: Usage, seconds: float, runs: int) -> str:
    """What a run took; `seconds` are those of its rows added up."""
    return (
        f"{usage.prompt_tokens} tokens read, {usage.completion_tokens} written, "
        f"{seconds:.1f} s of work in {runs} run" + "s" * (runs != 1)
    )
