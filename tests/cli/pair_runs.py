"""Documents, and a writer that knows them: what the tests of `openreward synth pairs` run on."""

from __future__ import annotations

import json
import re
from pathlib import Path

from openreward.policy.base import Conversation, Sampling
from openreward.policy.scripted import ScriptedPolicy

_TOWNS = (
    "Arling Bremmer Calder Dunmoor Eskham Farrow Gelding Harwick Inglesby Jarrow Kelton Lorne "
    "Marsden Norwell Oakham Penrose Quarley Redmire Selby Thornby Ulverly Vexford Wexcombe Yarrow"
)
TOWNS = _TOWNS.split()


def document(number: int) -> dict[str, str]:
    """A made-up town, told in about eighty words; its facts follow from its number."""
    town, river = TOWNS[number % len(TOWNS)], TOWNS[(number * 7 + 3) % len(TOWNS)]
    year, people, bridges = 1400 + 13 * number, 1200 + 37 * number, 3 + number % 9
    text = (
        f"{town} {number} is a market town on the river {river}. It was founded in {year} by wool "
        f"traders and grew around a covered market hall that still stands. The town has {people} "
        f"inhabitants and {bridges + 20} stone bridges, of which the oldest carries the road to "
        "the coast. Its main trade was cloth until the mills closed, and today most people work "
        "in a factory for clocks, in the hospital, or on the orchards outside the walls. Every "
        "autumn the guild of weavers holds a fair with a race of hand carts."
    )
    return {
        "id": f"town:{number}",
        "source": ("wikipedia", "arxiv", "pubmed")[number % 3],
        "title": f"{town} {number}",
        "text": text,
    }


def write_documents(path: Path, count: int) -> Path:
    path.write_text("".join(json.dumps(document(number)) + "\n" for number in range(count)))
    return path


def writer() -> ScriptedPolicy:
    """Asks by the title; answers from the document where it is shown, else from nowhere."""
    return ScriptedPolicy(_script, model="scripted writer")


def _script(talk: Conversation, sampling: Sampling) -> str:
    asked = talk.messages[-1].content
    begin = re.search(r'begins with "([^"]+)"', asked)
    if begin:
        subject = re.search(r"Its subject is: (.+)", asked)
        assert subject
        return f"{begin[1]} the trade and the bridges of {subject[1]} came to what they are?"
    town = re.search(r"bridges of .*?([A-Z][a-z]+ \d+)", asked, re.DOTALL)
    assert town
    facts = re.search(r"founded in (\d+).*has (\d+) inhabitants and (\d+) stone", asked, re.DOTALL)
    if facts is None:
        year, people, bridges = (str(sampling.seed % n + 2000) for n in (211, 4001, 57))
    else:
        year, people, bridges = facts.groups()
    more = " The guild of weavers still holds a fair in autumn." * (sampling.seed % 2)
    return (
        f"The town of {town[1]} was founded in {year} by wool traders. It has {people} inhabitants "
        f"and {bridges} stone bridges, and the oldest one carries the road to the coast. Cloth was "
        f"its main trade until the mills closed.{more}"
    )


def slow_writer() -> ScriptedPolicy:
    """The same, slowly."""
    return ScriptedPolicy(_script, model="scripted writer", delay=0.05)


def planting_writer() -> ScriptedPolicy:
    """The same, but for planted faults in the texts about some towns, by their numbers."""
    return ScriptedPolicy(_plant, model="planting writer")


def _plant(talk: Conversation, sampling: Sampling) -> str:
    asked = talk.messages[-1].content
    found = re.search(r"(?:subject is: |bridges of .*?)[A-Z][a-z]+ (\d+)", asked, re.DOTALL)
    assert found
    number, usual = int(found[1]), _script(talk, sampling)
    shown = "### material" in asked
    if "begins with" in asked:
        if number == 1:
            return "What does the passage above tell about the bridges of Bremmer 1?"
        if number == 2:  # the twin of town 3's
            return "Why did the trade and the bridges of Dunmoor 3 come to what they are?"
        if number == 3:
            return "Why did the trade and the bridges of Dunmoor 3 come to what they are now?"
        return usual
    if number == 4 and not shown:
        return "I'm sorry, but I cannot help with questions about Eskham 4."
    if number == 5 and shown:
        return document(5)["text"][:260].rpartition(". ")[0] + "."
    if number == 6 and shown:
        return usual.replace(str(1400 + 13 * 6), "1999")
    if number == 7 and not shown:
        return (
            "Founded by wool traders in 1491, the market town has 1459 inhabitants today and 30 "
            "stone bridges. The oldest bridge carries the coast road. Its trade was cloth, until "
            "the mills closed; now people work in the hospital or the factory for clocks."
        )
    if number == 8 and shown:
        return f"According to the document, {usual}"
    if number == 9 and not shown:
        return f"{usual} {usual.replace('town', 'place')} {usual.replace('founded', 'begun')}"
    return usual
