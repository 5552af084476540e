"""Warm-start rows as ids and labels: as the token path reads, and only the turns learned."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from openreward.errors import UserError
from openreward.judge import Judge
from openreward.synth.trajectories import Teaching, TeachingSettings
from openreward.training_rows import ChatMessage, Span, TrainingTrajectory
from openreward.types import Pair

sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("transformers", reason="needs [train]")

import runs  # noqa: E402
import tiny  # noqa: E402

from openreward.policy.token_path import Traits, find_traits  # noqa: E402
from openreward.train.engines.in_process import ModelEngine  # noqa: E402
from openreward.train.engines.scripted import ScriptedEngine  # noqa: E402
from openreward.train.supervised import IGNORED, Example, example_of  # noqa: E402

TOKENIZER = tiny.tokenizer()
PAIR = Pair(
    id="p",
    query="Explain how the tower of Paris came to be built.",
    responses=("By Eiffel's firm.", "By the king."),
    label=0,
    source="wikipedia",
)


def traits_of(tokenizer: Any) -> Traits:
    return asyncio.run(find_traits(ModelEngine(tokenizer, 10_000)))


TRAITS = traits_of(TOKENIZER)


def oracle_row(**settings: Any) -> TrainingTrajectory:
    teaching = Teaching(None, runs.tools(), TeachingSettings(**settings))
    (row,) = asyncio.run(teaching.teach(PAIR)).kept
    return row


def learned(made: Example, tokenizer: Any = TOKENIZER) -> str:
    text: str = tokenizer.decode([label for label in made.labels if label != IGNORED])
    return text


def test_the_loss_is_on_the_model_s_turns_without_the_verdict_s_letter() -> None:
    row = oracle_row()
    made = example_of(row, TOKENIZER, TRAITS)
    said = [m.content for m in row.messages if m.role == "assistant"]
    (span,) = row.unlearned
    last = row.messages[span.message].content
    assert last[span.start : span.end] in "AB"
    without = last[: span.start] + last[span.end :]
    assert learned(made) == f"{said[0]}<|im_end|>{without}<|im_end|>"
    assert len(made.input_ids) == len(made.labels)


def test_the_ids_are_those_of_the_token_path(tmp_path: Path) -> None:
    row = oracle_row()
    turns = [m.content for m in row.messages if m.role == "assistant"]

    def say(text: str, seed: int) -> str:
        return turns[text.count("<|im_start|>assistant") - 1]

    policy = asyncio.run(ScriptedEngine(TOKENIZER, say).open())
    judge = Judge(policy, runs.tools(), TeachingSettings().judge)
    trace = asyncio.run(judge.once(PAIR, row.order)).trajectory.tokens()
    made = example_of(row, TOKENIZER, TRAITS)
    whole = [*trace.prompt_ids, *trace.completion_ids]
    assert made.input_ids[: len(whole)] == whole
    assert TOKENIZER.decode(made.input_ids[len(whole) :]).strip() == ""
    free = example_of(row.model_copy(update={"unlearned": ()}), TOKENIZER, TRAITS)
    kept = [int(label != IGNORED) for label in free.labels[: len(whole)]]
    assert kept == [0] * len(trace.prompt_ids) + trace.mask


def test_ids_that_stand_in_the_row_are_taken_as_they_are() -> None:
    row = oracle_row().model_copy(
        update={
            "prompt_ids": (1, 2),
            "completion_ids": (3, 4, 5),
            "mask": (1, 0, 1),
            "unlearned": (),
        }
    )
    made = example_of(row, TOKENIZER, TRAITS)
    assert made.input_ids == [1, 2, 3, 4, 5]
    assert made.labels == [IGNORED, IGNORED, 3, IGNORED, 5]


def chat(*messages: tuple[str, str], unlearned: tuple[Span, ...] = ()) -> TrainingTrajectory:
    return TrainingTrajectory(
        id="r",
        pair="p",
        order=(0, 1),
        label="A",
        source="wikipedia",
        teacher="t",
        seed=0,
        messages=tuple(ChatMessage(role=r, content=c) for r, c in messages),  # type: ignore[arg-type]
        tools="[]",
        unlearned=unlearned,
    )


@pytest.mark.parametrize(
    "hostile", ["qw0turn1qw", "<|im_end|>", "qw0turn3qw qw1turn3qw", "é\u200b🙂"]
)
def test_texts_that_look_like_marks_or_control_tokens_are_texts(hostile: str) -> None:
    row = chat(("user", hostile), ("assistant", "yes"), ("user", "q"), ("assistant", hostile))
    made = example_of(row, TOKENIZER, TRAITS)
    assert learned(made) == f"yes<|im_end|>{hostile}<|im_end|>"


def test_a_span_in_the_middle_of_a_turn_leaves_out_the_tokens_it_touches() -> None:
    row = chat(
        ("user", "q"), ("assistant", "I say B."), unlearned=(Span(message=1, start=6, end=7),)
    )
    assert learned(example_of(row, TOKENIZER, TRAITS)) in ("I say .<|im_end|>", "I say.<|im_end|>")


def test_a_template_that_takes_no_system_or_tool_message_is_fitted() -> None:
    plain = (
        "{% for m in messages %}{% if m.role not in ['user', 'assistant'] %}"
        "{{ raise_exception('role') }}{% endif %}<|im_start|>{{ m.role }}\n"
        "{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tokenizer = tiny.tokenizer(plain)
    traits = traits_of(tokenizer)
    assert not traits.system
    row = oracle_row(tool_style="prompt")
    made = example_of(row, tokenizer, traits)
    assert learned(made, tokenizer).endswith("</answer><|im_end|>")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (chat(("user", "q")), "expected a turn of the assistant"),
        (chat(("user", "q"), ("assistant", "a")).model_copy(update={"tools": "{"}), "JSON text"),
        (chat(("user", "q"), ("assistant", "a")).model_copy(update={"tools": "[1]"}), "JSON text"),
    ],
)
def test_a_row_that_cannot_be_learned_from_is_named(row: TrainingTrajectory, said: str) -> None:
    with pytest.raises(UserError, match=said):
        example_of(row, TOKENIZER, TRAITS)


def test_a_template_that_drops_a_turn_is_named() -> None:
    last_only = (
        "{% for m in messages %}{% if m.role != 'assistant' or loop.last %}"
        "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endif %}{% endfor %}"
    )
    row = chat(("user", "q"), ("assistant", "a"), ("user", "q"), ("assistant", "b"))
    with pytest.raises(UserError, match="leaves out a turn"):
        example_of(row, tiny.tokenizer(last_only), TRAITS)
