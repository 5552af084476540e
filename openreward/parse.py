"""Read what a model wrote: text -> tool calls, problems to tell it, a verdict. Total: never raises.

A call is what the model meant as one: `<tool_call>` blocks first, else `<function=…>` blocks, else
JSON objects of a call's shape wherever they stand (bare, fenced, in a list). A verdict is exactly
one distinct `<answer>…</answer>` after the thinking; none, or two different ones, is unparsed.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple, cast

from pydantic import JsonValue

from openreward.errors import shorten
from openreward.types import Verdict

LETTERS = "AB"
_MOST_OBJECTS = 64  # JSON objects looked at in one turn; more are noise

_CALL_BLOCK = re.compile(r"<tool_call>(.*?)(?:</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_FUNCTION_BLOCK = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\s*(.*?)\s*(?:</parameter>|\Z)", re.DOTALL)
_ANSWER = re.compile(r"<answer>\s*(.*?)\s*</answer>", re.DOTALL | re.IGNORECASE)
_CITATION = re.compile(r"\[(\d{1,4}(?:\s*,\s*\d{1,4})*)\]")
_OPENING = re.compile(r"\{|\[\s*\{")
_CLOSED_BY = str.maketrans("{[", "}]")
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


def visible(text: str) -> str:
    """The text after the thinking; empty when the thinking never ended."""
    before, end, after = text.rpartition("</think>")
    if end:
        return after
    return before + after if "<think>" not in text else text[: text.index("<think>")]


def read_calls(text: str) -> Reading:
    """The tool calls of a turn, in the order written."""
    shown = visible(text)
    blocks = [match.group(1) for match in _CALL_BLOCK.finditer(shown)]
    if blocks:
        return _from_blocks(blocks)
    functions = list(_FUNCTION_BLOCK.finditer(shown))
    if functions:
        return Reading(tuple(_from_function(match) for match in functions), (), tagged=True)
    return _from_bare(shown)


def read_verdict(text: str, tie: bool = False) -> Verdict:
    """The verdict of a turn; `tie` says whether a tie is a verdict here."""
    said = {match.group(1).strip().upper() for match in _ANSWER.finditer(visible(text))}
    if len(said) != 1:
        return Verdict(status="unparsed")
    word = said.pop()
    if tie and word == "TIE":
        return Verdict(status="tie")
    if len(word) == 1 and word in LETTERS:
        return Verdict(status="ok", winner=LETTERS.index(word))
    return Verdict(status="unparsed")


def explanation(text: str) -> str:
    """The visible text of the last turn without its verdict."""
    return _ANSWER.sub("", visible(text)).strip()


def cited_numbers(text: str) -> set[int]:
    """The passage numbers a text names in brackets, as in [2] or [1, 3]."""
    return {int(n) for match in _CITATION.finditer(text) for n in match.group(1).split(",")}


def read_arguments(value: object) -> dict[str, JsonValue] | str:
    """Arguments as a dict, or what is wrong with them; a JSON string is decoded, twice at most."""
    for _ in range(2):
        if not isinstance(value, str):
            break
        if not value.strip():
            return {}
        decoded = _loads(value)
        if decoded is None:
            break
        value = decoded
    if value is None:
        return {}
    if isinstance(value, dict):
        return cast(dict[str, JsonValue], _clean(value))
    return f"arguments must be a JSON object, got {shorten(value)}"


def _from_blocks(blocks: list[str]) -> Reading:
    calls: list[CallText] = []
    problems: list[str] = []
    for block in blocks:
        found = [call for value in _objects(block) for call in _as_calls(value)]
        if not found:
            problems.append(_unreadable(block))
        for call in found:
            (problems if isinstance(call, str) else calls).append(call)  # type: ignore[arg-type]
    return Reading(tuple(calls), tuple(problems), tagged=True)


def _from_function(match: re.Match[str]) -> CallText:
    name, body = match.groups()
    value = next(_objects(body), None)
    if isinstance(value, dict):
        arguments = cast(dict[str, JsonValue], _clean(value))
    else:
        arguments = {key: _clean_text(text) for key, text in _PARAMETER.findall(body)}
    return CallText(name, arguments)


def _from_bare(text: str) -> Reading:
    calls: list[CallText] = []
    problems: list[str] = []
    for value in _objects(text):
        for call in _as_calls(value):
            (problems if isinstance(call, str) else calls).append(call)  # type: ignore[arg-type]
    if not calls and not problems and re.search(r'\{\s*"name"\s*:', text):
        problems.append(_unreadable(text))
    return Reading(tuple(calls), tuple(problems), tagged=False)


def _as_calls(value: object) -> Iterator[CallText | str]:
    """Calls in a JSON value: an object of a call's shape, or a list of them; a str is a problem."""
    if isinstance(value, list):
        for item in value[:_MOST_OBJECTS]:
            if isinstance(item, dict):
                yield from _as_calls(item)
        return
    if not isinstance(value, dict):
        return
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    name = value.get("name", value.get("function"))
    key = next((k for k in ("arguments", "parameters", "args", "input") if k in value), None)
    if not isinstance(name, str) or not name.strip() or key is None:
        return
    arguments = read_arguments(value[key])
    if isinstance(arguments, dict) and arguments.get("type") == "object":
        yield f"that was the description of {shorten(name)}, not a call: {_EXPECTED}"
    elif isinstance(arguments, str):
        yield f"the call of {shorten(name)} could not be read: {arguments}"
    else:
        yield CallText(_clean_text(name.strip()), arguments)


def _objects(text: str) -> Iterator[object]:
    """JSON values (objects, lists of objects) in a text, left to right, not inside each other."""
    place = 0
    for _ in range(_MOST_OBJECTS):
        match = _OPENING.search(text, place)
        if not match:
            return
        value, end = _decode(text, match.start())
        if end > match.start():
            yield value
        place = max(end, match.start() + 1)


def _decode(text: str, start: int) -> tuple[object, int]:
    """The value that begins at `start` and where it ends; `(None, start)` when there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    end, missing = _closing(text, start)
    value = _loads(text[start:end] + missing)
    return (value, end) if isinstance(value, dict | list) else (None, start)


def _closing(text: str, start: int) -> tuple[int, str]:
    """Behind the bracket that closes the one at `start`, strings respected.

    Where the text ends before that, between two values, the brackets that are missing come with it:
    models forget the last one. A text that ends inside a string was cut and stays unreadable.
    """
    open_brackets, quote, escaped = "", "", False
    stop = min(len(text), start + 20_000)
    for place in range(start, stop):
        char = text[place]
        if quote:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == quote:
                quote = ""
        elif char in "\"'":
            quote = char
        elif char in "{[":
            open_brackets += char
        elif char in "}]":
            open_brackets = open_brackets[:-1]
            if not open_brackets:
                return place + 1, ""
    whole = not quote and stop == len(text)
    return stop, open_brackets[::-1].translate(_CLOSED_BY) if whole else ""


def _loads(text: str) -> object:
    """JSON, or a Python literal (single quotes, trailing commas); None when it is neither."""
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        pass
    if len(text) > 5_000:  # the literal parser is for slips of the pen, not for bulk
        return None
    try:
        return cast(object, ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant)


def _clean(value: object, depth: int = 0) -> JsonValue:
    """A decoded value as plain JSON: no lone surrogates, no types or depths that JSON has not."""
    if isinstance(value, str):
        return _clean_text(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth > 8:
        return shorten(value)
    if isinstance(value, dict):
        return {_clean_text(str(key)): _clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item, depth + 1) for item in value]
    return shorten(value)


def _clean_text(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _unreadable(text: str) -> str:
    return f"a tool call could not be read: {_EXPECTED}, got {shorten(text.strip())}"
