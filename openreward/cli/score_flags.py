"""Flags of scoring: dimensions, weights, how evidence is found, and how much is shown."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from openreward.cli.engine import read_key
from openreward.cli.flags import checked, in_panel
from openreward.errors import UserError, shorten
from openreward.scoring.records import DIMENSIONS, Dimension, ScoreSettings
from openreward.scoring.retrieval import Bm25Retriever, EmbeddingRetriever, Retriever

SCORE, FINDING = "Scores", "Evidence in the context"
_D = ScoreSettings()
_score, _finding = in_panel(SCORE), in_panel(FINDING)

Drop = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIMENSION",
        rich_help_panel=SCORE,
        help=f"Leave a dimension out; repeatable: {', '.join(DIMENSIONS)}.",
    ),
]


@dataclass(frozen=True)
class ScoreFlags:
    """What an answer is scored by."""

    drop: Drop = None
    weight: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIMENSION=W",
            rich_help_panel=SCORE,
            help="What a dimension counts; repeatable. Default: 1 each, the plain mean.",
        ),
    ] = None
    language: Annotated[
        Literal["auto", "en", "zh"], _score("Of the prompts; auto: that of the question.")
    ] = _D.language
    tries: Annotated[int, _score("Tries of a request whose reply cannot be read.")] = _D.tries
    reply_tokens: Annotated[int, _score("Tokens of a reply.")] = _D.turn_tokens
    statement_tokens: Annotated[int, _score("Tokens of the list of statements.")] = (
        _D.statement_tokens
    )
    most_query: Annotated[int, _score("Tokens of a question; a longer one is cut.")] = (
        _D.query_tokens
    )
    most_answer: Annotated[int, _score("Tokens of an answer; a longer one is cut.")] = (
        _D.answer_tokens
    )
    points_tokens: Annotated[int, _score("Tokens of all extracted points.")] = _D.points_tokens
    pieces: Annotated[int, _finding("Pieces shown to check one statement.")] = _D.passages
    piece_tokens: Annotated[int, _finding("Tokens of such a piece, about.")] = _D.piece_tokens
    extract_tokens: Annotated[int, _finding("Tokens of a piece that is extracted from.")] = (
        _D.extract_tokens
    )
    embed: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            rich_help_panel=FINDING,
            help="Find pieces by embeddings instead of words: a sentence-transformer's folder, "
            "or with --embed-endpoint a model's name.",
        ),
    ] = None
    embed_endpoint: Annotated[
        str | None,
        typer.Option(
            metavar="URL", rich_help_panel=FINDING, help="An OpenAI-compatible embedding server."
        ),
    ] = None
    embed_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="VAR", rich_help_panel=FINDING, help="The variable with that server's key."
        ),
    ] = None

    def settings(self, in_flight: int, seed: int) -> ScoreSettings:
        """The settings; raises `UserError` where one is out of its range."""
        return checked(
            ScoreSettings,
            dimensions=kept_dimensions(self.drop),
            weights=read_weights(self.weight),
            language=self.language,
            seed=seed,
            tries=self.tries,
            in_flight=in_flight,
            turn_tokens=self.reply_tokens,
            statement_tokens=self.statement_tokens,
            query_tokens=self.most_query,
            answer_tokens=self.most_answer,
            points_tokens=self.points_tokens,
            piece_tokens=self.piece_tokens,
            passages=self.pieces,
            extract_tokens=self.extract_tokens,
        )

    @asynccontextmanager
    async def retriever(self) -> AsyncIterator[Retriever]:
        """How pieces are found, closed with the block."""
        if self.embed is None:
            if self.embed_endpoint or self.embed_key_env:
                raise UserError("--embed-endpoint: expected --embed MODEL beside it, got none")
            yield Bm25Retriever()
        elif self.embed_endpoint is None:
            from openreward.tools.embed import LocalEmbedder

            yield EmbeddingRetriever(LocalEmbedder(self.embed))
        else:
            from openreward.policy.embeddings import connect_embedder

            key = read_key(self.embed_key_env)
            async with connect_embedder(self.embed_endpoint, self.embed, api_key=key) as embedder:
                yield EmbeddingRetriever(embedder)


def kept_dimensions(drop: Sequence[str] | None) -> tuple[Dimension, ...]:
    """The dimensions that are asked."""
    _known("--drop", drop or ())
    kept = tuple(name for name in DIMENSIONS if name not in (drop or ()))
    if not kept:
        raise UserError("--drop: expected a dimension that is left, got all of them dropped")
    return kept


def read_weights(given: Sequence[str] | None) -> dict[str, float]:
    """The weights that are not 1."""
    pairs = [text.partition("=") for text in given or ()]
    _known("--weight", [name for name, _, _ in pairs])
    found = {name: _number(name, text) for name, _, text in pairs}
    if len(found) < len(pairs):
        raise UserError("--weight: expected a dimension once, got one again")
    return found


def _number(name: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise UserError(f"--weight {name}: expected a number from 0 on, got {shorten(text)}")
    return value


def _known(flag: str, names: Sequence[str]) -> None:
    unknown = [name for name in names if name not in DIMENSIONS]
    if unknown:
        raise UserError(
            f"{flag}: expected one of {', '.join(DIMENSIONS)}, got {shorten(unknown[0])}"
        )
