"""Judges of the user's own, whose code may be anything."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from openreward.cli.eval_plugin import load_judge
from openreward.errors import PolicyError, UserError
from openreward.eval.judges import Asked, Said

ASKED = Asked("x/0", "q", ("a", "b"), (0, 1), 0)
HEAD = "from openreward.errors import PolicyError\nfrom openreward.eval.judges import Said\n"


def plugin(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str) -> str:
    """`code` as the module `name` of the working folder; modules of one name would be kept."""
    (folder / f"{name}.py").write_text(HEAD + code)
    monkeypatch.chdir(folder)
    return f"{name}:judge"


def judge(
    name: str = '"mine"', kind: str = '"pairs"', reply: str = "return Said(status='tie')"
) -> str:
    return (
        f"class judge:\n    name = {name}\n    kind = {kind}\n"
        f"    async def reply(self, asked):\n        {reply}\n"
    )


def test_a_judge_is_made_and_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = load_judge(plugin(tmp_path, monkeypatch, "plugin_good", judge()))
    assert (made.name, made.kind) == ("mine", "pairs")
    assert asyncio.run(made.reply(ASKED)) == Said(status="tie")


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        ("syntax", "def (", "SyntaxError"),
        ("raises", "raise ValueError('no')", "ValueError: 'no' (plugin_raises.py, line 3)"),
        ("lacking", "x = 1", "plugin_lacking has no judge"),
        ("text", "judge = 'x'", "expected a function, got 'x'"),
        ("arguments", "def judge(x): pass", "missing 1 required positional argument"),
        ("nothing", "def judge(): pass", "got NoneType without name, kind, reply"),
        ("unnamed", judge(name="None"), "got judge of kind 'pairs', named None"),
        ("blank", judge(name="' '"), "named ' '"),
        ("kind", judge(kind="['pairs']"), "got judge of kind ['pairs']"),
        ("other", judge(kind="'triples'"), "kind pairs, list, points, got judge of kind 'triples'"),
    ],
)
def test_what_makes_no_judge_is_said_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str, message: str
) -> None:
    spec = plugin(tmp_path, monkeypatch, f"plugin_{name}", code)
    with pytest.raises(UserError) as raised:
        load_judge(spec)
    assert message in str(raised.value)
    assert str(raised.value).startswith(f"--judge {spec}: ")


@pytest.mark.parametrize("spec", ["plugin", "plugin:", ":judge", ".plugin:judge"])
def test_a_spec_names_a_module_and_a_factory(spec: str) -> None:
    with pytest.raises(UserError, match="expected MODULE:FACTORY"):
        load_judge(spec)


@pytest.mark.parametrize(
    ("name", "code", "message"),
    [
        (
            "reply_raises",
            judge(reply="raise KeyError('score')"),
            "question 'x/0': KeyError: \"'score'\" (plugin_reply_raises.py, line 7); what",
        ),
        (  # raised within pydantic, by a line of the user's
            "reply_wrong",
            judge(reply="return Said(status='nonsense')"),
            "(plugin_reply_wrong.py, line 7); what",
        ),
        (
            "reply_none",
            judge(reply="return None"),
            "expected a reply (openreward.eval.judges.Said)",
        ),
        ("reply_text", judge(reply="return 'A'"), "got 'A'"),
        ("reply_sync", judge().replace("async ", ""), "TypeError"),
    ],
)
def test_a_reply_that_is_none_ends_the_run_with_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, code: str, message: str
) -> None:
    made = load_judge(plugin(tmp_path, monkeypatch, f"plugin_{name}", code))
    with pytest.raises(UserError) as raised:
        asyncio.run(made.reply(ASKED))
    assert message in str(raised.value)


def test_a_fault_of_the_engine_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = judge(reply="raise PolicyError('unreachable', 'down')")
    made = load_judge(plugin(tmp_path, monkeypatch, "plugin_down", code))
    with pytest.raises(PolicyError, match="down"):
        asyncio.run(made.reply(ASKED))
