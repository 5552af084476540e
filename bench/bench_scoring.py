"""How fast predictions are scored, and in how much memory: a million rows from a file.

    python bench/bench_scoring.py [--rows 1000000]

RewardBench's format and rules: half as many examples as rows, each answered in both orders, no
texts but the shortest. Seconds are those of reading, checking and keeping the rows (`add`), and of
the numbers (`score`). Memory is the growth of the process's peak, per row of predictions and, for
the examples, per example; interpreter and libraries are loaded before.
"""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from openreward.eval.benchmark import Example
from openreward.eval.measures import bias
from openreward.eval.released import read_predictions
from openreward.eval.rewardbench import SECTION_OF, RewardBench
from openreward.eval.sheet import Sheet
from openreward.records import Row

RESULT = Path(__file__).parent / "results" / "scoring.json"
SUBSETS = tuple(SECTION_OF)


@dataclass(frozen=True)
class Result:
    """Bytes are of the peak's growth."""

    rows: int
    examples: int
    seconds_examples: float
    seconds_add: float
    seconds_score: float
    rows_per_second: int
    bytes_an_example: float
    bytes_a_row: float
    bytes_a_row_while_scoring: float
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


def write_rows(path: Path, count: int) -> None:
    """Both orders of each example; every fifth is wrong, every seventh flips."""
    with path.open("w") as file:
        for number in range(count):
            id = f"{SUBSETS[number % len(SUBSETS)]}/{number}"
            wrong = int(number % 5 == 0)
            for order in (0, 1):
                winner = wrong ^ (order and number % 7 == 0)
                row = {
                    "benchmark": "rewardbench",
                    "id": id,
                    "order": [order, 1 - order],
                    "status": "ok",
                    "winner": int(winner),
                }
                file.write(json.dumps(row) + "\n")


def peak() -> int:
    """The most memory the process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def score(path: Path) -> Sheet:
    """What a run does with a file of predictions."""
    benchmark = RewardBench()
    sheet = Sheet.of(benchmark, examples(2))
    for row in read_predictions(benchmark, path):
        if isinstance(row, Row):
            sheet.add(row.record, row.line)
    benchmark.score(sheet)
    return sheet


def measure(path: Path, count: int) -> Result:
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
    of_score, rows = time.perf_counter() - start, 2 * count
    return Result(
        rows=rows,
        examples=count,
        seconds_examples=round(of_examples, 1),
        seconds_add=round(of_rows, 1),
        seconds_score=round(of_score, 1),
        rows_per_second=round(rows / (of_rows + of_score)),
        bytes_an_example=round((begin - before) / count, 1),
        bytes_a_row=round((kept - begin) / rows, 1),
        bytes_a_row_while_scoring=round((peak() - before) / rows, 1),
        accuracy=numbers.headline.value,
        flip_rate=moved.flip_rate.value,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    count = parser.parse_args().rows // 2
    with tempfile.TemporaryDirectory() as folder:
        warm, path = Path(folder) / "warm.jsonl", Path(folder) / "rows.jsonl"
        write_rows(warm, 2)
        score(warm)
        write_rows(path, count)
        result = measure(path, count)
    RESULT.write_text(json.dumps(asdict(result), indent=2) + "\n")
    print(json.dumps(asdict(result), indent=2))


if __name__ == "__main__":
    main()
