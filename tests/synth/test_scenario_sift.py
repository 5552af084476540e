from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import JsonValue

from openreward.inputs import content_id
from openreward.records import Row, RowError, read_rows
from openreward.synth.near_duplicates import NearDuplicates
from openreward.synth.scenario_records import Drop, Prompt, Said, ScenarioSettings
from openreward.synth.scenario_sift import PromptRow, sift

ASK = "What is the capital of France, and since when is it the capital?"
OTHER = "Write a short poem about the sea and the moon, please."


def sifted(
    folder: Path, rows: list[JsonValue], settings: ScenarioSettings | None = None
) -> list[Row[Prompt] | RowError]:
    path = folder / "prompts.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with NearDuplicates() as kept:
        return list(sift(read_rows(path, PromptRow), settings or ScenarioSettings(), kept))


def prompts(
    folder: Path, rows: list[JsonValue], settings: ScenarioSettings | None = None
) -> list[Prompt]:
    found = sifted(folder, rows, settings)
    assert all(isinstance(row, Row) for row in found)
    return [row.record for row in found if isinstance(row, Row)]


@pytest.mark.parametrize(
    ("row", "conversation"),
    [
        ({"prompt": ASK}, [("user", ASK)]),
        ({"query": ASK, "answer": "x"}, [("user", ASK)]),
        ({"prompt": [{"role": "user", "content": ASK}]}, [("user", ASK)]),
        (
            {"conversation_input": [{"content": ASK, "language": "English", "role": "user"}]},
            [("user", ASK)],
        ),
        (
            {
                "messages": [
                    {"role": "system", "content": "Be kind."},
                    {"role": "user", "content": "Hello, who are you?"},
                    {"role": "assistant", "content": "A helper."},
                    {"role": "user", "content": [{"type": "text", "text": ASK}]},
                    {"role": "assistant", "content": "Paris."},
                ]
            },
            [
                ("system", "Be kind."),
                ("user", "Hello, who are you?"),
                ("assistant", "A helper."),
                ("user", ASK),
            ],
        ),
    ],
)
def test_every_shape_is_a_conversation_that_ends_with_the_user(
    tmp_path: Path, row: JsonValue, conversation: list[tuple[str, str]]
) -> None:
    (found,) = prompts(tmp_path, [row])
    assert [(said.role, said.content) for said in found.conversation] == conversation
    assert found.drop is None


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"text": "x"}, "expected prompt or query (text or messages), or messages, or conv"),
        ({}, "there is nothing"),
        ({"prompt": None}, "there is prompt"),
        ({"prompt": 3}, "field prompt: expected text, or messages with role and content, got 3"),
        ({"messages": []}, "field messages: expected a message of the user at the end, got none"),
        (
            {"messages": [{"role": "assistant", "content": "x"}]},
            "field messages: expected a message of the user at the end, got none",
        ),
        ({"messages": [{"role": "tool", "content": "x"}]}, "expected a message of the user"),
        (
            {"messages": [{"role": "boss", "content": "x"}, {"role": "user", "content": "x"}]},
            "role",
        ),
        ({"prompt": ASK, "id": ""}, "field id: expected text, got an empty one; leave it out"),
        ([], "expected"),
        ("x", "expected"),
    ],
)
def test_a_row_that_is_no_prompt_is_named(tmp_path: Path, row: JsonValue, message: str) -> None:
    (found,) = sifted(tmp_path, [row])
    assert isinstance(found, RowError)
    assert found.message.startswith("line 1: ")
    assert message in found.message


def test_an_id_is_kept_or_made_of_the_content(tmp_path: Path) -> None:
    found = prompts(tmp_path, [{"prompt": ASK, "id": 7}, {"prompt": OTHER}])
    expected = content_id([{"role": "user", "content": OTHER}], None)
    assert [each.id for each in found] == ["7", expected]


@pytest.mark.parametrize(
    ("text", "settings", "drop"),
    [
        (
            "Was ist die Hauptstadt von Frankreich und wie?",
            {},
            Drop(
                step="language",
                reason="not_english",
                detail="5 small words of German, 1 of English",
            ),
        ),
        ("Was ist die Hauptstadt von Frankreich und wie?", {"language": "any"}, None),
        (
            "Who is it",
            {},
            Drop(step="length", reason="too_short", detail="9 characters, at least 10 expected"),
        ),
        (
            ASK,
            {"longest": 40},
            Drop(step="length", reason="too_long", detail="64 characters, at most 40 expected"),
        ),
        ("1 + 2 + 3 = 6", {}, Drop(step="language", reason="not_english", detail="no letters")),
        (
            " \n ",
            {},
            Drop(step="length", reason="too_short", detail="0 characters, at least 10 expected"),
        ),
    ],
)
def test_language_and_length_have_bounds(
    tmp_path: Path, text: str, settings: dict[str, JsonValue], drop: Drop | None
) -> None:
    (found,) = prompts(tmp_path, [{"prompt": text}], ScenarioSettings.model_validate(settings))
    assert found.drop == drop


def test_a_planted_duplicate_is_dropped_and_the_kept_one_named(tmp_path: Path) -> None:
    near = ASK.replace("France", "Spain")
    rows: list[JsonValue] = [
        {"id": "first", "prompt": ASK},
        {"id": "other", "prompt": OTHER},
        {"id": "same", "prompt": f"  {ASK.upper()}"},
        {"id": "near", "prompt": ASK + " Thanks!"},
        {"id": "far", "prompt": near},
    ]
    found = {each.id: each.drop for each in prompts(tmp_path, rows)}
    assert found == {
        "first": None,
        "other": None,
        "same": Drop(step="duplicates", reason="same_text", detail="the same as first"),
        "near": Drop(
            step="duplicates", reason="near_duplicate", detail="0.92 in common with first"
        ),
        "far": None,
    }


def test_the_same_text_without_ids_is_two_rows_of_which_one_is_dropped(tmp_path: Path) -> None:
    first, second = prompts(tmp_path, [{"prompt": ASK}, {"prompt": ASK}])
    assert first.drop is None
    assert second.id == f"{first.id}-line-2"
    assert second.drop == Drop(
        step="duplicates", reason="same_text", detail=f"the same as {first.id}"
    )


def test_what_was_dropped_does_not_make_others_duplicates(tmp_path: Path) -> None:
    settings = ScenarioSettings(longest=70)
    long = f"{ASK} Thanks a lot!"
    found = prompts(tmp_path, [{"id": "a", "prompt": long}, {"id": "b", "prompt": ASK}], settings)
    assert [each.drop.reason if each.drop else None for each in found] == ["too_long", None]


def test_a_second_row_of_an_id_is_not_compared_with_later_ones(tmp_path: Path) -> None:
    rows: list[JsonValue] = [
        {"id": "a", "prompt": ASK},
        {"id": "a", "prompt": OTHER},
        {"id": "b", "prompt": OTHER},
    ]
    assert [each.drop for each in prompts(tmp_path, rows)] == [None, None, None]


def test_the_language_is_that_of_the_user(tmp_path: Path) -> None:
    rows: list[JsonValue] = [
        {
            "messages": [
                {"role": "user", "content": "What does this mean?"},
                {"role": "assistant", "content": "法国的首都是巴黎，从什么时候开始？" * 9},
                {"role": "user", "content": "And how do you say it in French?"},
            ]
        }
    ]
    (found,) = prompts(tmp_path, rows)
    assert (found.english, found.drop) == (True, None)
    assert isinstance(found.conversation[1], Said)
