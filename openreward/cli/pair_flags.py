"""The flags of `openreward synth pairs` that are settings of the pairs, and how it is split up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import typer

from openreward.cli.flags import in_panel, settings_of
from openreward.errors import UserError, shorten
from openreward.synth.on_ray import Cluster
from openreward.synth.pair_records import PairSettings

DOCUMENTS, WRITING, CHECKS, SET = "Documents", "What is written", "What stays", "The set"
_D = PairSettings()
_SHARD = re.compile(r"([1-9]\d{0,5})/([1-9]\d{0,5})")
_writing, _check, _set = in_panel(WRITING), in_panel(CHECKS), in_panel(SET)


@dataclass(frozen=True)
class PairFlags:
    """How pairs are written, checked and set up: the fields of `PairSettings`."""

    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind",
            metavar="explain|compare|report|plan",
            rich_help_panel=WRITING,
            help="A kind of query, repeatable. Default: all four.",
        ),
    ] = None
    document_words: Annotated[int, _check("Words of a document, at least.")] = _D.document_words
    document_tokens: Annotated[
        int, _writing("Tokens of a document that the writer is shown; a longer one is cut.")
    ] = _D.document_tokens
    query_tokens: Annotated[int, _writing("Tokens of a query.")] = _D.query_tokens
    query_tries: Annotated[int, _writing("Tries at a query that passes.")] = _D.query_tries
    query_least: Annotated[int, _check("Words of a query, at least.")] = _D.query_least
    query_most: Annotated[int, _check("Words of a query, at most.")] = _D.query_most
    answer_words: Annotated[
        tuple[int, int], _writing("The words asked for in both answers are drawn from here.")
    ] = _D.answer_words
    answer_tokens: Annotated[
        int, _writing("Tokens of an answer; a longer one is cut, and not used.")
    ] = _D.answer_tokens
    answer_least: Annotated[int, _check("Words of an answer, at least.")] = _D.answer_least
    temperature: Annotated[float, _writing("For writers that name none.")] = _D.temperature
    language: Annotated[
        Literal["english", "any"], _check("english: drop what is not; any: take all.")
    ] = _D.language
    ratio: Annotated[float, _check("The longer answer to the shorter, in words, at most.")] = (
        _D.ratio
    )
    copied: Annotated[
        float, _check("An answer with this share of its runs of eight words in the document drops.")
    ] = _D.copied
    same: Annotated[
        float, _check("Two answers with this share of runs of three words in common drop.")
    ] = _D.same
    supported: Annotated[
        float, _check("Share of a grounded answer's words found in the document, at least.")
    ] = _D.supported
    unsupported: Annotated[
        float, _check("The same of an ungrounded answer, at most, if no fact is missing.")
    ] = _D.unsupported
    overlap: Annotated[
        int, _check("Words in a row shared with an evaluation file, from which on it drops.")
    ] = _D.overlap
    near: Annotated[float, _set("Share of runs of three words that makes two queries one.")] = (
        _D.near
    )
    match_lengths: Annotated[
        bool, _set("Drop pairs so that length does not tell which answer is grounded.")
    ] = _D.match_lengths
    dev: Annotated[float, _set("Share of the documents kept for development.")] = _D.dev
    test: Annotated[float, _set("Share of the documents kept for testing.")] = _D.test
    seed: Annotated[int, _set("Of all that is drawn.")] = _D.seed

    def settings(self) -> PairSettings:
        """The settings; raises `UserError` where one is out of its range."""
        return settings_of(self, PairSettings, kinds=self.kinds or _D.kinds)


@dataclass(frozen=True)
class ClusterFlags:
    """Whether, and how, a Ray cluster does the rows."""

    ray: Annotated[
        str | None,
        typer.Option(
            metavar="local|auto|ADDRESS",
            rich_help_panel=DOCUMENTS,
            help="Do the rows on Ray: a cluster started here, the one of this environment, or "
            "that of an address. Files must lie where all its nodes see them.",
        ),
    ] = None
    ray_actors: Annotated[
        int,
        typer.Option(min=1, rich_help_panel=DOCUMENTS, help="Processes that write, on Ray."),
    ] = 1

    def cluster(self, at_once: int, shard: str, limit: int | None) -> Cluster | None:
        """The cluster; raises `UserError` for flags that do not go with it."""
        if self.ray is None:
            return None
        if shard != "1/1" or limit is not None:
            raise UserError("--ray takes all documents; drop --shard and --limit, or --ray")
        return Cluster(self.ray, self.ray_actors, at_once, 2 * self.ray_actors)


def read_shard(text: str) -> tuple[int, int]:
    """`K/N`: part K of N, counted from 1."""
    match = _SHARD.fullmatch(text)
    if match is None or int(match[1]) > int(match[2]):
        raise UserError(
            f"--shard: expected K/N with K from 1 to N, such as 2/4, got {shorten(text)}"
        )
    return int(match[1]), int(match[2])


def read_samples(given: Sequence[str]) -> dict[str, int]:
    """`SOURCE=N` flags as numbers by source."""
    found = dict[str, int]()
    for text in given:
        source, _, number = text.partition("=")
        if not (source and number.isascii() and number.isdecimal() and len(number) < 10):
            raise UserError(
                f"--sample: expected SOURCE=N, such as wikipedia=300, got {shorten(text)}"
            )
        if source in found:
            raise UserError(f"--sample {source}: expected each source once, got it again")
        found[source] = int(number)
    return found
