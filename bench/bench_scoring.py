"""How fast predictions are scored, and in how much memory: a million rows from a file.

    python bench/bench_scoring.py [--rows 1000000]

RewardBench's format and rules, by two kinds of judge: one of pairs, with half as many examples as
rows, each answered in both orders; and scores, a row an example. Seconds are those of reading,
checking and keeping the rows (`add`), and of the numbers (`score`). Memory is the growth of the
process's peak, examples included; interpreter and libraries are loaded before. Each kind has a
process of its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Literal

from openreward.eval.benchmark import Example
from openreward.eval.measures import bias
from openreward.eval.released import read_predictions
from openreward.eval.rewardbench import SECTION_OF, RewardBench
from openreward.eval.sheet import Sheet
from openreward.records import Row

RESULT = Path(__file__).parent / "results" / "scoring.json"
SUBSETS = tuple(SECTION_OF)
Kind = Literal["pairs", "scores"]


@dataclass(frozen=True)
class Result:
    """Bytes are of the peak's growth, each after the part it is named by."""

    kind: Kind
    rows: int
    examples: int
    seconds_examples: float
    seconds_add: float
    seconds_score: float
    rows_per_second: int
    bytes_a_row_examples: float
    bytes_a_row_add: float
    bytes_a_row_score: float
    accuracy: float | None
    flip_rate: float | None


def examples(count: int) -> Iterator[Example]:
    """Examples whose right answer is known by their number."""
    for number in range(count):
        subset = SUBSETS[number % len(SUBSETS)]
        yield Example(
            id=f"{subset}/{number}",
            query="q",
            responses=("good", "bad"),
            right=(0,),
            groups={"section": SECTION_OF[subset], "subset": subset},
        )


def write_rows(path: Path, kind: Kind, count: int) -> None:
    """Every fifth is wrong; of those asked in both orders every seventh flips."""
    with path.open("w") as file:
        for number in range(count):
            wrong = int(number % 5 == 0)
            row = {
                "benchmark": "rewardbench",
                "id": f"{SUBSETS[number % len(SUBSETS)]}/{number}",
                "status": "ok",
            }
            if kind == "scores":
                file.write(json.dumps({**row, "scores": [1 - wrong, 0.5]}) + "\n")
                continue
            for order in (0, 1):
                winner = int(wrong ^ (order and number % 7 == 0))
                shown = {"order": [order, 1 - order], "winner": winner}
                file.write(json.dumps({**row, **shown}) + "\n")


def peak() -> int:
    """The most memory the process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure(path: Path, kind: Kind, count: int) -> Result:
    benchmark, start, before = RewardBench(), time.perf_counter(), peak()
    sheet = Sheet.of(benchmark, examples(count))
    of_examples, begin = time.perf_counter() - start, peak()
    start = time.perf_counter()
    for row in read_predictions(benchmark, path):
        if not isinstance(row, Row) or sheet.add(row.record, row.line) is not None:
            raise SystemExit(f"a row was rejected: {sheet.errors[:1] or row}")
    of_rows, kept = time.perf_counter() - start, peak()
    start = time.perf_counter()
    numbers, moved = benchmark.score(sheet), bias(sheet)
    of_score, rows = time.perf_counter() - start, sheet.statuses.total()
    return Result(
        kind=kind,
        rows=rows,
        examples=count,
        seconds_examples=round(of_examples, 1),
        seconds_add=round(of_rows, 1),
        seconds_score=round(of_score, 1),
        rows_per_second=round(rows / (of_rows + of_score)),
        bytes_a_row_examples=round((begin - before) / rows, 1),
        bytes_a_row_add=round((kept - before) / rows, 1),
        bytes_a_row_score=round((peak() - before) / rows, 1),
        accuracy=numbers.headline.value,
        flip_rate=moved.flip_rate.value,
    )


def run(kind: Kind, rows: int) -> Result:
    """Written and measured; a small run before makes the libraries take what they need."""
    per_example = 2 if kind == "pairs" else 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.jsonl"
        for count in (100, rows // per_example):
            write_rows(path, kind, count)
            result = measure(path, kind, count)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("-o", "--output", type=Path, default=RESULT)
    chosen = parser.parse_args()
    kinds: tuple[Kind, ...] = ("pairs", "scores")
    results = []
    for kind in kinds:
        with get_context("spawn").Pool(1) as own_process:
            results.append(asdict(own_process.apply(run, (kind, chosen.rows))))
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
