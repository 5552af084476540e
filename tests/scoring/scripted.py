"""A judge whose right result is known: it answers by the step, and remembers what it was asked."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from openreward.policy.base import Conversation, Generation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.scoring.prompts import WORDINGS
from openreward.scoring.records import Score, ScoreSettings
from openreward.scoring.scorer import Scorer
from openreward.tools.base import Tool

Say = str | Callable[[str], str | Generation | Exception]
STEPS = ("helpfulness", "logicality", "statements", "extraction", "support", "completeness")
DEFAULT: Mapping[str, Say] = {
    "helpfulness": "It helps. [[8]]",
    "logicality": "No errors. [[10]]",
    "statements": "1. The tower is tall.\n2. The tower is red.\n",
    "extraction": "- the tower is tall",
    "support": "It says so [1]. [[Fully supported]]",
    "completeness": "Most of it. [[6]]",
}


def step_of(talk: Conversation) -> tuple[str, str]:
    """The step that a conversation asks for, and its language, by the system message."""
    system = talk.messages[0].content
    for language, words in WORDINGS.items():
        for step in STEPS:
            if system == getattr(words, step):
                return step, language
        if system == words.statements_to_search:
            return "statements", language
    raise AssertionError(system[:80])


class ScriptedJudge:
    """Says what it is told for each step; a function gets the material."""

    def __init__(self, delay: float = 0.0, **said: Say) -> None:
        self.said = {**DEFAULT, **said}
        self.counts = Counter[str]()
        self.asked: list[tuple[str, str]] = []
        self.samplings: list[Sampling] = []
        self.languages = set[str]()
        self.now, self.most = 0, 0
        self.policy = _Counted(self, delay)

    def answer(self, talk: Conversation, sampling: Sampling) -> str | Generation:
        step, language = step_of(talk)
        self.counts[step] += 1
        self.languages.add(language)
        self.samplings.append(sampling)
        material = talk.messages[1].content
        self.asked.append((step, material))
        said = self.said[step]
        made = said if isinstance(said, str) else said(material)
        if isinstance(made, Exception):
            raise made
        return made

    def materials(self, step: str) -> list[str]:
        """What was shown for a step."""
        return [material for name, material in self.asked if name == step]


class _Counted(ScriptedPolicy):
    """Counts the turns that are under way."""

    def __init__(self, judge: ScriptedJudge, delay: float) -> None:
        super().__init__(judge.answer, delay=delay)
        self._judge = judge

    async def generate(self, conversation: Conversation, sampling: Sampling) -> Generation:
        self._judge.now += 1
        self._judge.most = max(self._judge.most, self._judge.now)
        try:
            return await super().generate(conversation, sampling)
        finally:
            self._judge.now -= 1


def in_turn(*said: str | Generation | Exception) -> Say:
    """One after the other, the last again and again."""
    left = list(said)
    return lambda material: left.pop(0) if len(left) > 1 else left[0]


CONTEXT = (
    "The tower stands on a hill above the harbour. It is forty metres tall.\n\n"
    "The walls were painted green in 1950 by the town. The keeper lived beside it.\n\n"
    "Bread is baked in the valley every morning."
)


def score(
    judge: ScriptedJudge,
    context: str | None = CONTEXT,
    *,
    answer: str = "It is tall and red.",
    query: str = "What is the tower like?",
    settings: ScoreSettings | None = None,
    tools: tuple[Tool, ...] = (),
) -> Score:
    """One answer's score."""
    scorer = Scorer(judge.policy, tools, settings or ScoreSettings())
    return asyncio.run(scorer.score(query, answer, context))
