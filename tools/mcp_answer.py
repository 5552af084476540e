"""What a tool of an MCP server answered, as passages; what cannot be shown is named, not lost."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from openreward.errors import ToolError, shorten
from openreward.loose_json import clean_text
from openreward.tools.base import Found
from openreward.types import Passage

if TYPE_CHECKING:
    from mcp.types import CallToolResult

MOST_PASSAGES = 8
_MOST_OF_A_NAME = 500  # characters of an id or a title
_MOST_OF_AN_ERROR = 300


class Origin(NamedTuple):
    """Whose answer it is, and how many characters of it are kept."""

    server: str
    tool: str
    most: int


class _Piece(NamedTuple):
    text: str
    uri: str | None = None  # of a resource; other texts are the tool's own
    title: str | None = None


def found(result: CallToolResult, origin: Origin) -> Found:
    """The passages of an answer. Raises `ToolError`: what the tool says went wrong, too."""
    pieces, left_out = _pieces(result)
    if result.is_error:
        said = " ".join(" ".join(piece.text[:5000] for piece in pieces[:MOST_PASSAGES]).split())
        told = shorten(clean_text(said or "the tool reports an error"), _MOST_OF_AN_ERROR)
        raise ToolError("bad_query", told)
    if not pieces:
        why = f"only {', '.join(left_out)}, which cannot be shown" if left_out else "nothing"
        raise ToolError("no_result", f"{origin.tool} answered {why}; ask for something else")
    shown = pieces[:MOST_PASSAGES]
    if len(pieces) > len(shown):
        left_out.append(f"{len(pieces) - len(shown)} more texts")
    room = origin.most // len(shown)
    marks = [""] * (len(shown) - 1) + [_mark(left_out)]
    made = [
        _passage(number, piece, origin, room, mark)
        for number, (piece, mark) in enumerate(zip(shown, marks, strict=True), 1)
    ]
    return Found(tuple(made))


def _pieces(result: CallToolResult) -> tuple[list[_Piece], list[str]]:
    """The texts that hold something, and what else there is, in words."""
    pieces: list[_Piece] = []
    others: list[str] = []
    for block in result.content:
        if block.type == "text":
            pieces.append(_Piece(block.text))
        elif block.type == "resource":
            text = getattr(block.resource, "text", None)
            if text is None:
                others.append("resource")
            else:
                pieces.append(_Piece(text, uri=str(block.resource.uri)))
        elif block.type == "resource_link":
            name = block.title or block.name
            about = f"{name}: {block.description}" if block.description else name
            pieces.append(_Piece(about, uri=str(block.uri), title=name))
        else:
            others.append(block.type)
    pieces = [piece for piece in pieces if piece.text.strip()]
    if not pieces and result.structured_content is not None:
        pieces = [_Piece(json.dumps(result.structured_content, ensure_ascii=False))]
    return pieces, [f"{others.count(kind)} {kind}" for kind in dict.fromkeys(others)]


def _passage(number: int, piece: _Piece, origin: Origin, room: int, mark: str) -> Passage:
    own = f"{origin.server}/{origin.tool[:64]}#{number}"
    cut = len(piece.text) - room
    end = f" [... cut: {cut} characters left out]" if cut > 0 else ""
    text = clean_text(f"{piece.text[:room]}{end}{mark}")
    return Passage(
        document_id=clean_text(piece.uri or own)[:_MOST_OF_A_NAME],
        source=f"mcp:{origin.server}",
        title=clean_text(piece.title or piece.uri or origin.tool)[:_MOST_OF_A_NAME],
        text=text,
        start=0,
        end=len(text),
    )


def _mark(left_out: list[str]) -> str:
    return f"\n[left out: {', '.join(left_out)}]" if left_out else ""
