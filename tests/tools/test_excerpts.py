from __future__ import annotations

import pytest

from openreward.tools.excerpts import choose_passages
from openreward.tools.passages import CutSettings
from openreward.types import Document

SHORT = CutSettings(min_words=3, max_words=5)


def document(name: str, *sentences: str) -> Document:
    return Document(
        id=name, source="s", title=f"T {name}", text=" ".join(sentences), url="u", revision="r"
    )


A = document("a", "Cats sleep all the day.", "Zebras run in the sun.", "Dogs bark at the moon.")
B = document("b", "Fish swim under the ice.", "A zebra runs and sleeps.")


def chosen(query: str, k: int, per_document: int = 2) -> list[str]:
    found = choose_passages([A, B], query, k, per_document=per_document, settings=SHORT)
    assert all(p.text == {"a": A, "b": B}[p.document_id].text[p.start : p.end] for p in found)
    return [passage.text for passage in found]


@pytest.mark.parametrize(
    ("query", "k", "texts"),
    [
        ("running zebra", 1, ["Zebras run in the sun."]),
        ("running zebra", 2, ["Zebras run in the sun.", "A zebra runs and sleeps."]),
        ("ice", 2, ["Cats sleep all the day.", "Fish swim under the ice."]),
        (
            "dogs",
            9,
            [
                "Dogs bark at the moon.",
                "Fish swim under the ice.",
                "Cats sleep all the day.",
                "A zebra runs and sleeps.",
            ],
        ),
        ("in the moon", 1, ["Dogs bark at the moon."]),  # of which two words tell nothing
        ("the of", 1, ["Cats sleep all the day."]),
    ],
)
def test_the_nearest_passage_of_each_document_comes_before_a_second(
    query: str, k: int, texts: list[str]
) -> None:
    assert chosen(query, k) == texts


def test_no_more_of_one_document_than_may_be() -> None:
    assert len(chosen("zebra", 9, per_document=1)) == 2
    assert len(chosen("zebra", 9, per_document=9)) == 5


def test_a_passage_says_where_it_is_from() -> None:
    [passage] = choose_passages([B], "zebra", 1, settings=SHORT)
    assert passage.model_dump() == {
        "document_id": "b",
        "source": "s",
        "title": "T b",
        "text": "A zebra runs and sleeps.",
        "start": 25,
        "end": 49,
        "url": "u",
        "revision": "r",
        "score": None,
    }
