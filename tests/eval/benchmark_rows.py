"""One good row of each benchmark's own format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

Rows = list[Any]

GOOD: dict[str, dict[str, Any]] = {
    "rewardbench": {
        "id": 30,
        "prompt": "q",
        "chosen": "good",
        "rejected": "bad",
        "subset": "hep-cpp",
        "chosen_model": "m",
        "rejected_model": "n",
    },
    "rewardbench2": {
        "id": "7",
        "prompt": "q",
        "chosen": ["good"],
        "rejected": ["bad", "worse", "worst"],
        "num_correct": 1,
        "total_completions": 4,
        "subset": "Focus",
    },
    "pandalm": {
        "idx": 3,
        "motivation_app": "Grammarly",
        "cmp_key": "a_b",
        "instruction": "Shorten.",
        "input": "A long text.",
        "response1": "bad",
        "response2": "good",
        "annotator1": 2,
        "annotator2": 1,
        "annotator3": 2,
    },
    "rmb": {
        "pair_uid": "13",
        "conversation_input": [{"role": "user", "content": "q", "language": "English"}],
        "chosen": {"llm_name": "m", "answer": "good"},
        "reject": {"llm_name": "n", "answer": "bad"},
        "category_path": "Pairwise_set/Helpfulness/Code/Data Management",
    },
    "rm-bench": {
        "id": 8,
        "subset": "alpacaeval",
        "prompt": "q",
        "chosen": ["a", "b", "c"],
        "rejected": ["d", "e", "f"],
    },
    "judgebench": {
        "pair_id": "e3",
        "original_id": 1,
        "source": "mmlu-pro-law",
        "question": "q",
        "response_model": "gpt-4o",
        "response_A": "bad",
        "response_B": "good",
        "label": "B>A",
    },
    "llmbar": {"input": "q", "output_1": "bad", "output_2": "good", "label": 2},
    "auto-j": {
        "scenario": "s",
        "label": 1,
        "prompt": "q",
        "response 1": "bad",
        "response 2": "good",
    },
    "pairs": {
        "id": "p",
        "query": "q",
        "responses": ["good", "bad"],
        "label": 0,
        "source": "pubmed",
    },
    "rankings": {
        "id": "r",
        "principle": "Be brief.",
        "prompt": "q",
        "responses": ["good", "bad", "worse"],
        "ranking": [0, [1, 2]],
        "agreed": [[0, 2]],
        "human": [0, 2, 1],
    },
}
BON = {
    "bon_uid": "13",
    "conversation_input": [
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "r"},
    ],
    "bon_best": {"llm_name": "m", "answer": "good"},
    "loser_list": [{"llm_name": "n", "answer": "bad"}, {"llm_name": "o", "answer": "worse"}],
    "category_path": "BoN_set/Harmlessness/S5",
}


def changed(name: str, **fields: Any) -> dict[str, Any]:
    """A good row with some fields changed, or left out where the value is `...`."""
    row = {**GOOD[name], **{key.replace("__", " "): value for key, value in fields.items()}}
    return {key: value for key, value in row.items() if value is not ...}


def write(path: Path, rows: Rows) -> Path:
    """Rows as JSON lines, or as one list for a name that ends in .json."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = (
        json.dumps(rows) if path.suffix == ".json" else "".join(f"{json.dumps(r)}\n" for r in rows)
    )
    path.write_text(text)
    return path
