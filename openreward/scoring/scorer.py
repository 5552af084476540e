"""Score an answer in four dimensions, everything at once that does not wait for anything else.

The longest chain is two requests: the statements, then their verdicts; the extraction, then what
of it the answer covers. What a context's answers have in common (its pieces made ready, what was
extracted for a question) is made once and kept.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field

from openreward.agent import Clock, together
from openreward.errors import PolicyError
from openreward.policy.base import Policy
from openreward.scoring import prompts
from openreward.scoring.asking import Asking, Spent
from openreward.scoring.completeness import Extraction, completeness, extract, extract_found
from openreward.scoring.faithfulness import faithfulness
from openreward.scoring.fitting import Fit, fit
from openreward.scoring.language import language_of
from openreward.scoring.once import Once
from openreward.scoring.part import Part, broken, scored, without
from openreward.scoring.pieces import small_pieces
from openreward.scoring.records import (
    Dimension,
    DimensionScore,
    Language,
    Score,
    ScoreSettings,
    reward_of,
)
from openreward.scoring.retrieval import Bm25Retriever, Retriever
from openreward.scoring.sources import ContextSource, Ready, Source, ToolSource
from openreward.tools.base import Tool
from openreward.tools.tape import Tape
from openreward.types import Times

_KEPT_CONTEXTS = 16
_KEPT_EXTRACTIONS = 64


@dataclass
class _Shared:
    """What the answers scored in one event loop have in common."""

    gate: asyncio.Semaphore
    contexts: Once[str, Ready] = field(default_factory=lambda: Once(_KEPT_CONTEXTS))
    extractions: Once[str, Extraction] = field(
        default_factory=lambda: Once(_KEPT_EXTRACTIONS, lambda made: made.status == "ok")
    )


@dataclass(frozen=True)
class _Job:
    """One answer, as it is shown, and what it is scored with."""

    id: str
    fit: Fit
    context: str | None
    language: Language
    asking: Asking
    shared: _Shared
    spent: Spent = field(default_factory=Spent)


class Scorer:
    """A policy as a judge of single answers; `tools` are for questions without a context."""

    def __init__(
        self,
        policy: Policy,
        tools: Sequence[Tool] = (),
        settings: ScoreSettings = ScoreSettings(),  # noqa: B008 - frozen
        retriever: Retriever | None = None,
        clock: Clock = time.monotonic,
        tape: Tape | None = None,
    ) -> None:
        self.policy = policy
        self.settings = settings
        self.retriever = retriever or Bm25Retriever()
        self.clock = clock
        self._searching = ToolSource(tools, policy, settings, tape)
        self._loops: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Shared] = (
            weakref.WeakKeyDictionary()
        )

    async def score(
        self, query: str, answer: str, context: str | None = None, *, id: str = "answer"
    ) -> Score:
        """The four scores and the reward of an answer.

        Without a context the facts are checked with the tools; an empty one is an outcome of its
        own. An engine that fails is a dimension of status "error" with its fault, no exception.
        """
        settings, started = self.settings, self.clock()
        language = language_of(query, answer) if settings.language == "auto" else settings.language
        shared = self._shared()
        asking = Asking(self.policy, settings, shared.gate, self.clock)
        try:
            fitted = await fit(self.policy, settings, language, query, answer)
        except PolicyError as error:  # a server counts the tokens
            return self._failed(id, language, error, self.clock() - started)
        job = _Job(id, fitted, context, language, asking, shared)
        parts = await together([self._part(job, name) for name in settings.dimensions])
        return self._record(job, parts, self.clock() - started)

    async def score_all(
        self, query: str, answers: Sequence[str], context: str | None = None, *, id: str = "answer"
    ) -> tuple[Score, ...]:
        """The scores of several answers to one question, all at once; ids end in their numbers."""
        return await together(
            [
                self.score(query, answer, context, id=f"{id}/{number}")
                for number, answer in enumerate(answers)
            ]
        )

    def _shared(self) -> _Shared:
        loop = asyncio.get_running_loop()
        return self._loops.setdefault(loop, _Shared(asyncio.Semaphore(self.settings.in_flight)))

    async def _part(self, job: _Job, name: Dimension) -> Part:
        """One dimension, by its own pipeline."""
        if name == "faithfulness":
            return await self._facts(job)
        if name == "completeness":
            return await self._coverage(job)
        make = prompts.helpfulness if name == "helpfulness" else prompts.logicality
        request = make(job.language, job.fit.query, job.fit.answer, self.settings.turn_tokens)
        return Part(scored(name, await job.asking.ask(request, job.id, job.spent)))

    async def _facts(self, job: _Job) -> Part:
        missing = self._nothing_to_compare(job, "faithfulness")
        if missing is not None:
            return Part(missing)
        source: Source = self._searching
        if job.context is not None:
            source = self._context_source(job, job.context)
        return await faithfulness(
            job.asking, source, job.language, job.fit.answer, job.id, job.spent
        )

    async def _coverage(self, job: _Job) -> Part:
        missing = self._nothing_to_compare(job, "completeness")
        if missing is not None:
            return Part(missing)
        extraction, shared = await self._extraction(job)
        if not shared:
            job.spent.add(extraction.spent)
        part = await completeness(job.asking, job.language, job.fit, extraction, job.id, job.spent)
        return part._replace(shared=shared)

    def _context_source(self, job: _Job, context: str) -> ContextSource:
        async def make() -> Ready:
            pieces = small_pieces(context, self.settings.piece_tokens)
            opened = await self.retriever.open([piece.text for piece in pieces])
            return Ready(tuple(pieces), opened)

        async def ready() -> Ready:
            made, _ = await job.shared.contexts.get(_digest(context), make)
            return made

        return ContextSource(ready, self.settings.passages)

    async def _extraction(self, job: _Job) -> tuple[Extraction, bool]:
        query, context, language = job.fit.query, job.context, job.language
        key = _digest(query, language, context)

        async def make() -> Extraction:
            if context is None:
                return await extract_found(job.asking, language, query, self._searching, key)
            tokens = job.fit.extract_tokens
            return await extract(job.asking, language, query, context, tokens, key)

        return await job.shared.extractions.get(key, make)

    def _nothing_to_compare(self, job: _Job, name: Dimension) -> DimensionScore | None:
        """Why a dimension that needs a context, or tools, cannot be asked about."""
        if job.context is None:
            why = "no context was given, and there is no tool to search with"
            return None if self._searching.tools else without(name, "no_context", why)
        return None if job.context.strip() else without(name, "empty_context", "nothing in it")

    def _record(self, job: _Job, parts: Sequence[Part], seconds: float) -> Score:
        settings = self.settings
        dimensions = tuple(part.dimension for part in parts)
        reward = reward_of(dimensions, settings.weights, settings.dimensions)
        bad = [each for each in dimensions if each.status != "ok"]
        failed = any(each.status == "error" for each in bad)
        return Score(
            id=job.id,
            status="ok" if reward is not None else "error" if failed else "incomplete",
            reward=reward,
            reason="; ".join(f"{each.name}: {each.status}: {each.reason}" for each in bad),
            language=job.language,
            dimensions=dimensions,
            statements=tuple(each for part in parts for each in part.statements),
            extracted=tuple(each for part in parts for each in part.extracted),
            shared=any(part.shared for part in parts),
            notes=(*job.fit.notes, *(note for part in parts for note in part.notes)),
            calls=job.spent.calls,
            fault=next((each.fault for each in bad if each.fault), None),
            usage=job.spent.usage,
            times=Times(total=seconds, policy=job.spent.seconds, tools=job.spent.tool_seconds),
        )

    def _failed(self, id: str, language: Language, error: PolicyError, seconds: float) -> Score:
        return Score(
            id=id,
            status="error",
            reason=f"policy_error: {error}",
            language=language,
            dimensions=tuple(broken(name, error) for name in self.settings.dimensions),
            fault=error.fault,
            times=Times(total=seconds),
        )


def _digest(*texts: str | None) -> str:
    """A key for texts; None is none of them."""
    return hashlib.sha256(json.dumps(texts).encode("ascii")).hexdigest()[:24]
