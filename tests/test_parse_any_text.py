"""Whatever text a model could write: the parser never raises, and takes no more than its time."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from openreward.loose_json import read_arguments
from openreward.parse import cited_numbers, explanation, read_calls, read_verdict

CALL = '{"name": "wiki", "arguments": {"query": "Ada"}}'
FRAGMENTS = [
    *("<tool_call>", "</tool_call>", "<answer>", "</answer>", "<think>", "</think>"),
    *("<function=a>", "</function>", "<parameter=q>", "</parameter>", "<function=", "```json\n"),
    *("{", "}", "[", "]", '"', "'", "\\", ":", ",", " ", "\n", "\x00", "\ud800", "\udfff", "·"),
    *('{"name": "a", "arguments": ', '"arguments":', '"name": "x"', "'args': ", '{"function": '),
    *('"tool_calls": [', "None", "NaN", "1e999", "0x" + "f" * 4000, "9" * 5000, "-", "b'x'"),
    *("A", "B", "tie", "[1, 2]", "{" * 300, "[" * 2000, "}" * 300, "]" * 2000, '{"a":' * 300),
    *(r"\ud800", r"'\N{DIGIT ONE}'", r"'\777'", '"""', "(1,", "{1, 2}", "1_0", "é", "🙂", "x" * 50),
]
TEXTS = st.one_of(
    st.text(alphabet=st.characters(codec=None)),
    st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join),
    st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=5)), max_size=20).map("".join),
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), TEXTS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4), st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def written(value: object) -> bytes:
    """The value as JSON in UTF-8; raises where it has none."""
    return json.dumps(value, allow_nan=False, ensure_ascii=False).encode("utf-8")


@given(TEXTS)
@example('{"name": "a", "arguments": {"x": 0x' + "f" * 3400 + "}}")
@example('{"name": "a", "arguments": ' + "[" * 900 + "]" * 900 + "}")
@example('{"name": "a", "arguments": {"x": ' + "[" * 900 + "]" * 900 + "}}")
@example("<tool_call>{'name': 'a', 'arguments': {'\\d': {1j, ...}, 'b': {2.5: -1e400}}}")
def test_any_text_is_read_without_an_exception_and_can_be_written(text: str) -> None:
    reading = read_calls(text)
    assert written([call._asdict() for call in reading.calls])
    assert written(reading.problems)
    assert sum(map(len, reading.problems)) < 3000
    assert read_verdict(text).status in ("ok", "unparsed")
    assert read_verdict(text, tie=True).status in ("ok", "tie", "unparsed")
    assert written(explanation(text))
    assert all(0 <= number <= 9999 for number in cited_numbers(text))


@given(VALUES)
def test_any_arguments_are_read_without_an_exception_and_can_be_written(value: object) -> None:
    assert written(read_arguments(value))


@given(TEXTS, st.sampled_from(["A", "B"]))
def test_a_verdict_behind_any_thinking_is_read(text: str, letter: str) -> None:
    said = f"<think>{text}</think> So: <answer>{letter}</answer>"
    assert read_verdict(said).winner == "AB".index(letter)


HOSTILE = {
    "opening verdicts": "<answer>" * 12_500,
    "a verdict of spaces": "<answer>" + " " * 100_000,
    "verdicts of spaces": ("<answer>" + " " * 500) * 200,
    "opening calls": "<tool_call>" * 9_000,
    "calls that open objects": "<tool_call>{'" * 7_700,
    "closing calls": "</tool_call>" * 8_000,
    "braces": "{" * 100_000,
    "brackets": "[" * 100_000,
    "brackets with spaces": "[ " * 50_000,
    "a bracket of spaces": "[" + " " * 100_000,
    "objects in objects": '{"a":' * 20_000,
    "lists of objects": "[{" * 50_000,
    "braces and quotes": "{'" * 50_000,
    "braces, quotes and braces": "{'}" * 33_000,
    "backslashes": '{"' + "\\" * 100_000,
    "open functions": "<function=a>" * 8_000,
    "open parameters": "<function=a>" + "<parameter=a>" * 7_000,
    "a parameter of spaces": "<function=a><parameter=b>" + " " * 100_000 + "x",
    "a name without end": "<function=" + "a" * 100_000,
    "thinking": "<think>" * 14_000,
    "thinking ended": "</think>" * 12_500,
    "citations": "[1," * 33_000,
    "a citation of spaces": "[1" + " " * 100_000,
    "names": '{"name":' * 12_500,
    "a name of spaces": "{" + " " * 100_000,
    "signs": "{" + "-" * 100_000,
    "true calls": f"<tool_call>{CALL}</tool_call>" * 1_500,
    "bare calls": CALL * 2_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_of_100_kb_is_read_in_bounded_time(name: str) -> None:
    """A second is many times what linear reading takes; a quadratic one takes minutes."""
    text = HOSTILE[name]
    started = time.process_time()
    read_calls(text)
    read_verdict(text)
    explanation(text)
    cited_numbers(text)
    assert time.process_time() - started < 2.0
