"""JSON as models write it, read from any text: total, never raises, in bounded time.

Accepted beyond JSON: Python literals, line ends in strings, a last bracket that was forgotten. What
comes out is plain JSON: no NaN, no lone surrogates, no number too long to print.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from collections.abc import Iterator
from typing import Any, cast

from pydantic import JsonValue

from openreward.errors import shorten

MOST_OBJECTS = 64  # objects looked at in one text; more are noise
_MOST_LITERAL = 3_500  # characters; hexadecimal numbers of this length still print as decimals
_MOST_SCANNED = 20_000  # characters of one object that is not JSON
_OPENING = re.compile(r"\{|\[\s*\{")
_CLOSED_BY = str.maketrans("{[", "}]")


def objects(text: str) -> Iterator[tuple[object, str]]:
    """JSON objects and lists of objects, left to right, each with its text; none in another."""
    place = 0
    for _ in range(MOST_OBJECTS):
        match = _OPENING.search(text, place)
        if not match:
            return
        value, end = _decode(text, match.start())
        if end > match.start():
            yield value, text[match.start() : end]
        place = max(end, match.start() + 1)


def _decode(text: str, start: int) -> tuple[object, int]:
    """The value that begins at `start` and where it ends; `(None, start)` when there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    end, missing = _closing(text, start)
    value = loads(text[start:end] + missing)
    return (value, end) if isinstance(value, dict | list) else (None, start)


def _closing(text: str, start: int) -> tuple[int, str]:
    """Behind the bracket that closes the one at `start`, strings respected.

    Where the text ends before that, between two values, the brackets that are missing come with it:
    models forget the last one. A text that ends inside a string was cut and stays unreadable.
    """
    open_brackets, quote, escaped = "", "", False
    stop = min(len(text), start + _MOST_SCANNED)
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


def loads(text: str) -> object:
    """JSON, or a Python literal (single quotes, trailing commas); None when it is neither."""
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        pass
    if len(text) > _MOST_LITERAL:  # the literal parser is for slips of the pen, not for bulk
        return None
    try:
        with warnings.catch_warnings(action="ignore"):  # of escapes that Python does not know
            return cast(object, ast.literal_eval(text.strip()))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant)


def read_arguments(value: object) -> dict[str, JsonValue] | None:
    """A call's arguments, also encoded once or twice; nothing is {}, what is no object None."""
    for _ in range(2):
        if not isinstance(value, str):
            break
        if value.strip() in ("", "null"):
            return {}
        decoded = loads(value)
        if decoded is None:
            break
        value = decoded
    if value is None:
        return {}
    return cast(dict[str, JsonValue], clean(value)) if isinstance(value, dict) else None


def clean(value: object, depth: int = 0) -> JsonValue:
    """A decoded value as plain JSON: no lone surrogates, no types or depths that JSON has not."""
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth > 8:  # no repr either: that of a deep value recurses
        return "..."
    if isinstance(value, dict):
        return {clean_text(str(key)): clean(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [clean(item, depth + 1) for item in value]
    return shorten(value)


def clean_text(text: str) -> str:
    """The text with what has no UTF-8 form replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")
