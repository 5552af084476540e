"""Planted wrong facts against the check by words: 50 corrupted answers and 50 clean ones."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from openreward.synth.corrupt import CORRUPTION_KINDS, CorruptionKind, corrupt
from openreward.synth.corrupt_names import NamePool
from openreward.synth.corrupt_text import sentences
from openreward.synth.documents import read_documents
from openreward.synth.pair_checks import check_answers
from openreward.synth.pair_records import AnswerText, PairSettings
from openreward.synth.support import support

sys.path.insert(0, str(Path(__file__).parent))

from planted_answers import GROUNDED, Grounded

POOL = NamePool(each.document for each in GROUNDED)
EACH = 10  # planted of each kind
OTHER = (
    "There is much to be said about it, and people who have been there like to tell of the long "
    "way, of good weather and bad, and of the friends that they made, who come again in a year. "
    "Nobody agrees on when it began, but the stories are told with care and are a joy to hear."
)


def planted(kind: CorruptionKind) -> Iterator[tuple[Grounded, str]]:
    """Answers with one wrong fact, each of another document as far as they go."""
    for seed in range(EACH):
        for each in GROUNDED:
            made = corrupt(
                each.answer, kind, seed=seed, pool=POOL, document=each.document, query=each.query
            )
            if made is not None:
                yield each, made.text


def is_unsupported(each: Grounded, answer: str) -> bool:
    """Whether the checks of a pair drop it because the document does not bear out the answer."""
    problem = check_answers(
        each.query,
        AnswerText(status="ok", text=answer),
        AnswerText(status="ok", text=OTHER),
        each.document,
        PairSettings(copied=1.0),
    )
    assert problem is None or problem.reason == "positive_unsupported", problem
    return problem is not None


def show(title: str, dropped: Counter[str], of: int) -> None:
    """A line a kind, where pytest shows it."""
    rows = [f"{kind:<10}{dropped[kind]:>3} of {of}" for kind in (*CORRUPTION_KINDS, "clean")]
    sys.stdout.write("\n".join([title, *rows, ""]))


def test_most_planted_wrong_facts_are_dropped_and_few_clean_answers() -> None:
    dropped = Counter[str]()
    for kind in CORRUPTION_KINDS:
        chosen = list(islice(planted(kind), EACH))
        assert len(chosen) == EACH
        dropped[kind] = sum(is_unsupported(each, text) for each, text in chosen)
    clean = sum(is_unsupported(each, each.answer) for each in GROUNDED)
    show("dropped as positive_unsupported", dropped + Counter(clean=clean), EACH)
    assert dropped.total() >= 0.7 * EACH * len(CORRUPTION_KINDS)
    assert dropped.total() >= 0.8 * EACH * 4  # of those that can be seen at all
    assert clean <= 0.2 * len(GROUNDED)
    assert dropped["omission"] == 0  # what is left out is not seen: all that is left is true


def test_the_same_on_answers_of_sentences_from_real_documents(test_data: Path) -> None:
    documents = list(read_documents(test_data / "wikipedia" / "summaries_en.json"))
    drawn = random.Random(5).sample(documents, 900)
    pool = NamePool(each.text for each in drawn)
    dropped, clean, tried = Counter[str](), Counter[str](), Counter[str]()
    for document in drawn:
        answer = _some_sentences(document.text)
        for kind in CORRUPTION_KINDS:
            if tried[kind] == EACH or tried.total() >= 5 * EACH:
                continue
            made = corrupt(
                answer, kind, seed=1, pool=pool, document=document.text, query=document.title
            )
            if made is not None:
                tried[kind] += 1
                dropped[kind] += bool(support(made.text, document.text, document.title).missing)
                clean[kind] += bool(support(answer, document.text, document.title).missing)
                break  # each document once
    show("facts missing, real documents", dropped + Counter(clean=clean.total() // 5), EACH)
    assert tried == dict.fromkeys(CORRUPTION_KINDS, EACH)
    assert dropped.total() >= 0.7 * 5 * EACH
    assert clean.total() <= 0.2 * 5 * EACH


def _some_sentences(text: str) -> str:
    """Every sentence but the last, where there are more than two."""
    spans = sentences(text)
    return text[: spans[-2][1]] if len(spans) > 2 else text
