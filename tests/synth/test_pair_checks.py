from __future__ import annotations

import pytest

from openreward.synth.pair_checks import check_answers, check_document, check_query, measure
from openreward.synth.pair_records import AnswerText, PairReason, PairSettings, Problem, Support

SETTINGS = PairSettings()
TITLE = "Ostra tide mill"
DOCUMENT = (
    "The Ostra tide mill stands on the estuary of the Ostra. It was built in 1783 by the engineer "
    "Walter Brandt, who had learned his trade in Rotterdam. The mill has 14 sluice gates and "
    "could grind 320 sacks of grain in a week. Its wheels turn with the ebb, which makes it "
    "slower than a river mill but independent of rain. The parish bought the mill in 1906 and "
    "opened it as a museum in 1931."
)
QUERY = "How did the Ostra tide mill work, and what became of it?"
POSITIVE = (
    "The mill on the estuary was built in 1783 by Walter Brandt, an engineer with a trade learned "
    "in Rotterdam. With 14 sluice gates it could grind 320 sacks a week. The ebb turns its wheels, "
    "so that it is independent of rain but slower than a river mill. In 1906 the parish bought it, "
    "and since 1931 it is a museum."
)
NEGATIVE = (
    "The mill was built by monks in the 12th century and used the power of a stream from the "
    "hills. Its large stones made flour for the whole town, and the miller kept one tenth of it as "
    "his pay. A fire destroyed the roof in 1854, after which it was turned into a hotel for "
    "travellers who come to the coast in summer."
)


def answer(text: str, **fields: object) -> AnswerText:
    return AnswerText(status="ok", text=text).model_copy(update=fields)


def check(
    positive: str | AnswerText = POSITIVE,
    negative: str | AnswerText = NEGATIVE,
    settings: PairSettings = SETTINGS,
) -> Problem | None:
    both = [a if isinstance(a, AnswerText) else answer(a) for a in (positive, negative)]
    return check_answers(QUERY, both[0], both[1], DOCUMENT, settings)


def test_a_good_document_query_and_pair_have_no_problem() -> None:
    assert check_document(DOCUMENT, SETTINGS) is None
    assert check_query(QUERY, DOCUMENT, TITLE, SETTINGS) is None
    assert check() is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Too short.", Problem("document_too_short", "2 words, at least 60 expected")),
        ("", Problem("document_too_short", "0 words, at least 60 expected")),
        ("Der Hund und die Katze sind nicht im Haus. " * 8, "language"),
    ],
)
def test_documents_that_are_unfit(text: str, expected: Problem | str) -> None:
    found = check_document(text, SETTINGS)
    assert found is not None
    assert found == expected or found.reason == expected


def test_a_document_in_any_language_is_taken_when_asked_for() -> None:
    german = "Der Hund und die Katze sind nicht im Haus. " * 8
    assert check_document(german, PairSettings(language="any")) is None
    assert check_document("东京是日本的首都。" * 10, PairSettings(language="any")) is None


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", Problem("empty", "the query")),
        (" ?! ", Problem("empty", "the query")),
        ("I'm sorry, but I can't help with the mill.", "refusal"),
        ("I cannot access the page about the mill.", "refusal"),
        ("What about the mill?", Problem("query_too_short", "4 words, at least 5 expected")),
        ("mill " * 61, Problem("query_too_long", "61 words, at most 60 expected")),
        (
            "According to the passage, how does the mill work?",
            Problem("self_revealing", "'According to the passage'"),
        ),
        (
            "How do whales sleep under water at night?",
            Problem("off_document", "no word of weight in common"),
        ),
        ("Wie hat die Ostra gearbeitet und was ist aus der Mühle geworden?", "language"),
        ("奥斯特拉磨坊是怎样工作的 Ostra？", "language"),
        (
            "How does the mill on the Ostra\u0e35\u0e22 work?",
            Problem("language", "query: 'ย' in it"),
        ),
    ],
)
def test_queries_that_are_unfit(query: str, expected: Problem | str) -> None:
    found = check_query(query, DOCUMENT, TITLE, SETTINGS)
    assert found is not None
    assert found == expected or found.reason == expected


@pytest.mark.parametrize(
    ("positive", "negative", "expected"),
    [
        (POSITIVE, "I'm sorry, I cannot provide that.", "refusal"),
        ("No information is given on this.", NEGATIVE, "refusal"),
        (
            POSITIVE,
            "A mill.",
            Problem("answer_too_short", "negative: 2 words, at least 25 expected"),
        ),
        ("", NEGATIVE, Problem("answer_too_short", "positive: 0 words, at least 25 expected")),
        (
            POSITIVE,
            NEGATIVE + " It was a mill." * 20,
            Problem("length_ratio", "62 and 144 words, at most 2 times expected"),
        ),
        (
            POSITIVE + " This is what the text says.",
            NEGATIVE,
            Problem("tell", "positive: 'the text says'"),
        ),
        (POSITIVE, "As an AI, I think so. " + NEGATIVE, Problem("tell", "negative: 'As an AI'")),
        (
            DOCUMENT,
            NEGATIVE,
            Problem("copied", "positive: 1.00 of its runs of 8 words, from 0.5 on it is a copy"),
        ),
        (POSITIVE, DOCUMENT, "copied"),
        (
            POSITIVE,
            POSITIVE + " It is old.",
            Problem("same_answer", "0.95 of their runs of 3 words in common"),
        ),
        (POSITIVE, NEGATIVE + " Its ролии turn.", Problem("language", "negative: 'ролии' in it")),
        (POSITIVE, "Die Mühle ist nicht alt und wird von der Stadt auch nicht " * 4, "language"),
        (
            POSITIVE.replace("1906", "1916"),
            NEGATIVE,
            Problem("positive_unsupported", "not in the document: '1916'"),
        ),
        (
            "People have long told one another tales of water and wood, and of long nights by the "
            "fire in which bread was baked, songs were sung and children fell asleep. They tell "
            "them to this day.",
            NEGATIVE,
            Problem(
                "positive_unsupported",
                "0.00 of its words are in the document, at least 0.7 expected",
            ),
        ),
        (
            POSITIVE,
            "The tide mill of the Ostra could grind sacks of grain; its wheels turn with the ebb. "
            "The engineer, Walter Brandt, learned his trade in Rotterdam. As a mill it was "
            "independent of rain, and the parish opened it as a museum.",
            Problem(
                "negative_supported", "1.00 of its words are in the document, and its facts"
            ),
        ),
    ],
)  # fmt: skip
def test_pairs_that_are_unfit(positive: str, negative: str, expected: Problem | str) -> None:
    found = check(positive, negative)
    assert found is not None
    assert found == expected or found.reason == expected


def test_several_missing_facts_are_listed_shortened_and_printable() -> None:
    found = check(POSITIVE + " In 2001, in 2002, in 2003 and in 2004 it was on \x1b]x\x07 fire.")
    assert found == Problem(
        "positive_unsupported", "not in the document: '2001', '2002', '2003' and 1 more"
    )
    found = check(POSITIVE + f" The mayor was Krause{'x' * 200}\u202e.")
    assert found is not None
    assert len(found.detail) < 120
    assert found.detail.isprintable()


@pytest.mark.parametrize(
    ("positive", "negative", "reason"),
    [
        ("full", "none", None),
        ("full", "part", None),
        ("part", "none", "positive_unsupported"),
        ("none", "none", "positive_unsupported"),
        ("full", "full", "negative_supported"),
        ("unparsed", "none", "unverified"),
        ("full", "unparsed", "unverified"),
    ],
)
def test_a_verifier_s_word_stands_over_the_words(
    positive: str, negative: str, reason: PairReason | None
) -> None:
    wrong = answer(POSITIVE.replace("1906", "1916"), verified=positive)
    found = check(wrong, answer(NEGATIVE, verified=negative))
    assert (found and found.reason) == reason


def test_what_was_measured_before_is_not_measured_again() -> None:
    measured = {"support": Support(share=0.5, facts=1, missing=("x",)), "copied": 0.0}
    assert check(answer(POSITIVE, **measured)) == Problem(
        "positive_unsupported", "not in the document: 'x'"
    )


def test_measuring_gives_support_and_the_share_of_copied_runs() -> None:
    words = DOCUMENT.split()
    half = " ".join(words[:15]) + " " + "other words that are of texts by hands of others now"
    found, copied = measure(half, DOCUMENT, QUERY)
    assert copied == round(8 / 19, 4)  # 26 words give 19 runs, the first 15 words 8 of them
    assert found.missing == ()
    assert measure("short", DOCUMENT, QUERY)[1] == 0.0


def test_the_bounds_are_the_settings() -> None:
    changed = POSITIVE.replace("is independent of rain", "needs no rain whatsoever")
    assert check(changed) is None
    strict = PairSettings(supported=0.99)
    assert (check(changed, settings=strict) or Problem("error")).reason == "positive_unsupported"
    assert (check(settings=PairSettings(ratio=1.0)) or Problem("error")).reason == "length_ratio"


@pytest.mark.parametrize(("words", "reason"), [(59, "document_too_short"), (60, None)])
def test_a_document_has_sixty_words(words: int, reason: PairReason | None) -> None:
    found = check_document(" ".join(("the mill of the town is old " * 9).split()[:words]), SETTINGS)
    assert (found and found.reason) == reason


@pytest.mark.parametrize(
    ("words", "reason"),
    [(4, "query_too_short"), (5, None), (60, None), (61, "query_too_long")],
)
def test_a_query_has_five_to_sixty_words(words: int, reason: PairReason | None) -> None:
    query = " ".join(("how is the mill of the town used " * 8).split()[:words])
    found = check_query(query, DOCUMENT, TITLE, SETTINGS)
    assert (found and found.reason) == reason


def test_an_answer_has_twenty_five_words() -> None:
    words = POSITIVE.split()
    found = check(" ".join(words[:24]))
    assert found == Problem("answer_too_short", "positive: 24 words, at least 25 expected")
    assert check(" ".join(words[:25]), NEGATIVE, PairSettings(ratio=9)) is None


def test_an_answer_is_up_to_twice_as_long() -> None:
    words = NEGATIVE.split()
    assert check(" ".join(POSITIVE.split()[:30]), " ".join(words[:60])) is None
    assert check(" ".join(POSITIVE.split()[:30]), " ".join(words[:61])) == Problem(
        "length_ratio", "30 and 61 words, at most 2 times expected"
    )


@pytest.mark.parametrize(
    ("positive", "negative", "reason"),
    [
        ({"share": 0.7}, {"share": 0.0}, None),
        ({"share": 0.6999}, {"share": 0.0}, "positive_unsupported"),
        ({"share": 1.0, "missing": ("x",)}, {"share": 0.0}, "positive_unsupported"),
        ({"share": 1.0}, {"share": 0.9}, None),
        ({"share": 1.0}, {"share": 0.9001}, "negative_supported"),
        ({"share": 1.0}, {"share": 1.0, "missing": ("x",)}, None),
        ({"share": 1.0, "copied": 0.5}, {"share": 0.0}, "copied"),
    ],
)
def test_what_was_measured_is_held_against_the_bounds(
    positive: dict[str, object], negative: dict[str, object], reason: PairReason | None
) -> None:
    copied = positive.pop("copied", 0.0)
    found = check(
        answer(POSITIVE, support=Support.model_validate(positive), copied=copied),
        answer(NEGATIVE, support=Support.model_validate(negative), copied=0.0),
    )
    assert (found and found.reason) == reason


def test_answers_that_share_six_tenths_of_their_runs_are_one() -> None:
    words = [f"a{number}" for number in range(42)]  # 40 runs of three words
    other = [*words[:32], *(f"b{number}" for number in range(10))]  # 30 of them, of 50 of both
    settings = PairSettings(language="any", supported=0)
    sure = {"support": Support(share=1.0), "copied": 0.0}
    unsure = {"support": Support(share=0.0), "copied": 0.0}
    found = check(answer(" ".join(words), **sure), answer(" ".join(other), **unsure), settings)
    assert found == Problem("same_answer", "0.60 of their runs of 3 words in common")
    other[31] = "c"  # 29 of 51
    assert (
        check(answer(" ".join(words), **sure), answer(" ".join(other), **unsure), settings) is None
    )
