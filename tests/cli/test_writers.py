from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack

import pytest

from openreward.cli.engine import EngineChoice
from openreward.cli.writers import (
    OpenWriter,
    WriterChoice,
    name_samples,
    open_writers,
    read_writers,
)
from openreward.errors import UserError
from openreward.policy.scripted import ScriptedPolicy


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=engine", WriterChoice("a", "engine")),
        ("a=local,model=m,seed=4", WriterChoice("a", "local", model="m", seed=4)),
        ("a b=engine,temperature=0.7", WriterChoice("a b", "engine", temperature=0.7)),
        (
            "big=https://host:8000/v1?x=1,2,model=org/m,key=KEY",
            WriterChoice("big", "https://host:8000/v1?x=1,2", model="org/m", key="KEY"),
        ),
        ("a=module:make", WriterChoice("a", "module:make")),
    ],
)
def test_a_writer_is_named_with_where_it_is(text: str, expected: WriterChoice) -> None:
    assert read_writers([text]) == (expected,)


def test_the_seed_is_the_place_unless_given() -> None:
    assert [each.seed for each in read_writers(["a=engine", "b=engine,seed=9", "c=engine"])] == [
        0,
        9,
        2,
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a", "expected NAME=TARGET"),
        ("=engine", "expected NAME=TARGET"),
        ("a=", "expected NAME=TARGET"),
        ("a/b=engine", "expected NAME=TARGET"),
        ("a\nb=engine", "expected NAME=TARGET"),
        ("a=engine,temperature=hot", "expected a temperature from 0 on, got 'hot'"),
        ("a=engine,temperature=-1", "expected a temperature from 0 on, got '-1'"),
        ("a=engine,temperature=nan", "expected a temperature from 0 on, got 'nan'"),
        ("a=engine,seed=x", "expected a whole number as seed, got 'x'"),
        ("a=engine,seed=", "expected a whole number as seed, got ''"),
    ],
)
def test_what_names_no_writer_is_refused(text: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_writers([text])


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (WriterChoice("a", "engine"), EngineChoice(plugin="p:q")),
        (WriterChoice("a", "local"), EngineChoice()),
        (WriterChoice("a", "local", model="m"), EngineChoice(model="m")),
        (WriterChoice("a", "http://h", model="m"), EngineChoice("http://h", "m", chat=True)),
        (WriterChoice("a", "x:y"), EngineChoice(plugin="x:y")),
    ],
)
def test_a_target_is_an_engine(choice: WriterChoice, expected: EngineChoice) -> None:
    assert choice.engine(EngineChoice(plugin="p:q")) == expected


def test_the_embedded_engine_is_opened_once() -> None:
    assert WriterChoice("a", "local").engine(EngineChoice()) == EngineChoice()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (WriterChoice("a", "/etc"), "expected engine, local, a URL or MODULE:FACTORY, got '/etc'"),
        (WriterChoice("a", "ftp://host"), "expected engine, local"),
        (WriterChoice("a", "engine", model="m"), "engine is that of the other flags"),
        (WriterChoice("a", "http://h", key="NO_SUCH_KEY"), "expected a key in that variable"),
    ],
)
def test_a_target_that_is_none_is_refused(choice: WriterChoice, message: str) -> None:
    with pytest.raises(UserError, match=message):
        choice.engine(EngineChoice())


def opened(*given: str, policy: ScriptedPolicy) -> list[OpenWriter]:
    """The writers that flags name, `engine` being the policy."""

    async def opening() -> list[OpenWriter]:
        async with AsyncExitStack() as stack:
            return await open_writers(
                read_writers(given),
                EngineChoice(plugin="main:engine"),
                stack,
                policy=policy,
                slots=2,
                temperature=0.5,
                max_tokens=64,
            )

    return asyncio.run(opening())


def test_writers_share_the_engine_they_name() -> None:
    policy = ScriptedPolicy(["said"])
    first, second, third = opened("a=engine", f"b={__name__}:other", "c=engine", policy=policy)
    assert first.writer.policy is third.writer.policy is policy
    assert second.writer.policy.model == "other"
    assert (first.writer.temperature, first.writer.max_tokens, third.writer.seed) == (0.5, 64, 2)
    assert second.config == {
        "name": "b",
        "model": "other",
        "plugin": f"{__name__}:other",
        "temperature": 0.5,
        "seed": 1,
    }


def test_a_target_is_refused_before_any_engine_is_opened() -> None:
    with pytest.raises(UserError, match="expected engine, local, a URL"):
        opened("a=no_such_module:policy", "b=/etc", policy=ScriptedPolicy(["said"]))


def test_writers_of_one_engine_are_named_as_samples_of_one() -> None:
    policy = ScriptedPolicy(["said"])
    made = opened("a=engine", "b=engine,temperature=1", f"c={__name__}:other", policy=policy)
    assert [each.writer.name for each in name_samples(made)] == [
        "a (a sample of scripted, temperature 0.5, seed 0)",
        "b (a sample of scripted, temperature 1, seed 1)",
        "c",
    ]
    assert [each.writer.name for each in made] == ["a", "b", "c"]


def other() -> ScriptedPolicy:
    """An engine of its own, as a plug-in."""
    return ScriptedPolicy(["said"], model="other")
