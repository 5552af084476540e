"""Build a set like RMB (arXiv 2410.09893) from prompts: sort, sift, answer, score, pair.

A prompt goes through all its steps at once and ends as one row; the first step that fails ends it
with a reason. Simplified against the paper: duplicates are found by words, not by meaning; one
judge writes features and scores; the weak model's answer is scored without features.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from openreward.agent import Clock, together
from openreward.errors import PolicyError
from openreward.evidence import trim
from openreward.judge import derive
from openreward.loose_json import clean_text
from openreward.policy.base import Constraint
from openreward.synth import scenario_parse, scenario_prompts
from openreward.synth.scenario_items import pairs_of
from openreward.synth.scenario_labels import Label
from openreward.synth.scenario_records import (
    Answer,
    AnswerStatus,
    Drop,
    Prompt,
    Reason,
    ScenarioRow,
    ScenarioSettings,
    Score,
    Step,
    scored,
)
from openreward.synth.scenario_sift import text_of
from openreward.synth.writer import STOPPING, Writer, Written
from openreward.types import Message, PolicyFault, total_usage

_STOP = ("</answer>",)
_RETRY_TEMPERATURE = 0.7  # a second try at temperature 0 would bring the same words


class _End(Exception):
    """A step that a prompt does not pass."""

    def __init__(self, reason: Reason, detail: str, fault: PolicyFault | None = None) -> None:
        super().__init__(detail)
        self.reason: Reason = reason
        self.detail, self.fault = detail, fault


@dataclass
class _Work:
    """A prompt under way: the row so far, the step it is at, the prompt as the judge sees it."""

    row: ScenarioRow
    step: Step = "classes"
    shown: str = ""

    def update(self, **fields: object) -> None:
        """Write into the row."""
        self.row = self.row.model_copy(update=fields)

    def take(self, made: Sequence[Written]) -> list[Written]:
        """Count what was written."""
        usage = total_usage([self.row.usage, *(each.usage for each in made)])
        self.update(usage=usage)
        return list(made)

    def drop(self, reason: Reason, detail: str, fault: PolicyFault | None = None) -> None:
        """End the row at the step it is at."""
        drop = Drop(step=self.step, reason=reason, detail=clean_text(detail))
        self.update(drop=drop, fault=fault or self.row.fault)


@dataclass
class Construction:
    """Who judges and who writes; `build` takes a prompt through all steps."""

    judge: Writer
    weak: Writer
    writers: Sequence[Writer]
    labels: Sequence[Label]
    settings: ScenarioSettings
    clock: Clock = time.monotonic

    async def build(self, prompt: Prompt) -> ScenarioRow:
        """The row of a prompt. Raises `PolicyError` for faults that would fail every prompt."""
        started = self.clock()
        work = _Work(
            ScenarioRow(
                id=prompt.id,
                conversation=prompt.conversation,
                english=prompt.english,
                drop=prompt.drop,
            )
        )
        if prompt.drop is None:
            try:
                await self._steps(work)
            except _End as end:
                work.drop(end.reason, end.detail, end.fault)
            except PolicyError as error:
                if error.fault in STOPPING:
                    raise
                work.drop("error", str(error), error.fault)
        work.update(seconds=self.clock() - started)
        return work.row

    async def _steps(self, work: _Work) -> None:
        text = text_of(work.row.conversation)
        work.shown = (await trim(text, self.settings.prompt_tokens, self.judge.policy))[0]
        await self._classify(work)
        work.step = "difficulty"
        await self._weigh(work)
        work.step = "answers"
        await self._answer(work)
        work.step = "features"
        await self._name_features(work)
        work.step = "scores"
        await self._score(work)
        work.step = "pairs"
        _check_pairs(work.row, self.settings)

    async def _classify(self, work: _Work) -> None:
        """Three ballots that must name one label."""
        asked = []
        for number in range(scenario_prompts.BALLOTS):
            seed = self._seed(work, f"ballot {number}")
            messages = scenario_prompts.ballot(work.shown, self.labels, number, seed)
            asked.append(self._ask(messages, seed, scenario_prompts.label_constraint(self.labels)))
        made = work.take(await together(asked))
        ballots = tuple(scenario_parse.read_label(each.raw, self.labels) for each in made)
        work.update(ballots=ballots)
        listed = ", ".join(label or "unparsed" for label in ballots)
        if None in ballots:
            raise _End("unparsed", listed)
        if len(set(ballots)) > 1:
            raise _End("disagree", listed)
        work.update(label=ballots[0])

    async def _weigh(self, work: _Work) -> None:
        """Drop what a weak model does well. What it cannot answer at all is not easy."""
        answer = (await self._write(work, [self.weak]))[0]
        if answer.status in ("ok", "cut"):
            score = await self._rate(work, answer, (), "weak")
            answer = answer.model_copy(update={"score": score})
        work.update(weak=answer)
        if answer.score is None:
            return
        if answer.score.value is None:
            reason: Reason = "error" if answer.score.status == "error" else "unparsed"
            raise _End(reason, "the score of the weak model's answer")
        if answer.score.value >= self.settings.easy:
            got = f"{answer.llm_name} scores {answer.score.value:g}"
            raise _End("easy", f"{got}, from {self.settings.easy:g} on it is easy")

    async def _answer(self, work: _Work) -> None:
        answers = _without_duplicates(await self._write(work, self.writers))
        work.update(answers=answers)
        if sum(answer.status == "ok" for answer in answers) < 2:
            listed = ", ".join(f"{each.llm_name}: {each.status}" for each in answers)
            raise _End("too_few_answers", listed)

    async def _write(self, work: _Work, writers: Sequence[Writer]) -> list[Answer]:
        messages = scenario_prompts.request(work.row.conversation, self.settings.instruction)
        seed = self._seed(work, "answer")
        made = work.take(await together([writer.write(messages, seed) for writer in writers]))
        faults = [each.fault for each in made if each.fault is not None]
        work.update(fault=work.row.fault or next(iter(faults), None))
        return [_as_answer(writer.name, each) for writer, each in zip(writers, made, strict=True)]

    async def _name_features(self, work: _Work) -> None:
        """Five features; a second try where the first cannot be read."""
        messages = scenario_prompts.features(work.shown)
        constraint = scenario_prompts.features_constraint()
        for attempt in (1, 2):
            seed = self._seed(work, f"features {attempt}")
            warmer = max(_RETRY_TEMPERATURE, self.judge.temperature) if attempt > 1 else None
            made = work.take([await self._ask(messages, seed, constraint, warmer)])
            found = scenario_parse.read_features(made[0].raw)
            work.update(features=found or (), feature_tries=attempt)
            if found:
                return
        raise _End("unparsed", "two tries brought no five numbered features")

    async def _score(self, work: _Work) -> None:
        usable = [answer for answer in work.row.answers if answer.status == "ok"]
        features = work.row.features
        asked = [self._rate(work, answer, features, answer.llm_name) for answer in usable]
        found = iter(await together(asked))
        answers = [
            answer.model_copy(update={"score": next(found)}) if answer.status == "ok" else answer
            for answer in work.row.answers
        ]
        work.update(answers=tuple(answers))
        if len(scored(work.row)) < 2:
            listed = (f"{a.llm_name}: {a.score.status if a.score else a.status}" for a in answers)
            raise _End("too_few_scores", ", ".join(listed))

    async def _rate(self, work: _Work, answer: Answer, features: Sequence[str], name: str) -> Score:
        text = (await trim(answer.text, self.settings.answer_tokens, self.judge.policy))[0]
        messages = scenario_prompts.score(work.shown, text, features)
        seed, constraint = self._seed(work, f"score {name}"), scenario_prompts.score_constraint()
        try:
            made = work.take([await self._ask(messages, seed, constraint)])[0]
        except PolicyError as error:
            if error.fault in STOPPING:
                raise
            work.update(fault=error.fault)
            return Score(status="error")
        value = scenario_parse.read_score(made.raw)
        return Score(status="unparsed" if value is None else "ok", value=value)

    async def _ask(
        self,
        messages: Sequence[Message],
        seed: int,
        constraint: Constraint,
        temperature: float | None = None,
    ) -> Written:
        """A turn of the judge. Its failure is an error here, which ends the step."""
        made = await self.judge.write(
            messages, seed, constraint=constraint, stop=_STOP, temperature=temperature
        )
        if made.fault is not None:
            raise PolicyError(made.fault, made.error)
        return made

    def _seed(self, work: _Work, what: str) -> int:
        return derive(self.settings.seed, work.row.id, what)


def _check_pairs(row: ScenarioRow, settings: ScenarioSettings) -> None:
    if pairs_of(row, settings):
        return
    values = sorted({each.value for each in scored(row)})
    reason: Reason = "equal_scores" if len(values) == 1 else "too_far_apart"
    raise _End(reason, "scores " + ", ".join(f"{value:g}" for value in values))


def _as_answer(name: str, written: Written) -> Answer:
    """What a writer wrote, as an answer or as the reason why it is none."""
    status: AnswerStatus = "error"
    detail = written.error
    if written.status in ("ok", "empty", "cut"):
        status = written.status
    elif written.status == "refused":
        status, detail = "refusal", "the engine reported a refusal"
    if status == "ok" and scenario_parse.is_refusal(written.text):
        status, detail = "refusal", "its first words refuse"
    return Answer(llm_name=name, status=status, text=written.text, detail=detail)


def _without_duplicates(answers: Sequence[Answer]) -> tuple[Answer, ...]:
    """The answers, the second of two equal ones marked."""
    kept, first = list[Answer](), dict[str, str]()
    for answer in answers:
        of = first.setdefault(answer.text, answer.llm_name) if answer.status == "ok" else None
        again = of is not None and of != answer.llm_name
        update = {"status": "duplicate", "detail": f"of {of}"}
        kept.append(answer.model_copy(update=update) if again else answer)
    return tuple(kept)
