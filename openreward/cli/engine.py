"""From flags to a policy; what every command that asks a model has in common."""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import urlsplit, urlunsplit

from openreward.cli.home import home, model_files
from openreward.cli.plugins import PluginPolicy, make
from openreward.errors import UserError, shorten
from openreward.policy.base import Policy

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
POLICY_PARTS = ("model", "path", "tool_style", "context", "generate", "count_tokens")


@dataclass(frozen=True)
class EngineChoice:
    """Which engine the flags name: `plugin`, else `endpoint`, else the embedded one."""

    endpoint: str | None = None
    model: str | None = None
    chat: bool = False
    api_key: str | None = None
    plugin: str | None = None
    adapter: Path | None = None

    def __post_init__(self) -> None:
        if self.adapter and (self.plugin or self.endpoint):
            raise UserError(
                "--adapter is for the embedded model, got it with --endpoint or --policy; drop "
                "one (a server loads adapters itself)"
            )
        if self.plugin and (self.endpoint or self.model):
            raise UserError("expected --policy alone, got it with --endpoint or --model; drop one")
        if self.chat and not self.endpoint:
            raise UserError("--chat chooses a path to a server; name it with --endpoint URL")

    def rows_at_once(self) -> int:
        """Rows that keep the engine busy; on the embedded one more of them gain little."""
        return 16 if self.endpoint or self.plugin else 4

    def address(self) -> str | None:
        """What may be written down of where the engine is: no user name, no password."""
        if self.endpoint is None:
            return None
        parts = urlsplit(self.endpoint)
        return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))


def read_key(variable: str | None) -> str | None:
    """The API key that an environment variable holds."""
    if variable is None:
        return None
    key = os.environ.get(variable)
    if not key:
        if not _VARIABLE.fullmatch(variable):  # perhaps the key itself, which is never shown
            raise UserError(
                "--api-key-env: expected the name of an environment variable that holds the key, "
                "such as MY_KEY, got no such variable; export it, and give its name"
            )
        raise UserError(
            f"--api-key-env {variable}: expected a key in that variable, got nothing; export it"
        )
    return key


@asynccontextmanager
async def open_policy(choice: EngineChoice, slots: int) -> AsyncIterator[Policy]:
    """The chosen engine, ended with the block; the embedded one takes `slots` requests at once."""
    async with AsyncExitStack() as stack:
        if choice.plugin is not None:
            yield load_plugin(choice.plugin)
        elif choice.endpoint is not None:
            from openreward.policy.endpoint import connect

            opened = connect(
                choice.endpoint, choice.model, api_key=choice.api_key, chat=choice.chat
            )
            yield await stack.enter_async_context(opened)
        else:
            from openreward.policy.llama_cpp import LlamaCpp

            path = find_model(choice.model)
            engine = LlamaCpp(path, slots=slots, adapter=choice.adapter)
            yield await stack.enter_async_context(engine)


def load_plugin(spec: str) -> Policy:
    """The policy that the user's own `module:factory` returns; modules of this folder are found."""
    policy = make("--policy", spec)
    lacking = [name for name in POLICY_PARTS if not hasattr(policy, name)]
    if lacking:
        raise UserError(
            f"--policy {spec}: expected a policy (openreward.policy.base.Policy), got "
            f"{type(policy).__name__} without {', '.join(lacking)}"
        )
    return cast(Policy, PluginPolicy(cast(Policy, policy), spec))


def find_model(name: str | None) -> Path:
    """A GGUF file: a path, a name among the local models, else the default or the only one."""
    from openreward.policy.models import SMALL

    if name is not None and name.endswith(".gguf") and os.path.isfile(name):  # a Path may raise
        return Path(name)
    local = {path.stem: path for path in model_files()}
    if name is None and (len(local) == 1 or SMALL.name in local):
        return local.get(SMALL.name, next(iter(local.values())))
    if name is not None and name.removesuffix(".gguf") in local:
        return local[name.removesuffix(".gguf")]
    here = ", ".join(local) or "none"
    if name is None and local:
        raise UserError(f"several local models; name one with --model: {here}")
    asked = "a local model" if name is None else f"model {shorten(name)}"
    raise UserError(
        f"{asked} is not in {home() / 'models'} (there: {here}); `openreward model fetch` brings "
        "the default one; or name a server: --endpoint URL --model NAME"
    )
