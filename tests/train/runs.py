"""Rows, engines and trainers put together for tests, on the tiny model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from openreward.agent import Limits
from openreward.errors import ToolError
from openreward.tools.arxiv import arxiv_search
from openreward.tools.base import Tool
from openreward.tools.static import StaticSearch
from openreward.tools.wikipedia import wikipedia_search
from openreward.train.engines.base import RolloutEngine
from openreward.train.rewards import RewardSettings
from openreward.train.rollout import Rollouts, RolloutSettings
from openreward.train.rows import TrainingRows, read_training_rows
from openreward.types import Passage

NAMES = ("wikipedia_search", "arxiv_search")
LIMITS = Limits(calls=2, turns=3, turn_tokens=64, total_tokens=6000, evidence_tokens=60)
Say = Callable[[str, int], str]


def pairs_file(folder: Path, count: int = 4) -> Path:
    """Labelled pairs of Wikipedia."""
    rows = [
        {
            "id": f"p{n}",
            "query": f"Question number {n}?",
            "responses": [f"Right {n}.", f"Wrong {n}."],
            "label": n % 2,
            "source": "wikipedia",
        }
        for n in range(count)
    ]
    file = folder / "pairs.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def tools(error: ToolError | None = None, delay: float = 0.0) -> list[Tool]:
    """Two sources that find one passage whatever is asked."""
    text = "It is known to be so."
    page = Passage(document_id="d", source="wikipedia", title="T", text=text, start=0, end=21)
    return [
        make(StaticSearch([page], error=error, delay=delay), 1)
        for make in (wikipedia_search, arxiv_search)
    ]


def rows_of(folder: Path, count: int = 4, reward: RewardSettings | None = None) -> TrainingRows:
    file = pairs_file(folder, count)
    return read_training_rows([file], NAMES, reward or RewardSettings())


def call(query: str, tool: str = NAMES[0]) -> str:
    return f'<tool_call>{{"name": "{tool}", "arguments": {{"query": "{query}"}}}}</tool_call>'


def search_then(letter: Callable[[int], str]) -> Say:
    """A call, and behind its passages the verdict that `letter` gives for the turn's seed."""

    def say(text: str, seed: int) -> str:
        if "It is known to be so." in text:
            return f"So it is [1]. <answer>{letter(seed)}</answer>"
        return call("the subject")

    return say


@contextmanager
def opened(
    rows: TrainingRows,
    engine: RolloutEngine,
    *,
    reward: RewardSettings | None = None,
    with_tools: Sequence[Tool] | None = None,
    blank: int = 0,
    **settings: Any,
) -> Iterator[Rollouts]:
    """Rollouts that are open, and closed at the end."""
    chosen = RolloutSettings(limits=settings.pop("limits", LIMITS), **settings)
    given = tools() if with_tools is None else with_tools
    made = Rollouts(rows.by_id(), engine, given, reward or RewardSettings(), chosen, blank=blank)
    made.open()
    try:
        yield made
    finally:
        made.close()
