"""A document's way to a row: what is asked, what ends it, what is written down."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from openreward.batch import NotDone
from openreward.errors import PolicyError
from openreward.policy.base import Conversation, Generation, Sampling
from openreward.policy.scripted import ScriptedPolicy
from openreward.synth.evaluation_overlap import EvaluationOverlap
from openreward.synth.pair_records import PairDrop, PairSettings
from openreward.synth.pairs import PairWriting
from openreward.synth.writer import Writer
from openreward.types import Document, PolicyFault

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent / "cli"))

from pair_runs import document, writer
from pair_writing import DOCUMENT, Say, asks, changed, has_document, write


def test_a_document_becomes_a_query_and_two_answers() -> None:
    row = write(writer())
    assert row.drop is None
    assert (row.id, row.source, row.title) == ("town:4", "arxiv", "Eskham 4")
    assert (row.start, row.end) == (0, len(DOCUMENT.text))
    assert (row.writer, row.prompts, row.query_tries) == ("w: scripted writer", "1", 1)
    assert "the trade and the bridges of Eskham 4" in row.query
    assert row.positive
    assert row.negative
    assert "founded in 1452" in row.positive.text
    assert "1452" not in row.negative.text
    assert row.positive.support
    assert (row.positive.support.share, row.positive.support.missing) == (1.0, ())
    assert row.negative.support
    assert len(row.negative.support.missing) >= 2
    assert row.usage.completion_tokens > 60


def test_both_answers_are_asked_for_in_the_same_words_and_settings() -> None:
    seen: list[tuple[str, str, Sampling]] = []

    def script(talk: Conversation, sampling: Sampling) -> str | Generation:
        seen.append((talk.messages[0].content, talk.messages[-1].content, sampling))
        return writer().script(talk, sampling)

    write(ScriptedPolicy(script))
    query, *answers = seen
    with_it, without = sorted(answers, key=lambda each: -len(each[1]))
    assert with_it[0] == without[0] == query[0]
    assert with_it[1].endswith(without[1])
    assert "### end" in with_it[1].removesuffix(without[1])
    assert query[1].startswith(with_it[1].removesuffix(without[1]).rstrip())  # one prefix
    given, other = with_it[2], without[2]
    assert given.seed != other.seed
    assert (given.temperature, given.max_tokens) == (0.7, 300)
    assert (other.temperature, other.max_tokens) == (0.7, 300)


@pytest.mark.parametrize(
    ("say", "step", "reason"),
    [
        (lambda p: "" if asks(p) else None, "query", "empty"),
        (lambda p: "I'm sorry, I can't help with that." if asks(p) else None, "query", "refusal"),
        (lambda p: "Why bridges of Eskham 4?" if asks(p) else None, "query", None),
        (lambda p: "Why Eskham 4?" if asks(p) else None, "query", "query_too_short"),
        (lambda p: "Why " * 70 if asks(p) else None, "query", "query_too_long"),
        (
            lambda p: "What does the passage above say of the bridges?" if asks(p) else None,
            "query",
            "self_revealing",
        ),
        (lambda p: "### material says what of Eskham 4?" if asks(p) else None, "query",
         "self_revealing"),
        (lambda p: "How do volcanoes erupt under deep oceans?" if asks(p) else None, "query",
         "off_document"),
        (lambda p: Generation("Half of a", "length") if asks(p) else None, "query", "cut"),
        (lambda p: None if asks(p) or has_document(p) else "", "answers", "empty"),
        (
            lambda p: None if asks(p) or has_document(p) else Generation("No", "refused"),
            "answers",
            "refusal",
        ),
        (
            lambda p: Generation("Eskham is", "length") if not asks(p) and has_document(p)
            else None,
            "answers",
            "cut",
        ),
        (
            lambda p: None if asks(p) or has_document(p) else "### end of it. " + "Word. " * 40,
            "answers",
            "tell",
        ),
        (
            lambda p: "It was founded in 1999 by wool traders, and its main trade was cloth until "
            "the mills closed; the oldest bridge carries the road to the coast today."
            if not asks(p) and has_document(p)
            else None,
            "checks",
            "positive_unsupported",
        ),
    ],
)  # fmt: skip
def test_the_first_step_that_fails_ends_it(say: Say, step: str, reason: str | None) -> None:
    row = write(changed(say))
    if reason is None:
        assert row.drop is None or row.drop.step != "query"
    else:
        assert row.drop
        assert (row.drop.step, row.drop.reason) == (step, reason)


def test_a_query_is_tried_again_with_another_seed() -> None:
    tried: list[int] = []

    def script(talk: Conversation, sampling: Sampling) -> str | Generation:
        if asks(talk.messages[-1].content):
            tried.append(sampling.seed)
            if len(tried) < 3:
                return "Why?"
        return writer().script(talk, sampling)

    row = write(ScriptedPolicy(script))
    assert (row.drop, row.query_tries, len(set(tried))) == (None, 3, 3)


def test_a_short_document_costs_nothing() -> None:
    row = write(writer(), Document(id="d", source="s", title="T", text="Ten words."))
    assert row.drop == PairDrop(
        step="document", reason="document_too_short", detail="2 words, at least 60 expected"
    )
    assert row.usage.prompt_tokens == 0


def test_a_long_document_is_cut_at_a_sentence_and_the_span_says_so() -> None:
    text = " ".join([DOCUMENT.text, *(f"Sentence {n} tells of nothing." for n in range(900))])
    row = write(writer(), DOCUMENT.model_copy(update={"text": text}))
    assert row.drop is None
    assert 300 < len(text[: row.end].split()) <= 700
    assert text[: row.end].endswith("nothing.")


@pytest.mark.parametrize(
    ("file", "step"),
    [
        (DOCUMENT.text, "document"),
        ("report on the trade and the bridges of Eskham 4 came to what they are", "query"),
        (
            "wool traders It has 1348 inhabitants and 27 stone bridges and the oldest one",
            "checks",
        ),
    ],
)
def test_what_overlaps_with_an_evaluation_file_is_dropped(
    tmp_path: Path, file: str, step: str
) -> None:
    path = tmp_path / "benchmark.txt"
    path.write_text(file)
    kinds = PairSettings(same=1, kinds=("report",), overlap=10)
    row = None
    for seed in range(40):  # until "Write a short report on" is drawn
        row = write(
            writer(),
            settings=kinds.model_copy(update={"seed": seed}),
            evaluation=EvaluationOverlap([path], 10),
        )
        if row.drop and row.drop.step == step:
            break
    assert row
    assert row.drop
    assert (row.drop.step, row.drop.reason) == (step, "evaluation_overlap")
    assert row.drop.detail.startswith("benchmark.txt: ")


@pytest.mark.parametrize(
    ("positive", "negative", "reason"),
    [
        ("full", "none", None),
        ("full", "part", None),
        ("part", "none", "positive_unsupported"),
        ("full", "full", "negative_supported"),
        ("perhaps", "none", "unverified"),
    ],
)
def test_a_verifier_has_the_last_word(positive: str, negative: str, reason: str | None) -> None:
    def script(talk: Conversation, sampling: Sampling) -> str:
        statement = talk.messages[-1].content.split("### statement", 1)[1]
        word = positive if "1452" in statement else negative
        return f"<answer>{word}</answer>"

    verifier = Writer(ScriptedPolicy(script), "v")
    row = write(writer(), verifier=verifier)
    assert (row.drop.reason if row.drop else None) == reason
    assert row.positive
    assert row.positive.verified == ("unparsed" if positive == "perhaps" else positive)


@pytest.mark.parametrize("fault", ["timeout", "rate_limited", "server_error", "bad_response"])
def test_a_fault_of_the_engine_leaves_the_document_undone(fault: PolicyFault) -> None:
    def say(prompt: str) -> None:
        if not asks(prompt):
            raise PolicyError(fault, "the engine is broken")

    with pytest.raises(NotDone, match="positive: the engine is broken"):
        write(changed(say))


@pytest.mark.parametrize("fault", ["unreachable", "unauthorized", "unknown_model"])
def test_a_fault_of_all_documents_stops_the_run(fault: PolicyFault) -> None:
    def say(prompt: str) -> None:
        raise PolicyError(fault, "the engine is broken")

    with pytest.raises(PolicyError, match="the engine is broken; then go on with --resume"):
        write(changed(say))


def test_a_document_that_the_engine_cannot_take_is_dropped() -> None:
    def say(prompt: str) -> None:
        raise PolicyError("context_overflow", "too long")

    row = write(changed(say))
    assert row.drop == PairDrop(step="query", reason="error", detail="query: too long")
    assert row.fault == "context_overflow"


def test_several_writers_share_the_documents_by_their_ids() -> None:
    writers = [Writer(writer(), name, 0.7) for name in ("a", "b")]
    writing = PairWriting(writers, PairSettings(same=1))
    documents = [Document(**document(n)) for n in range(40)]
    names = [asyncio.run(writing.write(each)).writer for each in documents]
    assert {name: names.count(name) for name in set(names)}.keys() == {
        "a: scripted writer", "b: scripted writer",
    }  # fmt: skip
    assert min(names.count(name) for name in set(names)) >= 10
