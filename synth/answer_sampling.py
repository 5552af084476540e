"""Several answers to each prompt, sampled from one or more writers: what preferences are made of.

A row's `context` is a document that the question is about: writers read it before the question, and
it stays beside the answers, so that they can be scored by it.

A row holds every answer with what became of it; only those that are `ok` are worth a score. Scores
are a judge's: rows of `{"id", "scores"}` (`openreward.synth.scored`), in the order of the answers.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from openreward.agent import Clock, together
from openreward.batch import Measure, NotDone
from openreward.inputs import content_id
from openreward.judge import derive
from openreward.records import Row, RowError
from openreward.synth.scenario_parse import is_refusal
from openreward.synth.scenario_prompts import request
from openreward.synth.scenario_records import Said
from openreward.synth.scenario_sift import PromptRow
from openreward.synth.writer import Writer, Written
from openreward.types import PolicyFault, Record, Usage, total_usage

SampledStatus = Literal["ok", "empty", "refusal", "cut", "error"]
"""`cut` at the token limit; `error`: the engine cannot take this prompt."""

_OF_THE_PROMPT: tuple[PolicyFault, ...] = ("context_overflow", "bad_request")


class AskedPrompt(Record):
    """A prompt with its id."""

    id: str = Field(min_length=1)
    prompt: tuple[Said, ...]  # as the writers get it
    query: str | None = None  # without the context, where there is one
    context: str | None = None


class SampledAnswer(Record):
    """One answer, whose it is, and the seed it was sampled with."""

    writer: str
    status: SampledStatus
    text: str
    detail: str = ""
    seed: int


class AnswerRow(Record):
    """All answers to one prompt: the writers' in turn, each writer's samples together."""

    id: str
    prompt: tuple[Said, ...]
    query: str | None = None
    context: str | None = None
    answers: tuple[SampledAnswer, ...]
    usage: Usage = Usage()
    seconds: float = 0.0


class SamplingSettings(Record):
    """How many answers, and how they are sampled."""

    seed: int = Field(default=0, ge=0)
    number: int = Field(default=10, ge=1, le=1000)  # of each writer
    temperature: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    tokens: int = Field(default=1024, ge=1)  # a longer answer is cut
    instruction: str | None = None  # what writers are told before the prompt


@dataclass(frozen=True)
class AnswerSampling:
    """Who writes; `sample` asks for all answers to a prompt at once."""

    writers: Sequence[Writer]
    settings: SamplingSettings
    clock: Clock = time.monotonic

    async def sample(self, asked: AskedPrompt) -> AnswerRow:
        """The row of a prompt.

        Raises `PolicyError` for faults that would fail every prompt, and `NotDone` where the engine
        failed in a way that says nothing of this one.
        """
        started = self.clock()
        messages = request(asked.prompt, self.settings.instruction)
        wanted = [
            (writer, derive(self.settings.seed, asked.id, f"answer {writer.name} {number}"))
            for writer in self.writers
            for number in range(self.settings.number)
        ]
        made = await together([writer.write(messages, seed) for writer, seed in wanted])
        for each in made:
            if each.fault is not None and each.fault not in _OF_THE_PROMPT:
                raise NotDone(each.error)
        answers = tuple(
            _as_answer(writer, seed, written)
            for (writer, seed), written in zip(wanted, made, strict=True)
        )
        return AnswerRow(
            id=asked.id,
            prompt=asked.prompt,
            query=asked.query,
            context=asked.context,
            answers=answers,
            usage=total_usage([each.usage for each in made]),
            seconds=round(self.clock() - started, 3),
        )


def asked_prompts(
    rows: Iterator[Row[PromptRow] | RowError],
) -> Iterator[Row[AskedPrompt] | RowError]:
    """Rows as prompts with ids; one without an id has a hash of its text."""
    for row in rows:
        if isinstance(row, RowError):
            yield row
            continue
        said, query, context = row.record.conversation, None, row.record.context
        if context and context.strip():
            query = row.record.question or row.record.text()
            if context not in said[-1].content:  # a prompt may hold its document already
                said = _behind(context, said)
        id = row.record.id or content_id([each.model_dump() for each in said], None)
        yield Row(
            row.line,
            AskedPrompt(id=id, prompt=said, query=query, context=context if query else None),
            row.place,
        )


def _behind(context: str, said: tuple[Said, ...]) -> tuple[Said, ...]:
    """The conversation with the document before its last question."""
    *before, last = said
    return (*before, last.model_copy(update={"content": f"{context}\n\n{last.content}"}))


def measured(row: AnswerRow) -> Measure:
    """What a row adds to the totals: its answers by status, and answers that came before."""
    usable = [answer.text for answer in row.answers if answer.status == "ok"]
    marks = [answer.status for answer in row.answers]
    repeated = ["repeated"] * (len(usable) - len(set(usable)))
    status = "answered" if usable else "no_answer"
    return Measure(row.id, status, row.usage, row.seconds, (*marks, *repeated))


def _as_answer(writer: Writer, seed: int, written: Written) -> SampledAnswer:
    status: SampledStatus = "refusal" if written.status == "refused" else written.status
    detail = "the engine reported a refusal" if status == "refusal" else written.error
    if status == "ok" and is_refusal(written.text):
        status, detail = "refusal", "its first words refuse"
    return SampledAnswer(
        writer=writer.name,
        status=status,
        text=written.text,
        detail=detail,
        seed=(writer.seed + seed) % 2**31,
    )
