"""Calls as real models write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from openreward.parse import read_calls

CALL = '{"name": "wiki", "arguments": {"query": "Ada"}}'
ADA: list[tuple[str, dict[str, Any]]] = [("wiki", {"query": "Ada"})]
BOTH = [*ADA, ("arxiv", {"query": "β", "k": 2})]
SECOND = '{"name": "arxiv", "arguments": {"query": "β", "k": 2}}'
PARAMETERS = '{"name": "wiki", "parameters": {"query": "Ada"}}'
AS_TEXT = r'{"name": "wiki", "arguments": "{\"query\": \"Ada\"}"}'
AS_TEXT_TWICE = json.dumps({"name": "wiki", "arguments": json.dumps(json.dumps({"query": "Ada"}))})
OPENAI = f'{{"id": "c1", "type": "function", "function": {AS_TEXT}}}'
FUNCTION = "<function=wiki><parameter=query>\nAda\n</parameter></function>"

TAGGED: dict[str, tuple[str, list[tuple[str, dict[str, Any]]]]] = {
    "one": (f"<tool_call>{CALL}</tool_call>", ADA),
    "lines and text around": (f"I look.\n<tool_call>\n{CALL}\n</tool_call>\nSo.", ADA),
    "two blocks": (f"<tool_call>{CALL}</tool_call>\n<tool_call>{SECOND}</tool_call>", BOTH),
    "two in one block": (f"<tool_call>{CALL}\n{SECOND}</tool_call>", BOTH),
    "a list in a block": (f"<tool_call>[{CALL}, {SECOND}]</tool_call>", BOTH),
    "never closed": (f"<tool_call>{CALL}", ADA),
    "the first never closed": (f"<tool_call>{CALL}\n<tool_call>{SECOND}", BOTH),
    "a fence in the block": (f"<tool_call>\n```json\n{CALL}\n```\n</tool_call>", ADA),
    "the last brace missing": (f"<tool_call>{CALL[:-1]}</tool_call>", ADA),
    "a brace too many": (f"<tool_call>{CALL}}}</tool_call>", ADA),
    "parameters": (f"<tool_call>{PARAMETERS}</tool_call>", ADA),
    "args": (f"<tool_call>{PARAMETERS.replace('parameters', 'args')}</tool_call>", ADA),
    "input": (f"<tool_call>{PARAMETERS.replace('parameters', 'input')}</tool_call>", ADA),
    "arguments as text": (f"<tool_call>{AS_TEXT}</tool_call>", ADA),
    "arguments encoded twice": (f"<tool_call>{AS_TEXT_TWICE}</tool_call>", ADA),
    "no arguments": ('<tool_call>{"name": "wiki", "arguments": {}}</tool_call>', [("wiki", {})]),
    "null arguments": (
        '<tool_call>{"name": "wiki", "arguments": null}</tool_call>',
        [("wiki", {})],
    ),
    "Python quotes": (
        "<tool_call>{'name': 'wiki', 'arguments': {'query': 'Ada'}}</tool_call>",
        ADA,
    ),
    "a trailing comma": (f"<tool_call>{CALL[:-1]},}}</tool_call>", ADA),
    "a line end in a string": (
        '<tool_call>{"name": "wiki", "arguments": {"query": "A\nB"}}</tool_call>',
        [("wiki", {"query": "A\nB"})],
    ),
    "OpenAI's wrapper": (f"<tool_call>{OPENAI}</tool_call>", ADA),
    "a name with spaces": (f"<tool_call>{CALL.replace('wiki', ' wiki ')}</tool_call>", ADA),
    "function tags": (FUNCTION, ADA),
    "function tags in a block": (f"<tool_call>\n{FUNCTION}\n</tool_call>", ADA),
    "function tags around JSON": ('<function=wiki>{"query": "Ada"}</function>', ADA),
    "function tags never closed": ("<function=wiki><parameter=query>Ada", ADA),
    "a parameter never closed": (
        "<function=wiki><parameter=query>Ada\n<parameter=k>2</parameter></function>",
        [("wiki", {"query": "Ada", "k": "2"})],
    ),
    "two functions": (
        f"{FUNCTION}\n<function=arxiv><parameter=query>β</function>",
        [*ADA, ("arxiv", {"query": "β"})],
    ),
    "a function never closed before the next": (
        "<function=wiki><parameter=query>Ada</parameter><function=arxiv></function>",
        [*ADA, ("arxiv", {})],
    ),
    "after thinking": (f"<think>{SECOND}</think><tool_call>{CALL}</tool_call>", ADA),
    "after thinking opened by the template": (f"hm {SECOND}</think>\n{FUNCTION}", ADA),
    "a verdict beside it": (f"<answer>A</answer><tool_call>{CALL}</tool_call>", ADA),
    "numbers that JSON has not": (
        '<tool_call>{"name": "wiki", "arguments": {"query": "x", "k": 1e999}}</tool_call>',
        [("wiki", {"query": "x", "k": "inf"})],
    ),
    "a lone surrogate": (
        r'<tool_call>{"name": "wi\ud800ki", "arguments": {"\udfff": "a\ud800"}}</tool_call>',
        [("wi?ki", {"?": "a?"})],
    ),
    "types that JSON has not": (
        "<tool_call>{'name': 'wiki', 'arguments': {1: (2, None), 'b': b'x'}}</tool_call>",
        [("wiki", {"1": [2, None], "b": "b'x'"})],
    ),
}
BARE: dict[str, tuple[str, list[tuple[str, dict[str, Any]]]]] = {
    "one": (CALL, ADA),
    "text around": (f"First I search.\n{CALL}\nThen I judge.", ADA),
    "two": (f"{CALL}\n{SECOND}", BOTH),
    "a list": (f"[{CALL}, {SECOND}]", BOTH),
    "a fence": (f"```json\n{CALL}\n```", ADA),
    "two fences": (f"```\n{CALL}\n```\nand\n```json\n{SECOND}\n```", BOTH),
    "parameters": (PARAMETERS, ADA),
    "arguments as text": (AS_TEXT, ADA),
    "the last brace missing": (CALL[:-1], ADA),
    "Python quotes": ("{'name': 'wiki', 'arguments': {'query': 'Ada'}}", ADA),
    "Python quotes and an escape Python does not know": (
        r"{'name': 'wiki', 'arguments': {'query': '\d', }}",
        [("wiki", {"query": "\\d"})],
    ),
    "OpenAI's wrapper": (OPENAI, ADA),
    "OpenAI's list of calls": (f'{{"role": "assistant", "tool_calls": [{OPENAI}]}}', ADA),
    "Llama 3's tag": (f"<|python_tag|>{PARAMETERS}", ADA),
    "Mistral's tag": (f"[TOOL_CALLS] [{CALL}]", ADA),
    "an object before it": (f'{{"thought": "hm"}} {CALL}', ADA),
    "braces before it": (f"f{{x}} and {{ y: 1 }} {CALL}", ADA),
    "other keys beside": (CALL[:-1] + ', "id": 7}', ADA),
}


def read(text: str) -> list[tuple[str, dict[str, Any]]]:
    return [(call.name, dict(call.arguments)) for call in read_calls(text).calls]


@pytest.mark.parametrize("name", TAGGED)
def test_a_call_in_tags_is_read(name: str) -> None:
    text, expected = TAGGED[name]
    reading = read_calls(text)
    assert read(text) == expected
    assert (reading.problems, reading.tagged) == ((), True)


@pytest.mark.parametrize("name", BARE)
def test_a_bare_call_is_read(name: str) -> None:
    text, expected = BARE[name]
    reading = read_calls(text)
    assert read(text) == expected
    assert (reading.problems, reading.tagged) == ((), False)


PROBLEMS = {
    "cut in a string": (f"<tool_call>{CALL[:-5]}", "a tool call could not be read"),
    "cut in a string, bare": (CALL[:-5], "a tool call could not be read"),
    "an empty block": ("<tool_call></tool_call>", "a tool call could not be read"),
    "an empty object": ("<tool_call>{}</tool_call>", "a tool call could not be read"),
    "prose in a block": ("<tool_call>wiki Ada</tool_call>", "a tool call could not be read"),
    "an unknown shape": (
        '<tool_call>{"tool": "wiki", "query": "x"}</tool_call>',
        "a tool call could not be read",
    ),
    "a flat call": ('{"name": "wiki", "query": "Ada"}', "a tool call could not be read"),
    "no name": ('<tool_call>{"name": " ", "arguments": {}}</tool_call>', "could not be read"),
    "a schema echoed": (
        '{"name": "wiki", "parameters": {"type": "object", "properties": {}}}',
        "that was the description of 'wiki', not a call",
    ),
    "arguments that are a list": (
        '<tool_call>{"name": "wiki", "arguments": ["Ada"]}</tool_call>',
        "the call of 'wiki' could not be read: arguments must be a JSON object, got ['Ada']",
    ),
    "arguments that are prose": (
        '<tool_call>{"name": "wiki", "arguments": "Ada"}</tool_call>',
        "the call of 'wiki' could not be read: arguments must be a JSON object, got 'Ada'",
    ),
    "arguments encoded three times": (
        "<tool_call>"
        + json.dumps({"name": "wiki", "arguments": json.dumps(json.dumps(json.dumps({})))})
        + "</tool_call>",
        "arguments must be a JSON object",
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_cannot_be_read_becomes_a_message(name: str) -> None:
    text, message = PROBLEMS[name]
    reading = read_calls(text)
    assert reading.calls == ()
    assert len(reading.problems) == 1
    assert message in reading.problems[0]
    assert 'expected {"name"' in reading.problems[0] or "JSON object" in reading.problems[0]


def test_readable_and_unreadable_calls_of_one_turn_are_told_apart() -> None:
    reading = read_calls(f"<tool_call>{CALL}</tool_call><tool_call>{{</tool_call>")
    assert [call.name for call in reading.calls] == ["wiki"]
    assert len(reading.problems) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I think that answer A is better.",
        "{}",
        "[]",
        "[{}]",
        '{"query": "Ada"}',
        '{"tool": "wiki", "query": "Ada"}',
        "{'a': 1}",
        "if (x) { return 1; }",
        f"<think>{CALL}</think>",
        f"<think>{CALL}",
        f"{CALL}</think>",
        f"<think>a</think> then <think>{CALL}",
    ],
)
def test_other_text_is_neither_a_call_nor_a_problem(text: str) -> None:
    assert read_calls(text) == ((), (), False)


def test_a_bare_object_must_spell_its_arguments_key() -> None:
    """Else text that was broken for quotation could still be a call."""
    assert read('{"name": "wiki", "\\u0061rguments": {"query": "Ada"}}') == []
    assert read('{"name": "wiki", "argu" "ments": {"query": "Ada"}}') == []
    assert read("{'name': 'wiki', '\\x61rguments': {'query': 'Ada'}}") == []


def test_a_problem_repeats_no_control_string() -> None:
    for text in ("<tool_call><|im_end|></tool_call>", '{"name": "<|im_end|>", "arguments": [1]}'):
        (problem,) = read_calls(text).problems
        assert "<·|im_end|>" in problem
        assert "<|im_end|>" not in problem


def test_calls_and_problems_of_one_turn_are_bounded() -> None:
    reading = read_calls(f"<tool_call>{CALL}</tool_call>" * 500)
    assert len(reading.calls) == 64
    noise = "".join(f"<tool_call>noise {n}</tool_call>" for n in range(60))
    problems = read_calls(noise).problems
    assert len(problems) == 5
    assert problems[-1] == "and 56 more like these"
    assert len(read_calls("<tool_call>noise</tool_call>" * 60).problems) == 1
