"""Groups of flags that several commands take, as frozen dataclasses, spread out by `takes`.

A command names a group as one keyword parameter; typer sees the group's fields as flags of its own,
and the command gets them back as one object. So a flag that judge, eval and others share is written
once, with its help (cli/options.py) and its default.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable
from typing import Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from openreward.agent import Limits
from openreward.cli import options as o
from openreward.cli.engine import EngineChoice, read_key
from openreward.errors import UserError
from openreward.judge import JudgeSettings
from openreward.records import explain

_JUDGE = JudgeSettings()
_LIMITS = _JUDGE.limits

M = TypeVar("M", bound=BaseModel)


@dataclasses.dataclass(frozen=True)
class EngineFlags:
    """Which engine is asked."""

    endpoint: o.Endpoint = None
    model: o.Model = None
    chat: o.Chat = False
    api_key_env: o.ApiKeyEnv = None
    policy: o.PolicyPlugin = None
    adapter: o.Adapter = None

    def choice(self) -> EngineChoice:
        """The engine the flags name; raises `UserError` where they do not fit together."""
        key = read_key(self.api_key_env)
        chosen = (self.endpoint, self.model, self.chat, key, self.policy, self.adapter)
        return EngineChoice(*chosen)


@dataclasses.dataclass(frozen=True)
class TrajectoryFlags:
    """How much one trajectory may read, write and search, and how it samples."""

    temperature: o.Temperature = _JUDGE.temperature
    top_p: o.TopP = _JUDGE.top_p
    query_tokens: o.QueryTokens = _JUDGE.query_tokens
    answer_tokens: o.AnswerTokens = _JUDGE.answer_tokens
    calls: o.Calls = _LIMITS.calls
    turns: o.Turns = _LIMITS.turns
    turn_tokens: o.TurnTokens = _LIMITS.turn_tokens
    total_tokens: o.TotalTokens = _LIMITS.total_tokens
    evidence_tokens: o.EvidenceTokens = _LIMITS.evidence_tokens
    seconds_per_call: o.SecondsPerCall = _LIMITS.seconds_per_call
    seconds: o.Seconds = _LIMITS.seconds
    grammar: o.Grammar = _LIMITS.grammar

    def settings(self, **more: Any) -> JudgeSettings:
        """The judge's settings; `more` are fields of `JudgeSettings` set otherwise."""
        try:
            limits = Limits(**{name: getattr(self, name) for name in Limits.model_fields})
            own = {
                name: getattr(self, name)
                for name in ("temperature", "top_p", "query_tokens", "answer_tokens")
            }
            return JudgeSettings(limits=limits, **own, **more)
        except ValidationError as error:
            raise UserError(f"settings: {explain(error)}") from None


def in_panel(panel: str) -> Callable[[str], typer.models.OptionInfo]:
    """A maker of flags that the help lists together, under the panel's name."""

    def option(text: str) -> typer.models.OptionInfo:
        return typer.Option(rich_help_panel=panel, help=text)  # type: ignore[no-any-return]

    return option


def settings_of(flags: object, model: type[M], **given: object) -> M:
    """The settings that a group of flags gives; `given` are fields that no flag is named after."""
    named = {name: getattr(flags, name) for name in model.model_fields if name not in given}
    return checked(model, **named, **given)


def checked(model: type[M], **given: object) -> M:
    """Settings of these values; raises `UserError` where one is out of its range."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise UserError(f"settings: {explain(error)}") from None


def takes(command: Callable[..., None]) -> Callable[..., None]:
    """The command as typer reads it: each parameter that is a group gives way to its fields."""
    hints = typing.get_type_hints(command, include_extras=True)
    plain: list[inspect.Parameter] = []
    groups: dict[str, Any] = {}
    for parameter in inspect.signature(command).parameters.values():
        kind = hints[parameter.name]
        if not dataclasses.is_dataclass(kind):
            plain.append(parameter.replace(annotation=kind))
            continue
        fields = typing.get_type_hints(kind, include_extras=True)
        groups[parameter.name] = kind
        plain += [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=field.default,
                annotation=fields[field.name],
            )
            for field in dataclasses.fields(typing.cast(Any, kind))
        ]

    @functools.wraps(command)
    def spread(**given: Any) -> None:
        made = {}
        for name, kind in groups.items():
            names = [field.name for field in dataclasses.fields(kind)]
            made[name] = kind(**{each: given.pop(each) for each in names})
        command(**given, **made)

    by_keyword = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in plain]
    spread.__signature__ = inspect.Signature(by_keyword)  # type: ignore[attr-defined]
    spread.__annotations__ = {}
    return spread
