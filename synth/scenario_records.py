"""The nouns of building a scenario set: settings, a prompt, and the row that tells all its steps.

Every prompt ends either in pairs or in one `Drop`, which names the step, the reason and the detail.
A row carries all that was asked and answered on the way, so the set is made from rows alone.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field, model_validator

from openreward.types import PolicyFault, Record, Usage

Step = Literal[
    "length", "language", "duplicates", "classes", "difficulty", "answers", "features", "scores",
    "pairs",
]  # fmt: skip
"""The steps of a prompt, in their order."""

Reason = Literal[
    "too_short",  # length
    "too_long",
    "not_english",  # language
    "same_text",  # duplicates: but for case and spaces
    "near_duplicate",
    "disagree",  # classes: three ballots, more than one label
    "unparsed",  # classes, difficulty, features: what the judge wrote cannot be read
    "easy",  # difficulty: the weak model's answer scores high already
    "too_few_answers",  # answers: under two that can be used
    "too_few_scores",  # scores: under two that could be read
    "equal_scores",  # pairs: no difference at all
    "too_far_apart",  # pairs: every difference is too large
    "error",  # the engine failed at this prompt
]
AnswerStatus = Literal["ok", "empty", "refusal", "cut", "duplicate", "error"]
"""`cut` at the token limit, `duplicate` of another's to the same prompt; only `ok` is scored."""

ScoreStatus = Literal["ok", "unparsed", "error"]
Role = Literal["system", "user", "assistant"]


class Said(Record):
    """One message of a prompt."""

    role: Role
    content: str


class Drop(Record):
    """Why a prompt is not in the set."""

    step: Step
    reason: Reason
    detail: str = ""


class Prompt(Record):
    """A prompt with its id, and whether it was dropped before any model was asked."""

    id: str = Field(min_length=1)
    conversation: tuple[Said, ...] = Field(min_length=1)
    english: bool = True
    drop: Drop | None = None


class Score(Record):
    """A score from 1 to 5, or why there is none: nothing stands in for a score."""

    status: ScoreStatus
    value: float | None = Field(default=None, ge=1, le=5)

    @model_validator(mode="after")
    def _value_means_ok(self) -> Score:
        if (self.status == "ok") != (self.value is not None):
            raise ValueError(f"status {self.status!r} with value {self.value!r}")
        return self


class Answer(Record):
    """A writer's answer; `detail` says more of its status."""

    llm_name: str
    status: AnswerStatus
    text: str
    detail: str = ""
    score: Score | None = None


class ScenarioRow(Record):
    """All that was done for one prompt. `ballots` are labels, None where none could be read."""

    id: str
    conversation: tuple[Said, ...]
    english: bool
    drop: Drop | None = None
    fault: PolicyFault | None = None
    ballots: tuple[str | None, ...] = ()
    label: str | None = None
    weak: Answer | None = None  # of the weak model, whose score is the difficulty
    features: tuple[str, ...] = ()
    feature_tries: int = 0
    answers: tuple[Answer, ...] = ()
    usage: Usage = Usage()
    seconds: float = 0.0


class ScenarioSettings(Record):
    """How prompts are sifted, answered and scored. Lengths are characters, limits tokens."""

    seed: int = 0
    language: Literal["english", "any"] = "english"
    latin: float = Field(default=0.8, ge=0, le=1)  # share of letters in Latin script
    small_words: float = Field(default=0.08, ge=0, le=1)  # share of English function words
    shortest: int = Field(default=10, ge=1)
    longest: int = Field(default=4000, ge=1)
    near: float = Field(default=0.7, gt=0, le=1)  # share of word runs that makes a near duplicate
    easy: float = Field(default=4.5, ge=1, allow_inf_nan=False)  # over 5: nothing is easy
    apart: float = Field(default=2.5, gt=0, allow_inf_nan=False)  # pairs differ by less
    fewest_losers: int = Field(default=2, ge=1)
    most_losers: int = Field(default=6, ge=1)
    judge_temperature: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    judge_tokens: int = Field(default=400, ge=16)  # a turn of the judge
    prompt_tokens: int = Field(default=800, ge=16)  # of a prompt, as the judge is shown it
    answer_tokens: int = Field(default=700, ge=16)  # of an answer, as the judge is shown it
    writer_tokens: int = Field(default=512, ge=1)  # an answer that is longer is cut, and dropped
    instruction: str | None = None  # what writers are told before the prompt

    @model_validator(mode="after")
    def _bounds_fit(self) -> ScenarioSettings:
        if self.shortest > self.longest or self.fewest_losers > self.most_losers:
            raise ValueError(
                "expected shortest up to longest and fewest_losers up to most_losers, got "
                f"{self.shortest}, {self.longest}, {self.fewest_losers}, {self.most_losers}"
            )
        return self


class Scored(NamedTuple):
    """An answer of a row that has a score, with its number in the row."""

    number: int
    answer: Answer
    value: float


def scored(row: ScenarioRow) -> list[Scored]:
    """The answers of a row that have a score."""
    return [
        Scored(number, answer, answer.score.value)
        for number, answer in enumerate(row.answers)
        if answer.score is not None and answer.score.value is not None
    ]
