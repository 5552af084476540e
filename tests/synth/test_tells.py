from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from openreward.synth.logistic import cross_validated, fit
from openreward.synth.tell_features import FORM, STYLE_WORDS, form_of, style_of
from openreward.synth.tell_records import Tells, Told
from openreward.synth.tells import FOLDS, tells
from openreward.types import Pair

GRAMMAR = (
    *("the", "of", "and", "to", "in", "a", "that", "for", "it", "as", "was", "with"),
    *("by", "on", "not", "at", "are", "this", "from", "or", "an", "which"),
)
SYLLABLES = [consonant + vowel for consonant in "bdklmnrst" for vowel in "aeiou"]
Say = Callable[[Random, bool], str]


def text(random: Random, words: int) -> str:
    """Sentences of grammar words and made-up words, without any tell."""
    sentences = list[str]()
    while words > 0:
        size = min(words, random.randint(6, 20))
        words -= size
        said = [
            random.choice(GRAMMAR)
            if random.random() < 0.5
            else "".join(random.choices(SYLLABLES, k=3))
            for _ in range(size)
        ]
        sentences.append(" ".join(said).capitalize() + ".")
    return " ".join(sentences)


def plain(random: Random, grounded: bool) -> str:
    return text(random, random.randint(50, 90))


def pairs(count: int, say: Say = plain, seed: int = 0) -> list[Pair]:
    """Pairs of two sources in drawn order, their supports 0.8 and 0.6."""
    random, made = Random(seed), list[Pair]()
    for number in range(count):
        both = (say(random, True), say(random, False))
        label = random.randrange(2)
        made.append(
            Pair(
                id=f"p{number}",
                query="What is it?",
                responses=both[::-1] if label else both,
                label=1 if label else 0,
                source=("arxiv", "pubmed")[number % 2],
                meta={
                    "document": f"d{number}",
                    "support": {"positive": 0.8, "negative": 0.6},
                },
            )
        )
    return made


def of(report: Tells, name: str) -> Told:
    (found,) = [tell.all for tell in report.tells if tell.name == name]
    assert found is not None
    return found


def opened(opening: str, every: float = 1.0) -> Say:
    """Grounded answers open with a word."""

    def say(random: Random, grounded: bool) -> str:
        said = plain(random, grounded)
        return f"{opening} {said}" if grounded and random.random() < every else said

    return say


def test_without_a_tell_every_rule_is_right_half_the_time() -> None:
    reports = [tells(pairs(80, seed=seed)) for seed in range(6)]
    for name in ("longer_words", "longer_characters", "form", "style"):
        found = [of(report, name) for report in reports]
        assert abs(sum(told.accuracy for told in found) / 6 - 0.5) < 0.06, name
        assert sum(told.low < 0.5 < told.high for told in found) >= 5, name


def test_a_style_word_in_every_grounded_answer_is_found_and_named() -> None:
    report = tells(pairs(100, opened("Moreover,")))
    assert of(report, "style").accuracy > 0.97
    sign = next(sign for sign in report.style if sign.feature == "moreover")
    assert sign.weight > 0
    assert (sign.positive, sign.negative) == (1.0, 0.0)


def test_a_style_word_in_half_of_them_is_found_for_that_half() -> None:
    report = tells(pairs(200, opened("Perhaps", 0.6)))
    told = of(report, "style")
    assert 0.65 < told.low < told.accuracy < told.high < 0.9
    assert report.style[0].feature == "perhaps"


def test_words_of_content_are_no_style() -> None:
    def say(random: Random, grounded: bool) -> str:
        return plain(random, grounded).replace("ba", "zebra" if grounded else "quokka")

    assert of(tells(pairs(150, say)), "style").accuracy < 0.6


def test_longer_grounded_answers_are_found_by_length_and_form() -> None:
    def say(random: Random, grounded: bool) -> str:
        return text(random, random.randint(60, 90) if grounded else random.randint(45, 70))

    report = tells(pairs(100, say))
    for name in ("longer_words", "longer_characters", "form"):
        assert of(report, name).low > 0.8, name
    assert report.form[0].feature in ("words", "characters")


@pytest.mark.parametrize(
    "mark",
    ["\n\n", "**bold** words here. ", "- one thing.\n- another.\n", "In 1987, 12.5 % of it. "],
)
def test_marks_and_numbers_are_found(mark: str) -> None:
    def say(random: Random, grounded: bool) -> str:
        first, second = text(random, 30), text(random, 30)
        return f"{first}{mark}{second}" if grounded else f"{first} {second}"

    report = tells(pairs(60, say))
    assert of(report, "style").low > 0.8
    assert of(report, "form").low > 0.8


def test_the_share_of_words_in_the_document_is_a_rule_of_its_own() -> None:
    report = tells(pairs(40))
    assert of(report, "overlap") == Told(pairs=40, accuracy=1.0, low=0.9124, high=1.0)
    without = [pair.model_copy(update={"meta": {}}) for pair in pairs(40)]
    (overlap,) = [tell for tell in tells(without).tells if tell.name == "overlap"]
    assert (overlap.all, overlap.sources) == (None, {"arxiv": None, "pubmed": None})


def test_a_tie_counts_half() -> None:
    same = [pair.model_copy(update={"responses": ("The same.", "The same.")}) for pair in pairs(40)]
    report = tells(same)
    for name in ("longer_words", "longer_characters", "form", "style"):
        told = of(report, name)
        assert (told.pairs, told.accuracy) == (40, 0.5)
    assert (report.form, report.style) == ((), ())


def test_a_rule_is_measured_by_source_too() -> None:
    random = Random(1)
    only = [
        pair
        if pair.source == "arxiv"
        else pair.model_copy(update={"responses": (text(random, 60), text(random, 60))})
        for pair in pairs(120, opened("Moreover,"))
    ]
    (style,) = [tell for tell in tells(only).tells if tell.name == "style"]
    arxiv, pubmed = style.sources["arxiv"], style.sources["pubmed"]
    assert arxiv is not None
    assert pubmed is not None
    assert (arxiv.pairs, pubmed.pairs) == (60, 60)
    assert arxiv.accuracy > 0.95
    assert pubmed.accuracy < 0.65


def test_a_source_of_few_pairs_gets_no_number() -> None:
    few = [pair.model_copy(update={"source": "rare"}) for pair in pairs(19)]
    report = tells([*pairs(40, seed=1), *few])
    assert [tell.sources["rare"] for tell in report.tells] == [None] * 5


def test_fewer_than_twenty_pairs_get_no_number() -> None:
    report = tells(pairs(19))
    assert (report.pairs, report.tells, report.form, report.style) == (19, (), (), ())
    assert len(tells(pairs(20)).tells) == 5


def test_pairs_without_a_label_are_counted_only() -> None:
    made = [pair.model_copy(update={"label": None}) for pair in pairs(5)]
    tied = [pair.model_copy(update={"label": "tie"}) for pair in pairs(2)]
    report = tells([*made, *tied, *pairs(20)])
    assert (report.pairs, report.unlabelled) == (20, 7)


def test_what_is_learnt_on_a_document_is_not_measured_on_it() -> None:
    """Pairs of one text each, twice: remembered they are all right, left out they are chance."""
    words = sorted(STYLE_WORDS)
    once = pairs(40, lambda random, grounded: " ".join(random.choices(words, k=60)))
    twice = [*once, *(pair.model_copy(update={"id": f"{pair.id} again"}) for pair in once)]
    assert of(tells(twice), "style").accuracy < 0.65
    apart = [pair.model_copy(update={"meta": {"document": pair.id}}) for pair in twice]
    assert of(tells(apart), "style").accuracy > 0.85


def test_one_document_alone_cannot_be_left_out() -> None:
    same = [pair.model_copy(update={"meta": {"document": "d"}}) for pair in pairs(30)]
    report = tells(same)
    assert [tell.all is None for tell in report.tells] == [False, False, True, True, True]


def test_the_order_of_the_answers_changes_nothing() -> None:
    made = pairs(60)
    turned = [
        pair.model_copy(
            update={"responses": pair.responses[::-1], "label": 1 - int(str(pair.label))}
        )
        for pair in made
    ]
    assert tells(made) == tells(turned)
    assert (tells(made).folds, tells(made).penalty) == (FOLDS, 1.0)


@pytest.mark.parametrize(
    "odd",
    [
        "",
        "\x00\x1b[2J",
        "字" * 500,
        "*" * 20_000,
        "\n" * 20_000,
        " " * 20_000,
        "." * 20_000,
        "🙂 \u202e",
    ],
)
def test_any_text_has_features(odd: str) -> None:
    assert len(form_of(odd)) == len(FORM)
    assert np.isfinite(form_of(odd)).all()
    assert min(style_of(odd).values(), default=1) > 0
    made = [pair.model_copy(update={"responses": (odd, pair.responses[1])}) for pair in pairs(20)]
    assert len(tells(made).tells) == 5


def test_style_is_words_of_grammar_marks_and_classes() -> None:
    said = "However, the Rhine isn’t 1,233 km long.\n\n## Facts\n- It rose in 1995!\n- Maybe."
    assert style_of(said) == {
        "however": 1,
        ",": 1,
        "the": 1,
        "isn't": 1,
        "<number>": 1,
        "<name>": 1,
        ".": 2,
        "#": 2,
        "-": 2,
        "it": 1,
        "in": 1,
        "<year>": 1,
        "!": 1,
        "maybe": 1,
        "<sentence of 6 to 10 words>": 1,
        "<sentence of 1 to 5 words>": 3,
        "<list item>": 2,
        "<heading>": 1,
        "<paragraph>": 1,
    }


def test_a_fit_is_where_the_loss_is_least() -> None:
    random = np.random.default_rng(0)
    rows = random.normal(size=(50, 3)) + [1.0, 0.0, -0.5]
    weights = fit(rows, 1.0)
    wrong = 1 / (1 + np.exp(rows @ weights))
    assert np.allclose(rows.T @ wrong, weights, atol=1e-4)  # the slope of the loss is none
    assert weights[0] > 0.5 > -0.1 > weights[2]


def test_a_fit_of_one_feature_is_the_known_one() -> None:
    # three of four win by one: log(3) without a penalty
    rows = np.array([[1.0], [1.0], [1.0], [-1.0]])
    assert fit(rows, 1e-9)[0] == pytest.approx(1.0986, abs=1e-4)
    assert fit(np.full((4, 1), 1e6), 1.0)[0] > 0  # steps that are too long are cut
    assert fit(np.zeros((4, 0)), 1.0).shape == (0,)


def test_a_row_is_measured_by_weights_of_other_folds() -> None:
    # each fold contradicts the other: left out, everything is wrong
    rows = np.array([[1.0], [1.0], [-1.0], [-1.0]])
    sums = cross_validated(lambda _: rows, np.array([0, 0, 1, 1]), 1.0)
    assert (sums < 0).all()
