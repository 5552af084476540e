"""Whether the ids a rollout grows by are those of the template over the whole conversation.

They are for templates that only append. One that rewrites earlier turns (such as those that drop
their thinking) cannot change what was sampled: the token path appends all the same, and what is
trained on is what the model saw and said. It is told at the start, for a server that renders the
conversation anew each turn would show such a model another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from openreward.policy.base import Conversation, Sampling
from openreward.policy.template import TemplateRefusal
from openreward.policy.token_path import TokenPolicy, find_traits, fit
from openreward.train.engines.scripted import ScriptedEngine
from openreward.types import Message, ToolSpec

TURNS = 5
_TOOL = ToolSpec(
    name="wikipedia_search",
    description="Search.",
    parameters={"type": "object", "properties": {"query": {"type": "string"}}},
)
_CALL = '<tool_call>{"name": "wikipedia_search", "arguments": {"query": "tower"}}</tool_call>'


class TemplateCheck(NamedTuple):
    """What was found; `turns` is the first number of turns at which the two differ, or None."""

    turns: int | None
    grown: str = ""  # where they part, as it was grown
    rendered: str = ""  # and as the template writes it

    @property
    def appends(self) -> bool:
        """Whether the template only appends."""
        return self.turns is None

    def words(self) -> str:
        """One line."""
        if self.appends:
            return f"template: appends only, tried over {TURNS} turns"
        return (
            f"template: rewrites earlier turns (at turn {self.turns}: grown {self.grown!r}, anew "
            f"{self.rendered!r}); rollouts append, and are trained on as they were sampled"
        )


async def check_template(tokenizer: Any, sayings: Sequence[str] = ()) -> TemplateCheck:
    """Grow a conversation and compare; raises `PolicyError` where it cannot be carried.

    `sayings` are the turns, else calls with a thought before them and a verdict.
    """
    said = tuple(sayings) or _sayings()
    engine = ScriptedEngine(tokenizer, lambda text, seed: said[seed])
    policy = await engine.open()
    assert isinstance(policy, TokenPolicy)
    traits = await find_traits(policy._engine)
    tools = (_TOOL,) if traits.tools else ()
    talk = Conversation(
        [Message(role="system", content="Judge."), Message(role="user", content="Which?")], tools
    )
    for number in range(len(said)):
        made = await policy.generate(talk, Sampling(max_tokens=10_000, seed=number))
        talk.messages.append(Message(role="assistant", content=made.text))
        grown = list(talk.token_ids)
        try:
            whole = await policy._engine.text(fit(talk.messages, traits), tools, generation=False)
        except TemplateRefusal as refusal:
            return TemplateCheck(number + 1, "", str(refusal))
        rendered = await policy._engine.tokenize(whole)
        if not _same(grown, rendered):
            return TemplateCheck(number + 1, *_apart(grown, rendered, tokenizer))
        talk.messages.append(_result(number, traits.tools))
    return TemplateCheck(None)


def _sayings() -> tuple[str, ...]:
    calls = tuple(f"<think>\nLook up {n}.\n</think>\n\n{_CALL}" for n in range(TURNS - 1))
    return (*calls, "<think>\nSo.\n</think>\n\nIt is. <answer>A</answer>")


def _result(number: int, tools: bool) -> Message:
    text = f"[{number + 1}] The tower is in Paris."
    return Message(role="tool" if tools else "user", content=text)


def _same(grown: Sequence[int], rendered: Sequence[int]) -> bool:
    """The template may write a line end behind the last turn, which the next one will bring."""
    return list(rendered[: len(grown)]) == list(grown) and len(rendered) - len(grown) <= 2


def _apart(grown: Sequence[int], rendered: Sequence[int], tokenizer: Any) -> tuple[str, str]:
    pairs = zip(grown, rendered, strict=False)
    place = next((n for n, (one, other) in enumerate(pairs) if one != other), len(rendered))
    start = max(0, place - 3)
    return tokenizer.decode(list(grown[start : place + 8])), tokenizer.decode(
        list(rendered[start : place + 8])
    )
