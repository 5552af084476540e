"""MCP servers as the operator names them: `[mcp.NAME]` tables of the settings file.

    [mcp.weather]
    command = "python"                     # a server that is started here and spoken to by stdio
    args = ["weather_server.py"]
    env = ["WEATHER_KEY"]                  # variables handed on, by name
    [mcp.library]
    url = "https://library.example/mcp"    # a server that runs already, by streamable HTTP
    headers_env = { Authorization = "LIBRARY_TOKEN" }
    tools = ["find_book"]                  # those the model may use; all of them if left out

A child process gets PATH, HOME and the like besides, nothing else of the environment.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from pydantic import Field, ValidationError, model_validator

from openreward.errors import UserError, shorten
from openreward.records import explain
from openreward.types import Record

NAME = re.compile(r"[A-Za-z0-9_-]{1,32}")
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class McpServer(Record):
    """One server: `command` with its arguments, or `url`.

    `cache`: True keeps answers of all its tools, False of none; None of those it marks read-only.
    """

    command: str | None = Field(default=None, min_length=1)
    args: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    url: str | None = None
    headers_env: dict[str, str] = Field(default_factory=dict)
    tools: tuple[str, ...] | None = None
    prefix: str = Field(default="", pattern=r"^[A-Za-z0-9_-]{0,32}$")
    cache: bool | None = None
    seconds: float = Field(default=20.0, gt=0, allow_inf_nan=False)  # to start, and to list tools
    max_characters: int = Field(default=20_000, ge=100)  # of one answer; the cut of more is marked

    @model_validator(mode="after")
    def _one_way(self) -> McpServer:
        if (self.command is None) == (self.url is None):
            raise ValueError("expected command or url, got " + ("both" if self.url else "neither"))
        if self.url is not None:
            if self.args or self.env:
                raise ValueError("args and env belong to a command; a url takes headers_env")
            parts = urlsplit(self.url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError(f"expected an http or https url, got {shorten(self.url)}")
            wrong = [header for header in self.headers_env if not _HEADER.fullmatch(header)]
            if wrong:
                raise ValueError(f"expected the name of a header, got {shorten(wrong[0])}")
        elif self.headers_env:
            raise ValueError("headers_env belongs to a url; a command takes env")
        return self


def read_servers(tables: Mapping[str, Mapping[str, object]], place: str) -> dict[str, McpServer]:
    """The servers of a settings file; `place` is what a message says of where they are from."""
    return {name: _server(name, table, place) for name, table in tables.items()}


def _server(name: str, table: Mapping[str, object], place: str) -> McpServer:
    if not NAME.fullmatch(name):
        raise UserError(
            f"{place}: mcp.{shorten(name)}: expected a name of up to 32 letters, digits, - and _"
        )
    for field in table:
        if field not in McpServer.model_fields:
            near = difflib.get_close_matches(str(field), McpServer.model_fields, n=1)
            known = f"did you mean {near[0]}?" if near else ", ".join(McpServer.model_fields)
            raise UserError(
                f"{place}: expected a known setting, got mcp.{name}.{shorten(field)}; {known}"
            )
    try:
        return McpServer.model_validate(dict(table))
    except ValidationError as error:
        raise UserError(f"{place}: mcp.{name}: {explain(error)}") from None


def secrets_of(
    name: str, server: McpServer, environment: Mapping[str, str]
) -> tuple[dict[str, str], dict[str, str]]:
    """The variables and the headers that a server is given, read from the environment."""
    wanted = {variable: variable for variable in server.env} | server.headers_env
    missing = [variable for variable in wanted.values() if not environment.get(variable)]
    if missing:
        raise UserError(
            f"mcp.{name}: expected a value in the variable {missing[0]}, got nothing; export it, "
            "or take the line out"
        )
    headers = {header: environment[variable] for header, variable in server.headers_env.items()}
    for header, value in headers.items():
        if not value.isascii() or not value.isprintable():
            raise UserError(f"mcp.{name}: the value for {header} has letters no header can carry")
    return {variable: environment[variable] for variable in server.env}, headers
