"""How completely an answer covers what the context says about the question.

What bears on the question is extracted once, from every large piece at once, and serves all
answers to it. Without a context the passages that searches for the question bring take its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from openreward.agent import together
from openreward.errors import PolicyError
from openreward.evidence import trim
from openreward.scoring.asking import Asking, Spent
from openreward.scoring.fitting import Fit
from openreward.scoring.parse import Stated
from openreward.scoring.part import Part, broken, scored, without
from openreward.scoring.pieces import Piece, large_pieces
from openreward.scoring.prompts import completeness as ask_completeness
from openreward.scoring.prompts import extraction as ask_extraction
from openreward.scoring.records import (
    Dimension,
    DimensionStatus,
    ExtractedPiece,
    Language,
)
from openreward.scoring.sources import CONTEXT, ToolSource
from openreward.types import PolicyFault

_NAME: Dimension = "completeness"


@dataclass(frozen=True)
class Extraction:
    """What bears on a question; `pieces` are there when the status is ok."""

    status: DimensionStatus
    pieces: tuple[ExtractedPiece, ...] = ()
    reason: str = ""
    fault: PolicyFault | None = None
    spent: Spent = field(default_factory=Spent)


async def extract(
    asking: Asking, language: Language, query: str, context: str, tokens: int, id: str
) -> Extraction:
    """What a context says about a query, piece by piece, each of at most so many tokens."""
    try:
        pieces = await large_pieces(context, tokens, asking.policy)
    except PolicyError as error:
        return Extraction("error", reason=str(error), fault=error.fault)
    return await _extracted(asking, language, query, pieces, id, CONTEXT)


async def extract_found(
    asking: Asking, language: Language, query: str, source: ToolSource, id: str
) -> Extraction:
    """The same of the passages that searches for the query bring, read all at once."""
    spent, started = Spent(), asking.clock()
    try:
        (found,) = await source.find([Stated(query, query)], f"{id}/question")
    except PolicyError as error:  # a server counts the tokens of what is shown
        return Extraction("error", reason=str(error), fault=error.fault, spent=spent)
    spent.tool_seconds = asking.clock() - started
    if found.status != "ok":
        status: DimensionStatus = "unserved" if found.status == "unserved" else "no_evidence"
        return Extraction(status, reason=found.reason, spent=spent)
    text = "\n\n".join(found.shown)
    origins = "; ".join(
        dict.fromkeys(f"{e.passage.source} {e.passage.document_id}" for e in found.evidence)
    )
    made = await _extracted(asking, language, query, [Piece(0, len(text), text)], id, origins)
    made.spent.add(spent)
    return made


async def _extracted(
    asking: Asking, language: Language, query: str, pieces: Sequence[Piece], id: str, origin: str
) -> Extraction:
    tokens, spent = asking.settings.turn_tokens, Spent()
    replies = await together(
        [
            asking.ask(ask_extraction(language, query, piece.text, tokens), f"{id}/{n}", spent)
            for n, piece in enumerate(pieces, 1)
        ]
    )
    for number, reply in enumerate(replies, 1):
        if reply.status != "ok":
            why = f"the extraction from piece {number} of {len(pieces)}: {reply.reason}"
            return Extraction(reply.status, reason=why, fault=reply.fault, spent=spent)
    extracted = tuple(
        ExtractedPiece(
            start=piece.start,
            end=piece.end,
            points=reply.value or "",
            cut=reply.cut,
            source=origin,
        )
        for piece, reply in zip(pieces, replies, strict=True)
    )
    return Extraction("ok", extracted, spent=spent)


async def completeness(
    asking: Asking,
    language: Language,
    shown: Fit,
    extraction: Extraction,
    id: str,
    spent: Spent,
) -> Part:
    """The score of an answer by the points, which are cut to what fits."""
    if extraction.status != "ok":
        return Part(without(_NAME, extraction.status, extraction.reason, extraction.fault))
    tokens = shown.points_tokens
    try:
        points, cut = await _fitting(extraction.pieces, tokens, asking)
    except PolicyError as error:
        return Part(broken(_NAME, error), extracted=extraction.pieces)
    turn = asking.settings.turn_tokens
    request = ask_completeness(language, shown.query, points, shown.answer, turn)
    reply = await asking.ask(request, id, spent)
    notes = (f"the points of {cut} pieces were cut to {tokens} tokens in all",) if cut else ()
    return Part(scored(_NAME, reply), extracted=extraction.pieces, notes=notes)


async def _fitting(
    pieces: Sequence[ExtractedPiece], tokens: int, asking: Asking
) -> tuple[list[str], int]:
    """The points of each piece that has some, each within its share, and how many were cut."""
    left = [piece.points for piece in pieces if piece.points]
    if not left:
        return [], 0
    whole = await trim("\n".join(left), tokens, asking.policy)
    if not whole[2]:
        return left, 0
    shares = await together([trim(each, tokens // len(left), asking.policy) for each in left])
    return [text for text, _, _ in shares], sum(cut for _, _, cut in shares)
