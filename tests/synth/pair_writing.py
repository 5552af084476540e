"""A document, and the way to its row with a writer that tests change at will."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from openreward.policy.base import Conversation, Generation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.synth.pair_records import PairRow, PairSettings
from openreward.synth.pairs import PairWriting
from openreward.synth.writer import Writer
from openreward.types import Document

sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))

from pair_runs import document, writer

DOCUMENT = Document(**document(4))


def write(policy: ScriptedPolicy, document: Document = DOCUMENT, **named: Any) -> PairRow:
    settings = named.pop("settings", PairSettings(same=1))
    writing = PairWriting([Writer(policy, "w", 0.7, max_tokens=99)], settings, **named)
    return asyncio.run(writing.write(document))


Say = Callable[[str], str | Generation | None]


def changed(say: Say) -> ScriptedPolicy:
    """The usual writer, but for what `say` answers to a prompt."""
    usual = writer().script

    def script(talk: Conversation, sampling: Sampling) -> str | Generation:
        said = say(talk.messages[-1].content)
        return usual(talk, sampling) if said is None else said

    return ScriptedPolicy(script, model="changed")


def asks(prompt: str) -> bool:
    return "begins with" in prompt


def has_document(prompt: str) -> bool:
    return "### material" in prompt
