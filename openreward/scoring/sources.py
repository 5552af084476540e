"""Where the evidence for statements comes from: the pieces of a context, or searches.

Both give the same: for each statement its passages, numbered, with the text to show for each. An
outage of every service is told apart from a search that found nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Literal, NamedTuple, Protocol

from openreward.agent import together
from openreward.counting import SERVICE_FAULTS
from openreward.evidence import show
from openreward.policy.base import Policy
from openreward.scoring.parse import Stated
from openreward.scoring.pieces import Piece
from openreward.scoring.records import ScoreSettings
from openreward.scoring.retrieval import Nearest, Opened
from openreward.tools.base import Tool, run_call
from openreward.tools.tape import Place, Tape
from openreward.types import Evidence, Passage, ToolCall, ToolResult

CONTEXT = "context"


@dataclass(frozen=True)
class Found:
    """The evidence for one statement; `shown` are the texts of its passages, inert or not yet."""

    status: Literal["ok", "nothing", "unserved"]
    evidence: tuple[Evidence, ...] = ()
    shown: tuple[str, ...] = ()
    matched: int = 0
    reason: str = ""


class Source(Protocol):
    """Finds evidence. `to_search`: it wants words to search for, beside the statement."""

    to_search: bool

    async def prepare(self) -> None:
        """What can be done before the statements are known."""
        ...

    async def find(self, statements: Sequence[Stated], id: str) -> list[Found]:
        """Evidence for each statement, in their order; `id` is the answer's."""
        ...


class Ready(NamedTuple):
    """A context made ready for retrieval."""

    pieces: tuple[Piece, ...]
    opened: Opened


class ContextSource:
    """The nearest pieces of one context, in the order of the context; `ready` makes it once."""

    to_search = False

    def __init__(self, ready: Callable[[], Awaitable[Ready]], k: int) -> None:
        self._ready, self._k = ready, k

    async def prepare(self) -> None:
        """Cut the context, and index or embed its pieces."""
        await self._ready()

    async def find(self, statements: Sequence[Stated], id: str) -> list[Found]:
        """`k` pieces for each, fewer only of a context that has fewer."""
        pieces, opened = await self._ready()
        nearest = await opened.nearest([each.text for each in statements], self._k)
        return [
            self._found(stated, near, pieces)
            for stated, near in zip(statements, nearest, strict=True)
        ]

    def _found(self, stated: Stated, near: Nearest, pieces: Sequence[Piece]) -> Found:
        evidence = []
        for number, hit in enumerate(near.hits, 1):
            piece = pieces[hit.piece]
            passage = Passage(
                document_id=CONTEXT,
                source=CONTEXT,
                title="",
                text=piece.text,
                start=piece.start,
                end=piece.end,
                score=round(hit.score, 6),
            )
            evidence.append(
                Evidence(number=number, tool=CONTEXT, query=stated.text, passage=passage)
            )
        texts = tuple(each.passage.text for each in evidence)
        return Found("ok" if evidence else "nothing", tuple(evidence), texts, near.matched)


class ToolSource:
    """The search tools, all of them for each statement, a passage of each in turn."""

    to_search = True

    def __init__(
        self, tools: Sequence[Tool], policy: Policy, settings: ScoreSettings, tape: Tape | None
    ) -> None:
        self.tools = {tool.spec.name: tool for tool in tools if _takes_query(tool)}
        self._policy, self._settings, self._tape = policy, settings, tape

    async def prepare(self) -> None:
        """Nothing: every statement has searches of its own."""

    async def find(self, statements: Sequence[Stated], id: str) -> list[Found]:
        """At most `passages` for each statement."""
        return list(
            await together(
                [self._search(each, f"{id}/{n}") for n, each in enumerate(statements, 1)]
            )
        )

    async def _search(self, stated: Stated, id: str) -> Found:
        calls = [
            ToolCall(id=f"{id}/{name}", name=name, arguments={"query": stated.search})
            for name in self.tools
        ]
        results = await together([self._run(call, id, n) for n, call in enumerate(calls, 1)])
        brought = [
            [(call.name, passage) for passage in result.passages]
            for call, result in zip(calls, results, strict=True)
        ]
        in_turn = [each for each in chain.from_iterable(zip_longest(*brought)) if each is not None]
        if not in_turn:
            down = bool(results) and all(each.status in SERVICE_FAULTS for each in results)
            why = "; ".join(dict.fromkeys(each.message for each in results))
            return Found("unserved" if down else "nothing", reason=why)
        return await self._shown(in_turn[: self._settings.passages], stated.search)

    async def _shown(self, passages: Sequence[tuple[str, Passage]], query: str) -> Found:
        """Each passage within the tokens of a piece of a context."""
        budget = self._settings.piece_tokens
        lines = [
            (await show([passage], tool, query, number, budget, self._policy))[0]
            for number, (tool, passage) in enumerate(passages)
        ]
        return Found(
            "ok",
            tuple(evidence for evidence, _ in lines),
            tuple(text for _, text in lines),
            len(lines),
        )

    async def _run(self, call: ToolCall, id: str, number: int) -> ToolResult:
        async def live() -> ToolResult:
            return await run_call(self.tools, call, self._settings.search_seconds)

        if self._tape is None:
            return await live()
        place = Place(f"{id}/{self._settings.seed}", number)
        return await self._tape.answer(place, call, live)


def _takes_query(tool: Tool) -> bool:
    """Whether a query is all that a tool needs."""
    parameters = tool.spec.parameters
    properties, required = parameters.get("properties"), parameters.get("required")
    knows = isinstance(properties, dict) and "query" in properties
    return knows and (not isinstance(required, list) or set(map(str, required)) <= {"query"})
