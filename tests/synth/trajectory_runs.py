"""Teaching with scripted teachers, made-up passages, and an engine that spells its ids."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from openreward.agent import Limits
from openreward.judge import JudgeSettings
from openreward.policy.base import Policy, Sampling
from openreward.policy.engine import Completed
from openreward.policy.scripted import ScriptedPolicy
from openreward.policy.template import ChatTemplate
from openreward.policy.token_path import TokenPolicy, find_traits
from openreward.synth.trajectories import Teaching, TeachingSettings
from openreward.synth.trajectory_records import PairTrajectories
from openreward.tools.base import Tool
from openreward.tools.sources import SOURCES
from openreward.tools.static import StaticSearch
from openreward.types import Message, Pair, Passage, PolicyPath, ToolSpec, Usage

ROOMY = JudgeSettings(
    orders="one",
    query_tokens=10_000,
    answer_tokens=10_000,
    limits=Limits(total_tokens=1_000_000, turn_tokens=10_000, evidence_tokens=10_000),
)
PAIR = Pair(
    id="p1",
    query="Explain how the Brass Lantern Society keeps its lamps lit.",
    responses=("With oil.", "With prayers."),
    label=0,
    source="wikipedia",
    meta={"document": "doc-1"},
)
# The shape of Qwen 2.5's template: schemas in the system message, results as a user's turn.
TEMPLATE = """\
{%- if tools %}<|im_start|>system
{{ messages[0].content }}

# Tools <tools>
{%- for tool in tools %}{{ '\n' }}{{ tool | tojson }}{% endfor %}
</tools> <tool_call>...</tool_call><|im_end|>
{% else %}<|im_start|>system
{{ messages[0].content }}<|im_end|>
{% endif %}
{%- for message in messages[1:] %}
{%- if message.role == 'tool' %}
{%- if messages[loop.index0].role != 'tool' %}{{ '<|im_start|>user' }}{% endif %}
{{- '\n<tool_response>\n' + message.content + '\n</tool_response>' }}
{%- if loop.last or messages[loop.index0 + 2].role != 'tool' %}{{ '<|im_end|>\n' }}{% endif %}
{%- else %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"""
_CONTROL = ("<|im_start|>", "<|im_end|>")
_PIECES = re.compile(r"<\|im_start\|>|<\|im_end\|>|.", re.DOTALL)


def passage(text: str, document: str = "doc-1") -> Passage:
    return Passage(
        document_id=document, source="wikipedia", title="T", text=text, start=0, end=len(text)
    )


OIL = passage("The society burns whale oil.")


def tools(search: StaticSearch, *sources: str) -> list[Tool]:
    """A tool for each source over one search."""
    return [SOURCES[source](search, 3) for source in sources or ("wikipedia",)]


def teach(
    pair: Pair = PAIR,
    engine: Policy | Sequence[str] | None = None,
    search: StaticSearch | None = None,
    settings: TeachingSettings | None = None,
    sources: Sequence[str] = ("wikipedia",),
) -> PairTrajectories:
    """What becomes of a pair; a list of texts is a scripted engine, None the oracle."""
    policy = scripted(engine) if isinstance(engine, Sequence) else engine
    teaching = Teaching(
        policy,
        tools(search or StaticSearch([OIL]), *sources),
        settings or TeachingSettings(judge=ROOMY),
        clock=lambda: 0.0,
    )
    return asyncio.run(teaching.teach(pair))


def scripted(texts: Sequence[str], path: PolicyPath = "token") -> ScriptedPolicy:
    """An engine of the token path's style without ids."""
    policy = ScriptedPolicy(texts, tool_style="template", model="tutor")
    policy.path = path
    return policy


def ids(text: str) -> list[int]:
    """One id a character, and one a control token."""
    pieces = _PIECES.findall(text)
    return [_CONTROL.index(p) if p in _CONTROL else ord(p) + 10 for p in pieces]


def spelled(numbers: Sequence[int]) -> str:
    """The text of ids."""
    return "".join(_CONTROL[n] if n < 10 else chr(n - 10) for n in numbers)


class SpellingEngine:
    """An engine within the process: a template, ids as `ids` makes them, turns from a list."""

    name = "spelling"
    context = 10_000_000

    def __init__(self, template: str, turns: Sequence[str]) -> None:
        self._template = ChatTemplate(template)
        self._turns = list(turns)
        self.prompts: list[str] = []

    async def text(
        self, messages: Sequence[Message], tools: Sequence[ToolSpec], *, generation: bool
    ) -> str:
        return self._template.render(messages, tools, generation=generation)

    async def prompt(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> list[int]:
        return ids(await self.text(messages, tools, generation=True))

    async def tokenize(self, text: str) -> list[int]:
        return ids(text)

    async def complete(
        self, before: Sequence[int], sampling: Sampling, max_tokens: int
    ) -> Completed:
        said = self._turns[len(self.prompts)]
        self.prompts.append(spelled(before))
        made = (*ids(said), *ids("<|im_end|>"))
        usage = Usage(prompt_tokens=len(before), completion_tokens=len(made))
        return Completed(said, "stop", made, (-0.5,) * len(made), usage)


def on_token_path(engine: SpellingEngine) -> TokenPolicy:
    """The engine as the token path's policy."""
    return TokenPolicy(engine, "speller", asyncio.run(find_traits(engine)))
