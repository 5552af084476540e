"""What an MCP server says of a tool, as a model may read it: plain name, inert text, bounded size.

A server is a stranger, and this goes into every prompt. Only texts are changed: a property or a
choice whose spelling holds a control string is shown broken, and a property's name is turned back
for the call.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from pydantic import JsonValue

from openreward.errors import UserError, shorten
from openreward.inert import inert
from openreward.loose_json import clean_text
from openreward.types import ToolSpec

if TYPE_CHECKING:
    from mcp.types import Tool as ListedTool

MOST_OF_A_DESCRIPTION = 1_000  # characters
MOST_OF_A_SCHEMA = 8_000  # bytes as JSON
Arguments = dict[str, JsonValue]


class Described(NamedTuple):
    """A tool's spec; `names` are its arguments, as shown -> as the server has them.

    `names` is None where it takes any. Arguments that a tool does not know are dropped from a call:
    small models add crumbs.
    """

    spec: ToolSpec
    names: Mapping[str, str] | None

    def arguments(self, given: Mapping[str, JsonValue]) -> Arguments:
        """The arguments of a call as the server is to have them."""
        if self.names is None:
            return dict(given)
        return {self.names[name]: value for name, value in given.items() if name in self.names}


def describe(server: str, prefix: str, listed: ListedTool) -> Described:
    """What the model is told of a tool. Raises `UserError` where that cannot be told."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", f"{prefix}{listed.name}")[:64]
    if not name:
        raise UserError(f"mcp.{server}: expected tools with names, got one without; name others")
    schema = _schema(server, listed)
    about = _short(listed.description or listed.title or name)
    spec = ToolSpec(name=name, description=about, parameters=schema)
    return Described(spec, _names(listed.input_schema))


def _short(text: str) -> str:
    """A description on one line, cut before it is made inert, so that no cut undoes that."""
    line = " ".join(text[: 4 * MOST_OF_A_DESCRIPTION].split())
    cut = " [...]" if len(line) > MOST_OF_A_DESCRIPTION else ""
    return inert(clean_text(line[:MOST_OF_A_DESCRIPTION])) + cut


def _schema(server: str, listed: ListedTool) -> Arguments:
    """The schema as the model may see it: of type object, every text in it inert."""
    raw = listed.input_schema
    size = len(json.dumps(raw))
    if size > MOST_OF_A_SCHEMA:
        raise UserError(
            f"mcp.{server}: tool {shorten(listed.name)}: expected a schema of at most "
            f"{MOST_OF_A_SCHEMA} bytes, got {size}; leave it out by naming others in `tools`"
        )
    shown: Arguments = {str(_inert(key)): _inert(value) for key, value in raw.items()}
    properties = shown.get("properties")
    plain = {"properties": properties if isinstance(properties, dict) else {}}
    return {**shown, "type": "object", **plain}


def _inert(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return inert(clean_text(value))
    if isinstance(value, list):
        return [_inert(item) for item in value]
    if isinstance(value, dict):
        return {inert(clean_text(key)): _inert(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return None  # NaN is no JSON
    return value


def _names(schema: Mapping[str, JsonValue]) -> dict[str, str] | None:
    properties = schema.get("properties")
    others = schema.get("additionalProperties")
    if others or "patternProperties" in schema:
        return None
    if not isinstance(properties, dict):
        return {} if others is False else None
    return {inert(clean_text(name)): name for name in properties}
