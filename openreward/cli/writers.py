"""Models that write answers, as flags name them: NAME=TARGET[,model=M][,temperature=T][,seed=N].

TARGET is `engine` (the engine of the other flags), `local` (the embedded one), a server's URL, or
MODULE:FACTORY. Writers of one engine share it; `name_samples` makes their names say so.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import NamedTuple

from pydantic import JsonValue

from openreward.cli.engine import EngineChoice, open_policy, read_key
from openreward.errors import UserError, shorten
from openreward.policy.base import Policy
from openreward.synth.writer import Writer

FORM = "NAME=TARGET[,model=M][,temperature=T][,seed=N][,key=VAR]"
_OPTION = re.compile(r"(.+),(model|temperature|seed|key)=([^,]*)", re.DOTALL)
_NAME = re.compile(r"[^\s=,:/][^=,:/\n]{0,80}")


@dataclass(frozen=True)
class WriterChoice:
    """A writer as a flag names it."""

    name: str
    target: str
    model: str | None = None
    temperature: float | None = None
    seed: int = 0
    key: str | None = None  # the variable that holds its server's key

    def engine(self, main: EngineChoice) -> EngineChoice:
        """The engine it asks; equal choices are one engine."""
        if self.target == "engine":
            if self.model or self.key:
                raise UserError(
                    f"--writer {self.name}: engine is that of the other flags; model and key are "
                    "for a URL, model also for local"
                )
            return main
        if self.target == "local":
            return EngineChoice(model=self.model)
        if self.target.startswith(("http://", "https://")):
            return EngineChoice(self.target, self.model, True, read_key(self.key))
        if ":" in self.target and "/" not in self.target:
            return EngineChoice(plugin=self.target)
        raise UserError(
            f"--writer {self.name}: expected engine, local, a URL or MODULE:FACTORY, got "
            f"{shorten(self.target)}"
        )


class OpenWriter(NamedTuple):
    """A writer whose engine is open, and how it may be written down."""

    writer: Writer
    config: dict[str, JsonValue]


def read_writers(given: Sequence[str]) -> tuple[WriterChoice, ...]:
    """The writers that flags name; unlike names, each with the place as seed if it gives none."""
    found = tuple(_read_writer(text, number) for number, text in enumerate(given))
    names = Counter(choice.name for choice in found)
    again = [name for name, count in names.items() if count > 1]
    if again:
        raise UserError(f"--writer {again[0]}: expected unlike names, got this one again")
    return found


def _read_writer(text: str, number: int) -> WriterChoice:
    name, _, target = text.partition("=")
    options = dict[str, str]()
    while match := _OPTION.fullmatch(target):
        target = match[1]
        options.setdefault(match[2], match[3])
    if not _NAME.fullmatch(name) or not target:
        raise UserError(f"--writer: expected {FORM}, got {shorten(text)}")
    return WriterChoice(
        name=name,
        target=target,
        model=options.get("model"),
        temperature=_temperature(options.get("temperature"), name),
        seed=_seed(options.get("seed"), number, name),
        key=options.get("key"),
    )


def _temperature(text: str | None, name: str) -> float | None:
    if text is None:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < 10:
        raise UserError(f"--writer {name}: expected a temperature from 0 on, got {shorten(text)}")
    return value


def _seed(text: str | None, number: int, name: str) -> int:
    if text is None:
        return number
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise UserError(f"--writer {name}: expected a whole number as seed, got {shorten(text)}")
    return int(text)


async def open_writers(
    choices: Sequence[WriterChoice],
    main: EngineChoice,
    stack: AsyncExitStack,
    *,
    policy: Policy | None = None,
    slots: int,
    temperature: float,
    max_tokens: int,
) -> list[OpenWriter]:
    """The writers, in the order given; engines are opened on `stack`, each once.

    `policy` is `main`'s, where it is open already; `temperature` is for those that name none.
    """
    engines = [choice.engine(main) for choice in choices]
    opened = dict[EngineChoice, Policy]() if policy is None else {main: policy}
    for engine in engines:
        if engine not in opened:
            opened[engine] = await stack.enter_async_context(open_policy(engine, slots))
    return [
        _open_writer(choice, engine, opened[engine], temperature, max_tokens)
        for choice, engine in zip(choices, engines, strict=True)
    ]


def name_samples(opened: Sequence[OpenWriter]) -> list[OpenWriter]:
    """The same writers; those that share an engine are named as samples of one."""
    many = Counter(id(each.writer.policy) for each in opened)
    return [_as_sample(each) if many[id(each.writer.policy)] > 1 else each for each in opened]


def _as_sample(opened: OpenWriter) -> OpenWriter:
    writer = opened.writer
    drawn = f"temperature {writer.temperature:g}, seed {writer.seed}"
    name = f"{writer.name} (a sample of {writer.policy.model}, {drawn})"
    return opened._replace(writer=replace(writer, name=name))


def _open_writer(
    choice: WriterChoice,
    engine: EngineChoice,
    policy: Policy,
    temperature: float,
    max_tokens: int,
) -> OpenWriter:
    warm = temperature if choice.temperature is None else choice.temperature
    writer = Writer(policy, choice.name, warm, max_tokens=max_tokens, seed=choice.seed)
    config: dict[str, JsonValue] = {
        "name": choice.name,
        "model": policy.model,
        "plugin": engine.plugin,
        "temperature": warm,
        "seed": choice.seed,
    }
    return OpenWriter(writer, config)
