"""One request a step: messages, the form of the reply, and who reads it.

Whatever is not ours is made inert, its double brackets are broken, and it stands between fences
with a nonce that depends on all that is shown. Nothing is put into a template: `<<answer>>` or
`{query}` in a text is a text.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from openreward.inert import BREAK, inert
from openreward.policy.base import Constraint
from openreward.scoring import parse
from openreward.scoring.parse import Misread
from openreward.scoring.records import Language, Support
from openreward.scoring.wording import Wording
from openreward.scoring.wording_en import ENGLISH
from openreward.scoring.wording_zh import CHINESE
from openreward.types import Message

T = TypeVar("T")

SCORING_VERSION = "1"
WORDINGS: dict[Language, Wording] = {"en": ENGLISH, "zh": CHINESE}
_VERDICT_LIKE = re.compile(r"\[(?=\[[^\[\]]{0,80}\]\])")
_MOST_LINES = 24  # that a form holds a list of statements to


@dataclass(frozen=True)
class Request(Generic[T]):
    """What is asked once; `whole`: a reply that was cut at its token limit is not read."""

    step: str
    messages: tuple[Message, ...]
    read: Callable[[str], T | Misread]
    tokens: int
    constraint: Constraint | None = None
    whole: bool = False


Shown = tuple[str, str]
"""A head, and the text below it."""


def helpfulness(language: Language, query: str, answer: str, tokens: int) -> Request[float]:
    """The score of how far an answer helps."""
    words = WORDINGS[language]
    shown = [(words.question, query), (words.answer, answer)]
    return _scored("helpfulness", words, words.helpfulness, shown, words.ask_score, tokens)


def logicality(language: Language, query: str, answer: str, tokens: int) -> Request[float]:
    """The score of how sound an answer is in itself."""
    words = WORDINGS[language]
    shown = [(words.question, query), (words.answer, answer)]
    return _scored("logicality", words, words.logicality, shown, words.ask_errors, tokens)


def completeness(
    language: Language, query: str, points: Sequence[str], answer: str, tokens: int
) -> Request[float]:
    """The score of how far an answer covers the points."""
    words = WORDINGS[language]
    shown = [
        *_numbered(words.points, list(points) or [words.nothing]),
        (words.question, query),
        (words.answer, answer),
    ]
    return _scored("completeness", words, words.completeness, shown, words.ask_coverage, tokens)


def statements(
    language: Language, answer: str, tokens: int, *, to_search: bool = False
) -> Request[tuple[parse.Stated, ...]]:
    """The facts that an answer states; `to_search`: with words to look each up."""
    words = WORDINGS[language]
    system = words.statements_to_search if to_search else words.statements
    line = r"[^\n]{6,300}"
    return Request(
        "statements",
        fenced(words, system, [(words.answer, answer)], words.ask_statements),
        parse.read_statements,
        tokens,
        Constraint(
            regex=rf"\[\[{words.no_statements}\]\]|([0-9]{{1,2}}\. {line}\n){{1,{_MOST_LINES}}}",
            grammar=f'root ::= "[[{words.no_statements}]]" | line{{1,{_MOST_LINES}}}\n'
            f'line ::= [0-9]{{1,2}} ". " {line} "\\n"',
        ),
        whole=True,
    )


def extraction(language: Language, query: str, piece: str, tokens: int) -> Request[str]:
    """What one piece of the context says that bears on the query."""
    words = WORDINGS[language]
    shown = [(words.document, piece), (words.question, query)]
    messages = fenced(words, words.extraction, shown, words.ask_extraction)
    return Request("extraction", messages, parse.read_points, tokens)


def support(
    language: Language, statement: str, passages: Sequence[str], tokens: int
) -> Request[Support]:
    """How far passages bear out a statement."""
    words = WORDINGS[language]
    shown = _numbered(words.passage, passages) if passages else [(words.passage, words.no_passage)]
    shown = [*shown, (words.statement, statement)]
    labels = [f"[[{label}]]" for label in words.supports]
    return Request(
        "support",
        fenced(words, words.support, shown, words.ask_support),
        parse.read_support,
        tokens,
        _analysed(language_room(words, tokens), "|".join(map(re.escape, labels)), _either(labels)),
    )


def language_room(words: Wording, tokens: int) -> int:
    """Characters of an analysis that leave room for what ends it: Han letters take more tokens."""
    if words is CHINESE:
        return max(30, min(240, tokens // 2 - 20))
    return max(40, min(600, 2 * tokens - 40))


def _scored(
    step: str, words: Wording, system: str, shown: Sequence[Shown], question: str, tokens: int
) -> Request[float]:
    number = _analysed(
        language_room(words, tokens), r"\[\[(?:10|[0-9])\]\]", '"[[" ("10" | [0-9]) "]]"'
    )
    messages = fenced(words, system, shown, question)
    return Request(step, messages, parse.read_score, tokens, number)


def _analysed(room: int, regex: str, grammar: str) -> Constraint:
    """Some words without brackets, then what counts."""
    said = rf"[^\[\]]{{20,{room}}}"
    return Constraint(regex=f"{said}(?:{regex})", grammar=f"root ::= {said} ({grammar})")


def _either(labels: Sequence[str]) -> str:
    return " | ".join(json.dumps(label, ensure_ascii=False) for label in labels)


def _numbered(head: str, texts: Sequence[str]) -> list[Shown]:
    return [(f"{head} [{number}]", text) for number, text in enumerate(texts, 1)]


def fenced(
    words: Wording, system: str, shown: Sequence[Shown], question: str
) -> tuple[Message, ...]:
    """The task, then the material in its fences, then the question, nearest to the reply."""
    seen = json.dumps([*map(list, shown), question])
    mark = hashlib.sha256(seen.encode("ascii")).hexdigest()[:12]
    blocks = [
        f"### {head} {mark}\n{_quoted(text, mark) if text.strip() else words.empty}"
        for head, text in shown
    ]
    user = "\n".join([*blocks, f"### {words.end} {mark}", question])
    return (Message(role="system", content=system), Message(role="user", content=user))


def _quoted(text: str, mark: str) -> str:
    """A text that can neither end its fence nor speak a verdict when the model quotes it."""
    quiet = _VERDICT_LIKE.sub(f"[{BREAK}", inert(text))
    return quiet.replace(mark, f"{mark[:6]}{BREAK}{mark[6:]}")
