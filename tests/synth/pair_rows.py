"""Made-up rows of `openreward synth pairs`, for what is made of rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from random import Random

from openreward.synth.pair_records import (
    AnswerText,
    PairDrop,
    PairReason,
    PairRow,
    PairStep,
    Support,
)
from openreward.types import Usage

_SYLLABLES = [consonant + vowel for consonant in "bdklm" for vowel in "aeiou"]


def answer(words: int, share: float | None = 0.5, text: str | None = None) -> AnswerText:
    """An answer of so many words."""
    said = text if text is not None else " ".join(f"word{n}" for n in range(words))
    support = None if share is None else Support(share=share)
    return AnswerText(status="ok", text=said, support=support)


def query(id: str) -> str:
    """A query of twelve words that no other id has."""
    random = Random(id)
    return " ".join("".join(random.choices(_SYLLABLES, k=4)) for _ in range(12)) + "?"


def row(
    id: str,
    positive: int = 80,
    negative: int = 80,
    *,
    source: str = "wikipedia",
    asked: str | None = None,
    drop: tuple[PairStep, PairReason, str] | None = None,
) -> PairRow:
    """A row with answers of so many words, or one with a drop."""
    dropped = PairDrop(step=drop[0], reason=drop[1], detail=drop[2]) if drop else None
    return PairRow(
        id=id,
        source=source,
        title=f"About {id}",
        url=f"https://host.example/{id}",
        revision="7",
        start=0,
        end=500,
        kind="report",
        words=90,
        writer="writer: scripted",
        seed=11,
        prompts="3",
        query=query(id) if asked is None else asked,
        query_tries=1,
        positive=answer(positive, 0.9),
        negative=answer(negative, 0.25),
        drop=dropped,
        usage=Usage(prompt_tokens=1000, completion_tokens=200),
        seconds=1.5,
    )


def many(count: int, seed: int = 0) -> list[PairRow]:
    """Rows of three sources; grounded answers tend to be longer; every fifth row has a drop."""
    random, made = Random(seed), list[PairRow]()
    for number in range(count):
        dropped: tuple[PairStep, PairReason, str] = ("checks", "tell", "as an AI")
        made.append(
            row(
                f"d{number}",
                random.randint(70, 130),
                random.randint(60, 120),
                source=("wikipedia", "arxiv", "pubmed")[number % 3],
                drop=dropped if number % 5 == 4 else None,
            )
        )
    return made


def write(path: Path, rows: Iterable[PairRow]) -> Path:
    """A file of rows."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{each.model_dump_json()}\n" for each in rows), encoding="utf-8")
    return path
