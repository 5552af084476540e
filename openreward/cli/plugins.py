"""Code of the user's own, named MODULE:FACTORY: made, and its errors told with their line.

What such code raises is never a traceback of ours: it is one line that names the plug-in, its error
and the deepest line that is the user's, below which may lie any library's.
"""

from __future__ import annotations

import importlib
import sys
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

import openreward
from openreward.errors import OpenRewardError, UserError, shorten
from openreward.policy.base import Conversation, Generation, Policy, Sampling
from openreward.records import explain


def make(flag: str, spec: str) -> object:
    """What the `module:factory` returns; modules of this folder are found. Raises `UserError`."""
    module, _, factory = spec.partition(":")
    if not module or not factory or module.startswith("."):
        raise UserError(f"{flag}: expected MODULE:FACTORY, got {shorten(spec)}")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        loaded = importlib.import_module(module)
        if not hasattr(loaded, factory):
            raise UserError(f"{flag} {spec}: {module} has no {factory}")
        made = getattr(loaded, factory)
        if not callable(made):
            raise UserError(f"{flag} {spec}: expected a function, got {shorten(made)}")
        return cast(Callable[[], object], made)()
    except OpenRewardError:
        raise
    except ModuleNotFoundError as error:
        raise UserError(
            f"{flag} {spec}: cannot import {module}: {error}; run from its folder, or install it"
        ) from None
    except Exception as error:
        raise UserError(f"{flag} {spec}: {where(error, spec)}; mend it") from error


class PluginPolicy:
    """A policy of the user's own; all that it has is reached through this one."""

    def __init__(self, policy: Policy, spec: str) -> None:
        self._policy, self._spec = policy, spec

    def __getattr__(self, name: str) -> Any:
        return getattr(self._policy, name)

    async def generate(self, conversation: Conversation, sampling: Sampling) -> Generation:
        """Its turn; raises `UserError` for what is none."""
        try:
            made: object = await self._policy.generate(conversation, sampling)
        except OpenRewardError:
            raise
        except Exception as error:
            raise self._broken(where(error, self._spec)) from error
        if not isinstance(made, Generation):
            got = f"expected a turn (openreward.policy.base.Generation), got {shorten(made)}"
            raise self._broken(got)
        return made

    async def count_tokens(self, text: str) -> int:
        """Its count; raises `UserError` where it fails."""
        try:
            return await self._policy.count_tokens(text)
        except OpenRewardError:
            raise
        except Exception as error:
            raise self._broken(where(error, self._spec)) from error

    def _broken(self, what: str) -> UserError:
        return UserError(f"--policy {self._spec}: {what}; mend it; a run goes on with --resume")


def where(error: Exception, spec: str) -> str:
    """An exception, with the deepest line of the plug-in's own that led to it."""
    said = explain(error) if isinstance(error, ValidationError) else shorten(str(error), 200)
    frames = traceback.extract_tb(error.__traceback__)
    loaded = sys.modules.get(spec.partition(":")[0])
    own = [frame for frame in frames if _is_users(frame.filename)]
    own = own or [frame for frame in frames if frame.filename == getattr(loaded, "__file__", "")]
    place = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {said}{place}"


def _is_users(file: str) -> bool:
    """Whether a file is neither Python's, nor installed, nor ours."""
    path = Path(file)
    if file.startswith("<") or {"site-packages", "dist-packages"} & {*path.parts}:
        return False
    installed = (sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib"))
    return not any(path.is_relative_to(folder) for folder in (*installed, *openreward.__path__))
