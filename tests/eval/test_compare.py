"""Comparing two sheets: the same numbers as the reports', differences worked by hand."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from answered import answer, prediction

from openreward.eval.benchmark import Example
from openreward.eval.benchmarks import BENCHMARKS
from openreward.eval.compare import Compared, Contrast, Side, Sides
from openreward.eval.run import Plan
from openreward.eval.sheet import Sheet
from openreward.records import DataFile

RANKED = ((0,), (1,), (2,))
PLAN = Plan(seed=3)


def examples(groups: Sequence[dict[str, str]], k: int = 2, **more: object) -> list[Example]:
    """One example for each of some groups; the longer answer is right in two of three."""
    made = []
    for number, where in enumerate(groups):
        texts = tuple("x" * (1 + (place * 7 + number * 5) % 11 + place) for place in range(k))
        fields = {"right": (0,), **more}
        made.append(Example(id=f"e{number}", query="q", responses=texts, groups=where, **fields))
    return made


def repeated(level: str, *names: str, **more: str) -> list[dict[str, str]]:
    return [{level: names[number % len(names)], **more} for number in range(12)]


REASONING = [{"section": "Reasoning", "subset": "math-prm"}] * 5
REASONING += [{"section": "Reasoning", "subset": "hep-cpp"}] * 3
CHAT = [{"section": "Chat", "subset": "alpacaeval-easy"}] * 4
TIES = [{"subset": "Ties", "side": side, "prompt": n} for n in "12" for side in ("ref", "tied")]
EXAMPLES: dict[str, list[Example]] = {
    "rewardbench": examples(REASONING + CHAT),
    "rewardbench2": examples(repeated("subset", "Focus", "Math", "Math") + TIES, 4),
    "pandalm": examples(repeated("application", "a", "b")),
    "rmb": examples(repeated("quadrant", "Pairwise Helpfulness", "Pairwise Harmlessness")),
    "rm-bench": examples(repeated("domain", "chat", "code", "code"), 6, right=(0, 1, 2)),
    "judgebench": examples(repeated("kind", "math", "coding")),
    "llmbar": examples(repeated("family", "Natural", "Adversarial")),
    "auto-j": examples(repeated("scenario", "a", "b")),
    "pairs": examples(repeated("source", "wikipedia", "arxiv", "arxiv")),
    "rankings": [
        *examples(repeated("source", "a", "b"), 3, right=(), ranking=RANKED),
        Example(id="two", query="q", responses=("a", "bb"), ranking=((1,), (0,))),
    ],
}


@pytest.mark.parametrize("name", BENCHMARKS)
def test_two_sheets_give_the_numbers_of_their_reports(name: str) -> None:
    benchmark, found = BENCHMARKS[name], EXAMPLES[name]
    sheets = [answer(benchmark, found, control, PLAN) for control in ("longer", "random")]
    scores = [benchmark.score(sheet) for sheet in sheets]
    sides = Sides(benchmark, *sheets)
    headline, twice = sides.headline(), sides.twice()
    values = [score.headline.value for score in scores]
    if name == "rewardbench2":  # a coin gives no scores of Ties, so both are without
        values = [score.numbers[1].value for score in scores]
    assert [headline.a.value, headline.b.value] == pytest.approx(values)
    strict = [score.strict.value for score in scores if score.strict]
    assert [twice.a.value, twice.b.value] == pytest.approx(strict)
    assert headline.difference.value == pytest.approx((values[0] or 0) - (values[1] or 0))
    assert headline.difference.low is not None
    assert headline.difference.high is not None
    assert headline.difference.low < headline.difference.value < headline.difference.high
    told = [{(g.level, g.name): g.score.value for g in score.groups} for score in scores]
    for group in sides.groups():
        if group.level in ("side", "prompt"):
            continue
        key = (group.level, group.name)
        assert [group.a.value, group.b.value] == pytest.approx([each[key] for each in told])


def test_the_score_of_ties_is_one_more_part() -> None:
    benchmark, found = BENCHMARKS["rewardbench2"], EXAMPLES["rewardbench2"]
    longer = answer(benchmark, found, "longer", PLAN)
    first = Sheet.of(benchmark, found, PLAN.seed)
    for each in found:
        said = prediction(benchmark.name, each.id, order=range(4), scores=[4, 3, 2, 1])
        assert first.add(said) is None
    contrast = Sides(benchmark, first, longer).headline()
    assert contrast.a.value == benchmark.score(first).headline.value
    assert contrast.b.value == pytest.approx(benchmark.score(longer).headline.value)
    assert "Ties as it is, not drawn anew" in contrast.difference.rule


def sheet(name: str, right: dict[str, bool]) -> Sheet:
    """A judge that is right, or wrong, about some examples in both orders."""
    made = Sheet.of(BENCHMARKS[name], EXAMPLES[name], PLAN.seed)
    for id, is_right in right.items():
        for order in ([0, 1], [1, 0]):
            said = prediction(name, id, order=order, winner=0 if is_right else 1)
            assert made.add(said) is None
    return made


def test_subsets_weigh_by_their_full_sizes() -> None:
    ids = [f"e{number}" for number in range(8)]
    on_math = sheet("rewardbench", {id: number < 5 for number, id in enumerate(ids)})
    on_code = sheet("rewardbench", {id: number >= 5 for number, id in enumerate(ids)})
    sides = Sides(BENCHMARKS["rewardbench"], on_math, on_code)
    headline = sides.headline()
    assert headline.a.value == pytest.approx(984 / (984 + 164))
    assert headline.b.value == pytest.approx(164 / (984 + 164))
    assert headline.difference.value == pytest.approx(820 / 1148)
    sections = {each.name: each.difference.value for each in sides.groups()}
    assert sections == pytest.approx({"Reasoning": 820 / 1148, "math-prm": 1.0, "hep-cpp": -1.0})


def test_only_what_both_answered_counts_and_the_rest_is_counted() -> None:
    one = sheet("pandalm", {"e0": True, "e1": True, "e2": False, "e3": True})
    other = sheet("pandalm", {"e2": True, "e3": True, "e4": False})
    sides = Sides(BENCHMARKS["pandalm"], one, other)
    assert sides.answered().model_dump() == {"both": 2, "only_a": 2, "only_b": 1, "neither": 7}
    headline = sides.headline()
    assert (headline.a.value, headline.b.value) == (0.5, 1.0)
    assert (headline.difference.value, headline.difference.n) == (-0.5, 2)
    found = list(sides.differing(EXAMPLES["pandalm"]))
    assert [(each.id, each.a, each.b) for each in found] == [("e2", 0.0, 1.0)]


def test_judges_that_never_differ_are_still_uncertain() -> None:
    ids = {f"e{number}": True for number in range(12)}
    sides = Sides(BENCHMARKS["pandalm"], sheet("pandalm", ids), sheet("pandalm", ids))
    difference = sides.headline().difference
    assert difference.value == 0
    assert difference.high == pytest.approx(0.2425, abs=1e-4)  # Wilson's for 0 of 12
    assert difference.low == -difference.high


def test_a_comparison_comes_back_from_json_as_it_was() -> None:
    ids = {f"e{number}": number % 2 == 0 for number in range(12)}
    sides = Sides(BENCHMARKS["pandalm"], sheet("pandalm", ids), sheet("pandalm", {"e1": True}))
    side = Side(report="r", judge="j", plan=PLAN, predictions="p")
    headline: Contrast = sides.headline()
    made = Compared(
        benchmark="pandalm",
        data=DataFile(path="d", sha256="0", bytes=1),
        a=side,
        b=side,
        answered=sides.answered(),
        headline=headline,
        strict=sides.twice(),
        groups=tuple(sides.groups()),
        a_better=(),
        b_better=tuple(sides.differing(EXAMPLES["pandalm"])),
    )
    assert Compared.model_validate_json(made.model_dump_json()) == made
