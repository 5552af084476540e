"""The local index beside bm25s (numpy and numba), over the same passages in the same run.

    python bench/bench_index.py [INTRODUCTIONS.json] [--titles 2000] [--questions 2000]

A query's time is from its text to the passages (bm25s: to their numbers), the best of three
rounds, so that other loads of the machine count less. Questions are 20 words in a row from an
article, drawn with a seed. Recall (R@1) is the share of queries whose own article came first; x is
the median over openreward's.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from openreward.cli.home import home
from openreward.synth.documents import read_documents
from openreward.tools.index import LocalIndex
from openreward.tools.index_builder import build
from openreward.tools.index_meta import IndexSettings
from openreward.tools.passages import cut
from openreward.types import Document

K, ROUNDS, WORDS = 3, 3, 20
RESULT = Path(__file__).parent / "results" / "index.json"


@dataclass(frozen=True)
class Query:
    """A text, and the id of the article that it is from."""

    text: str
    document: str


@dataclass(frozen=True)
class Times:
    """What one set of queries took, and how often the right article came first."""

    p50_ms: float
    p95_ms: float
    recall_at_1: float


@dataclass(frozen=True)
class Result:
    """One contender; `megabytes` where it keeps its index on disk."""

    name: str
    build_s: float
    megabytes: float | None
    titles: Times
    questions: Times


Answer = Callable[[str], str]  # a query to the id of the first document


def measure(answer: Answer, queries: Sequence[Query]) -> Times:
    best = [float("inf")] * len(queries)
    right = 0
    for number in range(ROUNDS + 1):  # the first warms caches and compilers
        right = 0
        for place, query in enumerate(queries):
            started = time.perf_counter()
            first = answer(query.text)
            seconds = time.perf_counter() - started
            right += first == query.document
            if number:
                best[place] = min(best[place], seconds)
    best.sort()
    return Times(
        round(1000 * best[len(best) // 2], 4),
        round(1000 * best[int(0.95 * len(best))], 4),
        round(right / len(queries), 4),
    )


def run_openreward(documents: list[Document], folder: Path, queries: list[list[Query]]) -> Result:
    started = time.perf_counter()
    build(documents, folder, "wikipedia")
    seconds = time.perf_counter() - started
    index = LocalIndex(folder)
    size = sum(expected.bytes for expected in index.meta.files.values()) / 1e6

    def answer(text: str) -> str:
        return index.lookup(text, K).passages[0].document_id

    return Result(
        "openreward", round(seconds, 2), round(size, 2), *(measure(answer, q) for q in queries)
    )


def run_bm25s(backend: str, documents: list[Document], queries: list[list[Query]]) -> Result:
    import bm25s

    started = time.perf_counter()
    settings = IndexSettings()
    ids, texts = [], []
    for document in documents:
        for start, end in cut(document.text, settings):
            ids.append(document.id)
            title = [document.title] * settings.title_weight
            texts.append("\n".join([*title, document.text[start:end]]))
    retriever = bm25s.BM25(backend=backend)
    retriever.index(bm25s.tokenize(texts, show_progress=False), show_progress=False)
    seconds = time.perf_counter() - started

    def answer(text: str) -> str:
        terms = bm25s.tokenize([text], return_ids=False, show_progress=False)
        if not terms[0]:
            return ""
        rows, _ = retriever.retrieve(terms, k=K, show_progress=False, n_threads=0)
        return ids[int(rows[0, 0])]

    return Result(
        f"bm25s {backend}", round(seconds, 2), None, *(measure(answer, q) for q in queries)
    )


def draw(documents: list[Document], titles: int, questions: int) -> list[list[Query]]:
    rng = random.Random(0)
    chosen = rng.sample(documents, min(titles, len(documents)))
    drawn = []
    for document in rng.choices(documents, k=questions):
        words = document.text.split()
        start = rng.randrange(max(1, len(words) - WORDS))
        drawn.append(Query(" ".join(words[start : start + WORDS]), document.id))
    return [[Query(document.title, document.id) for document in chosen], drawn]


def table(results: list[Result]) -> str:
    first = results[0]
    head = "p50 / p95 ms (x)   R@1"
    lines = [f"{'':14}{'build s':>8}{'MB':>7}   titles {head}    20 words {head}"]
    for result in results:
        cells = []
        for mine, other in ((first.titles, result.titles), (first.questions, result.questions)):
            ratio = other.p50_ms / mine.p50_ms
            cells.append(
                f"{other.p50_ms:8.3f} / {other.p95_ms:.3f} ({ratio:5.2f})  {other.recall_at_1:.3f}"
            )
        size = "" if result.megabytes is None else f"{result.megabytes:.1f}"
        lines.append(f"{result.name:14}{result.build_s:8.2f}{size:>7}{cells[0]}    {cells[1]}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    default = home() / "documents" / "wikipedia-introductions.json"
    parser.add_argument("path", nargs="?", type=Path, default=default)
    parser.add_argument("--titles", type=int, default=2000)
    parser.add_argument("--questions", type=int, default=2000)
    parser.add_argument("-o", "--output", type=Path, default=RESULT)
    chosen = parser.parse_args()
    if not chosen.path.is_file():
        print(f"skipped: no {chosen.path}; `openreward index fetch` brings it")
        return
    documents = list(read_documents(chosen.path))
    queries = draw(documents, chosen.titles, chosen.questions)
    with tempfile.TemporaryDirectory() as folder:
        results = [run_openreward(documents, Path(folder), queries)]
    results += [run_bm25s(backend, documents, queries) for backend in ("numpy", "numba")]
    print(table(results))
    config = {
        "documents": len(documents),
        "titles": len(queries[0]),
        "questions": len(queries[1]),
        "words": WORDS,
        "k": K,
        "rounds": ROUNDS,
        "seed": 0,
        "cpus": os.cpu_count(),
        "versions": {name: version(name) for name in ("tantivy", "bm25s", "numba", "numpy")},
    }
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    shown = {"config": config, "results": [asdict(result) for result in results]}
    chosen.output.write_text(json.dumps(shown, indent=1) + "\n")


if __name__ == "__main__":
    main()
