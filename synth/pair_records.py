"""The nouns of making pairs: settings, and the row that tells what became of one document.

Every document ends either as a row without a `Drop`, which may become a pair, or with one that
names the step, the reason and the detail. A row holds what the writer wrote and numbers about it,
none of the document's text: the set is made from rows alone, of one machine or of many.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from pydantic import Field, model_validator

from openreward.types import PolicyFault, Record, Usage

QueryKind = Literal["explain", "compare", "report", "plan"]
QUERY_KINDS: tuple[QueryKind, ...] = ("explain", "compare", "report", "plan")

PairStep = Literal["document", "query", "answers", "checks", "set"]
"""The steps of a document, in their order; `set` looks at all rows together."""

PairReason = Literal[
    "document_too_short",  # document
    "evaluation_overlap",  # document, query, checks: a run of words of an evaluation file
    "empty",  # query, answers
    "refusal",  # query, answers
    "cut",  # query, answers: longer than its tokens
    "query_too_short",  # query
    "query_too_long",
    "self_revealing",  # query: speaks of the document it was made from
    "off_document",  # query: shares no word of weight with the document
    "language",  # query, checks
    "answer_too_short",  # checks
    "length_ratio",  # checks: one answer is much longer than the other
    "tell",  # checks: words that show which answer had the document
    "copied",  # checks: an answer is nearly a piece of the document
    "same_answer",  # checks: the two answers say nearly the same
    "positive_unsupported",  # checks: by words, or by the verifier
    "negative_supported",
    "unverified",  # checks: what the verifier wrote cannot be read
    "duplicate_query",  # set
    "length_matching",  # set: dropped so that length does not tell
    "error",  # the engine failed at this document
]
TextStatus = Literal["ok", "empty", "refusal", "cut", "error"]
Verified = Literal["full", "part", "none", "unparsed"]
"""What the verifier says of an answer: the document supports all, some, nothing of it."""


class PairDrop(Record):
    """Why a document gave no pair."""

    step: PairStep
    reason: PairReason
    detail: str = ""


class Problem(NamedTuple):
    """What a check found; the step it belongs to is known where it is called."""

    reason: PairReason
    detail: str = ""


class Support(Record):
    """How far a document bears out an answer, by words alone.

    `share` is that of the answer's words of weight found in the document; `missing` are the facts
    (numbers, dates, names, denials) that it does not bear out, as they stand in the answer.
    """

    share: float = Field(ge=0, le=1)
    facts: int = Field(default=0, ge=0)  # numbers, dates, names and denials looked up
    missing: tuple[str, ...] = ()


class AnswerText(Record):
    """One of the two answers, and what was measured of it against the document."""

    status: TextStatus
    text: str = ""
    detail: str = ""
    support: Support | None = None
    copied: float | None = None  # share of its runs of eight words that the document has
    verified: Verified | None = None


class PairRow(Record):
    """All that was done for one document; `start`, `end`: the span that the writer was shown."""

    id: str  # of the document
    source: str
    title: str
    url: str | None = None
    revision: str | None = None
    start: int = 0
    end: int = 0
    kind: QueryKind
    words: int = 0  # length that was asked for
    writer: str = ""
    seed: int = 0  # of this document; every text's own is derived from it
    prompts: str = ""  # version of the prompts
    query: str = ""
    query_tries: int = 0
    positive: AnswerText | None = None  # written with the document
    negative: AnswerText | None = None  # written without it
    drop: PairDrop | None = None
    fault: PolicyFault | None = None
    usage: Usage = Usage()
    seconds: float = 0.0


class PairSettings(Record):
    """How pairs are written, checked and set up; lengths are in words unless said otherwise."""

    seed: int = 0
    kinds: tuple[QueryKind, ...] = Field(default=QUERY_KINDS, min_length=1)
    language: Literal["english", "any"] = "english"
    document_words: int = Field(default=60, ge=1)  # a document has at least so many
    document_tokens: int = Field(default=700, ge=32)  # a longer one is cut at a sentence
    query_tokens: int = Field(default=80, ge=8)
    query_tries: int = Field(default=3, ge=1)
    query_least: int = Field(default=5, ge=1)
    query_most: int = Field(default=60, ge=1)
    answer_words: tuple[int, int] = (60, 120)  # the length asked for is drawn from here
    answer_tokens: int = Field(default=300, ge=16)
    answer_least: int = Field(default=25, ge=1)
    temperature: float = Field(default=0.7, ge=0, allow_inf_nan=False)
    ratio: float = Field(default=2.0, ge=1, allow_inf_nan=False)  # of lengths, at most
    copied: float = Field(default=0.5, gt=0, le=1)  # share of runs of eight words, from which on
    same: float = Field(default=0.6, gt=0, le=1)  # share of runs of three words, from which on
    supported: float = Field(default=0.7, ge=0, le=1)  # of a positive's words, at least
    unsupported: float = Field(default=0.9, ge=0, le=1)  # of a negative's words, at most
    overlap: int = Field(default=13, ge=3)  # words in a row shared with an evaluation file
    near: float = Field(default=0.7, gt=0, le=1)  # share of word runs that makes queries one
    match_lengths: bool = True
    dev: float = Field(default=0.1, ge=0, lt=1)  # shares of documents
    test: float = Field(default=0.2, ge=0, lt=1)

    @model_validator(mode="after")
    def _bounds_fit(self) -> PairSettings:
        low, high = self.answer_words
        if not 1 <= low <= high or self.query_least > self.query_most or self.dev + self.test >= 1:
            raise ValueError(
                "expected answer_words and query_least up to query_most in order and dev + test "
                f"under 1, got {self.answer_words}, {self.query_least}, {self.query_most}, "
                f"{self.dev:g} + {self.test:g}"
            )
        return self
