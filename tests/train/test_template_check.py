"""Grown ids beside whole renderings, for the forms of five families' templates."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from openreward.errors import PolicyError

sys.path.insert(0, str(Path(__file__).parent))

pytest.importorskip("transformers", reason="needs [train]")

import tiny  # noqa: E402

from openreward.train.template_check import TURNS, TemplateCheck, check_template  # noqa: E402

# Written for these tests, each in the shape of its family's, no more.
QWEN3 = tiny.QWEN.replace(
    "else message.content }}<|im_end|>",
    "else (message.content.split('</think>')[-1].lstrip('\n') "
    "if message.role == 'assistant' and not loop.last else message.content) }}<|im_end|>",
)
LLAMA3 = (
    "{% for m in messages %}<|start_header_id|>{{ 'ipython' if m.role == 'tool' else m.role }}"
    "<|end_header_id|>\n\n{% if loop.first and tools %}Tools:{% for t in tools %}{{ t | tojson }}"
    "{% endfor %}\n{% endif %}{{ m.content }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>\n\n{% endif %}"
)
GEMMA3 = (
    "{% for m in messages %}{% if m.role == 'system' or m.role == 'tool' %}"
    "{{ raise_exception('no such role') }}{% endif %}"
    "{% if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('must take turns') }}"
    "{% endif %}<start_of_turn>{{ 'model' if m.role == 'assistant' else m.role }}\n"
    "{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
MISTRAL = (
    "{% for m in messages %}{% if m.role == 'assistant' %}{{ m.content }}<|im_end|>"
    "{% elif m.role == 'tool' %}[TOOL_RESULTS]{{ m.content }}[/TOOL_RESULTS]"
    "{% else %}[INST] {{ m.content }}{% if loop.index0 == 0 and tools %}"
    "{% for t in tools %}{{ t | tojson }}{% endfor %}{% endif %} [/INST]{% endif %}{% endfor %}"
)


def check(template: str, *sayings: str) -> TemplateCheck:
    return asyncio.run(check_template(tiny.tokenizer(template), sayings))


@pytest.mark.parametrize(
    "template", [tiny.QWEN, LLAMA3, GEMMA3], ids=["qwen2.5", "llama3", "gemma3"]
)
@pytest.mark.parametrize("turns", range(1, TURNS + 1))
def test_grown_ids_are_the_template_s_over_the_whole_conversation(
    template: str, turns: int
) -> None:
    sayings = [f"I look up {n}: tower (of) Paris?" for n in range(turns)]
    assert check(template, *sayings).appends
    assert check(template).appends
    assert f"over {TURNS} turns" in check(template).words()


def test_a_template_that_drops_earlier_thinking_is_told_and_the_path_appends() -> None:
    found = check(QWEN3)
    assert found.turns == 2
    assert "think" in found.grown
    assert "think" not in found.rendered.split("</")[0]
    assert "rewrites earlier turns" in found.words()
    assert check(QWEN3, "no thought", "none here either", "nor here").appends


def test_a_template_that_carries_no_second_turn_is_refused() -> None:
    one = (
        "{% if messages | length > 2 %}{{ raise_exception('one turn') }}{% endif %}"
        "{{ messages[0].content }}"
    )
    with pytest.raises(PolicyError, match="several turns"):
        check(one)
