"""The operator's settings file for live tools: who asks, where, how often; caches; MCP servers.

    contact = "ada@example.org"            # or a web page; the services ask for it
    budget = "http://10.0.0.1:7077"        # `openreward budget serve`, where machines are several
    budget_token_env = "BUDGET_TOKEN"
    [cache]                                # or, above all tables: cache = false
    max_age = 30                           # days
    [services.pubmed]
    api_key_env = "NCBI_API_KEY"           # a key is named by its variable, never written here
    [mcp.NAME]                             # see openreward/tools/mcp_settings.py

Every field has a default. Unknown names are refused, with the nearest right one.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError

from openreward.errors import UserError, shorten
from openreward.records import explain
from openreward.tools.mcp_settings import McpServer, read_servers
from openreward.tools.services import RateLimit, Service, ServiceName
from openreward.types import Record


def _plain_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and parts.hostname is not None
        _ = parts.port
    except ValueError:
        sound = False
    if not sound or not url.isprintable() or " " in url:
        raise ValueError(f"expected an http or https address, got {shorten(url)}")
    if parts.username is not None or parts.password is not None:
        raise ValueError("expected an address without user name and password; leave them out")
    if parts.query or parts.fragment:
        raise ValueError(f"expected an address without ? and #, got {shorten(url)}")
    return url


def _reachable(contact: str) -> str:
    """A contact goes into a header, and must be of use to who reads it there."""
    stripped = contact.strip()
    if not re.fullmatch(r"[!-~]+@[!-~]+|https?://[!-~]+", stripped):
        raise ValueError(
            f"expected a contact like ada@example.org or https://example.org/ada, got "
            f"{shorten(contact)}"
        )
    return stripped


Contact = Annotated[str, AfterValidator(_reachable)]
Url = Annotated[str, AfterValidator(_plain_url)]
Language = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]  # it becomes part of a host
Seconds = Annotated[float, Field(allow_inf_nan=False)]


class ServiceSettings(Record):
    """What an operator may set of one service; what is left out keeps its default."""

    url: Url | None = None
    language: Language | None = None
    api_key_env: str | None = Field(default=None, min_length=1)
    interval: Seconds | None = Field(default=None, ge=0)
    at_once: int | None = Field(default=None, ge=1)
    hosts: tuple[str, ...] | None = None
    timeout: Seconds | None = Field(default=None, gt=0)
    tries: int | None = Field(default=None, ge=1)
    patience: Seconds | None = Field(default=None, ge=0)
    max_bytes: int | None = Field(default=None, ge=1_000)


class CacheSettings(Record):
    """Where answers are kept, and for how long they are served again."""

    folder: Path | None = None  # None: in the OpenReward home
    max_age: float = Field(default=30.0, gt=0, allow_inf_nan=False)  # days


class LiveSettings(Record):
    """The whole file."""

    contact: Contact | None = None
    budget: Url | None = None  # an endpoint; None: a folder of this machine
    budget_token_env: str | None = Field(default=None, min_length=1)
    cache: CacheSettings | Literal[False] = CacheSettings()
    services: dict[ServiceName, ServiceSettings] = {}
    mcp: dict[str, McpServer] = {}

    def of(self, name: ServiceName) -> ServiceSettings:
        """The settings of one service."""
        return self.services.get(name, ServiceSettings())


_URLS: Mapping[ServiceName, str] = {
    "wikipedia": "https://{language}.wikipedia.org/w/api.php",
    "arxiv": "https://export.arxiv.org/api/query",
    "pubmed": "https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
}
_LIMITS: Mapping[ServiceName, RateLimit] = {
    "wikipedia": RateLimit(interval=0.0, at_once=1),  # its Action API is asked one by one
    "arxiv": RateLimit(interval=3.0, at_once=1),
    "pubmed": RateLimit(interval=0.37, at_once=3),  # 1/3 s trips its limit of 3 a second
}
_PUBMED_WITH_KEY = RateLimit(interval=0.11, at_once=3)  # 10 a second


def make_service(name: ServiceName, settings: LiveSettings, api_key: str | None = None) -> Service:
    """The service as set; raises `UserError` when nobody says who asks."""
    if settings.contact is None:
        raise UserError(
            f"{name}: expected the operator's contact, got none; its operators ask to know whom to "
            "write to when a program misbehaves; give a mail address or web page by --contact, "
            "$OPENREWARD_CONTACT, or `contact` in the settings file"
        )
    own = settings.of(name)
    limit = _PUBMED_WITH_KEY if name == "pubmed" and api_key else _LIMITS[name]
    language = own.language or "en"
    changed = own.model_dump(include={"hosts", "timeout", "tries", "patience", "max_bytes"})
    try:
        return Service(
            name=name,
            url=own.url or _URLS[name].format(language=language),
            contact=settings.contact,
            limit=RateLimit(
                interval=limit.interval if own.interval is None else own.interval,
                at_once=limit.at_once if own.at_once is None else own.at_once,
            ),
            api_key=SecretStr(api_key) if api_key else None,
            language=language,
            **{key: value for key, value in changed.items() if value is not None},
        )
    except ValidationError as error:
        raise UserError(f"{name}: {explain(error)}") from None


def read_settings(path: Path) -> LiveSettings:
    """The settings in a TOML file."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        values = tomllib.loads(text)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror}; check the path") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(f"{path}: expected TOML: {error}; correct the file") from None
    return parse_settings(values, str(path))


def with_contact(settings: LiveSettings, contact: str, place: str) -> LiveSettings:
    """The same with this contact; `place` is where it was given."""
    try:
        return settings.model_copy(update={"contact": _reachable(contact)})
    except ValueError as error:
        raise UserError(f"{place}: {error}") from None


def parse_settings(values: Mapping[str, object], place: str) -> LiveSettings:
    """The settings as parsed; `place` is what a message says of where they are from."""
    _refuse_unknown(values, place)
    servers = values.get("mcp", {})
    if isinstance(servers, dict) and all(isinstance(table, dict) for table in servers.values()):
        values = {**values, "mcp": read_servers(servers, place)}
    try:
        return LiveSettings.model_validate(values)
    except ValidationError as error:
        raise UserError(f"{place}: {explain(error)}") from None


def _refuse_unknown(values: Mapping[str, object], place: str) -> None:
    _check_names(values, LiveSettings.model_fields, "", place)
    _check_names(values.get("cache"), CacheSettings.model_fields, "cache.", place)
    services = values.get("services")
    _check_names(services, _URLS, "services.", place)
    if isinstance(services, Mapping):
        for name, own in services.items():
            _check_names(own, ServiceSettings.model_fields, f"services.{name}.", place)


def _check_names(table: object, known: Iterable[str], above: str, place: str) -> None:
    if not isinstance(table, Mapping):
        return
    for name in table:
        if name in known:
            continue
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = f"did you mean {above}{near[0]}?" if near else f"there are: {', '.join(known)}"
        raise UserError(f"{place}: expected a known setting, got {above}{shorten(name)}; {hint}")
