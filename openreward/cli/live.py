"""Live services for commands: settings, contact, keys and budget in one place.

This is where the environment is read: $OPENREWARD_CONTACT, the variables that name keys, and what
launchers say of other machines.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from openreward.cli.home import home
from openreward.cli.nodes import several_nodes
from openreward.errors import UserError, shorten

if TYPE_CHECKING:
    from openreward.tools.budget import Budget
    from openreward.tools.live_settings import LiveSettings
    from openreward.tools.services import Service, ServiceName
    from openreward.tools.sources import LiveSearch

CONTACT = "OPENREWARD_CONTACT"


@dataclass(frozen=True)
class LiveChoice:
    """What the flags say of live tools: who asks (--contact), and the settings file (--tools)."""

    contact: str | None = None
    file: Path | None = None

    def settings(self) -> LiveSettings:
        """The file's settings, or the defaults; the flag, else $OPENREWARD_CONTACT, comes first."""
        from openreward.tools.live_settings import LiveSettings, read_settings, with_contact

        settings = LiveSettings() if self.file is None else read_settings(self.file)
        if self.contact is not None:
            return with_contact(settings, self.contact, "--contact")
        named = os.environ.get(CONTACT)
        return with_contact(settings, named, f"${CONTACT}") if named else settings


@asynccontextmanager
async def open_service(
    name: ServiceName, choice: LiveChoice, *, patience: float | None = None
) -> AsyncIterator[LiveSearch]:
    """A live service, asked within its budget; nothing is cached.

    `patience` are the seconds a request may wait in line, where a program can wait longer than a
    model. Raises `UserError` without a contact, and on several machines without a common budget.
    """
    from openreward.tools.fetch import Fetch
    from openreward.tools.sources import live_search

    settings = choice.settings()
    service = find_service(name, settings, os.environ)
    if patience is not None:
        service = service.model_copy(update={"patience": patience})
    async with open_budget(settings) as budget, Fetch(service, budget) as fetch:
        yield live_search(fetch)


def find_service(
    name: ServiceName, settings: LiveSettings, environment: Mapping[str, str]
) -> Service:
    """The service as set, with the key that its variable holds."""
    from openreward.tools.live_settings import make_service

    several = several_nodes(environment)
    if several and settings.budget is None:
        raise UserError(
            f"{name}: this run spreads over several machines ({several}), and its rate limit holds "
            "for all of them together; start `openreward budget serve` on one, and name it as "
            "`budget` in the settings file (--tools) of all; or use a local index"
        )
    variable = settings.of(name).api_key_env
    key = read_variable(f"services.{name}.api_key_env", variable, environment)
    return make_service(name, settings, key)


def read_variable(setting: str, variable: str | None, environment: Mapping[str, str]) -> str | None:
    """The secret in the variable that a setting names; None where it names none."""
    if variable is None:
        return None
    secret = environment.get(variable, "").strip()
    if not secret or not secret.isascii() or not secret.isprintable():
        got = "nothing" if not secret else "characters that no key has"
        raise UserError(
            f"{setting}: expected a key in the variable {shorten(variable)}, got {got}; export it, "
            "or take the setting out"
        )
    return secret


@asynccontextmanager
async def open_budget(settings: LiveSettings) -> AsyncIterator[Budget]:
    """The budget endpoint that the settings name, else the folder of this machine."""
    from openreward.tools.budget import FolderBudget

    if settings.budget is None:
        yield FolderBudget(home() / "budget")
        return
    from openreward.tools.budget_client import EndpointBudget

    token = read_variable("budget_token_env", settings.budget_token_env, os.environ)
    async with EndpointBudget(settings.budget, token) as budget:
        yield budget
