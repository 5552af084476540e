"""The scenarios that prompts are sorted into: RMB's classes or leaves, or the user's own file.

A label is `Class` or `Class/Leaf`; it becomes a path, so its characters are limited.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from openreward.errors import RecordError, UserError, shorten
from openreward.records import RowError, read_rows
from openreward.types import Record

MOST_LABELS = 100
_LONGEST = 200  # bytes of a part: a file is named after it, and file systems take 255
_PART = re.compile(r"\w(?:[\w ,&()'+.-]{0,78}[\w)+])?")


class Label(Record):
    """A scenario, and what belongs into it, in words."""

    name: str
    description: str = ""

    @property
    def path(self) -> str:
        """Where its items lie: class/leaf; a class without leaves is its own leaf."""
        return self.name if "/" in self.name else f"{self.name}/{self.name}"


class LabelRow(BaseModel):
    """A row of a label file; other fields are passed over."""

    model_config = ConfigDict(extra="ignore")

    label: str
    description: str = ""


_CLASSES = {
    "Brainstorming": "finding ideas, plans or ways to solve a problem",
    "Chat": "casual or supportive talk, discussion, greetings",
    "Classification": "putting given text or items into categories, or checking their quality",
    "Closed QA": "a question answered from a given text, or from given options",
    "Code": "writing, explaining, fixing or improving programs, queries or data files",
    "Generation": "writing new text: stories, poems, letters, articles, posts",
    "Open QA": "a question about facts, explanations, advice or opinions, without a given text",
    "Reasoning": "mathematics, logic, puzzles, analysis in steps",
    "Rewrite": "changing a given text: paraphrase, tone, length, corrections",
    "Role Playing": "speaking as a character or in a scene",
    "Summarization": "making a given text short, or listing its main points",
    "Translation": "turning a given text into another language",
}
_LEAVES = {
    "Brainstorming": ("Idea Development", "Problem Solving"),
    "Chat": ("Casual Conversation", "Discussion", "Supportive Conversation"),
    "Classification": ("Content Categorization", "Quality and Compliance Assessment"),
    "Closed QA": ("ContextBased", "OptionBased"),
    "Code": (
        "Data Management",
        "Development and Implementation",
        "Documentation",
        "Quality and Optimization",
    ),
    "Generation": ("Creative Writing", "Professional Content Generation"),
    "Open QA": (
        "Factual",
        "General Explanation",
        "Hypothetical Scenarios",
        "Interpretative Analysis",
        "Personal Opinion and Advice",
        "Technical and Practical Support",
    ),
    "Reasoning": (
        "Analytical Reasoning",
        "Critical Thinking",
        "Human Decision Making",
        "Logical Deduction",
        "Pattern Recognition",
    ),
    "Rewrite": (
        "Paraphrasing",
        "PostQuality Assessment Rewriting",
        "Textual ExpansionReduction",
        "Tone Adjustment",
    ),
    "Role Playing": ("General Character", "Specific Character"),
    "Summarization": ("Specialized Summaries", "Standard Summaries"),
    "Translation": (
        "GeneralExcerpt Language Translation",
        "Literary and Cultural Translation",
        "Technical and Scientific Translation",
    ),
}
CLASSES = tuple(Label(name=name, description=text) for name, text in _CLASSES.items())
LEAVES = tuple(
    Label(name=f"{name}/{leaf}", description=_CLASSES[name])
    for name, leaves in _LEAVES.items()
    for leaf in leaves
)


def read_labels(given: str) -> tuple[Label, ...]:
    """`classes`, `leaves`, or a file of rows with `label` and perhaps `description`."""
    if given in ("classes", "leaves"):
        return CLASSES if given == "classes" else LEAVES
    rows = list(read_rows(Path(given), LabelRow))
    for row in rows:
        if isinstance(row, RowError):
            raise RecordError(f"{given}: {row.message}; a label row has label and description")
    found = tuple(
        Label(name=row.record.label.strip(), description=" ".join(row.record.description.split()))
        for row in rows
        if not isinstance(row, RowError)
    )
    check_labels(found)
    return found


def check_labels(labels: Sequence[Label]) -> None:
    """Refuse labels that cannot be told apart, or that cannot be a path."""
    if not 2 <= len(labels) <= MOST_LABELS:
        raise UserError(f"labels: expected 2 to {MOST_LABELS}, got {len(labels)}")
    for label in labels:
        parts = label.name.split("/")
        fit = all(_PART.fullmatch(part) and len(part.encode()) <= _LONGEST for part in parts)
        if len(parts) > 2 or not fit:
            raise UserError(
                f"label {shorten(label.name)}: expected a class, or class/leaf, of letters, "
                "digits, spaces and ,&()'+.- (a folder and a file are named after them, so at most "
                f"{_LONGEST} bytes)"
            )
    names = [label.name.casefold() for label in labels]
    paths = [label.path.casefold() for label in labels]
    again = [name for name in names if names.count(name) > 1]
    again += [path for path in paths if paths.count(path) > 1]
    if again:
        raise UserError(f"label {shorten(again[0])}: expected it once, got it again; take one out")
