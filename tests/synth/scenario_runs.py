"""Scripted judges and writers that build a scenario set, and what a prompt becomes with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from openreward.policy.base import Conversation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.synth.scenario_labels import Label
from openreward.synth.scenario_records import Prompt, Said, ScenarioRow, ScenarioSettings
from openreward.synth.scenarios import Construction
from openreward.synth.writer import Writer

LABELS = (Label(name="Chat"), Label(name="Code"), Label(name="Open QA/Factual"))
FEATURES = (
    "It names the capital.",
    "It says since when.",
    "It is short.",
    "It is polite.",
    "It is in English.",
)
LISTED = (
    "<answer>\n" + "\n".join(f"{n}. {text}" for n, text in enumerate(FEATURES, 1)) + "\n</answer>"
)
Say = Callable[[str, Sampling], str]


def kind(text: str) -> str:
    """What the judge is asked: ballot 0, 1 or 2, features, weak (a score without them), score."""
    asked = {
        "Which kind of task": "ballot 0",
        "Sort the request": "ballot 1",
        "Which scenario describes": "ballot 2",
        "key features that": "features",
        "do what the user asks": "weak",
        "meet the features": "score",
    }
    return next(name for words, name in asked.items() if words in text)


def scores_by_text(text: str, sampling: Sampling) -> str:
    """The score that the answer names for itself: `worth 3.5`."""
    _, _, after = text.rpartition("worth ")
    return f"<answer>{after.split()[0]}</answer>"


def judge(**changed: str | Say) -> Writer:
    """A judge that finds Chat, five features, and the worth that an answer names."""
    said: dict[str, str | Say] = {
        "ballot 0": "<answer>Chat</answer>",
        "ballot 1": "<answer>Chat</answer>",
        "ballot 2": "<answer>Chat</answer>",
        "features": LISTED,
        "weak": "<answer>2</answer>",
        "score": scores_by_text,
    }
    said |= {name.replace("_", " "): text for name, text in changed.items()}

    def script(conversation: Conversation, sampling: Sampling) -> str:
        text = conversation.messages[-1].content
        what = said[kind(text)]
        return what if isinstance(what, str) else what(text, sampling)

    return Writer(ScriptedPolicy(script), "judge", temperature=0.0)


def writers(*texts: str) -> list[Writer]:
    """Writers w0, w1, ... that always say the same."""
    return [Writer(ScriptedPolicy([text]), f"w{n}") for n, text in enumerate(texts)]


def construction(
    answers: Sequence[Writer], settings: ScenarioSettings | None = None, **changed: str | Say
) -> Construction:
    """The scripted judge over the writers; the weak model says `weak words`."""
    return Construction(
        judge=judge(**changed),
        weak=Writer(ScriptedPolicy(["weak words"]), "weak"),
        writers=answers,
        labels=LABELS,
        settings=settings or ScenarioSettings(),
        clock=lambda: 0.0,
    )


def prompt(text: str = "What is the capital of France?", id: str = "p") -> Prompt:
    return Prompt(id=id, conversation=(Said(role="user", content=text),))


def build(made: Construction, asked: Prompt | None = None) -> ScenarioRow:
    return asyncio.run(made.build(asked or prompt()))
