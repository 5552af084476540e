"""Read what a model wrote: text -> tool calls, problems to tell it, a verdict. Total: never raises.

A call is what the model meant as one: `<tool_call>` blocks first, else `<function=…>` blocks, else
JSON objects of a call's shape wherever they stand (bare, fenced, in a list). A bare object counts
only if it spells its arguments key, which `inert` breaks: so quoted material is no call. A verdict
is exactly one distinct `<answer>…</answer>` after the thinking; none, or two different ones, is
unparsed. Time is linear in the text: no pattern scans the same stretch from many starts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple, cast

from pydantic import JsonValue

from openreward.errors import shorten
from openreward.inert import inert
from openreward.loose_json import MOST_OBJECTS, clean, clean_text, objects, read_arguments
from openreward.types import Verdict

LETTERS = "AB"
_MOST_PROBLEMS = 4  # told to the model of one turn

_CALL_BLOCK = re.compile(r"<tool_call>(.*?)(?:</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_FUNCTION_BLOCK = re.compile(
    r"<function=([\w.-]+)>(.*?)(?:</function>|(?=<function=)|\Z)", re.DOTALL
)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>(.*?)(?:</parameter>|(?=<parameter=)|\Z)", re.DOTALL)
_ANSWER_TAG = re.compile(r"<(/?)answer>", re.IGNORECASE | re.ASCII)
_BARE_KEY = re.compile(r"""["'](?:arguments|parameters|args)["']\s*:""")
_CITATION = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_EXPECTED = 'expected {"name": "<tool>", "arguments": {"query": "<text>"}}'


class CallText(NamedTuple):
    """A call as read, before it has an id."""

    name: str
    arguments: dict[str, JsonValue]


class Reading(NamedTuple):
    """What one turn asks for. `tagged` says that the calls stood in a call's own tags."""

    calls: tuple[CallText, ...]
    problems: tuple[str, ...]
    tagged: bool


class _Answer(NamedTuple):
    """One `<answer>…</answer>`: what it says, and where it stands."""

    said: str
    start: int
    end: int


def visible(text: str) -> str:
    """The text after the thinking; a thinking that never ended is left out."""
    return text.rpartition("</think>")[2].partition("<think>")[0]


def read_calls(text: str) -> Reading:
    """The tool calls of a turn, in the order written."""
    shown = visible(text)
    blocks = [match.group(1) for match in islice(_CALL_BLOCK.finditer(shown), MOST_OBJECTS)]
    if blocks:
        return _reading([item for block in blocks for item in _from_block(block)], tagged=True)
    functions = _from_functions(shown)
    if functions:
        return Reading(tuple(functions), (), tagged=True)
    return _reading(list(_from_bare(shown)), tagged=False)


def read_verdict(text: str, tie: bool = False) -> Verdict:
    """The verdict of a turn; `tie` says whether a tie is a verdict here."""
    different = {each.strip() for each in said(text)}
    words = {word.upper() if word.isascii() else word for word in different}  # else "tıe" is TIE
    word = words.pop() if len(words) == 1 else ""
    if tie and word == "TIE":
        return Verdict(status="tie")
    if len(word) == 1 and word in LETTERS:
        return Verdict(status="ok", winner=LETTERS.index(word))
    return Verdict(status="unparsed")


def said(text: str) -> list[str]:
    """What stands in each `<answer>…</answer>` of the visible text."""
    return [answer.said for answer in _answers(visible(text))]


def explanation(text: str) -> str:
    """The visible text of the last turn without its verdict."""
    shown = visible(text)
    parts, place = [], 0
    for answer in _answers(shown):
        parts.append(shown[place : answer.start])
        place = answer.end
    return clean_text("".join([*parts, shown[place:]]).strip())


def cited_numbers(text: str) -> set[int]:
    """The passage numbers a text names in brackets, as in [2] or [1, 3]."""
    return {int(n) for match in _CITATION.finditer(text) for n in match.group(1).split(",")}


def _answers(text: str) -> list[_Answer]:
    """Each stretch from an opening tag to the next closing one; what never closes is none."""
    found = []
    opening: re.Match[str] | None = None
    for tag in _ANSWER_TAG.finditer(text):
        if not tag.group(1):
            opening = opening or tag
        elif opening:
            found.append(_Answer(text[opening.end() : tag.start()], opening.start(), tag.end()))
            opening = None
    return found


def _reading(items: list[CallText | str], *, tagged: bool) -> Reading:
    """Calls and problems apart; of many problems the first few, each once."""
    calls = tuple(item for item in items if isinstance(item, CallText))
    problems = list(dict.fromkeys(item for item in items if isinstance(item, str)))
    more = len(problems) - _MOST_PROBLEMS
    told = [*problems[:_MOST_PROBLEMS], *([f"and {more} more like these"] if more > 0 else [])]
    return Reading(calls, tuple(told), tagged)


def _from_block(block: str) -> list[CallText | str]:
    """What stands in a call's own tags: JSON, or a function in its tags (Qwen 3 Coder)."""
    found = [item for value, _ in objects(block) for item in _as_calls(value)]
    return found or [*_from_functions(block)] or [_unreadable(block)]


def _from_functions(text: str) -> list[CallText]:
    matches = islice(_FUNCTION_BLOCK.finditer(text), MOST_OBJECTS)
    return [_from_function(*match.groups()) for match in matches]


def _from_function(name: str, body: str) -> CallText:
    parameters = {key: clean_text(text.strip()) for key, text in _PARAMETER.findall(body)}
    value = None if parameters else next((value for value, _ in objects(body)), None)
    if isinstance(value, dict):
        return CallText(name, cast(dict[str, JsonValue], clean(value)))
    return CallText(name, cast(dict[str, JsonValue], parameters))


def _from_bare(text: str) -> Iterator[CallText | str]:
    told = False
    for value, source in objects(text):
        if _BARE_KEY.search(source):
            for item in _as_calls(value):
                told = True
                yield item
    if not told and re.search(r'\{\s*"name"\s*:', text):
        yield _unreadable(text)


def _as_calls(value: object, depth: int = 0) -> Iterator[CallText | str]:
    """Calls in a JSON value: an object of a call's shape, or a list of them; a str is a problem."""
    if isinstance(value, list) and depth < 3:
        for item in value[:MOST_OBJECTS]:
            if isinstance(item, dict):
                yield from _as_calls(item, depth + 1)
    if not isinstance(value, dict):
        return
    if isinstance(value.get("tool_calls"), list):
        yield from _as_calls(value["tool_calls"], depth + 1)
        return
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    name = value.get("name", value.get("function"))
    key = next((k for k in ("arguments", "parameters", "args", "input") if k in value), None)
    if not isinstance(name, str) or not name.strip() or key is None:
        return
    arguments = read_arguments(value[key])
    if arguments is None:
        got = f"arguments must be a JSON object, got {_quoted(clean(value[key]))}"
        yield f"the call of {_quoted(name)} could not be read: {got}"
    elif "properties" in arguments:
        yield f"that was the description of {_quoted(name)}, not a call: {_EXPECTED}"
    else:
        yield CallText(clean_text(name.strip()), arguments)


def _unreadable(text: str) -> str:
    return f"a tool call could not be read: {_EXPECTED}, got {_quoted(text.strip())}"


def _quoted(value: object) -> str:
    """What the model wrote, as a message to it may repeat it."""
    return inert(shorten(value))
