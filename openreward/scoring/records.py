"""What scoring is told and what it says: settings, a score with its dimensions, statements, pieces.

Spans are character offsets `[start, end)` into the context as it was given. Scores are from 0 to
10. A dimension without a score has a status that says why; then there is no reward either.
"""

from __future__ import annotations

from typing import Literal, get_args

from pydantic import Field, model_validator

from openreward.types import Evidence, PolicyFault, Record, Times, Usage

Dimension = Literal["helpfulness", "logicality", "faithfulness", "completeness"]
DIMENSIONS: tuple[Dimension, ...] = get_args(Dimension)

DimensionStatus = Literal[
    "ok",
    "no_statements",  # the answer states no fact, so none can be faithful
    "empty_context",  # a context was given, and nothing stands in it
    "no_context",  # none was given, and there are no tools to search with
    "no_evidence",  # none was given, and the searches brought nothing
    "unserved",  # every search for something failed by its service
    "unparsed",  # no reply could be read, all tries included
    "refused",  # the engine reported a refusal
    "error",  # the engine failed; `fault` says how
]
Support = Literal["full", "partial", "none"]
CREDIT: dict[Support, float] = {"full": 1.0, "partial": 0.5, "none": 0.0}

StatementStatus = Literal["ok", "unserved", "unparsed", "refused", "error"]
ScoreStatus = Literal["ok", "incomplete", "error"]
Language = Literal["en", "zh"]


class Weights(Record):
    """What each asked dimension counts in the reward; equal ones are the plain mean."""

    helpfulness: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    logicality: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    faithfulness: float = Field(default=1.0, ge=0, allow_inf_nan=False)
    completeness: float = Field(default=1.0, ge=0, allow_inf_nan=False)

    def of(self, dimension: Dimension) -> float:
        """The weight of one dimension."""
        weight: float = getattr(self, dimension)
        return weight


class ScoreSettings(Record):
    """How an answer is scored. Tokens are the engine's own, those of retrieved pieces an estimate.

    Pieces, passages and tries are the paper's; its first temperature is 0.01, ours 0.
    """

    dimensions: tuple[Dimension, ...] = DIMENSIONS
    weights: Weights = Weights()
    language: Literal["auto", "en", "zh"] = "auto"
    seed: int = Field(default=0, ge=0)
    tries: int = Field(default=5, ge=1)  # of one request, until its reply can be read
    temperature: float = Field(default=0.0, ge=0, allow_inf_nan=False)  # of the first try
    retry_temperature: float = Field(default=0.95, ge=0, allow_inf_nan=False)
    grammar: bool = True  # holds replies to their form, where the engine can
    in_flight: int = Field(default=16, ge=1)  # requests at once, over all answers
    turn_tokens: int = Field(default=512, ge=32)  # of a reply
    statement_tokens: int = Field(default=1024, ge=64)  # of the list of statements
    query_tokens: int = Field(default=1024, ge=16)  # a longer one is cut, and that is noted
    answer_tokens: int = Field(default=3072, ge=16)
    points_tokens: int = Field(default=4096, ge=64)  # all that was extracted, as it is shown
    piece_tokens: int = Field(default=128, ge=16)  # of what is retrieved
    passages: int = Field(default=5, ge=1)  # shown to check one statement
    extract_tokens: int = Field(default=4096, ge=128)  # of what is extracted from at once
    statements: int = Field(default=64, ge=1)  # of more, the first are checked, and that is noted
    search_seconds: float = Field(default=20.0, gt=0)  # of one search, where there is no context

    @model_validator(mode="after")
    def _asks_something(self) -> ScoreSettings:
        if not self.dimensions or len(set(self.dimensions)) != len(self.dimensions):
            raise ValueError(
                f"dimensions: expected some of {', '.join(DIMENSIONS)}, each once, got "
                f"{', '.join(self.dimensions) or 'none'}"
            )
        if not sum(self.weights.of(each) for each in self.dimensions):
            raise ValueError("weights: expected one above 0 among the dimensions that are asked")
        return self


class DimensionScore(Record):
    """One dimension's outcome; `text` is what the model wrote beside the score."""

    name: Dimension
    status: DimensionStatus
    score: float | None = None
    reason: str = ""  # why there is no score
    text: str = ""
    tries: int = 0  # of its last request; 0: nothing was asked
    forced: bool = False  # the engine held the reply to its form
    fault: PolicyFault | None = None

    @model_validator(mode="after")
    def _score_means_ok(self) -> DimensionScore:
        if (self.status == "ok") != (self.score is not None):
            raise ValueError(f"status {self.status!r} with score {self.score!r}")
        return self


class CheckedStatement(Record):
    """A fact that the answer states, and how far the pieces beside it bear it out.

    Evidence stands in the order of the context; the span of a piece is that of its passage.
    """

    text: str
    status: StatementStatus
    support: Support | None = None
    reason: str = ""
    verdict: str = ""  # what the model wrote
    evidence: tuple[Evidence, ...] = ()
    matched: int = 0  # pieces that have a word of it (BM25); with embeddings, all of them
    tries: int = 0
    forced: bool = False
    fault: PolicyFault | None = None


class ExtractedPiece(Record):
    """What one piece of the context says about the question; empty where it says nothing."""

    start: int
    end: int
    points: str
    cut: bool = False  # at the token limit of the reply
    source: str = "context"


class Score(Record):
    """An answer's outcome: the reward only where every asked dimension has a score.

    `calls` are requests to the engine, tries included. Extraction belongs to the first answer of a
    context; in the others it is `shared` and its calls and tokens are not counted again.
    """

    id: str
    status: ScoreStatus
    reward: float | None = None
    reason: str = ""
    language: Language
    dimensions: tuple[DimensionScore, ...]
    statements: tuple[CheckedStatement, ...] = ()
    extracted: tuple[ExtractedPiece, ...] = ()
    shared: bool = False
    notes: tuple[str, ...] = ()  # what was cut, left out or repeated
    calls: int = 0
    fault: PolicyFault | None = None
    usage: Usage = Usage()
    times: Times = Times()

    def of(self, name: Dimension) -> DimensionScore | None:
        """The outcome of a dimension; None where it was not asked."""
        return next((each for each in self.dimensions if each.name == name), None)


def reward_of(
    dimensions: tuple[DimensionScore, ...], weights: Weights, asked: tuple[Dimension, ...]
) -> float | None:
    """The weighted mean of the asked dimensions; None where one of them has no score."""
    scores = {each.name: each.score for each in dimensions}
    total = 0.0
    for name in asked:
        score = scores.get(name)
        if score is None:
            return None
        total += weights.of(name) * score
    return total / sum(weights.of(name) for name in asked)
