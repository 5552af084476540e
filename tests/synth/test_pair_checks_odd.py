"""Texts as no writer should send them: checked in little time, each with a reason to show."""

from __future__ import annotations

import time

import pytest

from openreward.synth.pair_checks import check_answers, check_document, check_query
from openreward.synth.pair_records import AnswerText, PairSettings

SETTINGS = PairSettings()
TITLE = "Ostra tide mill"
DOCUMENT = "The Ostra tide mill stands on the estuary. It was built in 1783 by Walter Brandt. " * 8
QUERY = "How did the Ostra tide mill work, and what became of it?"
OTHER = AnswerText(status="ok", text="The mill was built by monks and made flour for a town. " * 4)


@pytest.mark.parametrize(
    "text",
    ["\x00", "\ud800 " * 30, "x" * 1_000_000, "mill " * 20_000, "东" * 20_000, "\u202e" * 99],
)
def test_odd_texts_are_checked_in_little_time(text: str) -> None:
    started = time.monotonic()
    check_document(text, SETTINGS)
    check_query(text, DOCUMENT, TITLE, SETTINGS)
    found = check_answers(QUERY, AnswerText(status="ok", text=text), OTHER, DOCUMENT, SETTINGS)
    assert found is not None
    assert found.detail.isprintable()
    assert time.monotonic() - started < 5
