"""From a document to a pair: a query aimed at it, an answer with it and one without it, checks.

The recipe of OpenRM's data (arXiv 2510.24636): one writer, equal settings and words, so that only
the document differs. Every document goes through all its steps at once and ends as one row; the
first step that fails ends it with a reason. What looks at all rows together is `pair_set`.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from openreward.agent import Clock, together
from openreward.batch import NotDone
from openreward.evidence import sentences_of
from openreward.inert import inert
from openreward.judge import derive
from openreward.loose_json import clean_text
from openreward.parse import said
from openreward.policy.base import Policy
from openreward.synth import pair_checks, pair_prompts
from openreward.synth.evaluation_overlap import EvaluationOverlap
from openreward.synth.pair_records import (
    AnswerText,
    PairDrop,
    PairRow,
    PairSettings,
    PairStep,
    Problem,
    TextStatus,
    Verified,
)
from openreward.synth.writer import Writer, Written
from openreward.types import Document, PolicyFault, total_usage

_OF_THE_DOCUMENT: tuple[PolicyFault, ...] = ("context_overflow", "bad_request")
_MOST_CHARACTERS = 16  # of a token; more of a document is not even counted, of a turn not read
_LABEL = re.compile(r"\s*(?:\**(?:question|query|request)\**\s*:\**|\d+[.)])\s+", re.IGNORECASE)
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "«": "»", "*": "*", "`": "`"}


class _End(Exception):
    """A step that a document does not pass."""

    def __init__(self, step: PairStep, problem: Problem) -> None:
        super().__init__(problem.detail)
        self.step, self.problem = step, problem


@dataclass
class _Work:
    """A document under way: the row so far, and the span that is shown."""

    document: Document
    row: PairRow
    text: str = ""

    def update(self, **fields: object) -> None:
        """Write into the row."""
        self.row = self.row.model_copy(update=fields)

    def count(self, *made: Written) -> None:
        """Add what was written to the usage."""
        self.update(usage=total_usage([self.row.usage, *(each.usage for each in made)]))

    def require(self, step: PairStep, problem: Problem | None) -> None:
        """End here if there is a problem."""
        if problem is not None:
            raise _End(step, problem)


@dataclass
class PairWriting:
    """Who writes and who checks; `write` takes a document through all steps.

    A document of several writers' is written by one of them, drawn by its id.
    """

    writers: Sequence[Writer]
    settings: PairSettings
    verifier: Writer | None = None
    evaluation: EvaluationOverlap | None = None
    clock: Clock = time.monotonic

    async def write(self, document: Document) -> PairRow:
        """The row of a document.

        Raises `PolicyError` for faults that would fail every document, and `NotDone` where the
        engine failed in a way that says nothing of this one.
        """
        started = self.clock()
        seed = derive(self.settings.seed, document.id, "pair")
        writer = self.writers[derive(seed, document.id, "writer") % len(self.writers)]
        kinds = self.settings.kinds
        work = _Work(
            document,
            PairRow(
                id=document.id,
                source=document.source,
                title=document.title,
                url=document.url,
                revision=document.revision,
                kind=kinds[derive(seed, document.id, "kind") % len(kinds)],
                words=Random(derive(seed, document.id, "words")).randint(
                    *self.settings.answer_words
                ),
                writer=f"{writer.name}: {writer.policy.model}",
                seed=seed,
                prompts=pair_prompts.PAIR_PROMPTS_VERSION,
            ),
        )
        try:
            await self._steps(work, writer)
        except _End as end:
            reason, detail = end.problem
            work.update(drop=PairDrop(step=end.step, reason=reason, detail=clean_text(detail)))
        work.update(seconds=round(self.clock() - started, 3))
        return work.row

    async def _steps(self, work: _Work, writer: Writer) -> None:
        work.require("document", pair_checks.check_document(work.document.text, self.settings))
        work.require("document", self._in_evaluation(work.document.text))
        text = work.document.text
        start = len(text) - len(text.lstrip())
        shown = await _span(text[start:], self.settings.document_tokens, writer.policy)
        work.text = shown
        work.update(start=start, end=start + len(shown))
        if not any(map(str.isalnum, shown)):
            detail = f"no word within the first {self.settings.document_tokens} tokens"
            work.require("document", Problem("document_too_short", detail))
        await self._ask(work, writer)
        await self._answer(work, writer)
        await self._check(work)

    async def _ask(self, work: _Work, writer: Writer) -> None:
        """The query; a problem of the last try ends the document."""
        row, problem = work.row, None
        for attempt in range(1, self.settings.query_tries + 1):
            seed = derive(row.seed, row.id, f"query {attempt}")
            messages, constraint = pair_prompts.query(work.text, row.title, row.kind, seed)
            most = self.settings.query_tokens
            made = _within(
                most, await writer.write(messages, seed, constraint=constraint, max_tokens=most)
            )
            work.count(made)
            text = tidy_query(made.text)
            work.update(query=text, query_tries=attempt)
            problem = self._query_problem(work, made, text)
            if problem is None:
                return
        work.require("query", problem)

    def _query_problem(self, work: _Work, made: Written, text: str) -> Problem | None:
        if pair_prompts.leaks_form(text, work.text):
            return Problem("self_revealing", "the form of the prompt")
        return (
            self._failed(work, "query", made)
            or pair_checks.check_query(text, work.text, work.row.title, self.settings)
            or self._in_evaluation(text)
        )

    async def _answer(self, work: _Work, writer: Writer) -> None:
        row = work.row
        asked = (("positive", work.text), ("negative", None))
        made = await together(
            [
                writer.write(
                    pair_prompts.answer(row.query, row.words, document),
                    derive(row.seed, row.id, name),
                    constraint=pair_prompts.answer_constraint(),
                    stop=("\n\n",),
                    max_tokens=self.settings.answer_tokens,
                )
                for name, document in asked
            ]
        )
        made = tuple(_within(self.settings.answer_tokens, each) for each in made)
        work.count(*made)
        texts = [self._measured(work, each) for each in made]
        work.update(positive=texts[0], negative=texts[1])
        for (name, _), each in zip(asked, made, strict=True):
            work.require("answers", self._failed(work, name, each))
            if pair_prompts.leaks_form(each.text, work.text):
                work.require("answers", Problem("tell", f"{name}: the form of the prompt"))

    def _measured(self, work: _Work, made: Written) -> AnswerText:
        status: TextStatus = "refusal" if made.status == "refused" else made.status
        found = AnswerText(status=status, text=made.text, detail=made.error)
        if status != "ok":
            return found
        support, copied = pair_checks.measure(made.text, work.text, work.row.query)
        return found.model_copy(update={"support": support, "copied": copied})

    async def _check(self, work: _Work) -> None:
        work.require("checks", self._problem(work))
        for answer in (work.row.positive, work.row.negative):
            work.require("checks", self._in_evaluation(answer.text if answer else ""))
        if self.verifier is None:
            return
        await self._verify(work, self.verifier)
        work.require("checks", self._problem(work))

    def _problem(self, work: _Work) -> Problem | None:
        row = work.row
        assert row.positive is not None
        assert row.negative is not None
        return pair_checks.check_answers(
            row.query, row.positive, row.negative, work.text, self.settings
        )

    async def _verify(self, work: _Work, verifier: Writer) -> None:
        """What the verifier says of both answers, each by itself."""
        answers = {"positive": work.row.positive, "negative": work.row.negative}
        made = await together(
            [
                verifier.write(
                    pair_prompts.verify(answer.text if answer else "", work.text),
                    derive(work.row.seed, work.row.id, f"verify {name}"),
                    constraint=pair_prompts.verify_constraint(),
                    stop=("</answer>",),
                )
                for name, answer in answers.items()
            ]
        )
        work.count(*made)
        for (name, answer), each in zip(answers.items(), made, strict=True):
            work.require("checks", self._failed(work, f"verifying the {name}", each))
            assert answer is not None
            work.update(**{name: answer.model_copy(update={"verified": read_verified(each.raw)})})

    def _failed(self, work: _Work, what: str, made: Written) -> Problem | None:
        """What is wrong with a turn itself."""
        if made.fault is not None and made.fault not in _OF_THE_DOCUMENT:
            raise NotDone(f"{what}: {made.error}")
        if made.status == "error":
            work.update(fault=made.fault)
            return Problem("error", f"{what}: {made.error}")
        if made.status == "empty":
            return Problem("empty", what)
        if made.status == "refused":
            return Problem("refusal", f"{what}: the engine reported a refusal")
        return Problem("cut", what) if made.status == "cut" else None

    def _in_evaluation(self, text: str) -> Problem | None:
        found = self.evaluation.find(text) if self.evaluation is not None else None
        return Problem("evaluation_overlap", found) if found is not None else None


def _within(tokens: int, made: Written) -> Written:
    """The turn, cut where its engine does not keep to the limit: to read it would take long."""
    most = tokens * _MOST_CHARACTERS
    return made if len(made.text) <= most else made._replace(status="cut", text=made.text[:most])


def tidy_query(text: str) -> str:
    """The query without a label, a number or quotes around it, its line ends as spaces."""
    query = " ".join(text.split())
    query = _LABEL.sub("", query, count=1) if _LABEL.match(query) else query
    start, end = 0, len(query)
    while end - start > 1 and _QUOTES.get(query[start]) == query[end - 1]:
        start, end = start + 1, end - 1
        while start < end and query[start] == " ":
            start += 1
        while start < end and query[end - 1] == " ":
            end -= 1
    return query[start:end]


def read_verified(text: str) -> Verified:
    """The one word that a verifier says in its tags."""
    words = {" ".join(each.casefold().split()) for each in said(text)}
    word = words.pop() if len(words) == 1 else ""
    known: dict[str, Verified] = {"full": "full", "part": "part", "none": "none"}
    return known.get(word, "unparsed")


async def _span(text: str, budget: int, policy: Policy) -> str:
    """The first `budget` tokens of a text, up to the end of a sentence where there is one."""
    kept = sentences_of(text, budget * _MOST_CHARACTERS)
    while (tokens := await policy.count_tokens(inert(kept))) > budget and kept:
        kept = sentences_of(kept, min(len(kept) - 1, int(len(kept) * budget / tokens * 0.97)))
    return kept
