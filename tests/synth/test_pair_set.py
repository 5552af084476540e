from __future__ import annotations

import math
import sys
import tracemalloc
from collections import Counter
from pathlib import Path
from random import Random

from openreward.inputs import PairRow as InputRow
from openreward.records import Row, read_jsonl
from openreward.synth.pair_matching import REACHES
from openreward.synth.pair_records import PairSettings
from openreward.synth.pair_set import PairSet, make_set, split_of
from openreward.synth.pair_table import SPLITS, words_in
from openreward.types import Pair, Usage

sys.path.insert(0, str(Path(__file__).parent))

from pair_rows import answer, many, row, write

LOOSE = PairSettings(match_lengths=False)


def pairs(made: PairSet) -> list[Pair]:
    return [pair for split in SPLITS for pair in made.pairs(split)]


def lines(made: PairSet) -> list[str]:
    """All that a set says of its rows."""
    written = [f"{split} {p.model_dump_json()}" for split in SPLITS for p in made.pairs(split)]
    return [*written, *(each.model_dump_json() for each in made.dropped())]


def dropped(made: PairSet) -> list[tuple[str, str, str, str]]:
    return [(each.id, each.step, each.reason, each.detail) for each in made.dropped()]


def document(pair: Pair) -> str:
    return str(pair.meta["document"])


def test_a_row_becomes_a_pair_with_all_that_is_known_of_it(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", [row("d1", asked="What is d1 about?")])
    with make_set([path], LOOSE) as made:
        (pair,) = pairs(made)
    grounded, other = answer(80).text, answer(80).text
    assert pair.label in (0, 1)
    assert pair.id.startswith("d1#")
    assert (pair.query, pair.source, set(pair.responses)) == (
        "What is d1 about?",
        "wikipedia",
        {grounded, other},
    )
    assert pair.meta == {
        "document": "d1",
        "title": "About d1",
        "url": "https://host.example/d1",
        "revision": "7",
        "start": 0,
        "end": 500,
        "kind": "report",
        "words": 90,
        "writer": "writer: scripted",
        "seed": 11,
        "prompts": "3",
        "support": {"positive": 0.9, "negative": 0.25},
    }


def test_the_label_points_at_the_grounded_answer(tmp_path: Path) -> None:
    made_up = [
        row(f"d{n}").model_copy(
            update={
                "positive": answer(0, text=f"grounded {n}"),
                "negative": answer(0, None, text=f"free {n}"),
            }
        )
        for n in range(40)
    ]
    with make_set([write(tmp_path / "rows.jsonl", made_up)], LOOSE) as made:
        found = pairs(made)
    assert len(found) == 40
    for pair in found:
        assert pair.label is not None
        assert pair.label != "tie"
        assert pair.responses[pair.label].startswith("grounded")
        assert pair.responses[1 - pair.label].startswith("free")
        assert pair.meta["support"] == {"positive": 0.5, "negative": None}
    assert {pair.label for pair in found} == {0, 1}


def test_nothing_depends_on_the_order_of_rows_or_on_how_they_are_spread(tmp_path: Path) -> None:
    rows = many(150)
    shuffled = rows[:]
    Random(3).shuffle(shuffled)
    one = write(tmp_path / "one.jsonl", rows)
    parts = [write(tmp_path / f"{n}.jsonl", shuffled[n::3]) for n in range(3)]
    with make_set([one], PairSettings()) as whole, make_set(parts, PairSettings()) as spread:
        assert lines(whole) == lines(spread)
        assert list(whole.drawn(50)) == list(spread.drawn(50))
        assert whole.counts() == spread.counts()
        assert len(lines(whole)) == 150


def test_another_seed_draws_another_set(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", many(60))
    with make_set([path], PairSettings()) as one, make_set([path], PairSettings(seed=1)) as other:
        assert lines(one) != lines(other)


def test_one_of_two_queries_that_say_nearly_the_same_is_dropped_and_named(tmp_path: Path) -> None:
    asked = "Explain how the old bridge of the town was built and who paid for all of it."
    rows = [row("a", asked=asked), row("b", asked=asked.replace("Explain", "Describe")), row("c")]
    with make_set([write(tmp_path / "rows.jsonl", rows)], LOOSE) as made:
        ((id, step, reason, detail),) = dropped(made)
        assert (step, reason) == ("set", "duplicate_query")
        assert detail == f"0.88 in common with {'b' if id == 'a' else 'a'}"
        assert {document(pair) for pair in pairs(made)} == {"a", "b", "c"} - {id}


def test_a_query_is_no_duplicate_of_one_that_was_dropped_before(tmp_path: Path) -> None:
    rows = [
        row("a", asked="Explain the bridge.", drop=("checks", "tell", "x")),
        row("b", asked="Explain the bridge."),
    ]
    with make_set([write(tmp_path / "rows.jsonl", rows)], LOOSE) as made:
        assert [document(pair) for pair in pairs(made)] == ["b"]


def ratios(made: PairSet, source: str) -> tuple[list[float], list[float]]:
    """How much longer the grounded answers are, and the others, both sorted."""
    found = list[float]()
    for pair in pairs(made):
        assert pair.label in (0, 1)
        if pair.source == source:
            good, bad = pair.responses[int(pair.label)], pair.responses[1 - int(pair.label)]
            found.append(math.log(words_in(good) / words_in(bad)))
    return sorted(r for r in found if r > 0), sorted(-r for r in found if r < 0)


def test_lengths_tell_nothing_in_any_source(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", many(270))
    with make_set([path], LOOSE) as before, make_set([path], PairSettings()) as made:
        for source in ("wikipedia", "arxiv", "pubmed"):
            longer, shorter = ratios(before, source)
            assert len(longer) > 1.2 * len(shorter)  # else there is nothing to be done
            longer, shorter = ratios(made, source)
            assert len(longer) == len(shorter) > 15
            apart = [abs(one - other) for one, other in zip(longer, shorter, strict=True)]
            assert max(apart) <= REACHES[-1] + 1e-12


def test_rows_of_equal_lengths_stay_and_the_excess_is_named(tmp_path: Path) -> None:
    rows = [row("same"), row("longer", 90, 60), row("shorter", 60, 90), row("alone", 100, 62)]
    with make_set([write(tmp_path / "rows.jsonl", rows)], PairSettings()) as made:
        assert dropped(made) == [
            ("alone", "set", "length_matching", "100 words with the document, 62 without")
        ]


def test_labels_are_balanced_in_every_split_of_every_source(tmp_path: Path) -> None:
    path = write(tmp_path / "rows.jsonl", many(300))
    with make_set([path], LOOSE) as made:
        counts = Counter(
            (split, pair.source, pair.label) for split in SPLITS for pair in made.pairs(split)
        )
    groups = {(split, source) for split, source, _ in counts}
    assert len(groups) == 9
    assert [g for g in groups if abs(counts[*g, 0] - counts[*g, 1]) > 1] == []


def test_a_document_keeps_its_split_when_others_come(tmp_path: Path) -> None:
    rows = many(200)
    few, all = write(tmp_path / "few.jsonl", rows[:80]), write(tmp_path / "all.jsonl", rows)
    with make_set([few], LOOSE) as old, make_set([all], LOOSE) as new:
        before = {document(pair): split for split in SPLITS for pair in old.pairs(split)}
        after = {document(pair): split for split in SPLITS for pair in new.pairs(split)}
    assert len(before) == 64
    assert {id: after[id] for id in before} == before


def test_splits_have_the_shares_that_were_asked_for() -> None:
    settings = PairSettings(dev=0.1, test=0.3)
    found = Counter(split_of(f"document {n}", settings) for n in range(10_000))
    assert abs(found["test"] - 3000) < 150
    assert abs(found["dev"] - 1000) < 100
    assert {split_of(f"{n}", PairSettings(dev=0, test=0)) for n in range(50)} == {"train"}


def test_all_rows_are_counted_by_source_with_their_usage(tmp_path: Path) -> None:
    rows = [
        row("a", drop=("query", "self_revealing", "the document")),
        row("b", drop=("document", "document_too_short", "12 words")),
        row("c", drop=("checks", "tell", "as an AI")),
        row("d"),
        row("e", 90, 60),
        row("f", source="arxiv"),
    ]
    with make_set([write(tmp_path / "rows.jsonl", rows)], PairSettings(dev=0, test=0)) as made:
        arxiv, wikipedia = made.counts()
        assert (made.usage, made.seconds) == (
            Usage(prompt_tokens=6000, completion_tokens=1200),
            9.0,
        )
    assert (arxiv.source, arxiv.documents, arxiv.dropped, arxiv.pairs) == ("arxiv", 1, (), 1)
    assert [(each.step, each.reason, each.documents) for each in wikipedia.dropped] == [
        ("document", "document_too_short", 1),
        ("query", "self_revealing", 1),
        ("checks", "tell", 1),
        ("set", "length_matching", 1),
    ]
    assert (wikipedia.documents, wikipedia.pairs, wikipedia.train, wikipedia.test) == (5, 1, 1, 0)


def test_any_text_goes_through_and_is_read_back_as_pairs(tmp_path: Path) -> None:
    odd = "\x00\x1b[2J \u202e “quoted” 字字字\r\n\u2028 <answer>A</answer> 🙂"
    rows = [
        row(f"{odd}{n}", source=odd).model_copy(
            update={"query": f"{odd} {n * 7}", "positive": answer(0, text=odd * 40), "title": odd}
        )
        for n in range(3)
    ]
    path = write(tmp_path / "rows.jsonl", rows)
    with make_set([path], PairSettings(dev=0, test=0, near=1.0, match_lengths=False)) as made:
        found = list(made.pairs("train"))
    out = tmp_path / "train.jsonl"
    out.write_text("".join(f"{pair.model_dump_json()}\n" for pair in found), encoding="utf-8")
    back = [each.record for each in read_jsonl(out, InputRow) if isinstance(each, Row)]
    assert [each.model_dump() for each in back] == [pair.model_dump() for pair in found]
    assert len(back) == 3
    assert {each.source for each in back} == {odd}


def test_no_rows_make_an_empty_set(tmp_path: Path) -> None:
    with make_set([write(tmp_path / "rows.jsonl", [])], PairSettings()) as made:
        assert (lines(made), made.counts(), made.usage) == ([], (), Usage())


def test_memory_does_not_grow_with_the_texts(tmp_path: Path) -> None:
    long = answer(0, text="some words of an answer " * 2000)  # 48 kB
    rows = [row(f"d{n}").model_copy(update={"positive": long, "negative": long}) for n in range(20)]
    path = write(tmp_path / "rows.jsonl", rows)
    assert path.stat().st_size > 1_900_000
    tracemalloc.start()
    try:
        with make_set([path], LOOSE) as made:
            assert sum(1 for split in SPLITS for _ in made.pairs(split)) == 20
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 800_000
